import type { RetainedData } from '../../domain/sync/retention.ts'
import { isOpenCommand, isSettledCommand } from '../commands/commands.ts'
import type { SqlRunner } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { retryOnDeadlock } from '../db/errors.ts'
import { firstUndelivered } from '../webhooks/webhook-deliveries.ts'

/** A kind of retained data. SQL; `t` is the row, `$1` the time before which data is old. */
interface Retained {
  readonly table: `${'warehouse' | 'tallyman'}.${string}`
  /** The time that determines the age of a row. */
  readonly age: string
  /** Rows to delete. `false`: none, the kind only has rows to empty. */
  readonly deleted: string
  /** Rows to empty: the assignments, the condition, and the emptied columns. */
  readonly emptied?: { readonly set: string; readonly where: string; readonly columns: readonly string[] }
}

// Scalar subqueries, because Postgres looks each up by its index, and never joins the pages with another whole table.
const openCommandQuery = (sellerId: string, subject: string): string =>
  `(SELECT 1 FROM tallyman.commands o WHERE o.seller_id = ${sellerId} AND o.subject = ${subject} AND ${isOpenCommand('o')} LIMIT 1)`

// Read once for each statement; few alarms are open.
const openAlarms = (kind: string): string =>
  `(SELECT a.subject FROM tallyman.alarms a WHERE a.kind = '${kind}' AND a.resolved_at IS NULL)`

/** SQL: its command was settled long ago, no other command of the same subject is open, and it has no open alarm. */
const attemptIsOld = `t.started_at < $1::timestamptz
  AND (SELECT coalesce(c.settled_at, c.updated_at) FROM tallyman.commands c WHERE c.id = t.command_id AND ${isSettledCommand('c')}
    AND ${openCommandQuery('c.seller_id', 'c.subject')} IS NULL) < $1::timestamptz
  AND t.command_id NOT IN ${openAlarms('command-rejected')}`

/**
 * SQL: the attempt is needed to count units. The effect of a command is added to the state of the order before its last request; without this baseline,
 * later commands would count spent units as free.
 */
const attemptCounts = `(t.outcome IS DISTINCT FROM 'not-sent'
  AND t.attempt = (SELECT max(l.attempt) FROM tallyman.command_attempts l
    WHERE l.command_id = t.command_id AND l.outcome IS DISTINCT FROM 'not-sent')
  AND (SELECT c.state NOT IN ('rejected', 'withdrawn') OR c.parts IS NOT NULL FROM tallyman.commands c WHERE c.id = t.command_id))`

/** Subjects of alarms are cut at this length, so an event with a longer name is not emptied. */
const maxEventNameLength = 1_000

const eventIsOld = `t.status <> 'received' AND t.data_removed_at IS NULL AND coalesce(t.processed_at, t.received_at) < $1::timestamptz
  AND (SELECT 1 FROM tallyman.commands c WHERE c.event_source = t.source AND c.event_id = t.id AND ${isOpenCommand('c')} LIMIT 1) IS NULL
  AND (t.status = 'accepted' OR (octet_length(t.source) + octet_length(t.id) < ${maxEventNameLength}
    AND t.source || ' ' || t.id NOT IN ${openAlarms('event-rejected')}))`

const namedByEvent = (name: string): string => `left(tallyman.normal_id(t.data -> '${name}'), 255)`

/** SQL: the time is in the month of this first day in any time zone, since each marketplace uses its own. */
const mayBeIn = (month: string, time: string): string =>
  `${month} BETWEEN date_trunc('month', ${time} AT TIME ZONE 'UTC' - interval '12 hours')::date
      AND date_trunc('month', ${time} AT TIME ZONE 'UTC' + interval '14 hours')::date`

/**
 * SQL: the entry of the inventory log is old and not needed. The reconciliation needs a complete log of the year before its last reading, which may be
 * long ago for an inactive seller; an open discrepancy needs its entries and those of its month.
 */
const entryIsOld = `t.transaction_time < $1::timestamptz
  AND coalesce(t.transaction_time < (SELECT s.log_read_at - interval '397 days' FROM tallyman.inventory_skus s
    WHERE s.seller_id = t.seller_id AND s.sku = t.sku), true)
  AND (SELECT 1 FROM warehouse.inventory_discrepancies d WHERE d.seller_id = t.seller_id AND d.sku = t.sku AND d.state = 'open'
    AND (${mayBeIn('d.month', 't.transaction_time')} OR t.entry_id = ANY (d.log_entry_ids)) LIMIT 1) IS NULL`

/** SQL: the first change that was not delivered to an active or paused webhook. It stays regardless of its age, as do all later ones. */
const heldForWebhooks = `coalesce((SELECT min(${firstUndelivered}) FROM tallyman.webhook_endpoints e WHERE e.state <> 'disabled'), ${2n ** 63n - 1n})`

const retained: Readonly<Record<RetainedData, Retained>> = {
  // The newest run of each stream stays, so that the time of the last run is known.
  runs: {
    table: 'tallyman.sync_runs',
    age: 't.finished_at',
    deleted: `t.finished_at < $1::timestamptz AND t.id < (SELECT n.id FROM tallyman.sync_runs n
      WHERE n.seller_id = t.seller_id AND n.resource = t.resource AND n.stream = t.stream ORDER BY n.id DESC LIMIT 1)`,
  },
  attempts: {
    table: 'tallyman.command_attempts',
    age: 't.started_at',
    deleted: `${attemptIsOld} AND NOT ${attemptCounts}`,
    emptied: {
      set: `request = 'null', read_backs = '[]', failure = NULL`,
      where: `t.request <> 'null' AND ${attemptIsOld} AND ${attemptCounts}`,
      columns: ['request', 'read_backs', 'failure'],
    },
  },
  // A person who decides an open command needs the earlier versions of its order.
  versions: {
    table: 'tallyman.superseded_versions',
    age: 't.last_seen_at',
    deleted: `t.last_seen_at < $1::timestamptz
      AND (t.resource <> 'orders' OR ${openCommandQuery('t.seller_id', `'order ' || t.record_key`)} IS NULL)`,
  },
  changes: {
    table: 'warehouse.changes',
    age: 't.occurred_at',
    deleted: `t.occurred_at < $1::timestamptz AND t.seq < ${heldForWebhooks}`,
  },
  events: {
    table: 'tallyman.erp_event',
    age: 'coalesce(t.processed_at, t.received_at)',
    deleted: 'false',
    emptied: {
      set: `data = jsonb_strip_nulls(jsonb_build_object('sellerId', ${namedByEvent('sellerId')}, 'purchaseOrderId', ${namedByEvent('purchaseOrderId')})),
        problem = t.problem || '{"errors": []}', data_removed_at = now()`,
      where: eventIsOld,
      columns: ['data', 'problem'],
    },
  },
  alarms: { table: 'tallyman.alarms', age: 't.raised_at', deleted: 't.resolved_at < $1::timestamptz' },
  // A dismissed record keeps its hash, and a dismissed window its bounds, so that they stay dismissed.
  quarantine: {
    table: 'tallyman.quarantined_records',
    age: 't.first_seen_at',
    deleted: `t.state IN ('replayed', 'superseded') AND greatest(t.last_seen_at, t.replayed_at) < $1::timestamptz`,
    emptied: {
      set: `raw_text = ''`,
      where: `t.state = 'dismissed' AND t.skipped IS NULL AND t.raw_text <> '' AND t.last_seen_at < $1::timestamptz`,
      columns: ['raw_text'],
    },
  },
  deliveries: {
    table: 'tallyman.webhook_deliveries',
    age: 'coalesce(t.at, t.created_at)',
    deleted: `t.status <> 'pending' AND coalesce(t.at, t.created_at) < $1::timestamptz`,
  },
  // A fraud cancel counts as long as its order is open.
  notifications: {
    table: 'tallyman.notifications',
    age: 't.received_at',
    deleted: `t.received_at < $1::timestamptz AND t.read_at IS NOT NULL AND (t.hold IS DISTINCT FROM 'fraud-cancel'
      OR (SELECT o.open FROM warehouse.orders o WHERE o.seller_id = t.seller_id AND o.purchase_order_id = t.record_id) IS NOT TRUE)`,
  },
  'log-entries': { table: 'warehouse.inventory_log_entries', age: 't.transaction_time', deleted: entryIsOld },
}

/** Pages of a table that one statement reads: at most some thousands of rows, usually far fewer. */
const pagesPerStatement = 64
/** Maximum number of changes that one statement deletes. */
const changesPerStatement = 5_000
/** Lease of a pass without renewal. */
const leaseSeconds = 60

/** A leased pass of one kind of data. */
export interface RetentionPass {
  readonly data: RetainedData
  readonly owner: string
  /** Older rows are deleted or emptied. */
  readonly cutoff: Date
  readonly nextPage: number
}

/**
 * Acquires the pass of a kind if it is due, or continues an unfinished one; null: it is not due, or another process has it. A pass is due a day after the
 * previous one began.
 */
export const acquirePass = async (
  sql: SqlRunner,
  data: RetainedData,
  owner: string,
  keepMs: number,
): Promise<RetentionPass | null> => {
  const [acquired] = await sql.query<{ cutoff: Date; next_page: bigint }>(
    `UPDATE tallyman.retention_passes p SET lease_owner = $2, lease_until = now() + interval '${leaseSeconds} seconds',
       started_at = coalesce(p.started_at, now()), cutoff = least(p.cutoff, now() - make_interval(secs => $3::float8 / 1000)),
       removed = CASE WHEN p.started_at IS NULL THEN 0 ELSE p.removed END
     WHERE p.data = $1 AND (p.lease_until IS NULL OR p.lease_until <= now()) AND (p.started_at IS NOT NULL OR p.due_at <= ${dueNow})
     RETURNING p.cutoff, p.next_page`,
    data,
    owner,
    keepMs,
  )
  return acquired === undefined ? null : { data, owner, cutoff: acquired.cutoff, nextPage: Number(acquired.next_page) }
}

/** The result of one step of a pass. */
export interface RetentionStep {
  /** Deleted and emptied rows. */
  readonly removed: number
  /** The page to continue at; null: the end of the table. */
  readonly nextPage: number | null
}

const buildStatements = ({ table, deleted, emptied }: Retained): readonly string[] => {
  // Postgres reads only the pages of such a range.
  const range = 't.ctid >= $2::text::tid AND t.ctid < $3::text::tid'
  return [
    ...(deleted === 'false' ? [] : [`DELETE FROM ${table} t WHERE ${range} AND ${deleted}`]),
    ...(emptied === undefined ? [] : [`UPDATE ${table} t SET ${emptied.set} WHERE ${range} AND ${emptied.where}`]),
  ]
}

const countPages = async (sql: SqlRunner, table: string): Promise<number> => {
  const [row] = await sql.query<{ pages: bigint }>(
    `SELECT pg_relation_size($1::regclass) / current_setting('block_size')::bigint AS pages`,
    table,
  )
  return Number(row?.pages ?? 0)
}

/**
 * Deletes or empties rows older than `cutoff` in the next pages of a table, each statement in a transaction of its own. Rows that open things need stay.
 * Changes are deleted from the first number on and without gaps.
 */
export const removeOldData = async (
  sql: SqlRunner,
  data: RetainedData,
  cutoff: Date,
  fromPage: number,
): Promise<RetentionStep> => {
  if (data === 'changes') return removeChanges(sql, cutoff)
  const kind = retained[data]
  const toPage = fromPage + pagesPerStatement
  let removed = 0
  for (const statement of buildStatements(kind)) {
    const range = [`(${fromPage},0)`, `(${toPage},0)`]
    removed += await retryOnDeadlock(() => sql.execute(statement, cutoff.toISOString(), ...range))
  }
  return { removed, nextPage: toPage < (await countPages(sql, kind.table)) ? toPage : null }
}

// The deleted numbers are stored by the same statement, so that a slow reader does not take deleted changes for no changes.
const removeChanges = async (sql: SqlRunner, cutoff: Date): Promise<RetentionStep> => {
  const [row] = await sql.query<{ removed: number; more: boolean }>(
    `WITH floor AS MATERIALIZED (
       SELECT removed_up_to FROM tallyman.retention_passes WHERE data = 'changes' FOR UPDATE
     ), first AS MATERIALIZED (
       SELECT c.seq, c.occurred_at < $1::timestamptz AND c.seq < ${heldForWebhooks} AS old FROM warehouse.changes c
       WHERE c.seq > (SELECT removed_up_to FROM floor) ORDER BY c.seq LIMIT ${changesPerStatement}
     ), bound AS MATERIALIZED (
       SELECT coalesce(min(seq) FILTER (WHERE NOT old) - 1, max(seq)) AS upto, count(*) FILTER (WHERE NOT old) = 0 AND count(*) = ${changesPerStatement} AS more FROM first
     ), deleted AS (
       DELETE FROM warehouse.changes c USING floor, bound WHERE c.seq > floor.removed_up_to AND c.seq <= bound.upto RETURNING 1
     ), stored AS (
       UPDATE tallyman.retention_passes p SET removed_up_to = bound.upto FROM bound
       WHERE p.data = 'changes' AND bound.upto > p.removed_up_to AND EXISTS (SELECT 1 FROM deleted)
     )
     SELECT (SELECT count(*) FROM deleted)::int AS removed, bound.more FROM bound`,
    cutoff.toISOString(),
  )
  return { removed: row?.removed ?? 0, nextPage: row?.more === true ? 0 : null }
}

/** Stores the progress of a pass and renews its lease; false: another process has acquired it. */
export const renewPass = async (sql: SqlRunner, pass: RetentionPass, { removed, nextPage }: RetentionStep): Promise<boolean> => {
  const updated = await sql.execute(
    `UPDATE tallyman.retention_passes p SET removed = p.removed + $3::bigint, next_page = $4::bigint,
       lease_until = now() + interval '${leaseSeconds} seconds'
     WHERE p.data = $1 AND p.lease_owner = $2`,
    pass.data,
    pass.owner,
    removed,
    nextPage ?? 0,
  )
  return updated > 0
}

/** Releases a pass, so that another process continues it. */
export const releasePass = async ({ prisma }: SqlRunner, { data, owner }: RetentionPass): Promise<void> => {
  await prisma.retentionPass.updateMany({ where: { data, leaseOwner: owner }, data: { leaseOwner: null, leaseUntil: null } })
}

/** Ends a pass. If another one was requested meanwhile, it is due now. */
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

/** Requests passes of these kinds now. Returns the time of the request by the clock of Postgres. */
export const requestPasses = async (sql: SqlRunner, data: readonly RetainedData[]): Promise<Date> => {
  const [row] = await sql.query<{ at: Date }>(
    `WITH asked AS (UPDATE tallyman.retention_passes SET due_at = now() WHERE data = ANY ($1::text[]))
     SELECT now()::timestamptz(3) AS at`,
    data,
  )
  if (row === undefined) throw new Error('Postgres returned no time')
  return row.at
}

// ── what would be deleted ────────────────────────────────────────────────────────────────────────────────

/** Pages of a table that are sampled for an estimate; a smaller table is counted. */
const sampledPages = 2_048

/** A kind of data for operators. Bytes include indexes and long values. */
export interface RetentionOverview {
  readonly data: RetainedData
  readonly table: string
  /** Estimated by Postgres. */
  readonly rows: number
  readonly bytes: number
  /** The oldest of the sampled rows; null: there are none. */
  readonly oldest: Date | null
  /** Rows that would be deleted or emptied now, and their approximate bytes. */
  readonly goingRows: number
  readonly goingBytes: number
  /** The numbers are estimated from a sample of pages. */
  readonly estimated: boolean
  /** A pass is running, or was interrupted within the last minute. */
  readonly running: boolean
  readonly dueAt: Date
  readonly finishedAt: Date | null
  readonly lastRemoved: number | null
}

const beginningOfTime = new Date(0)

const emptiedBytes = ({ emptied }: Retained): string =>
  emptied === undefined ? '0' : emptied.columns.map((column) => `coalesce(pg_column_size(t.${column}), 0)`).join(' + ')

/**
 * The stored data of a kind, and what a pass with this retention period would delete (null: nothing). A large table is estimated from a sample of its
 * pages.
 */
export const readRetentionOverview = async (
  sql: SqlRunner,
  data: RetainedData,
  keepMs: number | null,
): Promise<RetentionOverview> => {
  const kind = retained[data]
  const { table, age, deleted, emptied } = kind
  const pages = await countPages(sql, table)
  const percent = pages > sampledPages ? (100 * sampledPages) / pages : 100
  const old = keepMs === null ? 'false' : deleted
  const empty = keepMs === null ? 'false' : (emptied?.where ?? 'false')
  const [row] = await sql.query<{
    rows: number
    sampled: number
    oldest: Date | null
    deleted: number
    emptied: number
    emptied_bytes: number
    bytes: number
    running: boolean
    due_at: Date
    finished_at: Date | null
    last_removed: bigint | null
  }>(
    `WITH sample AS (
       SELECT count(*)::float8 AS sampled, min(${age}) AS oldest, (count(*) FILTER (WHERE ${old}))::float8 AS deleted,
         (count(*) FILTER (WHERE ${empty}))::float8 AS emptied,
         coalesce(sum(${emptiedBytes(kind)}) FILTER (WHERE ${empty}), 0)::float8 AS emptied_bytes
       FROM ${table} t TABLESAMPLE SYSTEM ($2::float8) CROSS JOIN (SELECT $1::timestamptz) AS asked
     )
     SELECT l.*, ${rowsOfTable('c')}::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes,
       coalesce(p.lease_until > now(), false) AS running, p.due_at, p.finished_at, p.last_removed
     FROM sample l, pg_class c, tallyman.retention_passes p WHERE c.oid = $3::regclass AND p.data = $4`,
    (keepMs === null ? beginningOfTime : new Date(Date.now() - keepMs)).toISOString(),
    percent,
    table,
    data,
  )
  if (row === undefined) throw new Error(`tallyman.retention_passes has no row for ${data}`)
  const share = percent / 100
  const estimated = percent < 100
  const rows = estimated ? Math.max(row.rows, row.sampled / share) : row.sampled
  return {
    data,
    table,
    rows: Math.round(rows),
    bytes: row.bytes,
    oldest: row.oldest,
    goingRows: Math.round((row.deleted + row.emptied) / share),
    goingBytes: Math.round(row.bytes * (row.sampled === 0 ? 0 : row.deleted / row.sampled) + row.emptied_bytes / share),
    estimated,
    running: row.running,
    dueAt: row.due_at,
    finishedAt: row.finished_at,
    lastRemoved: row.last_removed === null ? null : Number(row.last_removed),
  }
}

/** SQL: the number of rows of a table, estimated without counting. */
const rowsOfTable = (pgClass: string): string =>
  `CASE WHEN ${pgClass}.reltuples < 0 THEN pg_stat_get_live_tuples(${pgClass}.oid) ELSE ${pgClass}.reltuples END`

/** The size of a table, including indexes and long values. */
export interface TableSize {
  /** With its schema. */
  readonly table: string
  /** Estimated. */
  readonly rows: number
  readonly bytes: number
}

/** The sizes of all tables of the daemon, by name. Rows are estimated, so it is cheap at any size. */
export const readTableSizes = (sql: SqlRunner): Promise<readonly TableSize[]> =>
  sql.query<TableSize>(
    `SELECT n.nspname || '.' || c.relname AS table, greatest(${rowsOfTable('c')}, 0)::float8 AS rows, pg_total_relation_size(c.oid)::float8 AS bytes
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname IN ('warehouse', 'tallyman', 'bullmq') AND c.relkind = 'r' ORDER BY 1`,
  )
