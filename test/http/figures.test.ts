import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withDatabase } from '../support/database.ts'
import { at, listAt, numberAt, ofItems } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

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
  readonly cancelled?: number
  readonly refunded?: number
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
  { id: 'called-off', orderedAgo: 210, shipIn: -150, acknowledged: 0, cancelled: 2 },
  { id: 'given-back', orderedAgo: 220, shipIn: -150, acknowledged: 2, shipped: 1, cancelled: 1, refunded: 1 },
]

beforeAll(async () => {
  server = await startServer(stage.database, { marketplaceNow: () => now })
  for (const {
    id,
    orderedAgo,
    shipIn,
    acknowledged,
    shipped = 0,
    cancelled = 0,
    refunded = 0,
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
      shipped + cancelled < 2,
      city === undefined ? null : JSON.stringify({ city }),
      shipNodeType,
      missing,
    )
    await stage.database.execute(
      `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled,
         refunded, refunded_amount, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at)
       VALUES ('s-1', $1, '1', 0, 'SKU-' || $1, 2, $2::int, $3::int, $4::int, $5::int, 0, '[]', '[]', false, '{}', now(), now())`,
      id,
      acknowledged,
      shipped,
      cancelled,
      refunded,
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

const listIds = async (path: string, member: string): Promise<readonly unknown[]> => {
  const { status, body } = await server.json(path)
  expect(status, JSON.stringify(body)).toBe(200)
  return ofItems(body, member)
}

test('the overview counts orders by deadline', async () => {
  const { body } = await server.json('/v1/overview')
  expect(at(body, 'orders')).toEqual({
    open: 8,
    late: 2,
    toAcknowledge: 3,
    acknowledgeOverdue: 1,
    acknowledgeSoon: 1,
    toShip: 3,
    shipSoon: 2,
    autoCancelSoon: 1,
    dueBy: null,
  })
})

test('the pick list has the units to ship by SKU, without those of a shipment that is being sent', async () => {
  const { body } = await server.json('/v1/pick-list?sellerId=s-1')
  const items = ofItems(body, 'sku').map((sku, index) => `${sku} ${ofItems(body, 'units')[index]}`)
  expect(items).toContain('SKU-to-ship 1')
  expect(items).toContain('SKU-late 2')
  const { body: before } = await server.json('/v1/pick-list?shipBefore=2000-01-01T00:00:00Z')
  expect(before).toEqual({ items: [] })
})

test('orders of the last days are counted by state, and each number leads to its rows', async () => {
  const { body } = await server.json('/v1/order-states?days=10')
  expect(body).toEqual({
    from: '2026-02-28T00:00:00.000Z',
    ...{ ordered: 11, open: 8, shipped: 2, cancelled: 1, refunded: 1 },
  })
  const since = `createdFrom=${at(body, 'from')}&sort=-orderDate`
  expect(await listIds(`/v1/orders?${since}`, 'purchaseOrderId')).toHaveLength(11)
  expect(await listIds(`/v1/orders?${since}&open=true`, 'purchaseOrderId')).toHaveLength(8)
  expect(await listIds(`/v1/orders?${since}&outcome=shipped`, 'purchaseOrderId')).toEqual(['done', 'given-back'])
  expect(await listIds(`/v1/orders?${since}&outcome=cancelled`, 'purchaseOrderId')).toEqual(['called-off'])
  expect(await listIds(`/v1/orders?${since}&outcome=refunded`, 'purchaseOrderId')).toEqual(['given-back'])
  expect((await server.json('/v1/order-states?days=5')).body).toMatchObject({ ordered: 8, open: 8, shipped: 0, cancelled: 0 })
  expect((await server.json('/v1/order-states?days=40')).status).toBe(400)
})

describe('orders', () => {
  test.each([
    ['unacknowledged=true&sort=acknowledgeBy', ['overdue', 'soon', 'fresh']],
    ['unacknowledged=false&sort=shipBy', ['nearly-cancelled', 'gone', 'late', 'of-the-marketplace', 'to-ship']],
    ['fulfilledBySeller=true&unacknowledged=false&sort=shipBy', ['nearly-cancelled', 'late', 'to-ship']],
    ['fulfilledBySeller=false&open=true&sort=shipBy', ['gone', 'of-the-marketplace']],
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
    expect(await listIds(`/v1/orders?${query}`, 'purchaseOrderId')).toEqual(expected)
  })

  test('a search that is sorted goes on from page to page', async () => {
    const first = await server.json('/v1/orders?city=oslo&sort=-orderDate&limit=2')
    expect(ofItems(first.body, 'purchaseOrderId')).toEqual(['fresh', 'to-ship'])
    const next = `/v1/orders?city=oslo&sort=-orderDate&limit=2&cursor=${at(first.body, 'nextCursor')}`
    expect(await listIds(next, 'purchaseOrderId')).toEqual(['done'])
  })

  test('tell by when they must be acknowledged, and when the marketplace cancels them', async () => {
    const { body } = await server.json('/v1/orders/overdue')
    expect(body).toMatchObject({ acknowledgeBy: '2026-03-09T23:00:00.000Z', autoCancelAt: '2026-03-14T12:00:00.000Z' })
    expect(at((await server.json('/v1/orders/late')).body, 'acknowledgeBy')).toBeNull()
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
  expect(await listIds(`/v1/commands?${query}`, 'id')).toEqual(expected)
})

test('work is counted hour by hour', async () => {
  const { body } = await server.json('/v1/throughput?hours=6')
  expect(at(body, 'items')).toHaveLength(6)
  const sum = (member: string): number => listAt(body, 'items').reduce<number>((all, hour) => all + numberAt(hour, member), 0)
  expect([sum('ordered'), sum('confirmed'), sum('rejected')]).toEqual([3, 1, 1])
  // Each number leads to its rows.
  const hours = await Promise.all(
    listAt(body, 'items').map(async (hour) => {
      const until = (member: string): string => new Date(Date.parse(String(at(hour, member))) + 3_600_000).toISOString()
      const settled = `settledFrom=${at(hour, 'from')}&settledTo=${until('from')}`
      return [
        await listIds(`/v1/orders?createdFrom=${at(hour, 'orderedFrom')}&createdTo=${until('orderedFrom')}`, 'purchaseOrderId'),
        await listIds(`/v1/commands?state=confirmed&${settled}`, 'id'),
        await listIds(`/v1/commands?state=rejected&${settled}`, 'id'),
      ].map((rows) => rows.length)
    }),
  )
  expect(hours).toEqual(listAt(body, 'items').map((hour) => ['ordered', 'confirmed', 'rejected'].map((name) => at(hour, name))))
  expect((await server.json('/v1/throughput?hours=0')).status).toBe(400)
})

describe('how far the syncs are', () => {
  beforeAll(async () => {
    for (const seller of ['l-1', 'l-2', 'l-3'])
      await stage.database.execute(
        `INSERT INTO tallyman.sellers (seller_id, state, served_at) VALUES ($1, 'active', now())`,
        seller,
      )
    await stage.database.execute(`UPDATE tallyman.sellers SET state = 'stopped', stopped_at = now() WHERE seller_id = 'l-3'`)
    for (const [seller, resource, stream, minutesAgo, failures] of [
      ['l-1', 'orders', 'released', 1, 0],
      ['l-2', 'orders', 'released', 40, 0],
      ['l-1', 'orders', 'backfill:20260101T000000Z-20260201T000000Z', null, 0],
      // A slower stream: the newest orders are no older for it, but it must not stop. Five days is its limit.
      ['l-1', 'orders', 'reread', 480, 0],
      ['l-2', 'orders', 'reread', 8_000, 0],
      // Stopped: nothing runs for it, which its own alarm tells.
      ['l-3', 'orders', 'released', 600, 0],
      // Long ago, but it runs once a day.
      ['l-1', 'taxonomies', 'all', 600, 0],
      ['l-2', 'taxonomies', 'all', null, 0],
      ['l-1', 'returns', 'changed', 2, 3],
      ['l-1', 'settlements', 'backfill:20260101T000000Z-20260201T000000Z', 500, 0],
    ] as const)
      await stage.database.execute(
        `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_success_at, failures)
         VALUES ($1, $2, $3, now() - $4::int * interval '1 minute', $5::int)`,
        ...[seller, resource, stream, minutesAgo, failures],
      )
  })

  test('is listed by resource, failing ones first, and "behind" is defined as by the alarm', async () => {
    const { body } = await server.json('/v1/lags')
    const none = { failing: 0, behind: 0, unread: 0 }
    const lag = (minutes: number): unknown => expect.closeTo(minutes * 60_000, -5)
    expect(at(body, 'items')).toEqual([
      // The lag is of the streams that run by themselves, and of those that run most often.
      { ...none, resource: 'returns', streams: 1, failing: 1, lagMs: null, furthest: null },
      { ...none, resource: 'orders', streams: 6, behind: 2, lagMs: lag(40), furthest: { sellerId: 'l-2', stream: 'released' } },
      { ...none, resource: 'taxonomies', streams: 2, unread: 1, lagMs: lag(600), furthest: { sellerId: 'l-1', stream: 'all' } },
      { ...none, resource: 'settlements', streams: 1, lagMs: null, furthest: null },
    ])
    for (const item of listAt(body, 'items')) {
      const rows = (filter: string) => listIds(`/v1/syncs?resource=${at(item, 'resource')}${filter}`, 'sellerId')
      expect(await rows('')).toHaveLength(numberAt(item, 'streams'))
      for (const filter of ['failing', 'behind', 'unread'])
        expect(await rows(`&${filter}=true`), filter).toHaveLength(numberAt(item, filter))
    }
    expect(await listIds('/v1/syncs?behind=true', 'stream')).toEqual(['released', 'reread'])
    expect(await listIds('/v1/syncs?behind=true', 'sellerId')).toEqual(['l-2', 'l-2'])
    expect(at((await server.json('/v1/lags?sellerId=l-1')).body, 'items')).toHaveLength(4)
    expect(at((await server.json('/v1/lags?sellerId=l-3')).body, 'items')).toEqual([
      { ...none, resource: 'orders', streams: 1, lagMs: null, furthest: null },
    ])
  })
})

test('rate limits are listed by operation, the one with the fewest remaining requests first', async () => {
  const figure = (sellerId: string, operation: string, available: number) => ({
    ...{ sellerId, operation, scope: null, available, perMinute: 60, blockedUntil: null },
  })
  const limited = await startServer(stage.database, {
    budget: async () => [
      figure('s-1', 'orders.list', 40),
      figure('s-1', 'returns.list', 3),
      figure('s-2', 'orders.list', 0),
      figure('s-3', 'orders.list', 0),
    ],
  })
  const { body } = await limited.json('/v1/budget/operations')
  expect(at(body, 'items')).toEqual([
    { operation: 'orders.list', limits: 3, usedUp: 2, least: figure('s-2', 'orders.list', 0) },
    { operation: 'returns.list', limits: 1, usedUp: 0, least: figure('s-1', 'returns.list', 3) },
  ])
  const rows = (await limited.json('/v1/budget?operation=orders.list&limit=2')).body
  expect(ofItems(rows, 'sellerId')).toEqual(['s-2', 's-3'])
  await limited.close()
})
