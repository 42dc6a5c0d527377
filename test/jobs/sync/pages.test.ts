import { describe, expect, test } from 'vitest'
import type { MarketplaceClient } from '../../../src/clients/http/client.ts'
import type { Page } from '../../../src/clients/http/record.ts'
import type { OrdersClient } from '../../../src/clients/marketplace/orders/orders.ts'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import type { PurchaseOrder } from '../../../src/domain/orders/order.ts'
import type { SyncDeps } from '../../../src/jobs/sync/engine/run.ts'
import { findEndlessStreams } from '../../../src/store/alarms/alarm-conditions.ts'
import { withPart } from '../../clients/with-part.ts'
import { daysAgo, type TestSeller, testSettings, withSyncBench } from './support.ts'

const bench = withSyncBench()

const changed = 'changed:SellerFulfilled'
const seller = { shipNodeType: 'SellerFulfilled', history: false } as const
const past = { ...seller, createdFrom: daysAgo(30), createdTo: daysAgo(1) }
const settings = (more: SyncDeps['settings']): Partial<SyncDeps> => ({ settings: { ...testSettings, ...more } })

/** Where a page stands: the number of the pass over its window, from 1, and of the page in it, from 1. */
interface Place {
  readonly pass: number
  readonly page: number
}

/** A client whose lists are bent on their way; a pass begins whenever a list is asked for without a cursor. */
const bending = (
  client: MarketplaceClient,
  bend: (page: Page<PurchaseOrder>, place: Place) => Page<PurchaseOrder> | Promise<Page<PurchaseOrder>>,
): { readonly deps: Partial<SyncDeps>; passes(): number } => {
  let pass = 0
  let page = 0
  const orders: Partial<OrdersClient> = {
    list: async (query, options) => {
      pass += 1
      page = 1
      return bend(await client.of(ordersEndpoint).list(query, options), { pass, page })
    },
    continue: async (cursor, which, options) => {
      page += 1
      return bend(await client.of(ordersEndpoint).continue(cursor, which, options), { pass, page })
    },
  }
  return { deps: { client: () => withPart(client, ordersEndpoint, orders) }, passes: () => pass }
}

/** Lets time go on; then the client asks what time it is, since a run plans its windows anew when its first answer brings another one. */
const later = async (one: TestSeller, duration: string): Promise<void> => {
  await bench.advance(duration)
  await one.client.of(ordersEndpoint).get('0', { signal: AbortSignal.timeout(10_000) })
}

const skipped = async (one: TestSeller): Promise<number> => {
  const [row] = await bench.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM tallyman.quarantined_records WHERE seller_id = $1',
    one.sellerId,
  )
  return row?.count ?? 0
}

test('what is listed late, but within the look-back, comes with the next run', async () => {
  const one = await bench.seller()
  const [late = ''] = await one.place(3, seller)
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ ids: [late], forMs: 600_000 }] })
  await later(one, '5m')
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toHaveLength(2)
  await later(one, '15m')
  await one.sync('orders', changed)
  expect(await one.storedOrders()).toContain(late)
})

test('a page and the place where it ends are stored at once', async () => {
  const one = await bench.seller()
  const ids = await one.place(150, past)
  await later(one, '1m')
  const kept: { readonly orders: number; readonly pages: number }[] = []
  const watching = bending(one.client, async (page, place) => {
    if (place.pass > 1 || place.page === 1) return page
    const [row] = await bench.database.query<{ orders: number; pages: number }>(
      `SELECT (SELECT count(*) FROM warehouse.orders WHERE seller_id = $1)::int AS orders, pages
       FROM tallyman.sync_states WHERE seller_id = $1 AND stream = $2`,
      one.sellerId,
      changed,
    )
    if (row !== undefined) kept.push(row)
    return page
  })
  await one.sync('orders', changed, watching.deps)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(kept).toHaveLength(5)
  expect(kept.map(({ orders }) => orders)).toEqual(kept.map(({ pages }) => pages * 25))
  expect(kept.at(-1)?.pages).toBeGreaterThanOrEqual(4)
})

test('pages without a change keep their place as well', async () => {
  const one = await bench.seller()
  await one.place(150, past)
  await later(one, '1m')
  await one.sync('orders', changed)
  const kept: number[] = []
  const watching = bending(one.client, async (page, place) => {
    // The page before the last one is being stored meanwhile; those before it are.
    if (place.page > 2) kept.push((await one.state(changed)).pages)
    return page
  })
  const wide = settings({ lookBackMs: 200 * 86_400_000, persistEveryMs: 0 })
  await one.sync('orders', changed, { ...wide, ...watching.deps })
  expect(kept.length).toBeGreaterThan(2)
  expect(kept.every((pages, index) => pages >= index + 1)).toBe(true)
})

test('a window that always announces too many is read twice, and its halves are asked what they announce', async () => {
  const one = await bench.seller()
  const ids = await one.place(60, past)
  await later(one, '1m')
  const boasting = bending(one.client, (page) => ({ ...page, totalCount: (page.totalCount ?? 0) + 5 }))
  await one.sync('orders', changed, boasting.deps)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(boasting.passes()).toBe(4)
  expect(await skipped(one)).toBe(0)
})

const findOrders = (page: Page<PurchaseOrder>): readonly (string | null)[] => page.records.map(({ key }) => key)
describe.each([changed, 'reread'])('%s: a page with one order always comes short, though more is announced', (stream) => {
  test.each([
    ['without rows, as the last', (page: Page<PurchaseOrder>) => ({ ...page, records: [], nextCursor: null })],
    ['without rows, as one of several', (page: Page<PurchaseOrder>) => ({ ...page, records: [] })],
    [
      'cut before that order',
      (page: Page<PurchaseOrder>, bad: string) => ({
        ...page,
        records: page.records.slice(0, findOrders(page).indexOf(bad)),
        nextCursor: null,
      }),
    ],
  ] as const)('%s: the rest comes, and what does not is reported and tried again', async (_name, short) => {
    const one = await bench.seller()
    const ids = await one.place(60, past)
    const bad = ids[33] ?? ''
    await later(one, '1m')
    const shortening = bending(one.client, (page) => (findOrders(page).includes(bad) ? short(page, bad) : page))
    // What is skipped must be missing in two runs.
    await expect(one.sync('orders', stream, shortening.deps)).rejects.toThrow(/orders.* announces 1 records but lists only 0/)
    expect(await one.skipAlarms()).toEqual([])
    await one.sync('orders', stream, shortening.deps)
    expect(await one.storedOrders()).toEqual(ids.filter((id) => id !== bad).sort())
    expect(await one.skipAlarms()).toEqual([{ subject: 'orders' }])
    await bench.database.execute(
      'UPDATE tallyman.quarantined_records SET retry_at = now() WHERE seller_id = $1 AND retry_at IS NOT NULL',
      one.sellerId,
    )
    await later(one, '5m')
    await one.sync('orders', stream, shortening.deps)
    expect(await one.skipAlarms()).toEqual([{ subject: 'orders' }])
    await bench.database.execute(
      'UPDATE tallyman.quarantined_records SET retry_at = now() WHERE seller_id = $1 AND retry_at IS NOT NULL',
      one.sellerId,
    )
    await later(one, '5m')
    await one.sync('orders', stream)
    expect(await one.storedOrders()).toEqual([...ids].sort())
    expect(await one.skipAlarms()).toEqual([])
  })
})

test('a list that shows a row twice and counts it twice is whole', async () => {
  const one = await bench.seller()
  const ids = await one.place(60, past)
  await later(one, '1m')
  const doubling = bending(one.client, (page) => ({
    ...page,
    totalCount: page.totalCount === null ? null : page.totalCount + 1,
    records: page.records.some(({ key }) => key === ids[20]) ? [...page.records, ...page.records.slice(-1)] : page.records,
  }))
  await one.sync('orders', changed, doubling.deps)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(doubling.passes()).toBe(2)
})

test('a row that comes twice does not hide that another has slipped', async () => {
  const one = await bench.seller()
  await later(one, '1m')
  await one.sync('orders', changed)
  const ids = await one.place(60, seller)
  await later(one, '5m')
  let last: Page<PurchaseOrder>['records'][number] | undefined
  const slipping = bending(one.client, (page, place) => {
    const before = last
    last = page.records.at(-1)
    if (place.pass !== 1 || place.page !== 2 || before === undefined) return page
    return { ...page, records: [before, ...page.records.slice(1)] }
  })
  await one.sync('orders', changed, slipping.deps)
  expect(await one.storedOrders()).toEqual([...ids].sort())
})

test('a row that slips while another comes in is found by a second pass over a long window', async () => {
  const one = await bench.seller()
  const ids = await one.place(100, past)
  await later(one, '1m')
  // The first page was counted before the other came in, so that as many came as were announced.
  const slipping = bending(one.client, (page, place) => {
    if (place.pass !== 1) return page
    const totalCount = page.totalCount === null ? null : page.totalCount - 1
    return { ...page, totalCount, records: place.page === 2 ? page.records.slice(1) : page.records }
  })
  await one.sync('orders', changed, slipping.deps)
  expect(await one.storedOrders()).toEqual([...ids].sort())
})

test('a long window in which there is said to be nothing is asked for once more', async () => {
  const one = await bench.seller()
  const ids = await one.place(30, past)
  await later(one, '1m')
  const denying = bending(one.client, (page, place) =>
    place.pass === 1 ? { ...page, records: [], totalCount: 0, nextCursor: null } : page,
  )
  await one.sync('orders', changed, denying.deps)
  expect(await one.storedOrders()).toEqual([...ids].sort())
})

test('cursors that lead in a wide circle are found out', async () => {
  const one = await bench.seller()
  const ids = await one.place(120, past)
  await later(one, '1m')
  let second: string | null = null
  let circled = 0
  const circling = bending(one.client, (page, place) => {
    if (place.pass !== 1) return page
    circled = place.page
    if (place.page === 1) second = page.nextCursor
    return place.page % 3 === 0 ? { ...page, nextCursor: second } : page
  })
  await one.sync('orders', changed, { ...circling.deps, ...settings({ pageCap: 40 }) })
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect((await one.runs(changed)).at(-1)?.error).toContain('loop')
  expect(circled).toBe(3)
})

/** A client that gives the window's first page for every page, each behind a cursor of its own. `announced`: what each says of all. */
const endless = (
  client: MarketplaceClient,
  announced: (total: number) => number,
): { readonly deps: Partial<SyncDeps>; readonly orders: OrdersClient; asked(): number } => {
  let asked = 0
  let first: Page<PurchaseOrder> | null = null
  const again = (page: Page<PurchaseOrder>): Page<PurchaseOrder> => {
    asked += 1
    first = page
    return { ...page, totalCount: announced(page.records.length), nextCursor: `?place=${asked}` }
  }
  const orders: OrdersClient = {
    ...client.of(ordersEndpoint),
    list: async (query, options) => again(await client.of(ordersEndpoint).list(query, options)),
    listReleased: async (query, options) => again(await client.of(ordersEndpoint).listReleased(query, options)),
    continue: async () => {
      if (first === null) throw new Error('there was no first page')
      return again(first)
    },
  }
  return { deps: { client: () => withPart(client, ordersEndpoint, orders) }, orders, asked: () => asked }
}

/** The streams of a seller whose lists have had no end three times, and how often they had none. */
const alarmedStreams = async ({ sellerId }: TestSeller): Promise<readonly string[]> => {
  const streams = [changed, 'released'].map((stream) => ({ sellerId, resource: 'orders', stream }))
  return (await findEndlessStreams(bench.database, streams, 3)).map(({ stream, count }) => `${stream} ${count}`)
}

test('a list that goes on behind new cursors ends once all has come, and an alarm opens when it repeats', async () => {
  const one = await bench.seller()
  await later(one, '1m')
  await one.sync('orders', changed)
  const ids = await one.place(4, seller)
  const { deps, asked } = endless(one.client, (total) => total)
  for (let poll = 1; poll <= 3; poll += 1) {
    await later(one, '5m')
    const before = { asked: asked(), watermark: (await one.state(changed)).watermark?.getTime() ?? 0 }
    expect(await alarmedStreams(one)).toEqual([])
    await one.sync('orders', changed, deps)
    // One page more than there are, which is on its way while the one before it is stored.
    expect(asked() - before.asked).toBeLessThanOrEqual(3)
    expect((await one.state(changed)).watermark?.getTime()).toBeGreaterThan(before.watermark)
  }
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(await alarmedStreams(one)).toEqual([`${changed} 3`])
  await later(one, '5m')
  await one.sync('orders', changed)
  expect(await alarmedStreams(one)).toEqual([])
})

test('a list that goes on although it announces more is read twice, and then in parts', async () => {
  const one = await bench.seller()
  const ids = await one.place(60, past)
  await later(one, '1m')
  const stuck = endless(one.client, () => ids.length)
  let passes = 0
  const bent = (): OrdersClient => (passes <= 2 ? stuck.orders : one.client.of(ordersEndpoint))
  const orders: Partial<OrdersClient> = {
    list: (query, options) => {
      passes += 1
      return bent().list(query, options)
    },
    continue: (cursor, which, options) => bent().continue(cursor, which, options),
  }
  await one.sync('orders', changed, { client: () => withPart(one.client, ordersEndpoint, orders) })
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(stuck.asked()).toBe(6)
  expect(await skipped(one)).toBe(0)
})

test('one part of a list that is read whole, and announces nothing that counts, goes on in every poll', async () => {
  const one = await bench.seller()
  const ids = await one.place(3, { shipNodeType: '3PLFulfilled' })
  await later(one, '1m')
  const { deps, asked } = endless(one.client, () => 1_000)
  for (let poll = 1; poll <= 3; poll += 1) {
    const before = asked()
    await one.sync('orders', 'released', deps)
    // Three pages of this part, and two empty ones of the other.
    expect(asked() - before).toBe(3 + 2)
  }
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(await alarmedStreams(one)).toEqual(['released 3'])
  await one.sync('orders', 'released')
  expect(await alarmedStreams(one)).toEqual([])
})

test('further pages that say "none there" do not end a window', async () => {
  const one = await bench.seller()
  const ids = await one.place(120, past)
  await later(one, '1m')
  const denying = bending(one.client, (page, place) =>
    place.page === 1 ? page : { ...page, records: [], totalCount: 0, nextCursor: null },
  )
  await one.sync('orders', changed, denying.deps)
  expect(await one.storedOrders()).toEqual([...ids].sort())
  expect(await skipped(one)).toBe(0)
})

test('while nothing is answered for, a window stays as it is', async () => {
  const one = await bench.seller()
  await one.place(10, past)
  await later(one, '1m')
  await bench.sandbox.control('PUT', '/faults', { rules: [{ operation: 'orders.list', serverErrorBefore: 1 }] })
  // With the second failure it is looked for what corrupts the page: only where others come.
  for (let run = 0; run < 3; run += 1) await expect(one.once('orders', changed)).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await one.state(changed)).toMatchObject({ windows: 1 })
  expect(await skipped(one)).toBe(0)
})

test('the plan of what is read once a day is written down before its first page has come', async () => {
  const one = await bench.seller()
  await one.place(3, past)
  await later(one, '1m')
  const planned: number[] = []
  const watching = bending(one.client, async (page) => {
    planned.push((await one.state('reread')).windows)
    return page
  })
  await one.sync('orders', 'reread', watching.deps)
  // A process that dies now leaves something to go on with.
  expect(planned[0]).toBeGreaterThan(0)
})
