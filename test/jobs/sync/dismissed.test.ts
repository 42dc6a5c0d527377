import { expect, test } from 'vitest'
import type { Page } from '../../../src/clients/http/record.ts'
import type { OrdersClient } from '../../../src/clients/marketplace/orders/orders.ts'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import type { PurchaseOrder } from '../../../src/domain/orders/order.ts'
import type { SyncDeps } from '../../../src/jobs/sync/engine/run.ts'
import { dismissQuarantined } from '../../../src/store/sync/quarantine.ts'
import { withPart } from '../../clients/with-part.ts'
import { daysAgo, type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

const place = (one: TestSeller, count: number, from: number, to: number): Promise<readonly string[]> =>
  one.place(count, { shipNodeType: 'SellerFulfilled', createdFrom: daysAgo(from), createdTo: daysAgo(to), history: false })
const lists = async (one: TestSeller): Promise<number> =>
  (await one.requests()).filter((request) => request.includes('/v3/orders?')).length
const corrupt = async (one: TestSeller): Promise<number> => {
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
  await one.read('orders', stream)
  expect(await one.storedOrders()).toEqual(ids.filter((id) => id !== bad).sort())
  await bench.advance('1m')
  const before = await lists(one)
  await one.read('orders', stream)
  const whileOpen = (await lists(one)) - before
  for (const { id } of await quarantined(one))
    await bench.database.transaction((tx) => dismissQuarantined(tx, id, { actor: 'kim', reason: 'not to be had' }))
  const dismissed = await quarantined(one)
  for (let poll = 0; poll < 2; poll += 1) {
    await bench.advance('1m')
    const [asked, met] = [await lists(one), await corrupt(one)]
    expect(await one.read('orders', stream)).toBe(0)
    expect(await corrupt(one)).toBe(met)
    // The look-back moves on, so a page more or less may be needed; after the step of the clock the windows may be planned once more.
    expect((await lists(one)) - asked).toBeLessThanOrEqual(2 * whileOpen + 5)
  }
  expect(await quarantined(one)).toEqual(dismissed)
})

/** A client in whose lists an order comes as a text without its id. */
const buildLosingKey = (one: TestSeller, id: string, rawText: string): Partial<SyncDeps> => {
  const corrupt = (page: Page<PurchaseOrder>): typeof page => ({
    ...page,
    records: page.records.map((record) =>
      record.key === id ? { ok: false, key: null, fault: 'purchaseOrderId: missing', rawText } : record,
    ),
  })
  const orders: Partial<OrdersClient> = {
    list: async (query, options) => corrupt(await one.client.of(ordersEndpoint).list(query, options)),
    continue: async (cursor, which, options) => corrupt(await one.client.of(ordersEndpoint).continue(cursor, which, options)),
  }
  return { client: () => withPart(one.client, ordersEndpoint, orders) }
}
const seenHoursAgo = (one: TestSeller): Promise<number> =>
  bench.database.execute(
    `UPDATE tallyman.quarantined_records SET last_seen_at = now() - interval '3 hours' WHERE seller_id = $1`,
    one.sellerId,
  )

test('a record without a key that says when it was created is settled by the daily reading, though changes have brought it', async () => {
  const one = await bench.seller()
  const ids = await place(one, 30, 20, 10)
  await bench.advance('1m')
  const deps = buildLosingKey(one, ids[10] ?? '', JSON.stringify({ orderDate: daysAgo(15) }))
  await one.read('orders', 'changed:SellerFulfilled', deps)
  await seenHoursAgo(one)
  await one.read('orders', 'reread', deps)
  expect(await quarantined(one)).toMatchObject([{ state: 'open' }])
  await bench.database.execute('DELETE FROM tallyman.quarantined_records WHERE seller_id = $1', one.sellerId)
  await bench.database.execute('DELETE FROM tallyman.sync_states WHERE seller_id = $1', one.sellerId)
  await one.read('orders', 'changed:SellerFulfilled', deps)
  await seenHoursAgo(one)
  await one.read('orders', 'reread')
  expect(await quarantined(one)).toMatchObject([{ state: 'superseded' }])
})

test('a record without a key that is older than what the daily reading shows is not settled by it', async () => {
  const one = await bench.seller()
  const ids = await place(one, 30, 120, 100)
  await bench.advance('1m')
  const deps = buildLosingKey(one, ids[10] ?? '', '{"broken":1}')
  await one.read('orders', 'changed:SellerFulfilled', deps)
  expect(await quarantined(one)).toMatchObject([{ state: 'open' }])
  await seenHoursAgo(one)
  await one.read('orders', 'reread', deps)
  expect(await quarantined(one)).toMatchObject([{ state: 'open' }])
})
