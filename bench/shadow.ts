/**
 * The comparison of shadow mode over HTTP, of one seller: the newest orders were placed in shadow mode and shipped by the other system, and each of the newest
 * has a prediction that agrees, except one in a thousand. `node bench/shadow.ts [--orders 100000] [--placed 20000] [--predictions 20000] [--rounds 5]`
 */
import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { summarizeShadow } from '../src/store/commands/shadow-comparisons.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { startServer } from '../test/http/support.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { answerMs } from './answer-times.ts'
import { benchFolder, benchOptions, median } from './measure.ts'

const { orders, placed, predictions, rounds } = benchOptions({
  orders: 100_000,
  placed: 20_000,
  predictions: 20_000,
  rounds: 5,
}).numbers
const sellerId = 's-1'
const batch = 20_000

// Order n is n minutes old. The ids do not follow the age.
const id = `'po-' || md5(n::text)`
const fillOrders = [
  `INSERT INTO warehouse.orders (seller_id, purchase_order_id, order_date, ship_node_type, total_amount, currency, open, raw_hash, raw, observed_at, first_seen_at,
     changed_at)
   SELECT '${sellerId}', ${id}, now() - n * interval '1 minute', 'SellerFulfilled', 19.99, 'USD', false, decode(md5(n::text), 'hex'),
     jsonb_build_object('filler', repeat(md5(n::text), 30)), now(), now(), now() FROM generate_series($1::int, $2::int) AS n`,
  `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled, refunded,
     refunded_amount, charges, refund_reasons, intent_to_cancel, status_date, raw, first_seen_at, changed_at)
   SELECT '${sellerId}', ${id}, l::text, l - 1, 'SKU-' || n % 5000, 2, 2, 2, 0, 0, 0, '[]', '[]', false, now() - (n - 0.25) * interval '1 minute',
     jsonb_build_object('lineNumber', l), now(), now() FROM generate_series($1::int, $2::int) AS n CROSS JOIN generate_series(1, 2) AS l`,
  `INSERT INTO warehouse.order_line_statuses (seller_id, purchase_order_id, line_number, position, status, quantity, carrier, tracking_number, shipped_at, raw,
     first_seen_at, changed_at)
   SELECT '${sellerId}', ${id}, l::text, 0, 'Shipped', 2, 'UPS', '1Z' || n, now() - (n - 0.25) * interval '1 minute', '{}', now(), now()
   FROM generate_series($1::int, $2::int) AS n CROSS JOIN generate_series(1, 2) AS l`,
  `INSERT INTO warehouse.shipments (seller_id, purchase_order_id, line_number, position, carrier, tracking_number, shipped_at, quantity, shown_quantity,
     first_seen_at, changed_at)
   SELECT '${sellerId}', ${id}, l::text, 0, 'UPS', '1Z' || n, now() - (n - 0.25) * interval '1 minute', 2, 2, now(), now()
   FROM generate_series($1::int, $2::int) AS n CROSS JOIN generate_series(1, 2) AS l`,
]
const lines = (line: string): string => `(SELECT jsonb_agg(${line} ORDER BY l) FROM generate_series(1, 2) AS l)`
const fillPredictions = [
  `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, created_at)
   SELECT 'c-' || n, '${sellerId}', ${id}, 'ship', 'predicted',
     jsonb_build_object('parcels', jsonb_build_array(jsonb_build_object('carrier', 'UPS', 'trackingNumber', CASE WHEN n % 1000 = 0 THEN '9X' ELSE '1Z' END || n,
       'trackingUrl', NULL, 'method', NULL, 'shippedAt', '2026-11-20T10:00:00Z', 'lines', ${lines(`jsonb_build_object('lineNumber', l::text, 'quantity', 2)`)}))),
     now() - (n - 0.25) * interval '1 minute' FROM generate_series($1::int, $2::int) AS n`,
  `INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity)
   SELECT 'c-' || n, l::text, '${sellerId}', ${id}, 2 FROM generate_series($1::int, $2::int) AS n CROSS JOIN generate_series(1, 2) AS l`,
  `INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, started_at, finished_at, outcome)
   SELECT 'c-' || n, 1, 'bench', '{}', jsonb_build_object('purchaseOrderId', ${id}, 'lines', ${lines(
     `jsonb_build_object('lineNumber', l::text, 'ordered', 2, 'units', '{"acknowledged": 2, "shipped": 0, "cancelled": 0, "refunded": 0}'::jsonb,
        'statuses', '[]'::jsonb, 'refundedAmount', '0', 'refundReasons', '[]'::jsonb)`,
   )}), now() - (n - 0.25) * interval '1 minute', now(), 'predicted' FROM generate_series($1::int, $2::int) AS n`,
]

const asked = {
  'a page of 50 orders': '/v1/shadow?limit=50',
  'a page of 50 orders that differ': '/v1/shadow?verdict=difference&limit=50',
  'numbers by verdict': '/v1/shadow/counts',
} as const

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })
const http = await startServer(database, { sellers: () => [sellerId] })
const fill = async (statements: readonly string[], rows: number): Promise<void> => {
  for (let from = 1; from <= rows; from += batch)
    for (const statement of statements) await database.execute(statement, from, Math.min(rows, from + batch - 1))
}
try {
  await database.execute(
    `INSERT INTO tallyman.sellers (seller_id, state, mode, mode_since) VALUES ($1, 'active', 'shadow', now() - ($2::int + 0.5) * interval '1 minute')`,
    sellerId,
    placed,
  )
  await fill(fillOrders, orders)
  await fill(fillPredictions, predictions)
  await database.execute('VACUUM ANALYZE')
  const reported = []
  for (const [what, path] of Object.entries(asked)) {
    const times: number[] = []
    for (let round = 0; round < rounds; round += 1) times.push(await answerMs(`${http.url}${path}`))
    reported.push({ what, ms: median(times), slowestMs: Math.max(...times) })
  }
  const startedMs = performance.now()
  const { counts } = await summarizeShadow(database, { sellerId, purchaseOrderId: null, from: null }, Number.POSITIVE_INFINITY)
  const allMs = performance.now() - startedMs
  console.log(`${orders} orders, ${placed} placed in shadow mode, ${predictions} predictions: ${JSON.stringify(counts)}`)
  reported.push({ what: 'all orders, as before going live', ms: allMs, slowestMs: allMs })
  console.table(
    reported.map(({ what, ms, slowestMs }) => ({ what, 'median, ms': ms.toFixed(0), 'slowest, ms': slowestMs.toFixed(0) })),
  )
  process.send?.({ allMs })
} finally {
  await http.close()
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
