/**
 * How large the tables become: bytes of a row with its indexes. Orders of the generator, as they are stored first; and what remains of orders of the
 * sandbox that a daemon has acknowledged and shipped in two parcels, each after an event.
 * `node bench/table-sizes.ts [--orders 5000] [--fulfilled 500]`
 */
import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { type Database, openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { type OrderAddress, placeOrder, sandboxSeller } from '../test/daemon/support.ts'
import { startTestDaemon } from '../test/support/daemon.ts'
import { accepted, cloudEvent, dispatched } from '../test/support/events.ts'
import { eventually } from '../test/support/eventually.ts'
import { query } from '../test/support/query.ts'
import { startTestSandbox, type TestSandbox } from '../test/support/sandbox.ts'
import { storeOrders } from '../test/support/store.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { generateOrder } from './generate.ts'
import { benchFolder, benchOptions } from './measure.ts'

const { orders, fulfilled } = benchOptions({ orders: 5_000, fulfilled: 500 }).numbers
const pageSize = 200
const batch = 50
const eventsOfOrder = 3

/** Bytes of a row of each table that has at least so many, without the free space that updates leave behind and later rows take. */
const tellSizes = async (database: Database, minRows: number, ofOrders: number): Promise<void> => {
  await database.execute('VACUUM (FULL, ANALYZE)')
  const rows = await database.query<{ table: string; rows: number; heap: number; indexes: number }>(
    `SELECT n.nspname || '.' || c.relname AS table, c.reltuples::float8 AS rows, pg_table_size(c.oid)::float8 AS heap,
       pg_indexes_size(c.oid)::float8 AS indexes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname IN ('warehouse', 'tallyman') AND c.reltuples >= $1::int ORDER BY pg_total_relation_size(c.oid) DESC`,
    minRows,
  )
  console.table(
    rows.map(({ table, rows: count, heap, indexes }) => ({
      table,
      'rows an order': Number((count / ofOrders).toFixed(1)),
      'bytes a row': Math.round(heap / count),
      'of indexes': Math.round(indexes / count),
      'GB for 100 million rows': Math.round(((heap + indexes) / count) * 0.1),
    })),
  )
}

/** Orders of the sandbox, sent out by a daemon. */
const fulfil = async (databaseUrl: string, sandbox: TestSandbox): Promise<void> => {
  await sandbox.control('PUT', '/limits', { enabled: false })
  const much = { tokens: 60_000, per: '1m' }
  const daemon = await startTestDaemon({
    ...sandboxSeller,
    MARKETPLACE_URL: sandbox.url,
    DATABASE_URL: databaseUrl,
    DATA_DIR: sandbox.folder,
    POLL_ORDERS: '2s',
    RATE_LIMITS: JSON.stringify({ 'orders.acknowledge': much, 'orders.ship': much, 'orders.get': much }),
  })
  try {
    const placed: OrderAddress[] = []
    for (let order = 0; order < fulfilled; order += 1) placed.push(await placeOrder(sandbox, 2))
    for (let first = 0; first < placed.length; first += batch) {
      const events = placed
        .slice(first, first + batch)
        .flatMap((order) => [accepted(order), dispatched(order, 1, 1), dispatched(order, 2, 1)])
      const { status } = await fetch(`${daemon.url}/v1/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/cloudevents-batch+json' },
        body: JSON.stringify(events.map((event) => cloudEvent(event, '/erp'))),
      })
      if (status !== 202) throw new Error(`a batch of events was answered with ${status}`)
    }
    await eventually(
      async () => {
        const open = `SELECT count(*)::int AS settled FROM tallyman.commands WHERE state = 'confirmed'`
        const [found] = await query<{ settled: number }>(databaseUrl, open)
        if (found?.settled !== fulfilled * eventsOfOrder) throw new Error(`${found?.settled} commands are confirmed`)
      },
      60_000 + fulfilled * 100,
    )
  } finally {
    await daemon.program.kill()
  }
}

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ findVocabulary, url: server.url, connections: 2 })
try {
  for (let first = 0; first < orders; first += pageSize) {
    const records = Array.from({ length: Math.min(pageSize, orders - first) }, (_, index) => generateOrder(first + index, 1))
    await storeOrders(database, { sellerId: 'bench', observedAt: new Date(), records })
  }
  await tellSizes(database, orders, orders)
} finally {
  await database.close()
}
const sandbox = await startTestSandbox()
try {
  const url = server.url.replace(/\/tallyman$/, '/fulfilled')
  await query(server.url, 'CREATE DATABASE fulfilled')
  await fulfil(url, sandbox)
  const sent = openDatabase({ findVocabulary, url, connections: 2 })
  await tellSizes(sent, fulfilled, fulfilled).finally(() => sent.close())
} finally {
  await sandbox.stop()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
