/**
 * What people ask the console for, over HTTP, and how long a browser takes to show its first view, with many orders, changes, commands and events in the
 * database: 5 % of the orders open, one in fifty of these late, one in ten not acknowledged. Alternating with a list of keys. `node bench/lists.ts [--orders 1000000] [--commands 100000] [--rounds 40]`
 */

import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { computeDailyFigures } from '../src/store/trends/daily-figures.ts'
import { startServer } from '../test/http/support.ts'
import { hasBrowser, launchBrowser } from '../test/support/browser.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { alternately, answerMs } from './answer-times.ts'
import { benchFolder, benchOptions, median, percentile } from './measure.ts'

const { orders, commands, rounds } = benchOptions({ orders: 1_000_000, commands: 100_000, rounds: 40 }).numbers
const batch = 100_000
const visitsCounted = 5

// Order n is n minutes old; the newest twentieth is open.
const fill = [
  `INSERT INTO warehouse.orders (seller_id, purchase_order_id, customer_order_id, order_date, ship_node_type, estimated_ship_date, customer_name,
     shipping_address, total_amount, currency, open, raw_hash, raw, observed_at, first_seen_at, changed_at)
   SELECT 's-' || (1 + n % 2), 'po-' || n, 'co-' || n, now() - n * interval '1 minute',
     CASE n % 10 WHEN 0 THEN 'WFSFulfilled' ELSE 'SellerFulfilled' END, now() + (CASE WHEN n % 50 = 1 THEN -1 ELSE 1 END) * (n % 72) * interval '1 hour',
     'Name ' || n, jsonb_build_object('city', 'City ' || n % 1000), 19.99, 'USD', n < $3::int / 20, decode(md5(n::text), 'hex'),
     jsonb_build_object('purchaseOrderId', 'po-' || n, 'filler', repeat(md5(n::text), 8)), now(), now(), now()
   FROM generate_series($1::int, $2::int) AS n`,
  `INSERT INTO warehouse.order_lines (seller_id, purchase_order_id, line_number, line_index, sku, ordered, acknowledged, shipped, cancelled, refunded,
     refunded_amount, charges, refund_reasons, intent_to_cancel, raw, first_seen_at, changed_at)
   SELECT 's-' || (1 + n % 2), 'po-' || n, l::text, l - 1, 'SKU-' || (n * 7 + l) % 20000, 2, CASE WHEN n < $3::int / 20 AND n % 10 = 3 THEN 0 ELSE 2 END,
     CASE WHEN n < $3::int / 20 THEN 0 ELSE 2 END, 0, 0, 0, '[]', '[]', false, jsonb_build_object('lineNumber', l), now(), now()
   FROM generate_series($1::int, $2::int) AS n CROSS JOIN generate_series(1, 2) AS l`,
  `INSERT INTO warehouse.order_line_statuses (seller_id, purchase_order_id, line_number, position, status, quantity, tracking_number, raw, first_seen_at,
     changed_at)
   SELECT 's-' || (1 + n % 2), 'po-' || n, '1', 0, 'Shipped', 2, '1Z' || n, '{}', now(), now() FROM generate_series($1::int, $2::int) AS n WHERE n >= $3::int / 20`,
  `INSERT INTO warehouse.changes (seq, seller_id, type, purchase_order_id, data, occurred_at)
   SELECT n, 's-' || (1 + n % 2), (ARRAY['order.created', 'order.line.status', 'order.changed'])[1 + n % 3], 'po-' || n, '{}', now()
   FROM generate_series($1::int, least($2::int, $3::int)) AS n`,
]
const fillCommands = [
  `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, created_at, settled_at)
   SELECT 'c-' || n, 's-' || (1 + n % 2), 'po-' || n, 'ship', CASE WHEN n % 1000 = 0 THEN 'held' WHEN n % 200 = 1 THEN 'rejected' ELSE 'confirmed' END,
     jsonb_build_object('parcels', jsonb_build_array(jsonb_build_object('carrier', 'UPS', 'trackingNumber', '1Z' || n, 'lines', '[]'::jsonb))),
     now() - n * interval '1 minute', CASE WHEN n % 1000 = 0 THEN NULL ELSE now() - n * interval '1 minute' END
   FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity)
   SELECT 'c-' || n, '1', 's-' || (1 + n % 2), 'po-' || n, 2 FROM generate_series(1, $1::int) AS n`,
  `INSERT INTO tallyman.erp_event (source, id, type, data, seller_id, status, received_at, processed_at)
   SELECT 'erp', 'e-' || n, 'erp.shipment.dispatched', jsonb_build_object('purchaseOrderId', 'po-' || n), 's-' || (1 + n % 2),
     CASE WHEN n % 500 = 3 THEN 'rejected' ELSE 'accepted' END, now() - n * interval '1 minute', now() - n * interval '1 minute'
   FROM generate_series(1, $1::int) AS n`,
]

const middle = Math.round(orders / 2)
const plain = '/v1/keys'
const sevenDaysAgo = new Date(Date.now() - 7 * 86_400_000).toISOString()
const asked = {
  overview: '/v1/overview',
  throughput: '/v1/throughput',
  'orders of seven days by state': '/v1/order-states',
  'shipped orders of seven days': `/v1/orders?outcome=shipped&createdFrom=${sevenDaysAgo}&sort=-orderDate&limit=50`,
  'cancelled orders of seven days': `/v1/orders?outcome=cancelled&createdFrom=${sevenDaysAgo}&sort=-orderDate&limit=50`,
  'refunded orders of seven days': `/v1/orders?outcome=refunded&createdFrom=${sevenDaysAgo}&sort=-orderDate&limit=50`,
  'orders, newest first': '/v1/orders?sort=-orderDate&limit=50',
  'open orders by deadline': '/v1/orders?open=true&sort=shipBy&limit=50',
  'late orders': '/v1/orders?open=true&late=true&sort=shipBy&limit=50',
  'to ship within 24 hours': '/v1/orders?open=true&shipSoon=true&sort=shipBy&limit=50',
  'to acknowledge': '/v1/orders?open=true&unacknowledged=true&sort=acknowledgeBy&limit=50',
  'late to acknowledge': '/v1/orders?open=true&acknowledgeOverdue=true&sort=acknowledgeBy&limit=50',
  'cancelled within 24 hours': '/v1/orders?open=true&autoCancelSoon=true&sort=shipBy&limit=50',
  'an order by any of its ids': `/v1/orders?q=co-${middle}&sort=-orderDate&limit=50`,
  'an order by its tracking number': `/v1/orders?trackingNumber=1Z${middle}&sort=-orderDate&limit=50`,
  'orders of a SKU': '/v1/orders?sku=SKU-77&sort=-orderDate&limit=50',
  'orders of a city': '/v1/orders?city=city%2077&sort=-orderDate&limit=50',
  'one order': `/v1/orders/po-${middle}?sellerId=s-${1 + (middle % 2)}`,
  'commands, newest first': '/v1/commands?limit=50',
  'held commands': '/v1/commands?state=held&limit=50',
  'commands of a tracking number': '/v1/commands?trackingNumber=1Z77&limit=50',
  'a search by its beginning, in every kind': '/v1/search?q=p',
  'a search for one order': `/v1/search?q=PO%20${middle}`,
  'a search by the last digits of an order': '/v1/search?q=4711',
  'a search for SKUs': '/v1/search?q=sku7',
  'a search for a command': '/v1/search?q=c77',
  'commands of a SKU': '/v1/commands?sku=SKU-77&limit=50',
  'events, newest first': '/v1/events?limit=50',
  'rejected events': '/v1/events?state=rejected&limit=50',
  'a page of the change feed': `/v1/changes?after=${middle}&limit=100`,
  'changes of an order': `/v1/changes?purchaseOrderId=po-${middle}`,
  'trends of 90 days': '/v1/trends?days=90',
  'pick list of six hours': `/v1/pick-list?shipBefore=${new Date(Date.now() + 6 * 3_600_000).toISOString()}`,
  'lag of each resource': '/v1/lags',
  sellers: '/v1/sellers',
} as const

/** Median of some visits, each by a browser context that has stored nothing, until the overview shows its figures. */
const measureFirstView = async (url: string): Promise<number> => {
  const browser = await launchBrowser()
  try {
    const visits: number[] = []
    // The first one warms the browser up.
    for (let visit = 0; visit <= visitsCounted; visit += 1) {
      const context = await browser.newContext()
      const page = await context.newPage()
      const startedMs = performance.now()
      await page.goto(url)
      await page.getByRole('link', { name: 'late to ship' }).waitFor()
      if (visit > 0) visits.push(performance.now() - startedMs)
      await context.close()
    }
    return median(visits)
  } finally {
    await browser.close()
  }
}

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })
const http = await startServer(database, { sellers: () => ['s-1', 's-2'], marketplaceNow: () => new Date() })
try {
  for (let from = 1; from <= orders; from += batch)
    for (const statement of fill) await database.execute(statement, from, Math.min(orders, from + batch - 1), orders)
  for (const statement of fillCommands) await database.execute(statement, commands)
  await database.execute('UPDATE tallyman.change_counter SET last_seq = $1::int', orders)
  await database.execute('VACUUM ANALYZE')
  const startedMs = performance.now()
  await computeDailyFigures(database, 180)
  console.log(`figures of 180 days: ${(performance.now() - startedMs).toFixed(0)} ms`)
  const reported = []
  for (const [what, path] of Object.entries(asked)) {
    await answerMs(`${http.url}${path}`)
    const { these, others } = await alternately(`${http.url}${path}`, `${http.url}${plain}`, rounds)
    reported.push({ what, ms: median(these), p95Ms: percentile(these, 0.95), toPlain: median(these) / median(others) })
  }
  console.log(`${orders} orders, ${commands} commands`)
  console.table(
    reported.map(({ what, ms, p95Ms, toPlain }) => ({
      what,
      'median, ms': ms.toFixed(1),
      'p95, ms': p95Ms.toFixed(1),
      'to a list of keys': toPlain.toFixed(1),
    })),
  )
  const firstViewMs = hasBrowser ? await measureFirstView(http.url) : null
  if (firstViewMs !== null)
    console.log(`first view, from the address to its figures, a browser that has stored nothing: ${firstViewMs.toFixed(0)} ms`)
  process.send?.({ slowestP95Ms: Math.max(...reported.map(({ p95Ms }) => p95Ms)), firstViewMs })
} finally {
  await http.close()
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
