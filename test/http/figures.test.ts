import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { type Answer, startServer, type TestServer } from './support.ts'

// What the console shows first, and the filters that its numbers lead to.

const stage = withDatabase()
let server: TestServer
const now = new Date('2026-03-10T00:00:00Z')

interface Seed {
  readonly id: string
  /** Hours before now. */
  readonly orderedAgo: number
  /** Hours from now; negative: late. */
  readonly shipIn: number
  readonly acknowledged: number
  readonly shipped?: number
  readonly city?: string
  readonly shipNodeType?: string
  /** The marketplace no longer lists it. */
  readonly missing?: boolean
}
const seeds: readonly Seed[] = [
  { id: 'fresh', orderedAgo: 1, shipIn: 48, acknowledged: 0, city: 'Oslo' },
  { id: 'soon', orderedAgo: 3.5, shipIn: 40, acknowledged: 0 },
  { id: 'overdue', orderedAgo: 5, shipIn: 12, acknowledged: 1 },
  { id: 'to-ship', orderedAgo: 20, shipIn: 6, acknowledged: 2, city: 'oslo' },
  { id: 'late', orderedAgo: 60, shipIn: -10, acknowledged: 2 },
  { id: 'nearly-cancelled', orderedAgo: 120, shipIn: -80, acknowledged: 2 },
  // Open, but the deadlines of the seller are none of theirs.
  { id: 'of-the-marketplace', orderedAgo: 60, shipIn: -10, acknowledged: 0, shipNodeType: 'WFSFulfilled' },
  { id: 'gone', orderedAgo: 60, shipIn: -10, acknowledged: 0, missing: true },
  { id: 'done', orderedAgo: 200, shipIn: -150, acknowledged: 2, shipped: 2, city: 'Oslo' },
]

beforeAll(async () => {
  server = await startServer(stage.database, { marketplaceNow: () => now })
  for (const {
    id,
    orderedAgo,
    shipIn,
    acknowledged,
    shipped = 0,
    city,
    shipNodeType = 'SellerFulfilled',
    missing = false,
  } of seeds) {
    const at = (hours: number): string => new Date(now.getTime() + hours * 3_600_000).toISOString()
    await stage.database.execute(
      `INSERT INTO warehouse.orders (seller_id, purchase_order_id, order_date, estimated_ship_date, open, shipping_address, raw_hash, raw,
         observed_at, first_seen_at, changed_at, ship_node_type, missing_since)
       VALUES ('s-1', $1, $2::timestamptz, $3::timestamptz, $4::boolean, $5::jsonb, '\\x00', '{}', now(), now(), now(), $6,
         CASE WHEN $7::boolean THEN now() END)`,
      id,
      at(-orderedAgo),
      at(shipIn),
      shipped < 2,
      city === undefined ? null : JSON.stringify({ city }),
      shipNodeType,
      missing,
    )
    await stage.database.execute(
      `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled,
         refunded, refunded_amount, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at)
       VALUES ('s-1', $1, '1', 0, 'SKU-' || $1, 2, $2::int, $3::int, 0, 0, 0, '[]', '[]', false, '{}', now(), now())`,
      id,
      acknowledged,
      shipped,
    )
  }
  for (const [id, order, kind, state, tracking] of [
    ['c-1', 'to-ship', 'ship', 'held', '1ZHELD'],
    ['c-2', 'done', 'ship', 'confirmed', '1ZDONE'],
    ['c-3', 'late', 'cancel', 'rejected', null],
  ] as const) {
    const payload = tracking === null ? { lines: [] } : { parcels: [{ trackingNumber: tracking, lines: [] }] }
    await stage.database.execute(
      `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, settled_at)
       VALUES ($1, 's-1', $2, $3, $4, $5::jsonb, CASE WHEN $4 IN ('confirmed', 'rejected') THEN now() END)`,
      id,
      order,
      kind,
      state,
      JSON.stringify(payload),
    )
    await stage.database.execute(
      `INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity) VALUES ($1, '1', 's-1', $2, 1)`,
      id,
      order,
    )
  }
})
afterAll(() => server?.close())

const idsOf = async (path: string, member: string): Promise<readonly string[]> => {
  const { status, body } = await server.json(path)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.items.map((row: Answer) => row[member])
}

test('the overview counts orders by deadline', async () => {
  const { body } = await server.json('/v1/overview')
  expect(body.orders).toEqual({
    open: 8,
    late: 2,
    toAcknowledge: 3,
    acknowledgeOverdue: 1,
    acknowledgeSoon: 1,
    shipSoon: 2,
    autoCancelSoon: 1,
  })
})

describe('orders', () => {
  test.each([
    ['unacknowledged=true&sort=acknowledgeBy', ['overdue', 'soon', 'fresh']],
    ['unacknowledged=false&sort=shipBy', ['nearly-cancelled', 'gone', 'late', 'of-the-marketplace', 'to-ship']],
    ['acknowledgeOverdue=true&sort=acknowledgeBy', ['overdue']],
    ['acknowledgeSoon=true&sort=acknowledgeBy', ['soon']],
    ['shipSoon=true&sort=shipBy', ['to-ship', 'overdue']],
    ['autoCancelSoon=true&sort=shipBy', ['nearly-cancelled']],
    ['late=true&autoCancelSoon=true', ['nearly-cancelled']],
    ['late=true&shipSoon=true', []],
    ['shipByFrom=2026-03-10&shipByTo=2026-03-11&sort=shipBy', ['to-ship', 'overdue']],
    ['late=true&sort=shipBy', ['nearly-cancelled', 'late']],
    ['city=OSLO&sort=-orderDate', ['fresh', 'to-ship', 'done']],
    ['city=OSLO&open=false', ['done']],
    ['city=Bergen', []],
  ])('of %s', async (query, expected) => {
    expect(await idsOf(`/v1/orders?${query}`, 'purchaseOrderId')).toEqual(expected)
  })

  test('a search that is sorted goes on from page to page', async () => {
    const first = await server.json('/v1/orders?city=oslo&sort=-orderDate&limit=2')
    expect(first.body.items.map((row: Answer) => row.purchaseOrderId)).toEqual(['fresh', 'to-ship'])
    const next = `/v1/orders?city=oslo&sort=-orderDate&limit=2&cursor=${first.body.nextCursor}`
    expect(await idsOf(next, 'purchaseOrderId')).toEqual(['done'])
  })

  test('tell by when they must be acknowledged, and when the marketplace cancels them', async () => {
    const { body } = await server.json('/v1/orders/overdue')
    expect(body).toMatchObject({ acknowledgeBy: '2026-03-09T23:00:00.000Z', autoCancelAt: '2026-03-14T12:00:00.000Z' })
    expect((await server.json('/v1/orders/late')).body.acknowledgeBy).toBeNull()
    expect((await server.json('/v1/orders/of-the-marketplace')).body).toMatchObject({ acknowledgeBy: null, autoCancelAt: null })
    expect((await server.json('/v1/orders/done')).body).toMatchObject({ acknowledgeBy: null, autoCancelAt: null })
  })
})

test.each([
  ['trackingNumber=1ZHELD', ['c-1']],
  ['trackingNumber=1ZNONE', []],
  ['sku=SKU-late', ['c-3']],
  ['sku=SKU-to-ship&state=held', ['c-1']],
  ['sku=SKU-to-ship&state=confirmed', []],
  ['sku=SKU-to-ship&trackingNumber=1ZHELD', ['c-1']],
  ['settledFrom=2020-01-01', ['c-3', 'c-2']],
  ['settledFrom=2020-01-01&state=rejected', ['c-3']],
  ['settledTo=2020-01-01', []],
])('commands of %s', async (query, expected) => {
  expect(await idsOf(`/v1/commands?${query}`, 'id')).toEqual(expected)
})

test('work is counted hour by hour', async () => {
  const { body } = await server.json('/v1/throughput?hours=6')
  expect(body.items).toHaveLength(6)
  const sum = (member: string): number => body.items.reduce((all: number, hour: Answer) => all + hour[member], 0)
  expect([sum('ordered'), sum('confirmed'), sum('rejected')]).toEqual([3, 1, 1])
  expect((await server.json('/v1/throughput?hours=0')).status).toBe(400)
})
