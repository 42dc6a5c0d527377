import { afterAll, beforeAll, expect, test } from 'vitest'
import { reviewClaimPayments } from '../../src/store/inventory/claim-payments.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { logReadUpTo, storeLog, storeReport } from '../store/support/inventory.ts'
import { storeReportRows } from '../store/support/settlements.ts'
import { withDatabase } from '../support/database.ts'
import { at, ofItems, textAt } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
  for (const sellerId of ['s-1', 's-2']) {
    await storeReport(stage.database, sellerId, '2026-03', '2026-04-01T07:00:00Z', [
      { sku: 'A', beginning: 20, ending: 15, lost: 2, sold: 3 },
      { sku: 'B', beginning: 20, ending: 19 },
    ])
    await storeLog(stage.database, sellerId, [
      { sku: 'A', id: '1', kind: 'lost', changedUnits: -2, at: '2026-03-05T12:00:00Z' },
      { sku: 'A', id: '2', kind: 'sold', changedUnits: -3, at: '2026-03-05T12:00:00Z', shipmentId: 'S' },
    ])
    await logReadUpTo(stage.database, sellerId, '2026-04-02T00:00:00Z', 'A', 'B')
    const pairs = ['A', 'B'].map((sku) => ({ sku, month: '2026-03' }))
    await stage.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
  }
})
afterAll(async () => {
  await server.close()
})

const findId = async (sellerId: string, sku: string): Promise<string> =>
  textAt((await server.json(`/v1/claims/items?sellerId=${sellerId}&sku=${sku}&state=all`)).body, 'items', 0, 'id')
const post = (id: string, body: object) =>
  server.json(`/v1/claims/${id}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

test('claims are listed with their state, by month, SKU, kind and state', async () => {
  const { status, body } = await server.json('/v1/claims/items?month=2026-03&sellerId=s-1')
  expect(status).toBe(200)
  expect(ofItems(body, 'kind')).toEqual(['missing', 'lost'])
  expect(at(body, 'items', 1)).toMatchObject({
    ...{
      sellerId: 's-1',
      sku: 'A',
      month: '2026-03',
      kind: 'lost',
      units: 2,
      certainty: 'reported',
      logRead: true,
      state: 'open',
    },
    ...{ value: null, deadline: null, reference: null, filedUnits: null },
  })
  expect(ofItems((await server.json('/v1/claims/items?kind=lost')).body, 'sellerId')).toEqual(['s-2', 's-1'])
  await stage.database.execute(
    `UPDATE warehouse.claims SET deadline = CASE kind WHEN 'lost' THEN '2027-01-01T00:00:00Z'::timestamptz END WHERE seller_id = 's-1'`,
  )
  const first = await server.json('/v1/claims/items?sellerId=s-1&sort=deadline&limit=1')
  const rest = await server.json(`/v1/claims/items?sellerId=s-1&sort=deadline&limit=1&cursor=${at(first.body, 'nextCursor')}`)
  expect([...ofItems(first.body, 'kind'), ...ofItems(rest.body, 'kind')]).toEqual(['lost', 'missing'])
  await stage.database.execute('UPDATE warehouse.claims SET deadline = NULL')
  expect(ofItems((await server.json('/v1/claims/items?state=filed')).body, 'id')).toEqual([])
  expect(ofItems((await server.json('/v1/claims/items?month=2026-02')).body, 'id')).toEqual([])
})

test('the evidence has the row as it came, the entries and the arithmetic, as JSON, table and page', async () => {
  const id = await findId('s-1', 'A')
  // As JSON the columns have another order: shorter names first.
  await stage.database.execute(
    `UPDATE warehouse.reconciliation_rows SET raw = '{"Vendor SKU": "A", "Lost": "2", "New": "x"}' WHERE seller_id = 's-1' AND sku = 'A'`,
  )
  await stage.database.execute(
    `UPDATE warehouse.reconciliation_reports SET headers = '{Vendor SKU,Lost}' WHERE seller_id = 's-1'`,
  )
  const { body } = await server.json(`/v1/claims/${id}/evidence`)
  expect(at(body, 'items', 0)).toMatchObject({
    ...{ id, sku: 'A', centers: ['KY1'], omittedEntries: 0 },
    arithmetic: [
      'The report of 2026-03: 20 at the beginning - 3 sold - 2 lost = 15. It states 15 at the end.',
      '2 units are stated as lost by the report.',
      'Claimed: 2 units. No price of the SKU is known.',
    ],
    reportRows: [{ month: '2026-03', fileName: 'report.csv', columns: { 'Vendor SKU': 'A', Lost: '2', New: 'x' } }],
    logEntries: [
      { id: '1', movement: 'lost', changedUnits: -2 },
      { id: '2', movement: 'sold', shipmentId: 'S' },
    ],
  })
  const table = await server.fetch(`/v1/claims/${id}/evidence?format=csv`)
  expect(table.headers.get('content-type')).toContain('text/csv')
  expect(table.headers.get('content-disposition')).toBe(`attachment; filename="claim-${id}.csv"`)
  expect(await table.text()).toContain(
    `${id},s-1,A,gtin of A,2026-03,lost,claim,,2,KY1,,"open, reported, without a known price",`,
  )
  const page = await server.fetch(`/v1/claims/${id}/evidence?format=html`)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const text = await page.text()
  expect(text).toContain('<h2>2 lost of A, 2026-03</h2>')
  expect(text).toContain('<th scope="col">Vendor SKU</th><th scope="col">Lost</th><th scope="col">New</th>')
})

test('the evidence of a month has all its claims', async () => {
  const { body } = await server.json('/v1/claims/evidence?month=2026-03&sellerId=s-2')
  expect(ofItems(body, 'kind')).toEqual(['missing', 'lost'])
  expect(ofItems((await server.json('/v1/claims/evidence?month=2026-02')).body, 'id')).toEqual([])
  const page = await (await server.fetch('/v1/claims/evidence?month=2026-03&format=html')).text()
  expect(page.match(/<section>/g)).toHaveLength(4)
})

test('reimbursements of settlement reports are listed with their claims', async () => {
  const row = (sku: string) => ({
    ...{ 'Transaction Type': 'Adjustment', 'Transaction Description': 'WFS LostInventory', 'Partner Item Id': sku },
    ...{ Amount: '4.99', 'Ship Qty': '1', 'Transaction Posted Timestamp': '04/20/2026' },
  })
  await storeReportRows(stage.database, 's-2', '2026-04-25', [row('A'), row('Z')])
  await stage.database.transaction((tx) => reviewClaimPayments(tx, 's-2'))
  const id = await findId('s-2', 'A')
  const { body } = await server.json('/v1/claims/payments?sellerId=s-2')
  expect(at(body, 'items')).toMatchObject([
    { lineKey: '2026-04-25/2', claimId: null, problem: 'no-claim', sku: 'Z', units: 1, amount: '4.99', reimburses: 'lost' },
    { lineKey: '2026-04-25/1', claimId: id, problem: null, postedOn: '2026-04-20', description: 'WFS LostInventory' },
  ])
  expect(ofItems((await server.json('/v1/claims/payments?assigned=false')).body, 'sku')).toEqual(['Z'])
  expect(ofItems((await server.json(`/v1/claims/payments?claimId=${id}`)).body, 'sku')).toEqual(['A'])
  const first = await server.json('/v1/claims/payments?limit=1')
  const rest = await server.json(`/v1/claims/payments?limit=1&cursor=${at(first.body, 'nextCursor')}`)
  expect([...ofItems(first.body, 'sku'), ...ofItems(rest.body, 'sku')]).toEqual(['Z', 'A'])
  expect((await server.json(`/v1/claims/${id}`)).body).toMatchObject({
    state: 'paid-in-part',
    reportedUnits: 1,
    stateBy: 'report',
  })
  expect(at((await server.json(`/v1/claims/${id}/evidence`)).body, 'items', 0, 'payments')).toMatchObject([{ units: 1 }])
})

test('a person files a claim and records the answer', async () => {
  const id = await findId('s-1', 'A')
  const filed = await post(id, { state: 'filed', reference: 'CASE-1', actor: 'kim' })
  expect(filed).toMatchObject({ status: 200, body: { id, state: 'filed', filedUnits: 2, reference: 'CASE-1' } })
  expect(await post(id, { state: 'paid', paidAmount: '12.50' })).toMatchObject({ body: { state: 'paid', paidAmount: '12.50' } })
  expect((await server.json(`/v1/claims/${id}`)).body).toMatchObject({ state: 'paid', reference: 'CASE-1' })
  expect(await post(id, { state: 'filed' })).toMatchObject({ body: { state: 'filed', paidAmount: null, reference: 'CASE-1' } })
  expect(await post(id, { state: 'paid' })).toMatchObject({
    status: 409,
    body: { detail: `Claim ${id} needs the amount that was paid, above 0.` },
  })
  expect(await post(id, { state: 'paid', paidAmount: '3.001' })).toMatchObject({
    status: 409,
    body: {
      detail: `Claim ${id} has an amount with more digits after the point than its currency has: check it, such as 12.50.`,
    },
  })
  expect(await post(id, { state: 'refused', paidAmount: '1.00' })).toMatchObject({ status: 409 })
  expect(await post(id, { state: 'open' })).toMatchObject({ body: { state: 'open', filedUnits: null } })
  expect(await post(id, { state: 'paid', paidAmount: '12.50' })).toMatchObject({
    status: 409,
    body: { detail: `Claim ${id} was not filed: record that it was filed, then the answer of the marketplace.` },
  })
})

test('a claim whose log was not read in full yet is filed only with force; an unknown one is not found', async () => {
  const id = await findId('s-1', 'B')
  expect(await post(id, { state: 'filed' })).toMatchObject({ status: 409, body: { code: 'illegal-state' } })
  expect(await post(id, { state: 'filed', force: true })).toMatchObject({ status: 200, body: { state: 'filed' } })
  expect((await post('999999', { state: 'filed' })).status).toBe(404)
  expect((await post(id, { state: 'expired' })).status).toBe(422)
  expect((await server.json('/v1/claims/999999')).status).toBe(404)
})
