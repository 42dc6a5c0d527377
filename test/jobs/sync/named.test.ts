import { expect, test } from 'vitest'
import { noteNamedOrders } from '../../../src/jobs/maintenance/note-named-orders.ts'
import { countNamedByDay, findDueNamedOrders, findMissingOrders } from '../../../src/store/orders/named-orders.ts'
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
const nameBySettlement = (one: TestSeller, id: string): Promise<number> =>
  bench.database.execute(
    `INSERT INTO warehouse.settlement_lines (seller_id, line_key, report_date, row_number, transaction_type, movement, component, posted_on, purchase_order_id,
       raw_hash, raw, observed_at, first_seen_at, changed_at)
     VALUES ($1, $2, $3::date, 1, 'Sale', 'sale', 'price', $3::date, $2, '', '{}', now(), now(), now())`,
    one.sellerId,
    id,
    day,
  )
/** Notes what the rows name, and lets the time pass until that is requested. */
const noteNamed = async (one: TestSeller): Promise<void> => {
  await noteNamedOrders(bench.database, [one.sellerId], new Date())
  await becomeDue(one)
}
const becomeDue = (one: TestSeller): Promise<number> =>
  bench.database.execute(
    `UPDATE tallyman.named_orders SET named_at = named_at - interval '1 hour', ask_again_at = least(ask_again_at, now()) WHERE seller_id = $1
       AND ask_again_at < 'infinity'`,
    one.sellerId,
  )
const count = (one: TestSeller) => countNamedByDay(bench.database, { sellerId: one.sellerId, from: day, to: day, source: null })
const asked = async (one: TestSeller, id: string): Promise<number> =>
  (await one.requests()).filter((request) => request.endsWith(`/v3/orders/${id}`)).length

test('an order that a return, the log or an event names and that no list shows is fetched by its id', async () => {
  const one = await bench.seller()
  const ids = await one.place(5, { shipNodeType: 'WFSFulfilled' })
  const [byReturn = '', byLog = '', byEvent = '', bySettlement = '', unnamed = ''] = ids
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ share: 1 }] })
  await nameByReturn(one, byReturn)
  await nameByLog(one, byLog, -1)
  // What came in names a shipment to the warehouse, not an order.
  await nameByLog(one, '4711000000000', 5)
  await nameBySettlement(one, bySettlement)
  await nameByEvent(one, byEvent, '999000000000', '../orders')
  await noteNamed(one)
  expect(await findDueNamedOrders(bench.database)).toContainEqual({ sellerId: one.sellerId, resource: 'orders', stream: 'named' })
  expect(await findMissingOrders(bench.database, 3_000_000)).toMatchObject([{ sellerId: one.sellerId, count: 5 }])
  await one.sync('orders', 'released')
  expect(await one.storedOrders()).toEqual([])
  await one.sync('orders', 'named')
  expect(await one.storedOrders()).toEqual([byReturn, byLog, byEvent, bySettlement].sort())
  expect(await one.storedOrders()).not.toContain(unnamed)
  const malformed = { purchaseOrderId: '../orders', reason: 'this is not the id of a purchase order' }
  const settled = { sellerId: one.sellerId, day, named: 1, stored: 1, missing: 0, explained: 0, missingIds: [], explanations: [] }
  const others = ['inventory-log', 'returns', 'settlements'].map((source) => ({ ...settled, source }))
  const byEvents = { sellerId: one.sellerId, source: 'events', day, named: 3, stored: 1 }
  expect(await count(one)).toEqual([
    { ...byEvents, missing: 1, explained: 1, missingIds: ['999000000000'], explanations: [malformed] },
    ...others,
  ])
  // One that the marketplace denies is requested again after a minute, then at growing intervals, not with every run.
  await one.sync('orders', 'named')
  expect(await asked(one, '999000000000')).toBe(1)
  expect(await asked(one, '4711000000000')).toBe(0)
  for (let asks = 2; asks <= 5; asks += 1) {
    await becomeDue(one)
    await one.sync('orders', 'named')
    expect(await asked(one, '999000000000')).toBe(asks)
  }
  const denied = { purchaseOrderId: '999000000000', reason: 'the marketplace does not know this order' }
  expect(await count(one)).toEqual([
    { ...byEvents, missing: 0, explained: 2, missingIds: [], explanations: [malformed, denied] },
    ...others,
  ])
  expect(await findMissingOrders(bench.database, 0)).toEqual([])
  expect((await one.requests()).filter((request) => request.includes('..'))).toEqual([])
})

test('ids that events name are asked for and shown in their normal form', async () => {
  const one = await bench.seller()
  const [listed = '', spaced = '', lined = ''] = await one.place(3, { shipNodeType: 'SellerFulfilled' })
  await bench.sandbox.control('PUT', '/faults', { hidden: [{ ids: [spaced, lined] }] })
  await one.sync('orders', 'released')
  await nameByEvent(one, `${listed} `, ` ${spaced} `, `${lined}\n`)
  await noteNamed(one)
  await one.sync('orders', 'named')
  expect(await one.storedOrders()).toEqual([listed, spaced, lined].sort())
  expect(await count(one)).toMatchObject([{ source: 'events', named: 3, stored: 3, missing: 0, explained: 0 }])
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
