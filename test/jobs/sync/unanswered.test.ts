import { describe, expect, test } from 'vitest'
import type { OrdersClient } from '../../../src/clients/marketplace/orders/orders.ts'
import { ordersEndpoint } from '../../../src/clients/marketplace/orders/orders.ts'
import { nameOrders } from '../../../src/store/orders/named-orders.ts'
import { withPart } from '../../clients/with-part.ts'
import { corruptFailure, type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

const seller = { shipNodeType: 'SellerFulfilled' } as const
const faults = (body: object): Promise<unknown> => bench.sandbox.control('PUT', '/faults', body)
const poisonReads = (ids: readonly string[], more: object = {}): Promise<unknown> =>
  faults({ poisoned: [{ ids, status: 500, reads: true }], ...more })
const place = async (one: TestSeller, count: number): Promise<readonly string[]> => [...(await one.place(count, seller))].sort()
// Named an hour ago, and due.
const nameByEvents = async (one: TestSeller, ids: readonly string[]): Promise<void> => {
  const at = new Date()
  const named = ids.map((purchaseOrderId) => ({ purchaseOrderId, at }))
  await bench.database.transaction(async (tx) => nameOrders(tx, one.sellerId, 'events', named))
  await bench.database.execute(
    `UPDATE tallyman.named_orders SET named_at = now() - interval '1 hour', ask_again_at = now() WHERE seller_id = $1`,
    one.sellerId,
  )
}
const asked = async (one: TestSeller): Promise<ReadonlySet<string>> =>
  new Set((await one.requests()).flatMap((request) => /\/v3\/orders\/(\d+)$/.exec(request)?.[1] ?? []))

describe('orders that are never answered for', () => {
  test('a single named order that is never answered for is skipped, reported, and asked for again later', async () => {
    const one = await bench.seller()
    const ids = await place(one, 5)
    const bad = ids[2] ?? ''
    await faults({ hidden: [{ ids: [bad] }] })
    await one.sync('orders', 'released')
    await nameByEvents(one, ids)
    await poisonReads([bad], { hidden: [{ ids: [bad] }] })
    await one.sync('orders', 'named')
    expect(await one.state('named')).toMatchObject({ failures: 0, windows: 0 })
    expect(await one.skipped()).toEqual([bad])
    expect(await one.skipAlarms()).toEqual([{ subject: 'orders' }])
    const waits = await bench.database.query(
      `SELECT purchase_order_id, asks, state FROM tallyman.named_orders WHERE seller_id = $1 AND state <> 'stored'`,
      one.sellerId,
    )
    expect(waits).toEqual([{ purchase_order_id: bad, asks: 1, state: 'missing' }])
    await faults({ hidden: [{ ids: [bad] }] })
    await one.ageQuarantine()
    await bench.database.execute('UPDATE tallyman.named_orders SET ask_again_at = now() WHERE seller_id = $1', one.sellerId)
    await one.sync('orders', 'named')
    expect(await one.storedOrders()).toEqual(ids)
    expect(await one.skipped()).toEqual([])
    expect(await one.skipAlarms()).toEqual([])
  })

  test('one that was skipped and that the marketplace then denies is settled', async () => {
    const one = await bench.seller()
    const ids = await place(one, 3)
    const never = '1999999999999'
    await nameByEvents(one, [...ids, never])
    const orders: Partial<OrdersClient> = {
      get: async (id, options) => {
        if (id === never) throw corruptFailure('orders.get', one.sellerId, 500)
        return one.client.of(ordersEndpoint).get(id, options)
      },
    }
    await one.sync('orders', 'named', { client: () => withPart(one.client, ordersEndpoint, orders) })
    expect(await one.skipped()).toEqual([never])
    await one.ageQuarantine()
    await bench.database.execute('UPDATE tallyman.named_orders SET ask_again_at = now() WHERE seller_id = $1', one.sellerId)
    await one.sync('orders', 'named')
    expect(await one.skipped()).toEqual([])
    expect(await one.skipAlarms()).toEqual([])
  })

  test('the first ones that are named do not hold up those behind them, though nothing is stored yet', async () => {
    const one = await bench.seller()
    const ids = await place(one, 12)
    await nameByEvents(one, ids)
    await poisonReads(ids.slice(0, 4))
    await one.sync('orders', 'named')
    expect(await one.storedOrders()).toEqual(ids.slice(4))
    expect(await one.skipped()).toEqual(ids.slice(0, 4))
  })

  test.each([1, 4, 9])('the first %i of the open orders do not hold up the sweep', async (count) => {
    const one = await bench.seller()
    const ids = await place(one, 40)
    await one.sync('orders', 'released')
    await poisonReads(ids.slice(0, count))
    await one.sync('orders', 'sweep')
    expect([...(await asked(one))].sort()).toEqual(ids)
    expect(await one.skipped()).toEqual(ids.slice(0, count))
  })

  test('the only order there is, never answered for: skipped after eight failures, while the lists are answered', async () => {
    const one = await bench.seller()
    const ids = await place(one, 1)
    await one.sync('orders', 'released')
    await poisonReads(ids)
    for (let run = 1; run < 8; run += 1) await expect(one.once('orders', 'sweep')).rejects.toThrow()
    expect(await one.skipped()).toEqual([])
    await one.sync('orders', 'sweep')
    expect(await one.skipped()).toEqual(ids)
    expect(await one.state('sweep')).toMatchObject({ failures: 0, windows: 0 })
  })
})

describe('an outage', () => {
  test('that begins in the middle of a sweep passes nothing over', async () => {
    const one = await bench.seller()
    const ids = await place(one, 12)
    await one.sync('orders', 'released')
    let down = false
    const orders: Partial<OrdersClient> = {
      get: async (id, options) => {
        if (id === ids[4] && !down) {
          down = true
          await faults({ rules: [{ operation: 'orders.get', serverErrorBefore: 1 }] })
        }
        return one.client.of(ordersEndpoint).get(id, options)
      },
    }
    const deps = { client: () => withPart(one.client, ordersEndpoint, orders) }
    await one.once('orders', 'sweep', deps).catch(() => null)
    await expect(one.once('orders', 'sweep', deps)).rejects.toThrow()
    expect(await one.skipped()).toEqual([])
    await faults({})
    await one.sync('orders', 'sweep')
    expect([...(await asked(one))].sort()).toEqual(ids)
  })

  test('in which only orders that do not exist are answered for passes nothing over', async () => {
    const one = await bench.seller()
    const ids = await place(one, 8)
    await faults({ hidden: [{ ids: ids.slice(4) }] })
    await one.sync('orders', 'released')
    await nameByEvents(one, [...ids, '999000000000'])
    await poisonReads(ids, { hidden: [{ ids: ids.slice(4) }] })
    for (let run = 0; run < 10; run += 1) await expect(one.once('orders', 'named')).rejects.toThrow()
    expect(await one.skipped()).toEqual([])
  })
})
