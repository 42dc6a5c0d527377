/**
 * Whether partitions would matter for large tables that retention trims: the same rows in the table as it is and in a copy that is partitioned by
 * range, each asked what the daemon asks, then freed of the oldest part: by the daemon's own pass (without its rests), and by dropping a partition.
 * Then what a vacuum, an index, an analyze and a dump of the whole take. Rows are generated in Postgres.
 * `node bench/large-tables.ts [--rows 3000000] [--rounds 200]`
 */
import { rm } from 'node:fs/promises'
import pg from 'pg'
import type { RetainedData } from '../src/domain/sync/retention.ts'
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts'
import { type Database, openDatabase } from '../src/store/db/database.ts'
import { migrate } from '../src/store/db/migrate.ts'
import { removeOldData } from '../src/store/privacy/retention.ts'
import { findVocabulary } from '../test/support/vocabulary.ts'
import { benchFolder, benchOptions, median, walBytes } from './measure.ts'

const { rows, rounds } = benchOptions({ rows: 3_000_000, rounds: 200 }).numbers

interface Subject {
  readonly data: RetainedData
  readonly table: string
  readonly parts: number
  readonly keptDays: number
  /** The key of the copy, which must have the column of the partitions; its other indexes are copied. */
  readonly key: string
  readonly by: string
  /** Bounds of a part, by its number, the oldest first. */
  bound(part: number): string
  /** Rows, from `generate_series` `i` in [0, rows). */
  readonly generated: string
  /** What the daemon asks: $1 is a number of a row. */
  readonly questions: readonly { readonly what: string; sql(table: string): string }[]
}

/** How long ago row `i` came, evenly over the days that are kept and one part of them more. */
const formatAge = (keptDays: number): string => `now() - make_interval(secs => (1 - i::float8 / ${rows}) * ${keptDays * 86_400})`
const text = (bytes: number): string => `substr(repeat(md5(i::text), ${Math.ceil(bytes / 32)}), 1, ${bytes})`

const subjects: readonly Subject[] = [
  {
    data: 'changes',
    table: 'warehouse.changes',
    parts: 90,
    keptDays: 90,
    key: 'seq',
    by: 'seq',
    bound: (part) => `${Math.floor((rows * part) / 90) + 1}`,
    generated: `SELECT i + 1, 'seller-' || i % 50, (ARRAY['order.created', 'order.line.status', 'command.confirmed', 'return.changed'])[i % 4 + 1],
      'po-' || i / 5, '1', NULL, NULL, jsonb_build_object('status', 'Shipped', 'text', ${text(160)}), ${formatAge(90)}`,
    questions: [
      { what: 'a page of the feed', sql: (table) => `SELECT * FROM ${table} WHERE seq > $1::bigint ORDER BY seq LIMIT 200` },
      {
        what: 'a page of a seller',
        sql: (table) => `SELECT * FROM ${table} WHERE seq = ANY (ARRAY(SELECT seq FROM ${table}
          WHERE seller_id = 'seller-' || $1::bigint % 50 AND seq > $1::bigint ORDER BY seller_id, seq LIMIT 200)) ORDER BY seq`,
      },
      {
        what: 'changes of an order',
        sql: (table) =>
          `SELECT * FROM ${table} WHERE purchase_order_id = 'po-' || $1::bigint / 5 AND seq > 0 ORDER BY seq LIMIT 200`,
      },
    ],
  },
  {
    data: 'versions',
    table: 'tallyman.superseded_versions',
    parts: 14,
    keptDays: 420,
    key: 'seller_id, resource, record_key, raw_hash, first_seen_at, last_seen_at',
    by: 'last_seen_at',
    bound: (part) => `'${new Date(Date.now() - (14 - part) * 30 * 86_400_000).toISOString()}'`,
    generated: `SELECT 'seller-' || i % 50, 'orders', 'po-' || i / 5, decode(md5(i::text) || md5(i::text), 'hex'),
      jsonb_build_object('purchaseOrderId', 'po-' || i / 5, 'text', ${text(480)}), ${formatAge(420)} - interval '1 minute', ${formatAge(420)}`,
    questions: [
      {
        what: 'versions of an order',
        sql: (table) => `SELECT first_seen_at, last_seen_at, raw FROM ${table}
          WHERE seller_id = 'seller-' || $1::bigint % 50 AND resource = 'orders' AND record_key = 'po-' || $1::bigint / 5 ORDER BY first_seen_at`,
      },
    ],
  },
]

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const startedMs = performance.now()
  await work()
  return (performance.now() - startedMs) / 1_000
}

interface Line {
  readonly what: string
  readonly plain: string
  readonly partitioned: string
}

const compare = async (client: pg.Client, database: Database, subject: Subject): Promise<readonly Line[]> => {
  const { table, parts, key, by, bound, generated, questions, data, keptDays } = subject
  const copy = 'bench_partitioned'
  await client.query(`CREATE TABLE ${copy} (LIKE ${table} INCLUDING DEFAULTS) PARTITION BY RANGE (${by})`)
  await client.query(`ALTER TABLE ${copy} ADD PRIMARY KEY (${key})`)
  for (let part = 0; part < parts; part += 1) {
    const from = part === 0 ? 'MINVALUE' : bound(part)
    const to = part === parts - 1 ? 'MAXVALUE' : bound(part + 1)
    await client.query(`CREATE TABLE ${copy}_${part} PARTITION OF ${copy} FOR VALUES FROM (${from}) TO (${to})`)
  }
  const { rows: indexes } = await client.query<{ definition: string }>(
    `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index WHERE indrelid = $1::regclass AND NOT indisprimary`,
    [table],
  )
  for (const { definition } of indexes) await client.query(definition.replace(/INDEX (\w+) ON \S+/, `INDEX bench_$1 ON ${copy}`))

  const lines: Line[] = []
  const line = (what: string, plain: string, partitioned: string): void => void lines.push({ what, plain, partitioned })
  const both = async (what: string, work: (name: string) => Promise<string>): Promise<void> =>
    line(what, await work(table), await work(copy))

  // Appended in steps, taking turns, as both grow with time.
  const writing = { [table]: 0, [copy]: 0 }
  const steps = 30
  for (let step = 0; step < steps; step += 1)
    for (const name of step % 2 === 0 ? [table, copy] : [copy, table])
      writing[name] =
        (writing[name] ?? 0) +
        (await seconds(() =>
          client.query(
            `INSERT INTO ${name} ${generated} FROM generate_series(${Math.floor((rows * step) / steps)}, ${Math.floor((rows * (step + 1)) / steps) - 1}) i`,
          ),
        ))
  await both('rows written a second', async (name) => Math.round(rows / (writing[name] ?? Number.NaN)).toString())
  await client.query('VACUUM (FREEZE, ANALYZE)')
  await client.query('CHECKPOINT')
  await both('size, MB', async (name) => {
    const { rows: found } = await client.query<{ heap: number; all: number }>(
      `SELECT sum(pg_table_size(relid))::float8 AS heap, sum(pg_total_relation_size(relid))::float8 AS all FROM (SELECT $1::regclass::oid AS relid UNION SELECT relid FROM pg_partition_tree($1)) t`,
      [name],
    )
    const { heap = 0, all = 0 } = found[0] ?? {}
    return `${Math.round(heap / 1e6)} + ${Math.round((all - heap) / 1e6)} of indexes`
  })
  for (const { what, sql } of questions) {
    const times = { [table]: [] as number[], [copy]: [] as number[] }
    for (let round = 0; round < rounds; round += 1) {
      // Spread over the whole, the same for both.
      const at = Math.floor((rows * ((round * 0.618_034) % 1)) / 1.2)
      for (const name of round % 2 === 0 ? [table, copy] : [copy, table])
        times[name]?.push((await seconds(() => client.query(sql(name), [at]))) * 1_000)
    }
    await both(`${what}, ms`, async (name) => median(times[name] ?? []).toFixed(2))
  }

  const partOfDays = keptDays / parts
  const cutoff = new Date(Date.now() - (keptDays - partOfDays) * 86_400_000)
  const walBefore = await walBytes(client)
  let removed = 0
  const passSeconds = await seconds(async () => {
    for (let page: number | null = 0; page !== null; ) {
      const step = await removeOldData(database, data, cutoff, page)
      removed += step.removed
      page = step.nextPage
    }
  })
  const walOfPass = (await walBytes(client)) - walBefore
  const vacuumSeconds = await seconds(() => client.query(`VACUUM ${table}`))
  const walBeforeDrop = await walBytes(client)
  const dropSeconds = await seconds(() => client.query(`DROP TABLE ${copy}_0`))
  line(
    `oldest ${removed} rows removed, s`,
    `${passSeconds.toFixed(2)}, and ${vacuumSeconds.toFixed(2)} of vacuum`,
    dropSeconds.toFixed(2),
  )
  line(
    'WAL of it, MB',
    (walOfPass / 1e6).toFixed(1),
    ((await walBytes(client)) - walBeforeDrop) / 1e6 < 1 ? 'below 1' : 'above 1',
  )
  let again = 0
  line(
    'a pass that finds nothing, s',
    (
      await seconds(async () => {
        for (let page: number | null = 0; page !== null; ) {
          const step = await removeOldData(database, data, cutoff, page)
          again += step.removed
          page = step.nextPage
        }
      })
    ).toFixed(2),
    'none',
  )
  if (again > 0) throw new Error(`${again} rows of ${table} were left over`)
  await client.query(
    `UPDATE ${table} SET ${key.split(',')[0]} = ${key.split(',')[0]} WHERE ctid < '(${Math.floor(rows / 100)},0)'`,
  )
  line('vacuum after some rows of the oldest changed, s', (await seconds(() => client.query(`VACUUM ${table}`))).toFixed(2), '')
  line(
    'vacuum (freeze) of all, s',
    (await seconds(() => client.query(`VACUUM (FREEZE, DISABLE_PAGE_SKIPPING) ${table}`))).toFixed(2),
    '',
  )
  line('analyze, s', (await seconds(() => client.query(`ANALYZE ${table}`))).toFixed(2), '')
  line('dump (COPY), s', (await seconds(() => client.query(`COPY ${table} TO '/dev/null'`))).toFixed(2), '')
  const { rows: keys } = await client.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = $1::regclass AND indisprimary`,
    [table],
  )
  line('the key built anew, s', (await seconds(() => client.query(`REINDEX INDEX ${keys[0]?.name}`))).toFixed(2), '')
  await client.query(`DROP TABLE ${copy}`)
  return lines
}

const folder = await benchFolder()
const server = await startEmbeddedPostgres({ dataDir: folder, say: () => undefined })
try {
  await migrate(server.url)
  const database = openDatabase({ findVocabulary, url: server.url, connections: 2 })
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    for (const subject of subjects) {
      const lines = await compare(client, database, subject)
      console.log(`${subject.table}, ${rows} rows, ${subject.parts} partitions by ${subject.by}`)
      console.table(lines)
    }
  } finally {
    await client.end()
    await database.close()
  }
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
