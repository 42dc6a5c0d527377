import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import type { MarketplaceClient } from '../../../src/clients/http/client.ts'
import type { OrdersClient } from '../../../src/clients/marketplace/orders/orders.ts'
import { ordersEndpoint, orderWrites } from '../../../src/clients/marketplace/orders/orders.ts'
import type { SyncDeps } from '../../../src/jobs/sync/engine/run.ts'
import { readStreams, requestBackfill } from '../../../src/jobs/sync/engine/syncs.ts'
import { CursorLoop, UnknownSync } from '../../../src/jobs/sync/recovery/errors.ts'
import { openDatabase } from '../../../src/store/db/database.ts'
import { findUnfinishedSyncs, listSyncs } from '../../../src/store/sync/sync-states.ts'
import { withPart } from '../../clients/with-part.ts'
import { eventually } from '../../support/eventually.ts'
import { findVocabulary } from '../../support/vocabulary.ts'
import { daysAgo, type TestSeller, testSettings, withSyncBench } from './support.ts'

const bench = withSyncBench()

const changed = 'changed:SellerFulfilled'
const seller = { shipNodeType: 'SellerFulfilled' } as const
const settings = (more: SyncDeps['settings']): Partial<SyncDeps> => ({ settings: { ...testSettings, ...more } })

/** A client that does something before each further page. */
const beforeEachPage = (client: MarketplaceClient, work: (page: number) => Promise<void>): Partial<SyncDeps> => {
  let page = 1
  const orders: Partial<OrdersClient> = {
    continue: async (cursor, which, options) => {
      page += 1
      await work(page)
      return client.of(ordersEndpoint).continue(cursor, which, options)
    },
  }
  return { client: () => withPart(client, ordersEndpoint, orders) }
}
const acknowledge = async ({ client }: TestSeller, purchaseOrderId: string): Promise<void> => {
  const correlationId = crypto.randomUUID()
  // The clock may have gone on past the end of the token: a read gets a new one, a write would be left to its sender.
  await client.of(ordersEndpoint).get(purchaseOrderId, { signal: AbortSignal.timeout(10_000) })
  await client.writer(orderWrites).send(client.of(ordersEndpoint).prepare.acknowledge(purchaseOrderId), {
    signal: AbortSignal.timeout(10_000),
    correlationId,
  })
}

test('the first run brings everything, each node type by its own stream, and the next finds nothing and writes nothing', async () => {
  const one = await bench.seller()
  const ids = [
    ...(await one.place(60, { ...seller, createdFrom: daysAgo(100), createdTo: daysAgo(1) })),
    ...(await one.place(10, { shipNodeType: 'WFSFulfilled', createdFrom: daysAgo(100), createdTo: daysAgo(1) })),
    ...(await one.place(5, { shipNodeType: '3PLFulfilled', createdFrom: daysAgo(100), createdTo: daysAgo(1) })),
  ]
  await bench.advance('1m')
  const streams = readStreams('orders')
    .map(({ stream }) => stream)
    .filter((stream) => stream.startsWith('changed:'))
  for (const stream of streams) await one.sync('orders', stream)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  const before = await one.changes()
  const marks = () =>
    bench.database.query(
      'SELECT purchase_order_id, xmin::text FROM warehouse.orders WHERE seller_id = $1 ORDER BY 1',
      one.sellerId,
    )
  const marksBefore = await marks()
  const wide = settings({ lookBackMs: 200 * 86_400_000 })
  for (const stream of streams) await one.sync('orders', stream, wide)
  expect(await one.changes()).toEqual(before)
  expect(await marks()).toEqual(marksBefore)
  expect((await one.runs(changed)).at(-1)).toEqual({ pages: 3, seen: 60, changed: 0, quarantined: 0, error: null })
})

test('an old order that changes today is seen: the seven-day trap', async () => {
  const one = await bench.seller()
  const [old] = await one.place(1, { ...seller, createdFrom: daysAgo(90), createdTo: daysAgo(80), history: false })
  if (old === undefined) throw new Error('no order')
  await bench.advance('1h')
  await one.sync('orders', changed)
  await bench.advance('1h')
  await acknowledge(one, old)
  await bench.advance('5m')
  await one.sync('orders', changed)
  expect((await one.changes()).map((change) => change.type)).toContain('order_line.changed')
  const queries = (await one.requests()).filter((request) => request.includes('lastModifiedStartDate'))
  expect(queries.every((request) => request.includes('createdStartDate='))).toBe(true)
})

test('a seller without orders is an empty sync, not a failure', async () => {
  const one = await bench.seller()
  for (const { stream } of readStreams('orders')) expect(await one.once('orders', stream)).toEqual({ done: true })
  expect(await one.once('returns', 'changed')).toEqual({ done: true })
  expect(await one.runs(changed)).toMatchObject([{ seen: 0, error: null }])
  expect((await one.state(changed)).watermark).toBeInstanceOf(Date)
})

test('the watermark lags the marketplace’s clock, however far ours is off, and never moves back', async () => {
  const one = await bench.seller()
  await bench.advance('30d')
  await one.place(30, seller)
  await bench.advance('5m')
  await one.sync('orders', changed)
  const { now } = (await bench.sandbox.control('GET', '/clock')) as { now: string }
  const first = (await one.state(changed)).watermark?.getTime() ?? 0
  expect(first).toBeLessThanOrEqual(Date.parse(now) - 1_000)
  expect(first).toBeGreaterThan(Date.parse(now) - 60_000)
  expect(await one.storedOrders()).toHaveLength(30)
  await one.sync('orders', changed, settings({ lagMs: 3_600_000 }))
  expect((await one.state(changed)).watermark?.getTime()).toBe(first)
})

test('a window that holds too much is split until its parts fit', async () => {
  const one = await bench.seller()
  const ids = await one.place(400, { ...seller, createdFrom: daysAgo(120), createdTo: daysAgo(1) })
  await bench.advance('1m')
  await one.sync('orders', changed, settings({ maxPerQuery: 100 }))
  expect(await one.storedOrders()).toEqual([...ids].sort())
  const { totals, windows } = await one.state(changed)
  expect(windows).toBe(0)
  expect(totals.windowsTotal).toBeGreaterThan(3)
  expect(totals.windowsDone).toBe(totals.windowsTotal)
})

test('a cursor that comes back does not lead in circles: the window is read again', async () => {
  const one = await bench.seller()
  const ids = await one.place(120, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  await bench.sandbox.next({ fault: 'repeatCursor', sellerId: one.sellerId })
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect((await one.runs(changed)).at(-1)?.error).toContain('loop')
})

test('paging that always goes astray ends in a recorded failure, and heals later', async () => {
  const one = await bench.seller()
  const ids = await one.place(120, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  await bench.sandbox.next({ fault: 'repeatCursor', sellerId: one.sellerId, times: 1_000 })
  await expect(one.once('orders', changed)).rejects.toThrow(CursorLoop)
  expect(await one.state(changed)).toMatchObject({ failures: 1 })
  await bench.sandbox.control('PUT', '/faults', {})
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(await one.state(changed)).toMatchObject({ failures: 0, last_error: null })
})

test('more pages than a window can have stop the paging too', async () => {
  const one = await bench.seller()
  await one.place(60, { ...seller, createdFrom: daysAgo(1), createdTo: daysAgo(1) })
  await bench.advance('1m')
  await expect(one.once('orders', changed, settings({ pageSize: 5, pageCap: 2 }))).rejects.toThrow(CursorLoop)
})

test('a cursor that dies while paging restarts the window', async () => {
  const one = await bench.seller()
  const ids = await one.place(120, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  await bench.sandbox.next({ fault: 'cursorExpired', sellerId: one.sellerId, status: 400 })
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toEqual([...ids].sort())
})

test('orders that change or arrive while pages are read are not lost', async () => {
  const one = await bench.seller()
  const ids = await one.place(150, { ...seller, createdFrom: daysAgo(2), createdTo: daysAgo(1), history: false })
  await bench.advance('10m')
  const late: string[] = []
  const left: string[] = []
  const moving = beforeEachPage(one.client, async (page) => {
    // Changed orders leave the window, and all that follow them move up.
    const leaving = page <= 4 ? ids.slice((page - 2) * 5, (page - 1) * 5) : []
    for (const id of leaving) await acknowledge(one, id)
    left.push(...leaving)
    if (page === 3) late.push(...(await one.place(7, seller)))
  })
  await one.sync('orders', changed, moving)
  const firstRun = await one.storedOrders()
  expect(ids.filter((id) => !firstRun.includes(id) && !left.includes(id))).toEqual([])
  await bench.advance('10m')
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toEqual([...ids, ...late].sort())
})

test('a stopped run goes on at the page where it stopped', async () => {
  const one = await bench.seller()
  const ids = await one.place(200, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  const stop = new AbortController()
  const stopping = beforeEachPage(one.client, async (page) => {
    if (page === 4) stop.abort()
  })
  expect(await one.once('orders', changed, stopping, stop.signal)).toMatchObject({ reason: 'stopping' })
  const state = await one.state(changed)
  expect(state).toMatchObject({ windows: 1, pages: 3, watermark: null })
  expect(state.cursor).toContain('poIndex=75')
  expect(await one.storedOrders()).toHaveLength(75)
  expect(await findUnfinishedSyncs(bench.database)).toContainEqual({
    sellerId: one.sellerId,
    resource: 'orders',
    stream: changed,
  })
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  const pagesAsked = (await one.requests()).map((request) => /poIndex=(\d+)/.exec(request)?.[1])
  // Once the long window is read it is read again, as something new has come; up to then no page is asked for twice.
  const firstPass = pagesAsked.slice(0, pagesAsked.indexOf('175'))
  expect(firstPass.filter((index) => index === '25')).toHaveLength(1)
})

test('a run gives its worker back when its turn is over, after one page at least', async () => {
  const one = await bench.seller()
  const ids = await one.place(100, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  expect(await one.once('orders', changed, settings({ turnMs: 0 }))).toMatchObject({ reason: 'taking turns' })
  expect(await one.state(changed)).toMatchObject({ windows: 1, pages: 1 })
  expect(await one.sync('orders', changed, settings({ turnMs: 0 }))).toBeGreaterThan(2)
  expect(await one.storedOrders()).toEqual([...ids].sort())
})

test('a page and its cursor are one: what fails with the page does not move the cursor', async () => {
  const one = await bench.seller()
  const ids = await one.place(100, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  let pages = 0
  const failing: Partial<SyncDeps> = {
    afterSave: async () => {
      pages += 1
      if (pages === 3) throw new Error('the third page must not be')
    },
  }
  await expect(one.once('orders', changed, failing)).rejects.toThrow('the third page must not be')
  expect(await one.storedOrders()).toHaveLength(50)
  const state = await one.state(changed)
  expect(state).toMatchObject({ pages: 2, failures: 1 })
  expect(state.last_error).toContain('the third page must not be')
  expect(state.cursor).toContain('poIndex=50')
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect((await one.changes()).filter((change) => change.type === 'order.seen')).toHaveLength(100)
})

test('without budget the run ends with the time to go on, keeps its place and holds no lease', async () => {
  const one = await bench.seller({ 'orders.list': { tokens: 10, perMs: 1_000 } })
  const ids = await one.place(150, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  let runs = 0
  for (;;) {
    const outcome = await one.once('orders', changed)
    runs += 1
    if ('done' in outcome) break
    expect(outcome.reason).toBe('throttled')
    expect(outcome.runAgainAt.getTime()).toBeGreaterThan(Date.now() - 1_000)
    expect(runs).toBeLessThan(100)
    await one.goOn(outcome.runAgainAt)
  }
  expect(runs).toBeGreaterThan(1)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(await one.state(changed)).toMatchObject({ failures: 0, last_error: null })
})

test('its calls are of the lane of its stream', async () => {
  const one = await bench.seller()
  await one.place(3, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  const lanes: unknown[] = []
  const orders: Partial<OrdersClient> = {
    list: async (query, options) => {
      lanes.push(options.lane)
      return one.client.of(ordersEndpoint).list(query, options)
    },
  }
  for (const stream of [changed, 'reread']) {
    await one.once('orders', stream, { client: () => withPart(one.client, ordersEndpoint, orders) })
    expect([...new Set(lanes.splice(0))]).toEqual([stream === changed ? 'poll' : 'backfill'])
  }
})

test('two engines on one stream do the work once', async () => {
  const one = await bench.seller()
  const ids = await one.place(100, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  const other = openDatabase({ findVocabulary, url: bench.url, connections: 2 })
  try {
    const outcomes = await Promise.all([
      one.once('orders', changed, { owner: 'first' }),
      one.once('orders', changed, { owner: 'second', database: other }),
    ])
    expect(outcomes).toContainEqual({ done: true })
    expect(await one.runs(changed)).toHaveLength(1)
    expect(await one.storedOrders()).toEqual([...ids].sort())
    expect(await one.changes()).toHaveLength(100)
  } finally {
    await other.close()
  }
})

test('a run that has lost its lease writes nothing more', async () => {
  const one = await bench.seller()
  await one.place(100, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) })
  await bench.advance('1m')
  const overtaken = beforeEachPage(one.client, async (page) => {
    if (page !== 3) return
    // The second page is being stored meanwhile; once it is, the process seems dead and another takes over.
    await expect.poll(() => one.storedOrders()).toHaveLength(50)
    await bench.database.execute(
      `UPDATE tallyman.sync_states SET lease_fence = lease_fence + 1, lease_owner = 'other' WHERE seller_id = $1`,
      one.sellerId,
    )
  })
  expect(await one.once('orders', changed, overtaken)).toEqual({ done: true })
  expect(await one.storedOrders()).toHaveLength(50)
  expect(await one.runs(changed)).toEqual([])
})

test('a failing marketplace is recorded with the correlation id and what to do', async () => {
  const one = await bench.seller()
  await bench.sandbox.next({ fault: 'serverErrorBefore', sellerId: one.sellerId, operation: 'orders.list' })
  await expect(one.once('orders', changed)).rejects.toMatchObject({ kind: 'unavailable' })
  const state = await one.state(changed)
  expect(state.last_error).toMatch(/correlation id [0-9a-f-]{36}; it is retried/)
  expect((await one.runs(changed))[0]?.error).toBe(state.last_error)
})

test('an unknown resource or stream is a mistake of the caller', async () => {
  const one = await bench.seller()
  await expect(one.once('orders', 'nonsense')).rejects.toThrow(UnknownSync)
  await expect(one.once('nonsense', changed)).rejects.toThrow(UnknownSync)
})

test('a backfill brings a range, shows how far it is, and does no work twice', async () => {
  const one = await bench.seller()
  const range = { from: new Date(daysAgo(60)), to: new Date() }
  const place = (count: number, shipNodeType: string) =>
    one.place(count, { shipNodeType, createdFrom: daysAgo(59), createdTo: daysAgo(1) })
  const ids = [
    ...(await place(2_000, 'SellerFulfilled')),
    ...(await place(300, 'WFSFulfilled')),
    ...(await place(200, '3PLFulfilled')),
  ]
  const slices = { backfillSliceMs: 10 * 86_400_000, pageSize: 200, maxPerQuery: 300, maxPagesPerRun: 7 }
  const key = await requestBackfill(bench.database, { sellerId: one.sellerId, resource: 'orders', range }, slices)
  expect(await requestBackfill(bench.database, { sellerId: one.sellerId, resource: 'orders', range }, slices)).toEqual(key)
  expect(await findUnfinishedSyncs(bench.database)).toContainEqual(key)
  expect(await one.sync('orders', key.stream, settings(slices))).toBeGreaterThan(2)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  const [progress] = (await listSyncs(bench.database, one.sellerId)).filter(({ stream }) => stream === key.stream)
  expect(progress).toMatchObject({ windowsPending: 0, running: false, lastError: null })
  expect(progress?.totals.windowsTotal).toBeGreaterThan(18)
  expect(progress?.totals.windowsDone).toBe(progress?.totals.windowsTotal)
  expect(progress?.totals.changed).toBe(2_500)
  expect(await one.changes()).toHaveLength(2_500)
})

test('a backfill says what is older than the marketplace answers for', async () => {
  const one = await bench.seller()
  await one.place(20, { ...seller, createdFrom: daysAgo(100), createdTo: daysAgo(1) })
  const range = { from: new Date(daysAgo(730)), to: new Date() }
  const { stream } = await requestBackfill(bench.database, { sellerId: one.sellerId, resource: 'orders', range })
  await one.sync('orders', stream)
  const [progress] = (await listSyncs(bench.database, one.sellerId)).filter((sync) => sync.stream === stream)
  expect(progress?.totals.windowsDone).toBe(progress?.totals.windowsTotal)
  const { now } = (await bench.sandbox.control('GET', '/clock')) as { now: string }
  const wall = Date.parse(now) - 180 * 86_400_000
  const before = Date.parse(progress?.totals.outOfReachBefore ?? '')
  expect(Math.abs(before - wall)).toBeLessThan(3_600_000)
})

test('a backfill takes the room of a few windows, however long it is, and reaches neither year 0 nor year 9999', async () => {
  const one = await bench.seller()
  const ids = await one.place(10, { ...seller, createdFrom: daysAgo(100), createdTo: daysAgo(1) })
  const range = { from: new Date('0000-01-01T00:00:00Z'), to: new Date('9999-12-31T00:00:00Z') }
  for (const resource of ['orders', 'returns', 'reconciliation']) {
    const { stream } = await requestBackfill(bench.database, { sellerId: one.sellerId, resource, range })
    const [row] = await bench.database.query<{ length: number; windows: number }>(
      `SELECT length(pending::text) AS length, jsonb_array_length(pending) AS windows FROM tallyman.sync_states
       WHERE seller_id = $1 AND resource = $2 AND stream = $3`,
      one.sellerId,
      resource,
      stream,
    )
    expect(row?.length, resource).toBeLessThan(20_000)
    const [shown] = (await listSyncs(bench.database, one.sellerId)).filter((sync) => sync.resource === resource)
    expect(shown?.windowsPending, resource).toBe(shown?.totals.windowsTotal)
  }
  const stream = 'backfill:00000101T000000Z:99991231T000000Z'
  await one.sync('orders', stream)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  const [shown] = (await listSyncs(bench.database, one.sellerId)).filter((sync) => sync.resource === 'orders')
  expect(shown).toMatchObject({ windowsPending: 0, totals: { windowsTotal: 54, windowsDone: 54 } })
  expect(shown?.totals.outOfReachBefore).not.toBeNull()
  await expect(
    requestBackfill(bench.database, {
      sellerId: one.sellerId,
      resource: 'orders',
      range: { from: new Date('2000-01-01T00:00:00Z'), to: new Date('2001-01-01T00:00:00Z') },
    }),
  ).rejects.toThrow(RangeError)
})

test('a backfill over thousands of years that an earlier version has put down is done with, and stops nothing', async () => {
  const one = await bench.seller()
  const ids = await one.place(10, { ...seller, createdFrom: daysAgo(20), createdTo: daysAgo(1) })
  const stream = 'backfill:00010101T000000Z:99991231T000000Z'
  await bench.database.execute(
    `INSERT INTO tallyman.sync_states (seller_id, resource, stream, pending, totals)
     SELECT $1, 'orders', $2, jsonb_agg(jsonb_build_object('from', to_char(t, 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'),
       'to', to_char(t + interval '10 days', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'), 'part', 'SellerFulfilled') ORDER BY t),
       '{"windowsTotal": 365000}'
     FROM generate_series(timestamp '0001-01-01', timestamp '9999-12-20', interval '9 days 23:59:59') t`,
    one.sellerId,
    stream,
  )
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  await one.sync('orders', stream)
  delay.disable()
  expect(delay.max / 1e6).toBeLessThan(1_000)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect((await one.requests()).length).toBeLessThan(100)
})

test('released orders show at once, and the caller is notified in the page’s transaction', async () => {
  const one = await bench.seller()
  const ids = await one.place(40, seller)
  const told: string[] = []
  const hook: Partial<SyncDeps> = {
    afterSave: async (tx, { sellerId, newOrders }) => {
      const [row] = await tx.query<{ count: bigint }>('SELECT count(*) FROM warehouse.orders WHERE seller_id = $1', sellerId)
      expect(row?.count).toBeGreaterThanOrEqual(BigInt(newOrders.length))
      told.push(...newOrders.map((order) => order.purchaseOrderId))
    },
  }
  await one.sync('orders', 'released', hook)
  await one.sync('orders', 'released', hook)
  expect(told.sort()).toEqual([...ids].sort())
})

test('the sweep finds what no list has shown, and notes what the marketplace has lost', async () => {
  const one = await bench.seller()
  const ids = await one.place(30, { ...seller, history: false })
  await one.sync('orders', 'released')
  await bench.sandbox.control('PUT', '/faults', { listLagMs: 86_400_000 })
  for (const id of ids.slice(0, 3)) await acknowledge(one, id)
  await bench.database.execute(
    `INSERT INTO warehouse.orders (seller_id, purchase_order_id, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
     VALUES ($1, '42', true, '', '{}', now() - interval '1 day', now(), now())`,
    one.sellerId,
  )
  await one.sync('orders', 'sweep', settings({ sweepStep: 7, maxPagesPerRun: 2 }))
  const types = (await one.changes()).filter((change) => change.type !== 'order.seen')
  expect(new Set(types.map((change) => `${change.type} ${change.purchase_order_id}`))).toEqual(
    new Set([...ids.slice(0, 3).map((id) => `order_line.changed ${id}`), 'order.missing 42']),
  )
  expect(await one.storedOrders()).toContain('42')
  expect(await one.state('sweep')).toMatchObject({ windows: 0, cursor: null })
})

test('a sweep that meets an empty budget keeps what it has read', async () => {
  const one = await bench.seller({ 'orders.get': { tokens: 10, perMs: 1_000 } })
  await one.place(12, { ...seller, history: false })
  await one.sync('orders', 'released')
  expect(await one.sync('orders', 'sweep')).toBeGreaterThan(1)
  const read = (await one.requests()).filter((request) => /\/v3\/orders\/\d+/.test(request))
  expect(read.length).toBeLessThan(24)
})

test('a run holds its stream for as long as it waits for a page, and no longer', async () => {
  const one = await bench.seller()
  await one.place(30, { ...seller, createdFrom: daysAgo(2), createdTo: daysAgo(1) })
  await bench.advance('1m')
  const leaseMs = 2_000
  let leasedUntil: Date | null = null
  const waiting = beforeEachPage(one.client, async () => {
    const untilByOperation = async () => {
      const [row] = await bench.database.query<{ until: Date }>(
        'SELECT lease_until AS until FROM tallyman.sync_states WHERE seller_id = $1 AND lease_owner IS NOT NULL',
        one.sellerId,
      )
      if (row === undefined) throw new Error('no stream is held')
      return row.until
    }
    const before = await untilByOperation()
    // Longer than the lease would have lasted.
    leasedUntil = await eventually(async () => {
      const until = await untilByOperation()
      expect(until.getTime()).toBeGreaterThan(before.getTime() + leaseMs)
      return until
    })
  })
  await one.sync('orders', changed, { ...settings({ leaseMs }), ...waiting })
  expect(leasedUntil).not.toBeNull()
  expect((await listSyncs(bench.database)).filter(({ sellerId, running }) => sellerId === one.sellerId && running)).toEqual([])
})
