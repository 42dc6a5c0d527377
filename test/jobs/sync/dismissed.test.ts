import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { SyncDeps } from '../../../src/jobs/sync/run.ts'
import { dismissQuarantined } from '../../../src/store/quarantine.ts'
import { type SyncBench, startSyncBench, type TestSeller } from './support.ts'

let bench: SyncBench
beforeAll(async () => {
  bench = await startSyncBench()
})
afterEach(async () => {
  await bench.sandbox.control('PUT', '/faults', {})
})
afterAll(async () => {
  await bench.stop()
})

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()
const place = (one: TestSeller, count: number, from: number, to: number): Promise<readonly string[]> =>
  one.place(count, { shipNodeType: 'SellerFulfilled', createdFrom: daysAgo(from), createdTo: daysAgo(to), history: false })
/** Runs a stream as its job does, failed runs included, until it is done; answers how many runs failed. */
const read = async (one: TestSeller, stream: string, deps: Partial<SyncDeps> = {}): Promise<number> => {
  let failed = 0
  for (let run = 0; run < 40; run += 1) {
    const outcome = await one.once('orders', stream, deps).catch(() => null)
    if (outcome === null) failed += 1
    else if ('done' in outcome) return failed
  }
  throw new Error(`orders/${stream} does not come to an end: ${(await one.state(stream)).last_error}`)
}
const lists = async (one: TestSeller): Promise<number> =>
  (await one.requests()).filter((request) => request.includes('/v3/orders?')).length
const spoilt = async (one: TestSeller): Promise<number> => {
  const { items } = (await bench.sandbox.control('GET', '/requests?limit=5000')) as {
    items: { sellerId: string | null; status: number }[]
  }
  return items.filter(({ sellerId, status }) => sellerId === one.sellerId && status >= 500).length
}
const quarantined = (one: TestSeller) =>
  bench.database.query<{ id: bigint; state: string; seen_count: number }>(
    'SELECT id, state, seen_count FROM tallyman.quarantined_records WHERE seller_id = $1 ORDER BY id',
    one.sellerId,
  )

test.each([
  ['changed:SellerFulfilled', 0.02, 0.005],
  ['reread', 30, 1],
] as const)('what a person has dismissed is not met again: %s', async (stream, from, to) => {
  const one = await bench.seller()
  const ids = await place(one, 40, from, to)
  const bad = ids[20] ?? ''
  await bench.advance('1m')
  await bench.sandbox.control('PUT', '/faults', { poisoned: [{ ids: [bad], status: 500 }] })
  await read(one, stream)
  expect(await one.storedOrders()).toEqual(ids.filter((id) => id !== bad).sort())
  await bench.advance('1m')
  const before = await lists(one)
  await read(one, stream)
  const whileOpen = (await lists(one)) - before
  for (const { id } of await quarantined(one))
    await bench.database.transaction((tx) => dismissQuarantined(tx, id, { actor: 'kim', reason: 'not to be had' }))
  const dismissed = await quarantined(one)
  for (let poll = 0; poll < 2; poll += 1) {
    await bench.advance('1m')
    const [asked, met] = [await lists(one), await spoilt(one)]
    expect(await read(one, stream)).toBe(0)
    expect(await spoilt(one)).toBe(met)
    // The look-back moves on, so a page more or less may be needed; after the step of the clock the windows may be planned once more.
    expect((await lists(one)) - asked).toBeLessThanOrEqual(2 * whileOpen + 5)
  }
  expect(await quarantined(one)).toEqual(dismissed)
})

test('a record without a key that is older than what the daily reading shows is not settled by it', async () => {
  const one = await bench.seller()
  const ids = await place(one, 30, 120, 100)
  await bench.advance('1m')
  const spoil = (page: Awaited<ReturnType<typeof one.client.orders.list>>): typeof page => ({
    ...page,
    records: page.records.map((record) =>
      record.key === ids[10] ? { ok: false, key: null, fault: 'purchaseOrderId: missing', rawText: '{"broken":1}' } : record,
    ),
  })
  const orders: typeof one.client.orders = {
    ...one.client.orders,
    list: async (query, options) => spoil(await one.client.orders.list(query, options)),
    continue: async (cursor, which, options) => spoil(await one.client.orders.continue(cursor, which, options)),
  }
  const deps = { client: () => ({ ...one.client, orders }) }
  await read(one, 'changed:SellerFulfilled', deps)
  expect(await quarantined(one)).toMatchObject([{ state: 'open' }])
  await bench.database.execute(
    `UPDATE tallyman.quarantined_records SET last_seen_at = now() - interval '3 hours' WHERE seller_id = $1`,
    one.sellerId,
  )
  await read(one, 'reread', deps)
  expect(await quarantined(one)).toMatchObject([{ state: 'open' }])
})
