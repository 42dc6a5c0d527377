import { afterAll, beforeAll, expect, test } from 'vitest'
import { walmartUs } from '../../src/clients/marketplace/profiles/index.ts'
import { reviewAlarms } from '../../src/jobs/maintenance/review-alarms.ts'
import type { SqlRunner } from '../../src/store/db/database.ts'
import { listReturnRules, readLateReturns } from '../../src/store/orders/late-returns.ts'
import { recordSellers } from '../../src/store/sellers/sellers.ts'
import { wireReturnSample } from '../clients/samples.ts'
import { returnRecord } from '../store/support/records.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, ofItems } from '../support/json.ts'
import { orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder, storeReturns } from '../support/store.ts'
import { vocabulary } from '../support/vocabulary.ts'
import { startServer, type TestServer } from './support.ts'

// Returns whose refund is late, or due soon: the list, the overview and the alarm.

const strict = walmartUs.vocabulary
const stage = withDatabase({ findVocabulary: (sellerId) => (sellerId === 's-3' ? vocabulary : strict) })
const now = new Date('2026-03-10T00:00:00Z')
let server: TestServer

const hoursAgo = (hours: number): string => new Date(now.getTime() - hours * 3_600_000).toISOString()

interface Seed {
  readonly id: string
  readonly arrivedAgo: number | null
  readonly sellerId?: string
  readonly status?: string
  readonly refunded?: number
  readonly refundedByOrder?: number
  readonly shipNodeType?: string
  /** The order is not stored. */
  readonly lacksOrder?: boolean
  readonly more?: Readonly<Record<string, unknown>>
}

const seeds: readonly Seed[] = [
  { id: 'late', arrivedAgo: 50 },
  { id: 'soon', arrivedAgo: 40, status: 'delivered_at_return_center' },
  { id: 'in-time', arrivedAgo: 30 },
  { id: 'in-transit', arrivedAgo: 50, status: 'RETURN_IN_TRANSIT' },
  { id: 'refunded', arrivedAgo: 50, refunded: 2 },
  { id: 'half-refunded', arrivedAgo: 60, refunded: 1 },
  { id: 'refunded-by-order', arrivedAgo: 50, refundedByOrder: 2 },
  { id: 'asked', arrivedAgo: 50 },
  { id: 'credited', arrivedAgo: 50 },
  { id: 'of-the-marketplace', arrivedAgo: 50, shipNodeType: 'WFSFulfilled' },
  { id: 'forgotten', arrivedAgo: 48 + 31 * 24 },
  { id: 'without-order', arrivedAgo: 55, lacksOrder: true, more: { exceptionItemType: 'HAZMAT' } },
  { id: 'of-another', arrivedAgo: 52, sellerId: 's-2' },
  // Its marketplace sets no deadline.
  { id: 'of-the-specification', arrivedAgo: 50, sellerId: 's-3' },
]

const seed = async ({
  id,
  arrivedAgo,
  sellerId = 's-1',
  status = 'DELIVERED',
  refunded = 0,
  refundedByOrder = 0,
  shipNodeType = 'SellerFulfilled',
  lacksOrder = false,
  more = {},
}: Seed): Promise<void> => {
  const purchaseOrderId = `P-${id}`
  if (!lacksOrder) {
    const line = orderLine('1', `SKU-${id}`, 2, { shipped: 2, refunded: refundedByOrder })
    await seedOrder(stage.database, sellerId, purchaseOrder(purchaseOrderId, [line], { shipNodeType }))
  }
  const sample = wireReturnSample(`R-${id}`, { returnOrderDate: '2026-01-20T10:00:00Z' })
  const line = {
    ...{ returnOrderLineNumber: 1, purchaseOrderId, purchaseOrderLineNumber: 1, refundedQty: refunded },
    ...{ item: { sku: `SKU-${id}` }, quantity: { unitOfMeasure: 'EACH', measurementValue: 2 } },
    currentTrackingStatuses: [{ status, statusTime: hoursAgo(arrivedAgo ?? 0), quantity: { measurementValue: 2 } }],
    ...more,
  }
  const records = [returnRecord({ ...sample, returnOrderLines: [line] })]
  expect(await storeReturns(stage.database, { sellerId, records, observedAt: new Date('2026-03-09T00:00:00Z') })).toBe(1)
}

const insertCommand = (id: string, kind: string, state: string, order: string, payload: object) =>
  stage.database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, settled_at)
     VALUES ($1, 's-1', $2, $3, $4, $5::jsonb, CASE $4 WHEN 'confirmed' THEN now() END)`,
    ...[id, order, kind, state, JSON.stringify(payload)],
  )

const returnCharge = { chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: '-2.00', currency: 'USD', tax: null }

const look = () =>
  reviewAlarms({
    ...{ database: stage.database, streams: [], sellerIds: ['s-1', 's-2', 's-3'], findNow: () => now, upForMs: 0 },
  })

beforeAll(async () => {
  server = await startServer(stage.database, { sellers: () => ['s-1', 's-2', 's-3'], marketplaceNow: () => now })
  await recordSellers(
    stage.database,
    ['s-1', 's-2', 's-3'].map((sellerId) => ({ sellerId, credentialsFingerprint: 'x' })),
  )
  for (const each of seeds) await seed(each)
  await insertCommand('c-1', 'refund-return', 'pending', 'P-asked', {
    ...{ returnOrderId: 'R-asked', customerOrderId: 'C' },
    lines: [{ lineNumber: '1', returnLineNumber: 1, quantity: 2, reason: null, charges: [] }],
  })
  await insertCommand('c-2', 'refund', 'confirmed', 'P-credited', {
    lines: [{ lineNumber: '1', quantity: 2, reason: 'x', charges: [returnCharge] }],
  })
})
afterAll(() => server?.close())

const list = async (query = ''): Promise<readonly unknown[]> => {
  const { status, body } = await server.json(`/v1/late-returns${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  return ofItems(body, 'returnOrderId')
}

test('returns to refund are listed by deadline: those that have arrived and are not refunded in any way', async () => {
  expect(await list()).toEqual(['R-half-refunded', 'R-without-order', 'R-of-another', 'R-late', 'R-soon'])
  const { body } = await server.json('/v1/late-returns?returnOrderId=R-half-refunded')
  const [arrivedAt, refundBy] = [hoursAgo(60), hoursAgo(12)]
  expect(listAt(body, 'items')).toEqual([
    {
      ...{ sellerId: 's-1', returnOrderId: 'R-half-refunded', refundBy, state: 'late' },
      lines: [
        {
          ...{ returnLineNumber: 1, purchaseOrderId: 'P-half-refunded', lineNumber: '1', sku: 'SKU-half-refunded', units: 1 },
          ...{ arrivedAt, refundBy, exceptionItemType: null },
        },
      ],
    },
  ])
})

test.each([
  ['?sellerId=s-2', ['R-of-another']],
  ['?sellerId=s-3', []],
  ['?state=soon', ['R-soon']],
  ['?state=late&sellerId=s-1', ['R-half-refunded', 'R-without-order', 'R-late']],
  ['?purchaseOrderId=P-late', ['R-late']],
  ['?sku=SKU-soon', ['R-soon']],
])('GET /v1/late-returns%s', async (query, expected) => {
  expect(await list(query)).toEqual(expected)
})

test('pages follow each other without gaps', async () => {
  const first = await server.json('/v1/late-returns?limit=2')
  expect(ofItems(first.body, 'returnOrderId')).toEqual(['R-half-refunded', 'R-without-order'])
  const rest = `?limit=10&cursor=${at(first.body, 'nextCursor')}`
  expect(await list(rest)).toEqual(['R-of-another', 'R-late', 'R-soon'])
})

test('the overview counts them', async () => {
  expect(at((await server.json('/v1/overview')).body, 'returns')).toEqual({ late: 4, refundSoon: 1 })
  expect(at((await server.json('/v1/overview?sellerId=s-2')).body, 'returns')).toEqual({ late: 1, refundSoon: 0 })
  expect(at((await server.json('/v1/overview?sellerId=s-3')).body, 'returns')).toEqual({ late: 0, refundSoon: 0 })
})

test('each seller has one alarm, which names its returns and ends with them', async () => {
  await look()
  const open = async () =>
    (
      await stage.database.prisma.alarm.findMany({
        where: { kind: 'late-returns', resolvedAt: null },
        orderBy: { sellerId: 'asc' },
      })
    ).map(({ sellerId, subject, count, dueAt }) => [sellerId, subject, count, dueAt?.toISOString()])
  expect(await open()).toEqual([
    ['s-1', 'returns', 4, hoursAgo(12)],
    ['s-2', 'returns', 1, hoursAgo(4)],
  ])
  const { body } = await server.json('/v1/alarms?kind=late-returns&sellerId=s-2')
  expect(at(body, 'items', 0, 'message')).toBe(
    `1 return to be refunded within 12 hours, 1 of them late already: return R-of-another (2 × SKU-of-another of order P-of-another) by ${hoursAgo(4)}. ` +
      'Send erp.return.refunded for each',
  )
  await stage.database.execute(`UPDATE warehouse.return_lines SET refunded_quantity = 2 WHERE seller_id = 's-2'`)
  await look()
  expect((await open()).map(([sellerId]) => sellerId)).toEqual(['s-1'])
  // A process that does not serve the seller, and so does not know its marketplace, leaves the alarm open.
  await reviewAlarms({ ...{ database: stage.database, streams: [], sellerIds: [], findNow: () => null, upForMs: 0 } })
  expect((await open()).map(([sellerId]) => sellerId)).toEqual(['s-1'])
})

test('the time of storing counts where the marketplace shows none', async () => {
  const ofSeller = (sellerId: string, afterHours: number) => {
    const times = new Map([[sellerId, new Date(Date.now() + afterHours * 3_600_000)]])
    return readLateReturns(stage.database, listReturnRules(stage.database, times, null))
  }
  const currentTrackingStatuses = [{ status: 'DELIVERED', quantity: { measurementValue: 2 } }]
  await seed({ id: 'without-time', sellerId: 's-4', arrivedAgo: null, more: { currentTrackingStatuses } })
  await seed({ id: 'of-the-line', sellerId: 's-4', arrivedAgo: null, more: { currentTrackingStatuses: [], status: 'DELIVERED' } })
  expect(await ofSeller('s-4', 35)).toEqual([])
  const found = await ofSeller('s-4', 40)
  expect(found.map(({ returnOrderId, state }) => [returnOrderId, state])).toEqual([
    ['R-without-time', 'soon'],
    ['R-of-the-line', 'soon'],
  ])
})

test('they are read from indexes of units that are not refunded', async () => {
  await stage.database.execute(
    `INSERT INTO warehouse.returns (seller_id, return_order_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT 's-1', 'B' || n, '\\x00', '{}', now(), now(), now() FROM generate_series(1, 20000) n`,
  )
  await stage.database.execute(
    `INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, quantity, refunded_quantity, status, raw,
       first_seen_at, changed_at)
     SELECT 's-1', 'B' || n, 1, 1, CASE WHEN n % 100 > 0 THEN 1 END, 'DELIVERED', '{}', now(), now() FROM generate_series(1, 20000) n`,
  )
  await stage.database.execute(
    `INSERT INTO warehouse.return_line_tracking_statuses (seller_id, return_order_id, return_order_line_number, position, status, status_time,
       quantity, refund_open, raw)
     SELECT 's-1', 'B' || n, 1, 0, 'DELIVERED', timestamptz '2026-01-01' + n * interval '1 minute', 1, n % 100 = 0, '{}'
     FROM generate_series(1, 20000) n`,
  )
  await stage.database.execute(
    'VACUUM ANALYZE warehouse.return_lines, warehouse.return_line_tracking_statuses, warehouse.returns',
  )
  const plans: string[] = []
  const explaining: SqlRunner = {
    ...stage.database,
    query: async <Row>(sql: string, ...parameters: readonly unknown[]) => {
      plans.push(JSON.stringify(await stage.database.query(`EXPLAIN ${sql}`, ...parameters)))
      return stage.database.query<Row>(sql, ...parameters)
    },
  }
  await readLateReturns(explaining, listReturnRules(stage.database, new Map([['s-1', now]]), null))
  const [plan = ''] = plans
  expect(plan).toContain('return_line_tracking_statuses_to_refund')
  expect(plan).toContain('return_lines_to_refund')
  expect(plan).not.toMatch(/Seq Scan on (return|order)/)
})
