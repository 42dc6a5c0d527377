import { describe, expect, test } from 'vitest'
import { type OrdersClient, ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { requestBackfill } from '../../../src/jobs/sync/engine/syncs.ts'
import { findStreamsWithDueSkips } from '../../../src/store/sync/quarantine.ts'
import { dropCursor } from '../../../src/store/sync/sync-states.ts'
import { withPart } from '../../clients/with-part.ts'
import { daysAgo, type TestSeller, testSettings, withSyncBench } from './support.ts'

const bench = withSyncBench()

const changed = 'changed:SellerFulfilled'
const seller = { shipNodeType: 'SellerFulfilled' } as const
const dayMs = 86_400_000
const faults = (body: object): Promise<unknown> => bench.sandbox.control('PUT', '/faults', body)

interface Passed {
  readonly id: bigint
  readonly state: string
  readonly fault: string
  readonly from: string
  readonly to: string
  readonly seconds: number
}
const skipped = (one: TestSeller): Promise<readonly Passed[]> =>
  bench.database.query<Passed>(
    `SELECT id, state, fault, skipped -> 'window' ->> 'from' AS from, skipped -> 'window' ->> 'to' AS to,
       extract(epoch FROM (skipped -> 'window' ->> 'to')::timestamptz - (skipped -> 'window' ->> 'from')::timestamptz)::int AS seconds
     FROM tallyman.quarantined_records WHERE seller_id = $1 AND skipped IS NOT NULL ORDER BY id`,
    one.sellerId,
  )
const alarms = async (one: TestSeller): Promise<readonly string[]> =>
  (
    await bench.database.query<{ message: string }>(
      `SELECT message FROM tallyman.alarms WHERE seller_id = $1 AND kind = 'reading-skipped' AND resolved_at IS NULL`,
      one.sellerId,
    )
  ).map(({ message }) => message)
const placePast = (one: TestSeller, count: number): Promise<readonly string[]> =>
  one.place(count, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1), history: false })
const retryNow = (one: TestSeller): Promise<number> =>
  bench.database.execute(
    'UPDATE tallyman.quarantined_records SET retry_at = now() WHERE seller_id = $1 AND retry_at IS NOT NULL',
    one.sellerId,
  )

describe('a cursor that has died for good', () => {
  test.each([
    [401, 'coded'],
    [403, 'coded'],
    [404, 'coded'],
    [404, 'framework'],
    [410, 'html'],
    [422, 'coded'],
    [500, 'coded'],
  ] as const)('%i, %s: after a second failure the window begins anew, and all of it comes', async (status, body) => {
    const one = await bench.seller()
    const ids = await placePast(one, 120)
    await bench.advance('1m')
    await bench.sandbox.next({ fault: 'cursorExpired', sellerId: one.sellerId, status, body, lasting: true })
    expect(await one.read('orders', changed)).toBeLessThanOrEqual(2)
    expect(await one.storedOrders()).toEqual([...ids].sort())
    expect(await one.state(changed)).toMatchObject({ cursor: null, windows: 0, failures: 0, last_error: null })
    expect(await skipped(one)).toEqual([])
  })

  test('a cursor that leads to "none there" is no end of the list', async () => {
    const one = await bench.seller()
    const ids = await placePast(one, 120)
    await bench.advance('1m')
    await bench.sandbox.next({ fault: 'falseNone', sellerId: one.sellerId, operation: 'orders.list' })
    const half = { ...one.client.of(ordersEndpoint), list: one.client.of(ordersEndpoint).list }
    let pages = 0
    const orders: typeof half = {
      ...half,
      continue: async (cursor, which, options) => {
        pages += 1
        const page = await one.client.of(ordersEndpoint).continue(cursor, which, options)
        return pages === 2 ? { ...page, records: [], nextCursor: null, totalCount: 0 } : page
      },
    }
    await faults({})
    await one.read('orders', changed, { client: () => withPart(one.client, ordersEndpoint, orders) })
    expect(await one.storedOrders()).toEqual([...ids].sort())
  })

  test('an outage of everything leaves the cursor where it is', async () => {
    const one = await bench.seller()
    const ids = await placePast(one, 120)
    await bench.advance('1m')
    await one.once('orders', changed, { settings: { ...testSettings, maxPagesPerRun: 2 } })
    const { cursor } = await one.state(changed)
    expect(cursor).not.toBeNull()
    await faults({ serverErrorBefore: 1 })
    for (let run = 0; run < 4; run += 1) await expect(one.once('orders', changed)).rejects.toMatchObject({ kind: 'unavailable' })
    expect((await one.state(changed)).cursor).toBe(cursor)
    await faults({})
    await one.read('orders', changed)
    expect(await one.storedOrders()).toEqual([...ids].sort())
    expect(await skipped(one)).toEqual([])
  })

  test('whoever asks for the sync drops its cursor', async () => {
    const one = await bench.seller()
    await placePast(one, 120)
    await bench.advance('1m')
    await one.once('orders', changed, { settings: { ...testSettings, maxPagesPerRun: 2 } })
    const key = { sellerId: one.sellerId, resource: 'orders', stream: changed }
    expect(await dropCursor(bench.database, key)).toBe(true)
    expect(await one.state(changed)).toMatchObject({ cursor: null, pages: 0, windows: 1 })
    expect(await dropCursor(bench.database, key)).toBe(false)
  })
})

describe('a page that never comes', () => {
  test.each([[{ status: 500 }], [{ status: 400 }], [{ status: 403, body: 'html' }], [{ bytes: 1_100_000 }]])(
    '%j: all but the record that corrupts it is stored; that is skipped, reported, and tried again',
    async (poison) => {
      const one = await bench.seller()
      const ids = await placePast(one, 100)
      await bench.advance('1m')
      const bad = ids[40] ?? ''
      await faults({ poisoned: [{ ids: [bad], ...poison }] })
      await one.read('orders', changed)
      expect(await one.storedOrders()).toEqual(ids.filter((id) => id !== bad).sort())
      const rows = await skipped(one)
      expect(rows.length).toBeGreaterThan(0)
      expect(rows.every((row) => row.state === 'open' && row.seconds <= 1)).toBe(true)
      expect(await alarms(one)).toEqual([expect.stringContaining(rows[0]?.from ?? 'no window')])
      expect(await one.state(changed)).toMatchObject({ cursor: null, windows: 0, failures: 0 })
      // What is new goes on coming in meanwhile, and no request is spent on what was skipped before it is due.
      const more = await one.place(3, seller)
      await bench.advance('10m')
      await one.read('orders', changed)
      expect(await one.storedOrders()).toHaveLength(ids.length - 1 + more.length)
      await faults({})
      await retryNow(one)
      await one.read('orders', changed)
      expect(await one.storedOrders()).toContain(bad)
      expect((await skipped(one)).map((row) => row.state)).toEqual(rows.map(() => 'superseded'))
      expect(await alarms(one)).toEqual([])
    },
  )

  test('what was skipped and still cannot be read waits longer each time', async () => {
    const one = await bench.seller()
    const ids = await placePast(one, 30)
    await bench.advance('1m')
    await faults({ poisoned: [{ ids: [ids[7]] }] })
    await one.read('orders', changed)
    const waits = () =>
      bench.database.query<{ hours: number; seen_count: number }>(
        `SELECT round(extract(epoch FROM retry_at - now()) / 3600)::int AS hours, seen_count FROM tallyman.quarantined_records
         WHERE seller_id = $1 ORDER BY id LIMIT 1`,
        one.sellerId,
      )
    const due = async () => (await findStreamsWithDueSkips(bench.database)).filter(({ sellerId }) => sellerId === one.sellerId)
    expect(await due()).toEqual([])
    await retryNow(one)
    expect(await due()).toEqual([{ sellerId: one.sellerId, resource: 'orders', stream: changed }])
    await bench.advance('5m')
    await one.read('orders', changed)
    expect(await due()).toEqual([])
    expect(await waits()).toEqual([{ hours: 2, seen_count: 2 }])
    await retryNow(one)
    await bench.advance('5m')
    await one.read('orders', changed)
    expect(await waits()).toEqual([{ hours: 4, seen_count: 3 }])
  })

  test('a backfill, the list of released orders and returns get past it too', async () => {
    const one = await bench.seller()
    const ids = await one.place(60, { ...seller, createdFrom: daysAgo(1.5), createdTo: daysAgo(0.5), history: false })
    const bad = ids[20] ?? ''
    await faults({ poisoned: [{ ids: [bad] }] })
    await one.read('orders', 'released')
    expect(await one.storedOrders()).toEqual(ids.filter((id) => id !== bad).sort())
    const range = { from: new Date(daysAgo(2)), to: new Date(Date.now() + 60_000) }
    const { stream } = await requestBackfill(bench.database, { sellerId: one.sellerId, resource: 'orders', range })
    await one.read('orders', stream)
    const streams = await bench.database.query<{ stream: string }>(
      'SELECT DISTINCT stream FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY stream',
      one.sellerId,
    )
    // What a backfill skips is tried again by the daily reading, as nobody runs a backfill twice.
    expect(streams.map((row) => row.stream)).toEqual(['released', 'reread'])
  })

  test('a whole backend that answers nothing but errors is an outage: nothing is skipped', async () => {
    const one = await bench.seller()
    await placePast(one, 60)
    await bench.advance('1m')
    await faults({ rules: [{ operation: 'orders.list', serverErrorBefore: 1 }] })
    for (let run = 0; run < 6; run += 1) await expect(one.once('orders', changed)).rejects.toThrow()
    expect(await skipped(one)).toEqual([])
    expect(await one.state(changed)).toMatchObject({ windows: 1 })
  })

  test('more orders in one second than a query may page through are read by their creation', async () => {
    const one = await bench.seller()
    const ids = await one.place(120, { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1), history: false })
    await bench.advance('1m')
    const at = new Date(Math.floor(Date.now() / 1_000) * 1_000 - dayMs)
    // The marketplace is made to say that all of them changed in one second.
    const orders: Partial<OrdersClient> = {
      list: (query, options) => {
        const { lastModifiedFrom, lastModifiedTo, createdTo = new Date(), ...rest } = query
        const inside =
          lastModifiedFrom !== undefined && lastModifiedTo !== undefined && lastModifiedFrom <= at && at <= lastModifiedTo
        const none = { createdFrom: new Date(Date.now() - 60_000), createdTo: new Date(Date.now() - 59_000) }
        return one.client.of(ordersEndpoint).list({ ...rest, ...(inside ? { createdTo } : none) }, options)
      },
    }
    const deps = { client: () => withPart(one.client, ordersEndpoint, orders), settings: { ...testSettings, maxPerQuery: 30 } }
    await one.read('orders', changed, deps)
    expect(await one.storedOrders()).toEqual([...ids].sort())
    expect(await skipped(one)).toEqual([])
  })
})

const once = [
  'serverErrorBefore',
  'dropBefore',
  'html',
  'truncatedJson',
  'emptyBody',
  'okWithErrors',
  'cursorExpired',
  'falseNone',
] as const
/** Places of orders that corrupt their page, among sixty. Each of them costs a hundred requests, so one kind stands for all at every page. */
const everyPage = Array.from({ length: 15 }, (_, page) => page * 4 + 2)
const threePlaces = [0, 29, 59]
const forEver = [
  { name: 'every page, 500', places: everyPage, poison: { status: 500 } },
  { name: 'three pages, 503 of a gateway', places: threePlaces, poison: { status: 503, body: 'html' } },
  { name: 'three pages, 400', places: threePlaces, poison: { status: 400 } },
  { name: 'three pages, 403 of a gateway', places: threePlaces, poison: { status: 403, body: 'html' } },
  { name: 'three pages, 404 of a framework', places: threePlaces, poison: { status: 404, body: 'framework' } },
  { name: 'three pages, too large', places: threePlaces, poison: { bytes: 1_100_000 } },
] as const

describe('a listing of many pages', () => {
  const settings = { ...testSettings, pageSize: 4, maxPerQuery: 1_000 }

  test.each(once)('%s at every page in turn, once: all of it is stored, and nothing is skipped', async (fault) => {
    const one = await bench.seller()
    const ids = await placePast(one, 200)
    await bench.advance('1m')
    let struck = 0
    // Each page is struck the first time it is asked for, so that every run fails at another one.
    const seen = new Set<string>()
    const strike = async (page: string): Promise<void> => {
      if (seen.has(page)) return
      seen.add(page)
      struck += 1
      await bench.sandbox.next({ fault, sellerId: one.sellerId, operation: 'orders.list' })
    }
    const orders: Partial<OrdersClient> = {
      list: async (query, options) => {
        if (fault !== 'cursorExpired') await strike('first')
        return one.client.of(ordersEndpoint).list(query, options)
      },
      continue: async (cursor, which, options) => {
        await strike(cursor)
        return one.client.of(ordersEndpoint).continue(cursor, which, options)
      },
    }
    await one.read('orders', changed, { client: () => withPart(one.client, ordersEndpoint, orders), settings }, 300)
    expect(struck).toBeGreaterThanOrEqual(fault === 'cursorExpired' ? 49 : fault === 'falseNone' ? 1 : 50)
    expect(await one.storedOrders()).toEqual([...ids].sort())
    expect(await skipped(one)).toEqual([])
  })

  test.each(forEver)(
    'for ever at $name: the rest is stored, and what is skipped stands in an alarm',
    { timeout: 600_000 },
    async ({ places, poison }) => {
      const one = await bench.seller()
      const ids: string[] = []
      const startedMs = Date.now() - dayMs
      for (let order = 0; order < 60; order += 1) {
        const createdFrom = new Date(startedMs + order * 4_000).toISOString()
        ids.push(...(await one.place(1, { ...seller, createdFrom, createdTo: createdFrom, history: false })))
      }
      await bench.advance('1m')
      const bad = places.map((place) => ids[place] ?? '')
      await faults({ poisoned: [{ ids: bad, ...poison }] })
      await one.read('orders', changed, { settings }, 2_000)
      expect(await one.storedOrders()).toEqual(ids.filter((id) => !bad.includes(id)).sort())
      const rows = await skipped(one)
      expect(rows.length).toBeGreaterThanOrEqual(bad.length)
      expect(await alarms(one)).toEqual([expect.stringContaining(`${rows.length} parts of orders`)])
    },
  )
})
