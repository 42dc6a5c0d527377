import pg from 'pg'
import { describe, expect, test } from 'vitest'
import type { LineRefund, Shipment } from '../../src/domain/orders/order.ts'
import { readOrderPayouts } from '../../src/store/orders/order-payouts.ts'
import { withDatabase } from '../support/database.ts'
import { charge, orderLine, purchaseOrder } from '../support/orders.ts'
import { seedOrder } from '../support/store.ts'
import { reportRow, storeReportRows } from './support/settlements.ts'

const stage = withDatabase({ each: 'test' })
const sellerId = 's-1'
const read = (sql: string) => stage.database.query(sql)

const refund = (more: Partial<LineRefund>): LineRefund => ({
  refundId: null,
  reason: 'Damaged',
  units: 1,
  amount: '8.00',
  tax: '0.80',
  refundedAt: new Date('2026-03-06T02:00:00Z'),
  ...more,
})

const parcel = (trackingNumber: string, quantity: number, more: Partial<Shipment> = {}): Shipment => ({
  ...{ carrier: 'UPS', methodCode: 'Standard', trackingNumber, trackingUrl: null, shippedAt: new Date('2026-03-02T10:00:00Z') },
  ...{ quantity, shownQuantity: quantity, deliveredQuantity: 0, deliveredAt: null },
  ...more,
})

/** Four units of a kettle, a dollar off: one was cancelled, three were shipped, one of them was refunded. */
const kettles = orderLine(
  '1',
  'KETTLE',
  4,
  { shipped: 3, cancelled: 1, refunded: 1 },
  {
    charges: [charge('40.00', '4.00'), charge('-4.00', '-0.40'), charge('6.00', '0.60', 'SHIPPING')],
    refunds: [refund({})],
    refundedAmount: '8.80',
    shipments: [
      parcel('OLD', 2, { shownQuantity: 0 }),
      parcel('NEW', 2, { deliveredQuantity: 2, deliveredAt: new Date('2026-03-05T10:00:00Z') }),
      parcel('LATE', 1, { shippedAt: new Date('2026-03-04T10:00:00Z'), shownQuantity: 0 }),
    ],
  },
)

describe('sales and refunds', () => {
  test('add up to the lines of the orders, by the day in the declared zone', async () => {
    await seedOrder(stage.database, sellerId, purchaseOrder('1', [kettles]))
    const late = { orderDate: new Date('2026-03-02T03:00:00Z') }
    await seedOrder(stage.database, sellerId, purchaseOrder('2', [orderLine('1', 'KETTLE', 1)], late))
    const sales = `SELECT day::text, orders, units::int, gross::text, discount::text, tax::text, shipping::text, net::text, refunded::int,
      refunded_amount::text, refunded_tax::text, cancelled::int, cancelled_amount::text FROM warehouse.sales_daily ORDER BY day`
    const first = {
      ...{ orders: 1, units: 4, gross: '40.00', discount: '-4.00', tax: '4.20', shipping: '6.00', net: '23.50' },
      ...{ refunded: 1, refunded_amount: '8.00', refunded_tax: '0.80', cancelled: 1, cancelled_amount: '10.50' },
    }
    const second = {
      ...{ orders: 1, units: 1, gross: '1.00', discount: '0', tax: '0', shipping: '0', net: '1.00' },
      ...{ refunded: 0, refunded_amount: '0', refunded_tax: '0', cancelled: 0, cancelled_amount: '0.00' },
    }
    expect(await read(sales)).toEqual([
      { day: '2026-03-01', ...first },
      { day: '2026-03-02', ...second },
    ])
    await read(`UPDATE tallyman.bi_settings SET time_zone = 'America/New_York'`)
    expect(await read(`SELECT day::text, orders, units::int FROM warehouse.sales_daily`)).toEqual([
      { day: '2026-03-01', orders: 2, units: 5 },
    ])
    expect(await read('SELECT position, reason, units, amount::text, tax::text, day::text FROM warehouse.refunds')).toEqual([
      { position: 1, reason: 'Damaged', units: 1, amount: '8.00', tax: '0.80', day: '2026-03-05' },
    ])
  })

  test('a refund names the newest return of its line that was created before it', async () => {
    await seedOrder(stage.database, sellerId, purchaseOrder('1', [kettles]))
    const addReturn = async (id: string, at: string, lineNumber: string) => {
      await read(`INSERT INTO warehouse.returns (seller_id, return_order_id, return_order_date, raw_hash, raw, observed_at, first_seen_at, changed_at)
        VALUES ('${sellerId}', '${id}', '${at}', '\\x00', '{}', now(), now(), now())`)
      await read(`INSERT INTO warehouse.return_lines (seller_id, return_order_id, return_order_line_number, purchase_order_id,
          purchase_order_line_number, quantity, raw, first_seen_at, changed_at)
        VALUES ('${sellerId}', '${id}', 1, '1', '${lineNumber}', 1, '{}', now(), now())`)
    }
    const named = () => read('SELECT return_order_id FROM warehouse.refunds')
    expect(await named()).toEqual([{ return_order_id: null }])
    await addReturn('other-line', '2026-03-05', '2')
    await addReturn('later', '2026-03-07', '1')
    expect(await named()).toEqual([{ return_order_id: null }])
    await addReturn('oldest', '2026-03-03', '1')
    await addReturn('newest', '2026-03-05', '1')
    expect(await named()).toEqual([{ return_order_id: 'newest' }])
  })
})

test('each shipped unit is in one parcel, also after a corrected tracking number and a refund', async () => {
  await seedOrder(stage.database, sellerId, purchaseOrder('1', [kettles]))
  await seedOrder(stage.database, sellerId, purchaseOrder('2', [orderLine('1', 'PAN', 2)], { estimatedShipDate: null }))
  expect(
    await read(
      'SELECT position, units, delivered_units, hours_to_ship::text, late, day::text FROM warehouse.parcels ORDER BY position',
    ),
  ).toEqual([
    { position: 0, units: 0, delivered_units: 0, hours_to_ship: '24.00', late: false, day: '2026-03-02' },
    { position: 1, units: 2, delivered_units: 2, hours_to_ship: '24.00', late: false, day: '2026-03-02' },
    { position: 2, units: 1, delivered_units: 0, hours_to_ship: '72.00', late: true, day: '2026-03-04' },
  ])
  expect(
    await read(`SELECT day::text, orders, units::int, cancelled::int, shipped::int, on_time::int, late::int, delivered::int, waiting::int, overdue::int,
      hours_to_ship::text FROM warehouse.fulfilment_daily ORDER BY day`),
  ).toEqual([
    {
      ...{
        day: '2026-03-03',
        orders: 1,
        units: 4,
        cancelled: 1,
        shipped: 3,
        on_time: 2,
        late: 1,
        delivered: 2,
        waiting: 0,
        overdue: 0,
      },
      hours_to_ship: '40.00',
    },
    {
      ...{ day: null, orders: 1, units: 2, cancelled: 0, shipped: 0, on_time: 0, late: 0, delivered: 0, waiting: 2, overdue: 0 },
      hours_to_ship: null,
    },
  ])
})

test('an order is paid when reports have paid its shipped units', async () => {
  await seedOrder(stage.database, sellerId, purchaseOrder('1', [orderLine('1', 'PAN', 2, { shipped: 2 })]))
  await seedOrder(stage.database, sellerId, purchaseOrder('2', [orderLine('1', 'PAN', 2)]))
  const payouts = () =>
    read(
      `SELECT purchase_order_id, state, charged::text, payout::text, open_amount::text FROM warehouse.order_payouts ORDER BY 1`,
    )
  const idle = { purchase_order_id: '2', state: 'nothing-due', charged: '2.00', payout: '0', open_amount: '0' }
  expect(await payouts()).toEqual([
    { purchase_order_id: '1', state: 'pending', charged: '2.00', payout: '0', open_amount: '2.00' },
    idle,
  ])
  await storeReportRows(stage.database, sellerId, '2026-03-14', [
    { 'Transaction Type': 'PaymentSummary', 'Total Payable': '1.70' },
    reportRow('1', 'PAN', '1', ['Sale', 'Product Price'], '2.00'),
    reportRow('1', 'PAN', '1', ['Sale', 'Commission on Product'], '-0.30'),
  ])
  expect(await payouts()).toEqual([
    { purchase_order_id: '1', state: 'paid', charged: '2.00', payout: '1.70', open_amount: '0' },
    idle,
  ])
  expect(await readOrderPayouts(stage.database, { sellerId, purchaseOrderId: '1' })).toEqual([
    expect.objectContaining({ state: 'paid', paid: '2.00', commission: '-0.30', payout: '1.70', openAmount: '0' }),
  ])
})

test('the stock is that of the list, otherwise the last report with the movements of the log since', async () => {
  await read(`INSERT INTO warehouse.reconciliation_reports (id, seller_id, month, state, generated_at, covered_until, retrieved_at,
      imported_at, byte_count, row_count, changed_count, gone_count, correlation_id, by_gtin)
    VALUES (1, '${sellerId}', '2026-03-01', 'imported', '2026-03-10', '2026-03-10', now(), now(), 1, 2, 2, 0, 'c', false)`)
  for (const sku of ['LISTED', 'LOGGED'])
    await read(`INSERT INTO warehouse.reconciliation_rows (seller_id, month, sku, beginning_quantity, ending_quantity, sold, returned, lost, found, damaged,
        other_adjustments, report_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
      VALUES ('${sellerId}', '2026-03-01', '${sku}', 9, 7, 2, 0, 0, 0, 0, 0, 1, '\\x00', '{}', now(), now(), now())`)
  const entries = [
    ['1', '2026-03-09', -1, 'Inventory'],
    ['2', '2026-03-11', -2, 'Inventory'],
    ['3', '2026-03-12', 5, ' SALVAGE'],
    ['4', '2026-03-13', 1, null],
  ] as const
  for (const [id, at, units, location] of entries)
    await stage.database.query(
      `INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, changed_units, transaction_time, transaction_location, raw_hash, raw,
         observed_at, first_seen_at, changed_at) VALUES ($1, 'LOGGED', $2, $3::int, $4::timestamptz, $5, '\\x00', '{}', now(), now(), now())`,
      sellerId,
      id,
      units,
      at,
      location,
    )
  await read(`INSERT INTO warehouse.stock_on_hand (seller_id, sku, available_units, on_hand_units, raw_hash, raw, observed_at, first_seen_at, changed_at)
    VALUES ('${sellerId}', 'LISTED', 3, 4, '\\x00', '{}', now(), now(), now())`)
  expect(await read('SELECT sku, source, on_hand_units::int, available_units FROM warehouse.stock_now ORDER BY sku')).toEqual([
    { sku: 'LISTED', source: 'list', on_hand_units: 4, available_units: 3 },
    { sku: 'LOGGED', source: 'log', on_hand_units: 6, available_units: null },
  ])
})

test('differences have the sign of what the seller misses', async () => {
  for (const [kind, reported, expected] of [
    ['balance', 7, 9],
    ['lost', 3, 1],
    ['found', 3, 1],
  ] as const)
    await read(`INSERT INTO warehouse.inventory_discrepancies (seller_id, sku, month, kind, report_units, expected_units, log_entry_ids, log_entries,
        earliest_day, unit_price, value, currency, state)
      VALUES ('${sellerId}', '${kind}', '2026-03-01', '${kind}', ${reported}, ${expected}, '{}', 0, '2026-03-01', 5, 10.00, 'USD', 'open')`)
  await read(`INSERT INTO warehouse.stock_differences (seller_id, sku, counted_units, balance_units, as_of, opening_units, opening_at, value, currency, state)
    VALUES ('${sellerId}', 'PAN', 4, 5, '2026-03-10', 5, '2026-03-01', 5.00, 'USD', 'open')`)
  await read(`INSERT INTO warehouse.settlement_differences (seller_id, kind, difference_key, purchase_order_id, expected_amount, paid_amount, currency,
      line_keys) VALUES ('${sellerId}', 'paid-less', 'k', '1', 5.00, 3.00, 'USD', '{}')`)
  expect(
    await read(
      `SELECT source, kind, units::int, value::text, pg_typeof(value)::text AS type FROM warehouse.differences ORDER BY source, kind`,
    ),
  ).toEqual(
    [
      { source: 'inventory', kind: 'balance', units: -2, value: '-10.00' },
      { source: 'inventory', kind: 'found', units: 2, value: '10.00' },
      { source: 'inventory', kind: 'lost', units: -2, value: '-10.00' },
      { source: 'settlement', kind: 'paid-less', units: null, value: '-2.00' },
      { source: 'stock', kind: 'stock', units: -1, value: '-5.00' },
    ].map((row) => ({ ...row, type: 'numeric' })),
  )
})

test('tallyman_bi reads every column of the views, without naming them', async () => {
  await seedOrder(stage.database, sellerId, purchaseOrder('1', [kettles]))
  const client = new pg.Client({ connectionString: stage.url })
  await client.connect()
  try {
    await client.query('SET ROLE tallyman_bi')
    for (const view of ['sales_daily', 'refunds', 'parcels', 'fulfilment_daily', 'order_payouts'])
      expect((await client.query(`SELECT * FROM warehouse.${view}`)).rowCount, view).toBeGreaterThan(0)
    for (const view of ['stock_now', 'differences', 'inventory']) await client.query(`SELECT * FROM warehouse.${view}`)
    await expect(client.query('SELECT * FROM warehouse.orders')).rejects.toThrow(/permission denied/)
  } finally {
    await client.end()
  }
})
