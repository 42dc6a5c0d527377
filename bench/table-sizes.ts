/**
 * How large the tables become: bytes of a row with its indexes, for orders of the generator and a settled shipment of each.
 * `node bench/table-sizes.ts [orders]`
 */
import { rm } from 'node:fs/promises'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { openDatabase } from '../src/store/database.ts'
import { migrate } from '../src/store/migrate.ts'
import { storeOrders } from '../test/support/store.ts'
import { vocabularyOf } from '../test/support/vocabulary.ts'
import { generateOrder } from './generate.ts'
import { benchFolder } from './measure.ts'

const orders = Number(process.argv[2] ?? 5_000)
const pageSize = 200

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
await migrate(server.url)
const database = openDatabase({ vocabularyOf, url: server.url, connections: 2 })
try {
  for (let first = 0; first < orders; first += pageSize) {
    const records = Array.from({ length: Math.min(pageSize, orders - first) }, (_, index) => generateOrder(first + index, 1))
    await storeOrders(database, { sellerId: 'bench', observedAt: new Date(), records })
  }
  await database.execute(
    `INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, payload, act_by, settled_at)
     SELECT gen_random_uuid()::text, o.seller_id, o.purchase_order_id, 'ship', 'confirmed',
       jsonb_build_object('parcels', jsonb_build_array(jsonb_build_object('carrier', 'UPS', 'trackingNumber', '1Z' || o.purchase_order_id,
         'method', 'Standard', 'shippedAt', now(), 'lines', jsonb_build_array(jsonb_build_object('lineNumber', '1', 'quantity', 1))))), now(), now()
     FROM warehouse.orders o`,
  )
  await database.execute(
    `INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity)
     SELECT id, '1', seller_id, purchase_order_id, 1 FROM tallyman.commands`,
  )
  await database.execute('VACUUM ANALYZE')
  const rows = await database.query<{ table: string; rows: number; heap: number; indexes: number }>(
    `SELECT n.nspname || '.' || c.relname AS table, c.reltuples::float8 AS rows, pg_table_size(c.oid)::float8 AS heap,
       pg_indexes_size(c.oid)::float8 AS indexes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname IN ('warehouse', 'tallyman') AND c.reltuples >= $1::int ORDER BY pg_total_relation_size(c.oid) DESC`,
    orders,
  )
  console.table(
    rows.map(({ table, rows: count, heap, indexes }) => ({
      table,
      rows: count,
      'bytes a row': Math.round(heap / count),
      'of indexes': Math.round(indexes / count),
      'GB for 100 million rows': Math.round(((heap + indexes) / count) * 0.1),
    })),
  )
} finally {
  await database.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
