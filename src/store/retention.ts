import type { RetainedData } from '../domain/retention.ts'
import type { SqlRunner } from './database.ts'
import { dueNow } from './due-now.ts'
import { retryOnDeadlock } from './faults.ts'
import { heldBy } from './webhook-deliveries.ts'

/** Where rows of a kind are, when one is old, and what goes then. SQL; `t` is the row, `$1` the moment before which data is old. */
interface Retained {
  readonly table: `${'warehouse' | 'tallyman'}.${string}`
  /** The moment by which the row ages. */
  readonly age: string
  /** Rows that go. `false`: none; the kind has only rows that are emptied. */
  readonly goes: string
  /** Rows that stay without their bulk: what is set, which rows, and the columns whose bytes go. */
  readonly emptied?: { readonly set: string; readonly where: string; readonly bulk: readonly string[] }
}

const isSettled = (command: string): string => `${command}.state IN ('confirmed', 'rejected')`

// Written as scalar subqueries: Postgres looks each up by its index, and never joins the piece with the whole of another table.
const openCommandOf = (sellerId: string, subject: string): string =>
  `(SELECT 1 FROM tallyman.commands o WHERE o.seller_id = ${sellerId} AND o.subject = ${subject} AND NOT ${isSettled('o')} LIMIT 1)`

// Few alarms are open: they are read once for each statement.
const openAlarms = (kind: string): string =>
  `(SELECT a.subject FROM tallyman.alarms a WHERE a.kind = '${kind}' AND a.resolved_at IS NULL)`

/** Its command was settled long ago, no other command of the same subject is open, and nobody still has to look at it. */
const attemptIsOld = `t.started_at < $1::timestamptz
  AND (SELECT coalesce(c.settled_at, c.updated_at) FROM tallyman.commands c WHERE c.id = t.command_id AND ${isSettled('c')}
    AND ${openCommandOf('c.seller_id', 'c.subject')} IS NULL) < $1::timestamptz
  AND t.command_id NOT IN ${openAlarms('command-rejected')}`

/**
 * What a command did is counted on top of how the order stood before its last request: without that baseline later commands would take units for
 * free that are spent.
 */
const attemptCounts = `(t.outcome IS DISTINCT FROM 'not-sent'
  AND t.attempt = (SELECT max(l.attempt) FROM tallyman.command_attempts l
    WHERE l.command_id = t.command_id AND l.outcome IS DISTINCT FROM 'not-sent')
  AND (SELECT c.state <> 'rejected' OR c.parts IS NOT NULL FROM tallyman.commands c WHERE c.id = t.command_id))`

/** Subjects of alarms are cut off beyond this length: an event with a longer name is left as it is. */
const longestEventName = 1_000

const eventIsOld = `t.status <> 'received' AND t.data_removed_at IS NULL AND coalesce(t.processed_at, t.received_at) < $1::timestamptz
  AND (SELECT 1 FROM tallyman.commands c WHERE c.event_source = t.source AND c.event_id = t.id AND NOT ${isSettled('c')} LIMIT 1) IS NULL
  AND (t.status = 'accepted' OR (octet_length(t.source) + octet_length(t.id) < ${longestEventName}
    AND t.source || ' ' || t.id NOT IN ${openAlarms('event-rejected')}))`

const namedByEvent = (name: string): string => `left(tallyman.normal_id(t.data -> '${name}'), 255)`

/** Whether a moment lies in the month of this first day in some time zone: each marketplace counts by its own, and none is further away. */
const mayBeIn = (month: string, moment: string): string =>
  `${month} BETWEEN date_trunc('month', ${moment} AT TIME ZONE 'UTC' - interval '12 hours')::date
      AND date_trunc('month', ${moment} AT TIME ZONE 'UTC' + interval '14 hours')::date`

/**
 * The reconciliation takes the log as whole for a year before it was read last, which is long ago where a seller rests; and an open difference names
 * entries, and stands on those of its month.
 */
const entryIsOld = `t.transaction_time < $1::timestamptz
  AND coalesce(t.transaction_time < (SELECT s.log_read_at - interval '397 days' FROM tallyman.inventory_skus s
    WHERE s.seller_id = t.seller_id AND s.sku = t.sku), true)
  AND (SELECT 1 FROM warehouse.inventory_discrepancies d WHERE d.seller_id = t.seller_id AND d.sku = t.sku AND d.state = 'open'
    AND (${mayBeIn('d.month', 't.transaction_time')} OR t.entry_id = ANY (d.log_entry_ids)) LIMIT 1) IS NULL`

/** The first change that an active or paused webhook has not got: it stays whatever its age, with all after it. One that is disabled keeps nothing. */
const heldForWebhooks = `coalesce((SELECT min(${heldBy}) FROM tallyman.webhook_endpoints e WHERE e.state <> 'disabled'), ${2n ** 63n - 1n})`

const retained: Readonly<Record<RetainedData, Retained>> = {
  // The newest of each stream stays: when a stream last ran is known, however seldom it runs.
  runs: {
    table: 'tallyman.sync_runs',
    age: 't.finished_at',
    goes: `t.finished_at < $1::timestamptz AND t.id < (SELECT n.id FROM tallyman.sync_runs n
      WHERE n.seller_id = t.seller_id AND n.resource = t.resource AND n.stream = t.stream ORDER BY n.id DESC LIMIT 1)`,
  },
  attempts: {
    table: 'tallyman.command_attempts',
    age: 't.started_at',
    goes: `${attemptIsOld} AND NOT ${attemptCounts}`,
    emptied: {
      set: `request = 'null', read_backs = '[]', failure = NULL`,
      where: `t.request <> 'null' AND ${attemptIsOld} AND ${attemptCounts}`,
      bulk: ['request', 'read_backs', 'failure'],
    },
  },
  // Whoever decides an open command looks at what the order was.
  versions: {
    table: 'tallyman.superseded_versions',
    age: 't.last_seen_at',
    goes: `t.last_seen_at < $1::timestamptz
      AND (t.resource <> 'orders' OR ${openCommandOf('t.seller_id', `'order ' || t.record_key`)} IS NULL)`,
  },
  changes: {
    table: 'warehouse.changes',
    age: 't.occurred_at',
    goes: `t.occurred_at < $1::timestamptz AND t.seq < ${heldForWebhooks}`,
  },
  events: {
    table: 'tallyman.erp_event',
    age: 'coalesce(t.processed_at, t.received_at)',
    goes: 'false',
    emptied: {
      set: `data = jsonb_strip_nulls(jsonb_build_object('sellerId', ${namedByEvent('sellerId')}, 'purchaseOrderId', ${namedByEvent('purchaseOrderId')})),
        problem = t.problem || '{"errors": []}', data_removed_at = now()`,
      where: eventIsOld,
      bulk: ['data', 'problem'],
    },
  },
  alarms: { table: 'tallyman.alarms', age: 't.raised_at', goes: 't.resolved_at < $1::timestamptz' },
  // A record that a person has dismissed stays known by its hash, without its text; a window by its bounds.
  quarantine: {
    table: 'tallyman.quarantined_records',
    age: 't.first_seen_at',
    goes: `t.state IN ('replayed', 'superseded') AND greatest(t.last_seen_at, t.replayed_at) < $1::timestamptz`,
    emptied: {
      set: `raw_text = ''`,
      where: `t.state = 'dismissed' AND t.skipped IS NULL AND t.raw_text <> '' AND t.last_seen_at < $1::timestamptz`,
      bulk: ['raw_text'],
    },
  },
  deliveries: {
    table: 'tallyman.webhook_deliveries',
    age: 'coalesce(t.at, t.created_at)',
    goes: `t.status <> 'pending' AND coalesce(t.at, t.created_at) < $1::timestamptz`,
  },
  'log-entries': { table: 'warehouse.inventory_log_entries', age: 't.transaction_time', goes: entryIsOld },
}

/** Pages of a table that one statement looks through: at most some thousands of rows, mostly far fewer. */
const pagesAtOnce = 64
/** Changes that one statement removes at most. */
const changesAtOnce = 5_000
/** A process that says nothing for so long has lost its pass, in seconds. */
const leaseSeconds = 60

/** The right to go through one kind of data. It is lost when nothing is said for a minute. */
export interface RetentionPass {
  readonly data: RetainedData
  readonly owner: string
  /** What is older goes. */
  readonly cutoff: Date
  readonly nextPage: number
}

/**
 * Takes the pass of a kind when it is due, or goes on with one that somebody has left; null when it is not due or another process has it. A pass is
 * due a day after the one before began.
 */
export const takePass = async (
  sql: SqlRunner,
  data: RetainedData,
  owner: string,
  keepMs: number,
): Promise<RetentionPass | null> => {
  const [taken] = await sql.query<{ cutoff: Date; next_page: bigint }>(
    `UPDATE tallyman.retention_passes p SET lease_owner = $2, lease_until = now() + interval '${leaseSeconds} seconds',
       started_at = coalesce(p.started_at, now()), cutoff = least(p.cutoff, now() - make_interval(secs => $3::float8 / 1000)),
       removed = CASE WHEN p.started_at IS NULL THEN 0 ELSE p.removed END
     WHERE p.data = $1 AND (p.lease_until IS NULL OR p.lease_until <= now()) AND (p.started_at IS NOT NULL OR p.due_at <= ${dueNow})
     RETURNING p.cutoff, p.next_page`,
    data,
    owner,
    keepMs,
  )
  return taken === undefined ? null : { data, owner, cutoff: taken.cutoff, nextPage: Number(taken.next_page) }
}

/** What one step of a pass did. */
export interface RetentionStep {
  /** Rows that went, or lost their bulk. */
  readonly removed: number
  /** Where to go on; null: the end of the table was reached. */
  readonly nextPage: number | null
}

const statementsOf = ({ table, goes, emptied }: Retained): readonly string[] => {
  // Postgres goes from the first to the last page of such a range and looks at nothing else.
  const range = 't.ctid >= $2::text::tid AND t.ctid < $3::text::tid'
  return [
    ...(goes === 'false' ? [] : [`DELETE FROM ${table} t WHERE ${range} AND ${goes}`]),
    ...(emptied === undefined ? [] : [`UPDATE ${table} t SET ${emptied.set} WHERE ${range} AND ${emptied.where}`]),
  ]
}

const pagesOf = async (sql: SqlRunner, table: string): Promise<number> => {
  const [row] = await sql.query<{ pages: bigint }>(
    `SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint AS pages`,
    table,
  )
  return Number(row?.pages ?? 0)
}

/**
 * Removes what is older than `cutoff` from the next pages of a table, each statement a transaction of its own. What open things need stays, whatever
 * its age. Changes go from the first number on and without gaps, up to the first that stays.
 */
export const removePast = async (sql: SqlRunner, data: RetainedData, cutoff: Date, fromPage: number): Promise<RetentionStep> => {
  if (data === 'changes') return removeChanges(sql, cutoff)
  const kind = retained[data]
  const toPage = fromPage + pagesAtOnce
  let removed = 0
  for (const statement of statementsOf(kind)) {
    const range = [`(${fromPage},0)`, `(${toPage},0)`]
    removed += await retryOnDeadlock(() => sql.execute(statement, cutoff.toISOString(), ...range))
  }
  return { removed, nextPage: toPage < (await pagesOf(sql, kind.table)) ? toPage : null }
}

// What went is remembered in the statement that removes it: a reader who has read less must not learn that nothing came.
const removeChanges = async (sql: SqlRunner, cutoff: Date): Promise<RetentionStep> => {
  const [row] = await sql.query<{ removed: number; more: boolean }>(
    `WITH floor AS MATERIALIZED (
       SELECT removed_up_to FROM tallyman.retention_passes WHERE data = 'changes' FOR UPDATE
     ), first AS MATERIALIZED (
       SELECT c.seq, c.occurred_at < $1::timestamptz AND c.seq < ${heldForWebhooks} AS old FROM warehouse.changes c
       WHERE c.seq > (SELECT removed_up_to FROM floor) ORDER BY c.seq LIMIT ${changesAtOnce}
     ), bound AS MATERIALIZED (
       SELECT coalesce(min(seq) FILTER (WHERE NOT old) - 1, max(seq)) AS upto, count(*) FILTER (WHERE NOT old) = 0 AND count(*) = ${changesAtOnce} AS more FROM first
     ), gone AS (
       DELETE FROM warehouse.changes c USING floor, bound WHERE c.seq > floor.removed_up_to AND c.seq <= bound.upto RETURNING 1
     ), noted AS (
       UPDATE tallyman.retention_passes p SET removed_up_to = bound.upto FROM bound
       WHERE p.data = 'changes' AND bound.upto > p.removed_up_to AND EXISTS (SELECT 1 FROM gone)
     )
     SELECT (SELECT count(*) FROM gone)::int AS removed, bound.more FROM bound`,
    cutoff.toISOString(),
  )
  return { removed: row?.removed ?? 0, nextPage: row?.more === true ? 0 : null }
}

/** Keeps how far a pass has come and holds it; false: somebody else has it now. */
export const keepPass = async (sql: SqlRunner, pass: RetentionPass, { removed, nextPage }: RetentionStep): Promise<boolean> => {
  const kept = await sql.execute(
    `UPDATE tallyman.retention_passes p SET removed = p.removed + $3::bigint, next_page = $4::bigint,
       lease_until = now() + interval '${leaseSeconds} seconds'
     WHERE p.data = $1 AND p.lease_owner = $2`,
    pass.data,
    pass.owner,
    removed,
    nextPage ?? 0,
  )
  return kept > 0
}

/** Leaves a pass to the process that continues it. */
export const leavePass = async ({ prisma }: SqlRunner, { data, owner }: RetentionPass): Promise<void> => {
  await prisma.retentionPass.updateMany({ where: { data, leaseOwner: owner }, data: { leaseOwner: null, leaseUntil: null } })
}

/** Ends a pass. One that was asked for meanwhile is due at once. */
export const endPass = async (sql: SqlRunner, { data, owner }: RetentionPass): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.retention_passes p SET lease_owner = NULL, lease_until = NULL, started_at = NULL, cutoff = NULL, next_page = 0, removed = 0,
       finished_at = now(), last_removed = p.removed,
       due_at = CASE WHEN p.due_at > p.started_at THEN p.due_at ELSE p.started_at + interval '1 day' END
     WHERE p.data = $1 AND p.lease_owner = $2`,
    data,
    owner,
  )
}

/** Has these kinds gone through at once. Returns when that was asked for, by the clock of Postgres. */
export const askForPasses = async (sql: SqlRunner, data: readonly RetainedData[]): Promise<Date> => {
  const [row] = await sql.query<{ at: Date }>(
    `WITH asked AS (UPDATE tallyman.retention_passes SET due_at = now() WHERE data = ANY ($1::text[]))
     SELECT now()::timestamptz(3) AS at`,
    data,
  )
  if (row === undefined) throw new Error('Postgres has not said its time')
  return row.at
}

// ── what would go ────────────────────────────────────────────────────────────────────────────────────────

/** Pages of a table that are looked at to estimate; a smaller table is counted. */
const sampledPages = 2_048

/** A kind of data as people look at it. Bytes count indexes and long values too. */
export interface RetentionOverview {
  readonly data: RetainedData
  readonly table: string
  /** As Postgres estimates them. */
  readonly rows: number
  readonly bytes: number
  /** Of the rows that were looked at; null: there are none. */
  readonly oldest: Date | null
  /** Rows that would go or lose their bulk now, and about how many bytes. */
  readonly goingRows: number
  readonly goingBytes: number
  /** Counted from a part of the pages. */
  readonly estimated: boolean
  /** A process is going through the table, or was until a minute ago. */
  readonly running: boolean
  readonly dueAt: Date
  readonly finishedAt: Date | null
  readonly lastRemoved: number | null
}

const beginningOfTime = new Date(0)

const bulkOf = ({ emptied }: Retained): string =>
  emptied === undefined ? '0' : emptied.bulk.map((column) => `coalesce(pg_column_size(t.${column}), 0)`).join(' + ')

/**
 * What is stored of a kind, and what would go with data of before `keepMs` milliseconds ago (null: nothing). A large table is estimated from a part
 * of its pages.
 */
export const overlookRetention = async (
  sql: SqlRunner,
  data: RetainedData,
  keepMs: number | null,
): Promise<RetentionOverview> => {
  const kind = retained[data]
  const { table, age, goes, emptied } = kind
  const pages = await pagesOf(sql, table)
  const percent = pages > sampledPages ? (100 * sampledPages) / pages : 100
  const old = keepMs === null ? 'false' : goes
  const empty = keepMs === null ? 'false' : (emptied?.where ?? 'false')
  const [row] = await sql.query<{
    rows: number
    looked: number
    oldest: Date | null
    gone: number
    emptied: number
    bulk: number
    bytes: number
    running: boolean
    due_at: Date
    finished_at: Date | null
    last_removed: bigint | null
  }>(
    `WITH looked AS (
       SELECT count(*)::float8 AS looked, min(${age}) AS oldest, (count(*) FILTER (WHERE ${old}))::float8 AS gone,
         (count(*) FILTER (WHERE ${empty}))::float8 AS emptied,
         coalesce(sum(${bulkOf(kind)}) FILTER (WHERE ${empty}), 0)::float8 AS bulk
       FROM ${table} t TABLESAMPLE SYSTEM ($2::float8) CROSS JOIN (SELECT $1::timestamptz) AS asked
     )
     SELECT l.*, ${rowsOfTable('c')}::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes,
       coalesce(p.lease_until > now(), false) AS running, p.due_at, p.finished_at, p.last_removed
     FROM looked l, pg_class c, tallyman.retention_passes p WHERE c.oid = $3::regclass AND p.data = $4`,
    (keepMs === null ? beginningOfTime : new Date(Date.now() - keepMs)).toISOString(),
    percent,
    table,
    data,
  )
  if (row === undefined) throw new Error(`nothing is known of the retention of ${data}`)
  const share = percent / 100
  const estimated = percent < 100
  const rows = estimated ? Math.max(row.rows, row.looked / share) : row.looked
  return {
    data,
    table,
    rows: Math.round(rows),
    bytes: row.bytes,
    oldest: row.oldest,
    goingRows: Math.round((row.gone + row.emptied) / share),
    goingBytes: Math.round(row.bytes * (row.looked === 0 ? 0 : row.gone / row.looked) + row.bulk / share),
    estimated,
    running: row.running,
    dueAt: row.due_at,
    finishedAt: row.finished_at,
    lastRemoved: row.last_removed === null ? null : Number(row.last_removed),
  }
}

/** SQL of the rows of a table as Postgres knows them without counting; of one that was never analyzed, what its statistics say. */
const rowsOfTable = (pgClass: string): string =>
  `CASE WHEN ${pgClass}.reltuples < 0 THEN pg_stat_get_live_tuples(${pgClass}.oid) ELSE ${pgClass}.reltuples END`

/** How large a table is, indexes and long values included. */
export interface TableSize {
  /** With its schema. */
  readonly table: string
  /** Estimated. */
  readonly rows: number
  readonly bytes: number
}

/** All tables of the daemon, by name. Nothing is counted: cheap at any size. */
export const readTableSizes = (sql: SqlRunner): Promise<readonly TableSize[]> =>
  sql.query<TableSize>(
    `SELECT n.nspname || '.' || c.relname AS table, greatest(${rowsOfTable('c')}, 0)::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('warehouse', 'tallyman', 'bullmq') AND c.relkind = 'r' ORDER BY 1`,
  )
