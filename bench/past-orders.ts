/**
 * An order as it was known at a time, over HTTP, with many orders and versions in the database: each order has a few versions, one in a thousand has
 * fifty. Besides, the order as it is now. `node bench/past-orders.ts [--orders 100000] [--versions 5] [--rounds 200]`
 */

import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { wireLine, wireOrderSample } from '../test/clients/samples.ts'
import { startServer } from '../test/http/support.ts'
import { orderRecord } from '../test/store/support/records.ts'
import { storeOrders } from '../test/support/store.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { answerMs } from './answer-times.ts'
import { benchFolder, benchOptions, median, percentile } from './measure.ts'

const { orders, versions, rounds } = benchOptions({ orders: 100_000, versions: 5, rounds: 200 }).numbers
const batch = 1_000
const manyVersions = 50
const sellerId = 's-1'
const since = Date.parse('2026-01-01T00:00:00Z')
const minuteMs = 60_000

const sample = (id: string) => wireOrderSample(id, { orderLines: { orderLine: [wireLine('1', 2), wireLine('2', 1)] } })

// Version v of an order is v minutes younger than the first one. $1 first order, $2 last order, $3 record, $4 versions, $5 begin, $6 orders from one to the next.
const fillVersions = `
  INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
  SELECT '${sellerId}', 'orders', 'po-' || n, decode(md5(n || ' ' || v), 'hex'),
    $3::jsonb || jsonb_build_object('purchaseOrderId', 'po-' || n, 'statusNote', md5(v::text)),
    $5::timestamptz + v * interval '1 minute', $5::timestamptz + (v + 1) * interval '1 minute'
  FROM generate_series($1::int, $2::int, $6::int) AS n CROSS JOIN generate_series(0, $4::int - 2) AS v
  ON CONFLICT DO NOTHING`

const setTimes = `
  UPDATE warehouse.orders SET first_seen_at = $1::timestamptz, changed_at = $1::timestamptz + make_interval(mins =>
    (CASE WHEN substr(purchase_order_id, 4)::int % 1000 = 0 THEN ${manyVersions} ELSE $2::int END) - 1)`

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 4 })
const http = await startServer(database)

/** Milliseconds of each answer for orders all over the table; `at` is the version that is asked for. */
const measure = async (findOrder: (round: number) => number, at: number | null): Promise<readonly number[]> => {
  const times: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const time = at === null ? '' : `?at=${new Date(since + at * minuteMs).toISOString()}`
    times.push(await answerMs(`${http.url}/v1/orders/po-${findOrder(round)}${time}`))
  }
  return times
}

try {
  const from = new Date(since).toISOString()
  const record = JSON.stringify(sample('po'))
  for (let first = 0; first < orders; first += batch) {
    const last = Math.min(orders, first + batch) - 1
    const records = Array.from({ length: last - first + 1 }, (_, index) =>
      orderRecord(`po-${first + index}`, sample(`po-${first + index}`)),
    )
    await storeOrders(database, { sellerId, records, observedAt: new Date(since) })
    await database.execute(fillVersions, first, last, record, versions, from, 1)
  }
  await database.execute(fillVersions, 0, orders - 1, record, manyVersions, from, 1_000)
  await database.execute(setTimes, from, versions)
  await database.execute('VACUUM ANALYZE')
  const [row] = await database.query<{ stored: bigint }>('SELECT count(*) AS stored FROM tallyman.superseded_versions')
  const anywhere = (round: number): number => ((round * 7_919) % orders) + ((round * 7_919) % 1_000 === 0 ? 1 : 0)
  const ofMany = (round: number): number => ((round * 7) % Math.ceil(orders / 1_000)) * 1_000
  const asked = [
    ['the order as it is', anywhere, null],
    ['its first version', anywhere, 0],
    ['a later version', anywhere, Math.max(0, versions - 2)],
    ['the current version', anywhere, versions + 100],
    [`version ${manyVersions - 1} of ${manyVersions}`, ofMany, manyVersions - 2],
  ] as const
  const reported = []
  for (const [what, findOrder, at] of asked) {
    await answerMs(`${http.url}/v1/orders/po-${findOrder(1)}`)
    const times = await measure(findOrder, at)
    reported.push({ what, ms: median(times), p95Ms: percentile(times, 0.95), slowestMs: Math.max(...times) })
  }
  console.log(`${orders} orders, ${row?.stored} replaced versions`)
  console.table(
    reported.map(({ what, ms, p95Ms, slowestMs }) => ({
      what,
      'median, ms': ms.toFixed(1),
      'p95, ms': p95Ms.toFixed(1),
      'slowest, ms': slowestMs.toFixed(1),
    })),
  )
} finally {
  await http.close()
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
