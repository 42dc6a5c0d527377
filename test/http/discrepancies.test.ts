import { afterAll, beforeAll, expect, test } from 'vitest'
import { reviewDiscrepancies } from '../../src/store/inventory/discrepancies.ts'
import { logReadUpTo, storeLog, storeReport } from '../store/support/inventory.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, ofItems, textOrNullAt } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase()
let server: TestServer

beforeAll(async () => {
  server = await startServer(stage.database)
  await seedOrder(stage.database, 's-1', purchaseOrder('1', [orderLine('1', 'A', 1)]))
  for (const sellerId of ['s-1', 's-2']) {
    await storeReport(stage.database, sellerId, '2026-03', '2026-04-01T07:00:00Z', [
      { sku: 'A', beginning: 20, ending: 15, lost: 2, sold: 3 },
      { sku: 'B', beginning: 20, ending: 19 },
    ])
    await storeLog(stage.database, sellerId, [
      { sku: 'A', id: '1', kind: 'lost', changedUnits: -2, at: '2026-03-05T12:00:00Z' },
      { sku: 'A', id: '2', kind: 'sold', changedUnits: -3, at: '2026-03-05T12:00:00Z', shipmentId: 'S' },
      { sku: 'A', id: '3', kind: 'sold', changedUnits: -3, at: '2026-03-05T12:00:00Z', shipmentId: 'S' },
    ])
    await logReadUpTo(stage.database, sellerId, '2026-04-02T00:00:00Z', 'A')
    const pairs = ['A', 'B'].map((sku) => ({ sku, month: '2026-03' }))
    await stage.database.transaction((tx) => reviewDiscrepancies(tx, sellerId, pairs))
  }
})
afterAll(async () => {
  await server.close()
})

test('the stored report is listed by seller, month and SKU, page by page', async () => {
  const { status, body } = await server.json('/v1/reconciliation?month=2026-03&limit=3')
  expect(status).toBe(200)
  expect(listAt(body, 'items').map((item) => [at(item, 'sellerId'), at(item, 'sku')])).toEqual([
    ['s-1', 'A'],
    ['s-1', 'B'],
    ['s-2', 'A'],
  ])
  expect(at(body, 'items', 0)).toMatchObject({ month: '2026-03', beginningQuantity: 20, endingQuantity: 15, lost: 2, sold: 3 })
  expect(at(body, 'items', 0, 'coveredUntil')).toBe('2026-04-01T07:00:00.000Z')
  const rest = (await server.json(`/v1/reconciliation?month=2026-03&limit=3&cursor=${at(body, 'nextCursor')}`)).body
  expect(listAt(rest, 'items').map((item) => [at(item, 'sellerId'), at(item, 'sku')])).toEqual([['s-2', 'B']])
  expect(at((await server.json('/v1/reconciliation?adjusted=true&sellerId=s-1')).body, 'items')).toMatchObject([{ sku: 'A' }])
  expect(at((await server.json('/v1/reconciliation?sku=A')).body, 'items')).toHaveLength(2)
  expect(at((await server.json('/v1/reconciliation?month=2026-02')).body, 'items')).toEqual([])
})

test('discrepancies are listed with their numbers, log entries and value', async () => {
  const { status, body } = await server.json('/v1/discrepancies?month=2026-03&sellerId=s-1&sku=A')
  expect(status).toBe(200)
  expect(body).toEqual({
    items: [
      {
        id: expect.stringMatching(/^\d+$/),
        sellerId: 's-1',
        sku: 'A',
        gtin: 'gtin of A',
        month: '2026-03',
        kind: 'sold',
        reportUnits: 3,
        expectedUnits: 6,
        difference: -3,
        log: {
          verdict: 'extra',
          certainty: 'likely',
          entryCount: 1,
          entries: [{ id: '3', transactionTime: '2026-03-05T12:00:00.000Z', changedUnits: -3, fcName: 'KY1', shipmentId: 'S' }],
        },
        earliestDay: '2026-03-05',
        unitPrice: '1.0000',
        value: '3.00',
        currency: 'USD',
        state: 'open',
        resolution: null,
        firstSeenAt: expect.any(String),
        changedAt: expect.any(String),
        resolvedAt: null,
      },
    ],
    nextCursor: null,
  })
})

test('pages and filters hold', async () => {
  const ids: unknown[] = []
  let cursor: string | null = null
  do {
    const { body } = await server.json(`/v1/discrepancies?limit=1${cursor === null ? '' : `&cursor=${cursor}`}`)
    ids.push(...ofItems(body, 'id'))
    cursor = textOrNullAt(body, 'nextCursor')
  } while (cursor !== null)
  expect(new Set(ids).size).toBe(4)
  expect(at((await server.json('/v1/discrepancies?kind=balance')).body, 'items')).toHaveLength(2)
  expect(at((await server.json('/v1/discrepancies?state=resolved')).body, 'items')).toEqual([])
  expect(at((await server.json('/v1/discrepancies?state=all')).body, 'items')).toHaveLength(4)
  expect(at((await server.json('/v1/discrepancies?month=2026-02')).body, 'items')).toEqual([])
  expect(at((await server.json('/v1/overview')).body, 'discrepancies')).toBe(4)
})

test('the claim of a month is listed by seller', async () => {
  const { status, body } = await server.json('/v1/claims?month=2026-03&limit=1')
  expect(status).toBe(200)
  const usd = (amount: string) => [{ amount, currency: 'USD' }]
  expect(at(body, 'items')).toEqual([
    {
      sellerId: 's-1',
      month: '2026-03',
      skus: 2,
      skusCompared: 1,
      lost: { units: 2, values: usd('2.00'), unpricedUnits: 0 },
      damaged: { units: 0, values: [], unpricedUnits: 0 },
      found: { units: 0, values: [], unpricedUnits: 0 },
      unexplained: { units: 1, values: [], unpricedUnits: 1 },
      uncertain: { units: 0, values: [], unpricedUnits: 0 },
      total: { units: 3, values: usd('2.00'), unpricedUnits: 1 },
      net: { units: 3, values: usd('2.00'), unpricedUnits: 1 },
    },
  ])
  const next = await server.json(`/v1/claims?month=2026-03&cursor=${at(body, 'nextCursor')}`)
  expect(next.body).toMatchObject({ items: [{ sellerId: 's-2', lost: { units: 2, values: [] } }], nextCursor: null })
  expect(at((await server.json('/v1/claims?month=2026-03&sellerId=s-2')).body, 'items')).toHaveLength(1)
})

test.each([
  '/v1/claims',
  '/v1/claims?month=2026-13',
  '/v1/claims?month=0000-01',
  '/v1/discrepancies?month=March',
  '/v1/discrepancies?kind=stolen',
  '/v1/discrepancies?state=closed',
  '/v1/discrepancies?cursor=nonsense',
])('%s is refused', async (path) => {
  expect(await server.json(path)).toMatchObject({ status: 400, body: { errors: [{ path: expect.stringMatching(/^query\./) }] } })
})
