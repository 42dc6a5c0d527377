/**
 * The views for BI over many order lines: each for one seller and 30 days. `node bench/bi-views.ts [lines] [--sellers 10]`; prints the times of queries.
 */

import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, median } from './measure.ts'

const { lines, sellers } = benchOptions({ lines: 1_000_000, sellers: 10 }, { inOrder: true }).numbers
const chunk = 50_000
const rounds = 3

/** Of order n: seller, day and times. Orders have two lines, and are spread over a year that ends now. */
const orders = `(SELECT n, 'seller-' || n % $3::int AS seller_id, n::text AS id, date_trunc('day', now()) - n / $3::int % 365 * interval '1 day'
  + n % 24 * interval '1 hour' AS ordered_at FROM generate_series($1::int, $2::int) n) o`
const orderLines = `${orders}, generate_series(1, 2) l`

/** Twenty percent of lines are refunded, five percent cancelled. Settlement reports have paid all but the last 30 days. */
const fill = [
  `INSERT INTO warehouse.orders (seller_id, purchase_order_id, order_date, ship_node_type, estimated_ship_date, estimated_delivery_date, currency, open,
     raw_hash, raw, observed_at, first_seen_at, changed_at)
   SELECT seller_id, id, ordered_at, 'SellerFulfilled', ordered_at + interval '2 days', ordered_at + interval '6 days', 'USD', false, '\\x00', '{}',
     now(), now(), now() FROM ${orders}`,
  `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled, refunded,
     refunded_amount, currency, charges, refund_reasons, refunds, intent_to_cancel, raw, first_seen_at, changed_at)
   SELECT seller_id, id, l::text, l - 1, 'SKU-' || (n * 2 + l) % 2000, 2, 2, 2 - (n % 20 = 0)::int, (n % 20 = 0)::int, (n % 5 = 1)::int,
     CASE n % 5 WHEN 1 THEN 10.8 ELSE 0 END, 'USD', '[{"chargeType": "PRODUCT", "amount": "20.00", "tax": {"amount": "1.60"}},
       {"chargeType": "SHIPPING", "amount": "3.00", "tax": null}]', '[]',
     CASE n % 5 WHEN 1 THEN jsonb_build_array(jsonb_build_object('refundId', NULL, 'reason', 'Damaged', 'units', 1, 'amount', '10', 'tax', '0.8',
       'refundedAt', ordered_at + interval '9 days')) ELSE '[]' END, false, '{}', now(), now() FROM ${orderLines}`,
  `INSERT INTO warehouse.shipments (seller_id, purchase_order_id, line_number, position, carrier, tracking_number, shipped_at, quantity, shown_quantity,
     delivered_quantity, delivered_at, first_seen_at, changed_at)
   SELECT seller_id, id, l::text, 0, 'UPS', 'T' || n, ordered_at + n % 70 * interval '1 hour', 2 - (n % 20 = 0)::int, 1, 1,
     ordered_at + interval '5 days', now(), now() FROM ${orderLines}`,
  `INSERT INTO warehouse.settlement_lines (seller_id, line_key, report_date, row_number, transaction_type, movement, component, amount, quantity,
     purchase_order_id, purchase_order_line, sku, posted_on, raw_hash, raw, observed_at, first_seen_at, changed_at)
   SELECT seller_id, n || '/' || l || '/' || p, ordered_at::date, n, 'Sale', 'sale', CASE p WHEN 0 THEN 'price' ELSE 'commission' END,
     CASE p WHEN 0 THEN 23 ELSE -3 END, 2, id, l::text, 'SKU-' || (n * 2 + l) % 2000, ordered_at::date + 10, '\\x00', '{}', now(), now(), now()
   FROM ${orderLines}, generate_series(0, 1) p WHERE ordered_at < now() - interval '30 days'`,
]

/** A report of 2,000 SKUs for each seller, 50 movements of each SKU since, and 2,000 differences. */
const fillInventory = [
  `INSERT INTO warehouse.reconciliation_reports (id, seller_id, month, state, generated_at, covered_until, retrieved_at, imported_at, byte_count, row_count,
     changed_count, gone_count, correlation_id, by_gtin)
   SELECT s + 1, 'seller-' || s, date_trunc('month', now())::date, 'imported', now(), now() - interval '30 days', now(), now(), 1, 2000, 2000, 0, 'c', false
   FROM generate_series(0, $1::int - 1) s`,
  `INSERT INTO warehouse.reconciliation_rows (seller_id, month, sku, beginning_quantity, ending_quantity, sold, returned, lost, found, damaged,
     other_adjustments, report_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
   SELECT 'seller-' || s, date_trunc('month', now())::date, 'SKU-' || k, 100, 80, 20, 0, 0, 0, 0, 0, s + 1, '\\x00', '{}', now(), now(), now()
   FROM generate_series(0, $1::int - 1) s, generate_series(0, 1999) k`,
  `INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, changed_units, transaction_time, raw_hash, raw, observed_at, first_seen_at,
     changed_at)
   SELECT 'seller-' || s, 'SKU-' || k, e::text, -1, now() - e * interval '1 day', '\\x00', '{}', now(), now(), now()
   FROM generate_series(0, $1::int - 1) s, generate_series(0, 1999) k, generate_series(1, 50) e`,
  `INSERT INTO warehouse.settlement_differences (seller_id, kind, difference_key, report_date, expected_amount, paid_amount, currency, line_keys)
   SELECT 'seller-' || s, 'paid-less', d::text, now()::date - d % 365, 5, 3, 'USD', '{}' FROM generate_series(0, $1::int - 1) s, generate_series(1, 2000) d`,
]

const ofSeller = `seller_id = 'seller-0'`
const of30Days = `${ofSeller} AND day BETWEEN current_date - 30 AND current_date`
const views: Readonly<Record<string, string>> = {
  sales_daily: of30Days,
  refunds: of30Days,
  parcels: of30Days,
  fulfilment_daily: of30Days,
  order_payouts: of30Days,
  differences: of30Days,
  stock_now: ofSeller,
}

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 2 })
try {
  const last = Math.ceil(lines / 2)
  for (let from = 1; from <= last; from += chunk)
    for (const sql of fill) await database.execute(sql, from, Math.min(last, from + chunk - 1), sellers)
  for (const sql of fillInventory) await database.execute(sql, sellers)
  await database.execute('VACUUM ANALYZE')
  const timed = []
  for (const [view, condition] of Object.entries(views)) {
    const times: number[] = []
    let rows = 0
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now()
      rows = (await database.query(`SELECT * FROM warehouse.${view} WHERE ${condition}`)).length
      times.push(performance.now() - started)
    }
    timed.push({ view, rows, 'median, ms': median(times).toFixed(0), 'slowest, ms': Math.max(...times).toFixed(0) })
  }
  console.table(timed)
} finally {
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
