import { expect, test } from 'vitest'
import { countNamedByDay } from '../../../src/store/orders/named-orders.ts'
import { type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

const day = new Date().toISOString().slice(0, 'yyyy-mm-dd'.length)
const nameByEvent = (one: TestSeller, ...ids: readonly string[]): Promise<number> =>
  bench.database.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id, status)
     SELECT '/erp', $1 || po, 'erp.order.accepted', jsonb_build_object('purchaseOrderId', po), $1, 'rejected' FROM unnest($2::text[]) AS po`,
    one.sellerId,
    ids,
  )
const nameByReturn = async (one: TestSeller, id: string): Promise<void> => {
  await bench.database.execute(
    `INSERT INTO warehouse.returns (seller_id, return_order_id, return_order_date, raw_hash, raw, observed_at, first_seen_at, changed_at)
     VALUES ($1, 'R' || $2, now(), '', '{}', now(), now(), now())`,
    one.sellerId,
    id,
  )
  await bench.database.execute(
    `INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, purchase_order_id, quantity, raw, first_seen_at, changed_at)
     VALUES ($1, 'R' || $2, 1, $2, 1, '{}', now(), now())`,
    one.sellerId,
    id,
  )
}
const nameByLog = (one: TestSeller, shipmentId: string, units: number): Promise<number> =>
  bench.database.execute(
    `INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, changed_units, transaction_time, shipment_id, raw_hash, raw,
       observed_at, first_seen_at, changed_at)
     VALUES ($1, 'A', $2, $3::int, now(), $2, '', '{}', now(), now(), now())`,
    one.sellerId,
    shipmentId,
    units,
  )
const asked = async (one: TestSeller, id: string): Promise<number> =>
  (await one.requests()).filter((request) => request.endsWith(`/v3/orders/${id}`)).length

test('an order that a return, the log or an event names and that no list shows is fetched by its id', async () => {
  const one = await bench.seller()
  const ids = await one.place(4, { shipNodeType: 'WFSFulfilled' })
  const [byReturn = '', byLog = '', byEvent = '', unnamed = ''] = ids
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ share: 1 }] })
  await nameByReturn(one, byReturn)
  await nameByLog(one, byLog, -1)
  // What came in names a shipment to the warehouse, not an order.
  await nameByLog(one, '4711000000000', 5)
  await nameByEvent(one, byEvent, '999000000000')
  await one.sync('orders', 'released')
  expect(await one.storedOrders()).toEqual([])
  await one.sync('orders', 'named')
  expect(await one.storedOrders()).toEqual([byReturn, byLog, byEvent].sort())
  expect(await one.storedOrders()).not.toContain(unnamed)
  expect(await countNamedByDay(bench.database, one.sellerId, 45)).toEqual([
    { sellerId: one.sellerId, source: 'events', day, named: 2, stored: 1, missing: 1, missingIds: ['999000000000'] },
    { sellerId: one.sellerId, source: 'inventory-log', day, named: 1, stored: 1, missing: 0, missingIds: [] },
    { sellerId: one.sellerId, source: 'returns', day, named: 1, stored: 1, missing: 0, missingIds: [] },
  ])
  // One that the marketplace denies is asked for again an hour later, not with every run.
  await one.sync('orders', 'named')
  expect(await asked(one, '999000000000')).toBe(1)
  expect(await asked(one, '4711000000000')).toBe(0)
  await bench.database.execute('UPDATE tallyman.named_orders SET ask_again_at = now() WHERE seller_id = $1', one.sellerId)
  await one.sync('orders', 'named')
  expect(await asked(one, '999000000000')).toBe(2)
  const waits = await bench.database.query(
    `SELECT asks, round(extract(epoch FROM ask_again_at - now()) / 3600)::int AS hours, answer FROM tallyman.named_orders
     WHERE seller_id = $1 AND purchase_order_id = '999000000000'`,
    one.sellerId,
  )
  expect(waits).toEqual([{ asks: 2, hours: 2, answer: 'none' }])
})

test('ids that events name are asked for and shown in their normal form', async () => {
  const one = await bench.seller()
  const [listed = '', spaced = '', lined = ''] = await one.place(3, { shipNodeType: 'SellerFulfilled' })
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ ids: [spaced, lined] }] })
  await one.sync('orders', 'released')
  await nameByEvent(one, `${listed} `, ` ${spaced} `, `${lined}\n`)
  await one.sync('orders', 'named')
  expect(await one.storedOrders()).toEqual([listed, spaced, lined].sort())
  expect(await countNamedByDay(bench.database, one.sellerId, 45)).toEqual([
    { sellerId: one.sellerId, source: 'events', day, named: 3, stored: 3, missing: 0, missingIds: [] },
  ])
})

test('an order that is never answered for does not stop the sweep; it is skipped, reported, and read when it can be', async () => {
  const one = await bench.seller()
  const ids = await one.place(12, { shipNodeType: 'SellerFulfilled' })
  await one.sync('orders', 'released')
  const sorted = [...ids].sort()
  const bad = [sorted[0] ?? '', sorted[5] ?? '', sorted[11] ?? '']
  await bench.sandbox.control('PUT', '/faults', { poisoned: [{ ids: bad, reads: true, status: 500 }] })
  await one.sync('orders', 'sweep')
  expect(await one.state('sweep')).toMatchObject({ windows: 0, cursor: null, failures: 0 })
  const open = () =>
    bench.database.query<{ record_key: string; retry_at: Date | null }>(
      `SELECT record_key, retry_at FROM tallyman.quarantined_records WHERE seller_id = $1 AND state = 'open' AND skipped IS NOT NULL
       ORDER BY record_key`,
      one.sellerId,
    )
  const alarmed = () =>
    bench.database.query(
      `SELECT subject FROM tallyman.alarms WHERE seller_id = $1 AND kind = 'reading-skipped' AND resolved_at IS NULL`,
      one.sellerId,
    )
  expect(await open()).toEqual(bad.map((key) => ({ record_key: key, retry_at: null })))
  expect(await alarmed()).toEqual([{ subject: 'orders' }])
  await bench.sandbox.control('PUT', '/faults', {})
  await one.sync('orders', 'sweep')
  expect(await open()).toEqual([])
  expect(await alarmed()).toEqual([])
})

test('a sweep during an outage of everything passes nothing over', async () => {
  const one = await bench.seller()
  await one.place(6, { shipNodeType: 'SellerFulfilled' })
  await one.sync('orders', 'released')
  await bench.sandbox.control('PUT', '/faults', { rules: [{ operation: 'orders.get', serverErrorBefore: 1 }] })
  await expect(one.once('orders', 'sweep')).rejects.toThrow()
  await expect(one.once('orders', 'sweep')).rejects.toThrow()
  const [row] = await bench.database.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM tallyman.quarantined_records WHERE seller_id = $1',
    one.sellerId,
  )
  expect(row?.count).toBe(0)
})
