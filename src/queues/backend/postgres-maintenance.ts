import type pg from 'pg'
import { asError } from '../errors.ts'

/**
 * A table of BullMQ that is written for every job. While an old snapshot exists, vacuum removes no dead row versions, and BullMQ takes the next job
 * from the front of an index, behind the entries of all jobs since that snapshot.
 */
interface WrittenTable {
  readonly name: string
  /** Tables with a foreign key to it: they are truncated and filled together with it. */
  readonly referring: readonly string[]
  /** Maximum number of dead row versions. */
  readonly maxDeadRows: number
}

const writtenTables: readonly WrittenTable[] = [
  // Three for each job.
  { name: 'job', referring: ['job_log', 'job_dependency'], maxDeadRows: 3_000 },
  { name: 'event', referring: [], maxDeadRows: 20_000 },
]
/** A snapshot is old when this number of transactions has begun since. */
const oldSnapshotAge = 1_000
/** Maximum number of rows of a rewrite: a larger one would block the queues for too long. */
const maxRows = 100_000
/** Lock timeout of a rewrite: all users of the table wait behind it. */
const lockTimeoutMs = 250
const checkIntervalMs = 5_000
/** Interval while an old snapshot exists. */
const heldSnapshotIntervalMs = 500
/** Pause after a failure, most likely because a long transaction reads the table: each attempt blocks the queues. */
const errorPauseMs = 60_000

interface TableState {
  readonly name: string
  readonly dead: number
  readonly live: number
  readonly allowed: boolean
  /** Number of its file, which changes with a rewrite. */
  readonly file: number
}

const readTables = async (
  pool: pg.Pool,
  schema: string,
): Promise<{ readonly held: boolean; readonly tables: readonly TableState[] }> => {
  const { rows } = await pool.query<TableState & { held: boolean }>(
    `SELECT s.relname AS name, s.n_dead_tup::float8 AS dead, s.n_live_tup::float8 AS live, h.held,
       has_table_privilege(s.relid, 'TRUNCATE') AS allowed, pg_relation_filenode(s.relid)::int8::float8 AS file
     FROM pg_stat_user_tables s, (SELECT coalesce(greatest(
         (SELECT max(age(backend_xmin)) FROM pg_stat_activity
          WHERE pid <> pg_backend_pid() AND (datname = current_database() OR backend_type = 'walsender')),
         (SELECT max(age(xmin)) FROM pg_replication_slots),
         (SELECT max(age(transaction)) FROM pg_prepared_xacts WHERE database = current_database())), 0) > $2::int AS held) h
     WHERE s.schemaname = $1 AND s.relname = ANY ($3::text[])`,
    [schema, oldSnapshotAge, writtenTables.map(({ name }) => name)],
  )
  return { held: rows[0]?.held ?? false, tables: rows }
}

// One round trip: the locks are held only while the rows are moved. BullMQ locks `job` before the tables that refer to it, so this does as well.
// Only READ COMMITTED reads the rows with a snapshot from after the lock: an earlier snapshot would lose rows committed in between.
const buildRewrite = (schema: string, { name, referring }: WrittenTable, file: number): string => {
  const tables = [name, ...referring]
  const each = (build: (table: string) => string, between = '\n  '): string => tables.map(build).join(between)
  return `DO $$
DECLARE
  ${each((table) => `kept_${table} ${schema}.${table}[];`)}
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', '${lockTimeoutMs}', true);
  IF NOT pg_try_advisory_xact_lock(hashtextextended('tallyman.queues', 0)) THEN RETURN; END IF;
  LOCK TABLE ${each((table) => `${schema}.${table}`, ', ')} IN ACCESS EXCLUSIVE MODE;
  -- Another process was faster: statistics come late.
  IF pg_relation_filenode('${schema}.${name}') <> ${file} THEN RETURN; END IF;
  ${each((table) => `SELECT array_agg(t) INTO kept_${table} FROM ${schema}.${table} t;`)}
  TRUNCATE ${each((table) => `${schema}.${table}`, ', ')};
  ${each((table) => `INSERT INTO ${schema}.${table} SELECT * FROM unnest(kept_${table});`)}
END $$`
}

/** Keeps the tables of queues in Postgres small while a session holds an old snapshot. */
export interface TableMaintenance {
  /** Checks once, and rewrites the tables that need it. Returns their names. */
  runOnce(): Promise<readonly string[]>
  start(): void
  /** Resolves when no rewrite is in progress. */
  stop(): Promise<void>
}

/**
 * While a session holds an old snapshot, vacuum removes no dead rows of BullMQ's tables, and each job costs more than the one before. So the live rows
 * are moved to new files (TRUNCATE and INSERT). The old snapshot then sees empty tables, which is acceptable for rows of queues. Without an old snapshot
 * nothing is done: vacuum suffices.
 */
export const createTableMaintenance = (options: {
  readonly pool: pg.Pool
  readonly schema: string
  readonly onError: (error: Error) => void
}): TableMaintenance => {
  const { pool, schema, onError } = options
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()
  let isStopped = false
  let isSnapshotHeld = false

  const runOnce = async (): Promise<readonly string[]> => {
    const { held, tables } = await readTables(pool, schema)
    isSnapshotHeld = held
    if (!held) return []
    const rewritten: string[] = []
    for (const table of writtenTables) {
      const state = tables.find(({ name }) => name === table.name)
      if (state === undefined || !state.allowed) continue
      if (state.dead < Math.max(table.maxDeadRows, state.live) || state.live > maxRows) continue
      await pool.query(buildRewrite(schema, table, state.file))
      rewritten.push(table.name)
    }
    return rewritten
  }

  const scheduleNext = (pauseMs: number): void => {
    if (isStopped) return
    timer = setTimeout(() => {
      running = check()
    }, pauseMs).unref()
  }
  const check = async (): Promise<void> => {
    try {
      await runOnce()
      scheduleNext(isSnapshotHeld ? heldSnapshotIntervalMs : checkIntervalMs)
    } catch (error) {
      if (!isStopped) onError(asError(error))
      scheduleNext(errorPauseMs)
    }
  }

  return {
    runOnce,
    start: () => scheduleNext(checkIntervalMs),
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}
