import { beforeEach, describe, expect, test } from 'vitest'
import { claimWindows } from '../../src/domain/inventory/claim-states.ts'
import { readClaimEvidence } from '../../src/store/inventory/claim-evidence.ts'
import { decideClaim, listClaimItems, reviewClaimDeadlines } from '../../src/store/inventory/claim-items.ts'
import { listClaimPayments, reviewClaimPayments } from '../../src/store/inventory/claim-payments.ts'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { reviewInboundClaims } from '../../src/store/inventory/inbound-claims.ts'
import { findOpenInbound, reviewInbound, storeInboundShipment } from '../../src/store/inventory/inbound-shipments.ts'
import { settlementStore } from '../../src/store/orders/settlements.ts'
import { withDatabase } from '../support/database.ts'
import { logReadUpTo, storeLog, storeReport } from './support/inventory.ts'
import { type ReportRow, storeReportRows } from './support/settlements.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 's-1'
const dayMs = 86_400_000

const reimbursement = (sku: string, amount: string, units: string, description = 'WFS LostInventory'): ReportRow => ({
  'Transaction Type': 'Adjustment',
  'Transaction Description': description,
  'Amount Type': 'WFS Inventory Fee/Reimbursement',
  'Transaction Posted Timestamp': '05/10/2026',
  'Partner Item Id': sku,
  Amount: amount,
  ...(units === '' ? {} : { 'Ship Qty': units }),
})
const pay = async (reportDate: string, rows: readonly ReportRow[], first = 1): Promise<number> => {
  await storeReportRows(stage.database, sellerId, reportDate, rows, first)
  return stage.database.transaction((tx) => reviewClaimPayments(tx, sellerId))
}
const list = async () =>
  (
    await listClaimItems(
      stage.database,
      { sellerId: null, month: null, sku: null, kind: null, state: null, dueBefore: null, byDeadline: false },
      null,
      100,
    )
  ).items.toReversed()
const find = async (sku: string, month = '2026-03') => {
  const claim = (await list()).find((one) => one.sku === sku && one.month === month)
  if (claim === undefined) throw new Error(`no claim of ${sku}`)
  return claim
}
const listPayments = async () =>
  (await listClaimPayments(stage.database, { sellerId: null, sku: null, claimId: null, assigned: null }, null, 100)).items
const decide = (id: bigint, state: 'open' | 'filed' | 'paid' | 'refused', more: object = {}) =>
  stage.database.transaction((tx) =>
    decideClaim(tx, { id, by: { actor: 'kim' }, state, reason: null, reference: null, paidAmount: null, force: true, ...more }),
  )
const readAudit = async () =>
  (await stage.database.prisma.auditEntry.findMany({ orderBy: { id: 'asc' } })).map(({ actor, details }) => ({ actor, details }))

describe('reimbursements of settlement reports', () => {
  beforeEach(async () => {
    const { database } = stage
    const rows = [
      { sku: 'A', beginning: 20, ending: 15, lost: 5 },
      { sku: 'B', beginning: 20, ending: 18, lost: 2 },
      { sku: 'C', beginning: 20, ending: 17 },
    ]
    await storeReport(database, sellerId, '2026-03', '2026-04-01T07:00:00Z', rows)
    await storeReport(database, sellerId, '2026-04', '2026-05-01T07:00:00Z', [{ sku: 'B', beginning: 18, ending: 16, lost: 2 }])
    const pairs = [...rows.map(({ sku }) => ({ sku, month: '2026-03' })), { sku: 'B', month: '2026-04' }]
    await database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
  })

  test('pay a claim in part and then completely, each row once, audited as done by the report', async () => {
    expect(await pay('2026-05-16', [reimbursement('a', '9.98', '2')])).toBe(0)
    const inPart = { state: 'paid-in-part', paidAmount: '9.98', reportedAmount: '9.98', reportedUnits: 2, stateBy: 'report' }
    expect(await find('A')).toMatchObject(inPart)
    expect(await pay('2026-05-16', [])).toBe(0)
    expect(await find('A')).toMatchObject(inPart)
    await pay('2026-05-30', [reimbursement('A', '14.97', '3')])
    const claim = await find('A')
    expect(claim).toMatchObject({ state: 'paid', paidAmount: '24.95', reportedUnits: 5 })
    expect(await readAudit()).toEqual([
      {
        actor: 'report',
        details: { from: 'open', to: 'paid-in-part', units: 5, paidAmount: '9.98', rows: ['2026-05-16/1'] },
      },
      {
        actor: 'report',
        details: { from: 'paid-in-part', to: 'paid', units: 5, paidAmount: '24.95', rows: ['2026-05-16/1', '2026-05-30/1'] },
      },
    ])
    expect((await readClaimEvidence(stage.database, claim)).payments).toMatchObject([
      { lineKey: '2026-05-16/1', units: 2, amount: '9.98', postedOn: '2026-05-10', description: 'WFS LostInventory' },
      { lineKey: '2026-05-30/1', units: 3 },
    ])
    // Further units are not those of the claim.
    expect(await pay('2026-05-30', [reimbursement('A', '4.99', '1')], 2)).toBe(1)
    expect(await listPayments()).toMatchObject([{ lineKey: '2026-05-30/2', claimId: null, problem: 'too-many-units' }, {}, {}])
  })

  test('are not assigned by guess: two possible claims, none, no SKU; the recorded answer of a person decides', async () => {
    const rows = [reimbursement('B', '8.00', '2'), reimbursement('C', '15.00', '3'), reimbursement('', '3.00', '1')]
    expect(await pay('2026-05-16', rows)).toBe(3)
    expect((await listPayments()).map(({ lineKey, problem }) => [lineKey, problem])).toEqual([
      ['2026-05-16/3', 'no-sku'],
      // The marketplace does not know of missing units until they are claimed.
      ['2026-05-16/2', 'no-claim'],
      ['2026-05-16/1', 'several-claims'],
    ])
    expect((await list()).map(({ state }) => state)).toEqual(['open', 'open', 'open', 'open'])
    await decide((await find('B', '2026-04')).id, 'filed')
    await decide((await find('B', '2026-04')).id, 'paid', { paidAmount: '8.00' })
    await decide((await find('C')).id, 'filed')
    expect(await pay('2026-05-16', rows)).toBe(1)
    expect(await find('B', '2026-03')).toMatchObject({ state: 'open', reportedAmount: null })
    expect(await find('B', '2026-04')).toMatchObject({ state: 'paid', paidAmount: '8.00', reportedUnits: 2, stateBy: 'kim' })
    expect(await find('C')).toMatchObject({ state: 'paid', paidAmount: '15.00', stateBy: 'report', filedUnits: 3 })
  })

  test('are taken back with units that were found again, and with a row that is gone', async () => {
    await pay('2026-05-16', [reimbursement('A', '24.95', '5')])
    expect(await find('A')).toMatchObject({ state: 'paid' })
    await pay('2026-05-30', [reimbursement('A', '-9.98', '2', 'WFS FoundInventory')])
    expect(await find('A')).toMatchObject({ state: 'paid-in-part', paidAmount: '14.97', reportedUnits: 3, units: 5 })
    // The report of the month follows.
    await storeReport(stage.database, sellerId, '2026-04', '2026-05-01T07:00:00Z', [
      { sku: 'A', beginning: 15, ending: 17, found: 2 },
    ])
    await stage.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, [{ sku: 'A', month: '2026-04' }]))
    await pay('2026-05-30', [])
    expect(await find('A')).toMatchObject({ state: 'paid', units: 3, paidAmount: '14.97' })
    await stage.database.transaction((tx) =>
      settlementStore.noteMissing(tx, sellerId, new Date(), ['2026-05-16/1', '2026-05-30/1']),
    )
    await pay('2026-05-30', [])
    expect(await find('A')).toMatchObject({ state: 'open', paidAmount: null, reportedAmount: null, reportedUnits: null })
    expect(await listPayments()).toEqual([])
  })

  test('keep their claim when the report is corrected; the state that a person sets stays', async () => {
    await pay('2026-05-16', [reimbursement('A', '9.98', '2')])
    const { id } = await find('A')
    await decide(id, 'filed', { reference: 'CASE-1' })
    await pay('2026-05-16', [reimbursement('Z', '1.00', '1'), reimbursement('A', '9.98', '2')])
    expect((await listPayments()).map(({ lineKey, claimId }) => [lineKey, claimId])).toEqual([
      ['2026-05-16/2', id],
      ['2026-05-16/1', null],
    ])
    await decide(id, 'refused')
    await pay('2026-05-16', [])
    expect(await find('A')).toMatchObject({ state: 'refused', reportedUnits: 2 })
    // Without units, and with less than the value, the rest stays open to a person.
    await pay('2026-05-30', [{ ...reimbursement('A', '5.00', ''), 'Transaction Reason Description': 'Dispute CASE-1' }])
    expect(await find('A')).toMatchObject({ state: 'paid-in-part', paidAmount: '14.98', stateBy: 'report' })
  })
})

describe('an inbound shipment that is short', () => {
  const hoursAgo = (days: number) => new Date(Date.now() - days * dayMs)
  const send = (deliveredAt: Date | null) =>
    stage.database.transaction((tx) =>
      storeInboundShipment(tx, sellerId, {
        ...{ shipmentId: '1WFA', shippedAt: hoursAgo(60), expectedBy: hoursAgo(30), deliveredAt },
        lines: [
          { sku: 'A', quantity: 10 },
          { sku: 'B', quantity: 5 },
          { sku: 'MISSPELT', quantity: 4 },
        ],
      }),
    )
  const review = async () => {
    await stage.database.transaction((tx) => reviewInbound(tx, sellerId, ['A', 'B', 'MISSPELT']))
    return reviewInboundClaims(stage.database, claimWindows)
  }
  const receive = (id: string, sku: string, changedUnits: number, days: number) =>
    storeLog(stage.database, sellerId, [
      { sku, id, kind: 'other', changedUnits, at: hoursAgo(days).toISOString(), shipmentId: '1WFA' },
    ])

  test('is a claim from day 10 after its delivery, with a deadline; late receipts come off', async () => {
    await send(null)
    await receive('1', 'A', 7, 20)
    await receive('2', 'B', 5, 19)
    await logReadUpTo(stage.database, sellerId, hoursAgo(11).toISOString(), 'A', 'B', 'MISSPELT')
    expect(await review()).toBe(0)
    await logReadUpTo(stage.database, sellerId, hoursAgo(1).toISOString(), 'A', 'B', 'MISSPELT')
    expect(await review()).toBe(1)
    expect(await review()).toBe(0)
    const [claim, ...others] = await list()
    expect(others).toEqual([])
    expect(claim).toMatchObject({
      ...{ sku: 'A', kind: 'inbound', shipmentId: '1WFA', units: 3, certainty: 'compared', state: 'open', logRead: true },
    })
    expect(Math.abs((claim?.deadline?.getTime() ?? 0) - (Date.now() + 30 * dayMs))).toBeLessThan(60_000)
    expect(await findOpenInbound(stage.database, 60 * dayMs)).toEqual([{ sellerId, count: 1, missingUnits: 3, unknownSkus: 1 }])
    if (claim === undefined) return
    const { arithmetic, logEntries, centers } = await readClaimEvidence(stage.database, claim)
    expect(arithmetic).toContain('10 - 7 = 3: 3 units were not received.')
    expect(logEntries).toMatchObject([{ id: '1', changedUnits: 7 }])
    expect(centers).toEqual(['KY1'])
    await decide(claim.id, 'filed')
    expect(await findOpenInbound(stage.database, 60 * dayMs)).toMatchObject([{ missingUnits: 0, unknownSkus: 1 }])
    await pay(hoursAgo(0).toISOString().slice(0, 10), [
      { ...reimbursement('A', '14.97', '3'), 'Transaction Posted Timestamp': '' },
    ])
    expect(await find('A', claim.month)).toMatchObject({ state: 'paid', reportedUnits: 3 })
  })

  test('is withdrawn when the rest arrives; a stated delivery counts, and a passed deadline expires the claim', async () => {
    await send(hoursAgo(51))
    await receive('1', 'A', 7, 20)
    await receive('2', 'B', 5, 19)
    await logReadUpTo(stage.database, sellerId, hoursAgo(1).toISOString(), 'A', 'B')
    await review()
    await reviewClaimDeadlines(stage.database, claimWindows)
    expect(await list()).toMatchObject([{ state: 'expired', units: 3 }])
    expect(await review()).toBe(0)
    // The window is made longer: the claim can be filed after all.
    await reviewInboundClaims(stage.database, { ...claimWindows, inboundMs: 60 * dayMs })
    expect(await list()).toMatchObject([{ state: 'open', units: 3 }])
    await receive('3', 'A', 3, 2)
    await review()
    expect(await list()).toMatchObject([{ state: 'withdrawn', units: 0 }])
  })
})
