import { describe, expect, test } from 'vitest'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { daysAgo, type TestSeller, withSyncBench } from './support.ts'

// Whoever renders the rows of the marketplace's answers is down: answers with rows fail, and those without any come as ever.

const bench = withSyncBench()

const changed = 'changed:SellerFulfilled'
const faults = (body: object): Promise<unknown> => bench.sandbox.control('PUT', '/faults', body)
const placePast = (one: TestSeller, count: number): Promise<readonly string[]> =>
  one.place(count, { shipNodeType: 'SellerFulfilled', createdFrom: daysAgo(30), createdTo: daysAgo(1), history: false })

/** Runs a stream so often, as its job does; answers how many runs came to an end. */
const runs = async (one: TestSeller, resource: string, stream: string, times: number): Promise<number> => {
  let ended = 0
  for (let run = 0; run < times; run += 1) {
    const [outcome] = await Promise.allSettled([one.once(resource, stream)])
    if (outcome.status === 'fulfilled' && 'done' in outcome.value) ended += 1
  }
  return ended
}
/** Everything that was ever skipped, settled or not. */
const skipped = async (one: TestSeller): Promise<readonly string[]> =>
  (
    await bench.database.query<{ state: string }>(
      'SELECT state FROM tallyman.quarantined_records WHERE seller_id = $1 AND skipped IS NOT NULL',
      one.sellerId,
    )
  ).map(({ state }) => state)

describe('answers with rows fail, answers without any come', () => {
  test.each([changed, 'released', 'reread'])(
    '%s: nothing is skipped, nor asked for in parts; all is there when it ends',
    async (stream) => {
      const one = await bench.seller()
      const before = await placePast(one, 30)
      await bench.advance('1m')
      await one.sync('orders', stream)
      const later = await one.place(20, { shipNodeType: 'SellerFulfilled' })
      await bench.advance('1h')
      await faults({ poisoned: [{ share: 1, status: 503 }] })
      const asked = (await one.requests()).length
      expect(await runs(one, 'orders', stream, 12)).toBe(0)
      expect(await skipped(one)).toEqual([])
      // The window itself, what is known to have rows, and the token: not one request for each part of the window.
      expect((await one.requests()).length - asked).toBeLessThan(12 * 8)
      await faults({})
      await one.read('orders', stream, {}, 3)
      await one.sync('orders', stream)
      expect(await one.storedOrders()).toEqual([...before, ...later].sort())
      expect(await skipped(one)).toEqual([])
    },
  )

  test('returns: the same', async () => {
    const one = await bench.seller()
    await one.place(300, { shipNodeType: 'SellerFulfilled', createdFrom: daysAgo(30), createdTo: daysAgo(29) })
    await bench.advance('1m')
    await one.sync('returns', 'changed')
    const [row] = await bench.database.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM warehouse.returns WHERE seller_id = $1',
      one.sellerId,
    )
    expect(row?.count).toBeGreaterThan(0)
    await faults({ poisoned: [{ records: 'returns', share: 1, status: 503 }] })
    for (const stream of ['changed', 'reread']) await runs(one, 'returns', stream, 10)
    expect(await skipped(one)).toEqual([])
  })

  test('a seller of whom nothing is stored yet is not skipped either while it lasts for some runs', {
    timeout: 240_000,
  }, async () => {
    const one = await bench.seller()
    const ids = await placePast(one, 5)
    await bench.advance('1m')
    await faults({ poisoned: [{ share: 1, status: 503 }] })
    expect(await runs(one, 'orders', changed, 6)).toBe(0)
    expect(await skipped(one)).toEqual([])
    await faults({})
    await one.read('orders', changed, {}, 5)
    expect(await one.storedOrders()).toEqual([...ids].sort())
  })
})

describe('one order corrupts its pages, and nothing was stored before', () => {
  test('it is the first of all: what comes after it is read before it is skipped', async () => {
    const one = await bench.seller()
    const ids = await placePast(one, 30)
    await bench.advance('1m')
    const rows = await Promise.all(
      ids.map(async (id) => ({
        id,
        read: await one.client.of(ordersEndpoint).get(id, { signal: new AbortController().signal }),
      })),
    )
    const at = ({ read }: (typeof rows)[number]): number =>
      read?.record.ok === true ? (read.record.value.orderDate?.getTime() ?? 0) : 0
    const [oldest] = [...rows].sort((a, b) => at(a) - at(b))
    await faults({ poisoned: [{ ids: [oldest?.id] }] })
    await one.read('orders', changed, {}, 8)
    expect(await one.storedOrders()).toEqual(ids.filter((id) => id !== oldest?.id).sort())
    expect(await skipped(one)).toContain('open')
  })

  test('it is the only one: it is skipped in the end, and does not keep new ones away', async () => {
    const one = await bench.seller()
    const [bad = ''] = await placePast(one, 1)
    await bench.advance('1m')
    await faults({ poisoned: [{ ids: [bad] }] })
    await one.read('orders', changed, {}, 40)
    expect(await skipped(one)).toContain('open')
    const more = await one.place(3, { shipNodeType: 'SellerFulfilled' })
    await bench.advance('10m')
    await one.read('orders', changed, {}, 5)
    expect(await one.storedOrders()).toEqual([...more].sort())
  })
})
