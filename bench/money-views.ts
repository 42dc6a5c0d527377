/**
 * The views of money over many order lines with two rows of settlement reports each. `node bench/money-views.ts [lines]`; prints the times of queries.
 */

import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, median } from './measure.ts'

const { lines } = benchOptions({ lines: 1_000_000 }, { inOrder: true }).numbers
const sellerId = 'bench'
const chunk = 50_000
const rounds = 3

/** Each SKU has 500 lines, spread over twelve months. */
const fill = [
  `INSERT INTO warehouse.orders (seller_id, purchase_order_id, order_date, currency, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
   SELECT $1, n::text, '2026-01-01'::timestamptz + n % 365 * interval '1 day', 'USD', false, '\\x00', '{}', now(), now(), now() FROM generate_series($2::int, $3::int) n`,
  `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled, refunded,
     refunded_amount, currency, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at)
   SELECT $1, n::text, '1', 0, 'SKU-' || n % $4::int, 1, 1, 1, 0, 0, 0, 'USD', '[{"chargeType": "PRODUCT", "amount": "20.00", "tax": {"amount": "1.60"}}]',
     '[]', false, '{}', now(), now() FROM generate_series($2::int, $3::int) n`,
  `INSERT INTO warehouse.settlement_lines (seller_id, line_key, report_date, row_number, transaction_type, movement, component, amount, quantity,
     purchase_order_id, purchase_order_line, sku, posted_on, raw_hash, raw, observed_at, first_seen_at, changed_at)
   SELECT $1, n || '/' || p, '2026-03-14', n * 2 + p, 'Sale', 'sale', CASE p WHEN 0 THEN 'price' ELSE 'commission' END, CASE p WHEN 0 THEN 20 ELSE -3 END, 1,
     n::text, '1', 'SKU-' || n % $4::int, '2026-03-10', '\\x00', '{}', now(), now(), now() FROM generate_series($2::int, $3::int) n, generate_series(0, 1) p`,
]

const ofSeller = `WHERE seller_id = '${sellerId}'`
const views = {
  'order_money of an order': `SELECT * FROM warehouse.order_money ${ofSeller} AND purchase_order_id = '7'`,
  'order_money of a SKU': `SELECT * FROM warehouse.order_money ${ofSeller} AND sku = 'SKU-1'`,
  'order_money of a day': `SELECT * FROM warehouse.order_money ${ofSeller} AND order_date >= '2026-03-01' AND order_date < '2026-03-02'`,
  'sku_money of a SKU': `SELECT * FROM warehouse.sku_money ${ofSeller} AND sku = 'SKU-1'`,
  'sku_money of a month': `SELECT * FROM warehouse.sku_money ${ofSeller} AND month = '2026-03-01'`,
  'sku_money of the seller': `SELECT * FROM warehouse.sku_money ${ofSeller}`,
} as const

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 2 })
try {
  const skus = Math.max(1, Math.ceil(lines / 500))
  for (let from = 1; from <= lines; from += chunk) {
    const to = Math.min(lines, from + chunk - 1)
    for (const sql of fill) await database.execute(sql, ...[sellerId, from, to, ...(sql.includes('$4') ? [skus] : [])])
  }
  await database.execute('VACUUM ANALYZE')
  const timed = []
  for (const [what, sql] of Object.entries(views)) {
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const started = performance.now()
      await database.query(sql)
      times.push(performance.now() - started)
    }
    timed.push({ what, 'median, ms': median(times).toFixed(0), 'slowest, ms': Math.max(...times).toFixed(0) })
  }
  console.table(timed)
} finally {
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
