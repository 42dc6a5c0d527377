import type pg from 'pg'
import { asError } from './faults.ts'

/**
 * A table of BullMQ's that is written for every job, and how many dead row versions it may have while an old snapshot keeps vacuum from removing
 * them. BullMQ takes the next job from the front of an index, where the entries of all jobs since that snapshot lie.
 */
interface WrittenTable {
  readonly name: string
  /** Tables that refer to it: they are emptied and filled with it. */
  readonly referring: readonly string[]
  readonly deadRows: number
}

const writtenTables: readonly WrittenTable[] = [
  // Three for each job.
  { name: 'job', referring: ['job_log', 'job_dependency'], deadRows: 3_000 },
  { name: 'event', referring: [], deadRows: 20_000 },
]
/** A snapshot is old when so many transactions have begun since. */
const oldSnapshot = 1_000
/** More rows are not moved at once: it would keep the queues waiting for too long. */
const longestTable = 100_000
/** All who use a table wait for a rewrite of it, which waits for those before them so long at most. */
const lockTimeoutMs = 250
/** The start of a daemon waits no longer for the index. */
const longestWaitForIndexMs = 1_000
const usualPauseMs = 5_000
/** While an old snapshot is held. */
const watchfulPauseMs = 500
/** After a failure, most likely since somebody reads the table in a long transaction: each attempt keeps the queues waiting. */
const pauseAfterFaultMs = 60_000

/**
 * BullMQ asks at the end of each job whether another one is active, by an index of active jobs in the order in which their locks end. All that have
 * ended stand at its front until vacuum has removed them, so it is turned round: the newest job is most likely active. Same name, same columns, same
 * predicate, so BullMQ's migrations find what they expect. Done by the owner of the table alone, once;
 * with the next start where somebody reads the table in a long transaction.
 */
export const turnActiveIndex = async (client: pg.ClientBase, schema: string): Promise<void> => {
  await client.query(`DO $$
DECLARE
  found oid := to_regclass('${schema}.job_active_idx');
BEGIN
  IF found IS NULL OR pg_get_indexdef(found) NOT LIKE '% (queue, locked_until_ms) WHERE (state = %''active''%'
    OR NOT (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = found) THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', '${longestWaitForIndexMs}', true);
  PERFORM pg_advisory_xact_lock(hashtextextended('tallyman.queues', 0));
  IF to_regclass('${schema}.job_active_idx') IS DISTINCT FROM found THEN RETURN; END IF;
  DROP INDEX ${schema}.job_active_idx;
  CREATE INDEX job_active_idx ON ${schema}.job (queue, locked_until_ms DESC) WHERE state = 'active';
EXCEPTION WHEN lock_not_available THEN
  RETURN;
END $$`)
}

interface TableState {
  readonly name: string
  readonly dead: number
  readonly live: number
  readonly allowed: boolean
  /** Number of its file, which is another one after a rewrite. */
  readonly file: number
}

const lookAt = async (
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
    [schema, oldSnapshot, writtenTables.map(({ name }) => name)],
  )
  return { held: rows[0]?.held ?? false, tables: rows }
}

// One round trip: the locks are held no longer than the rows take. BullMQ takes the lock of `job` before those of the tables that refer to it.
// Rows are read with a snapshot of after the lock, which only this isolation level gives: an earlier one would lose what was committed meanwhile.
const rewriteOf = (schema: string, { name, referring }: WrittenTable, file: number): string => {
  const tables = [name, ...referring]
  const each = (of: (table: string) => string, between = '\n  '): string => tables.map(of).join(between)
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

/** Keeps the tables of queues in Postgres small while somebody holds an old snapshot. */
export interface Upkeep {
  /** Looks once, and rewrites what needs it. Resolves with the names of the tables that needed it. */
  turn(): Promise<readonly string[]>
  start(): void
  /** Resolves when nothing is under way any more. */
  stop(): Promise<void>
}

/**
 * While a snapshot is held nothing removes the dead rows of BullMQ's tables, and each job costs more than the one before. So the rows that are left
 * are moved to new files, which happens at once whoever looks on: rows of queues are of no use to an old snapshot, which sees the tables empty
 * afterwards. Without an old snapshot nothing is done, since vacuum suffices.
 */
export const createUpkeep = (options: {
  readonly pool: pg.Pool
  readonly schema: string
  readonly onFault: (error: Error) => void
}): Upkeep => {
  const { pool, schema, onFault } = options
  let timer: NodeJS.Timeout | undefined
  let underWay: Promise<void> = Promise.resolve()
  let isStopped = false
  let isHeld = false

  const turn = async (): Promise<readonly string[]> => {
    const { held, tables } = await lookAt(pool, schema)
    isHeld = held
    if (!held) return []
    const rewritten: string[] = []
    for (const table of writtenTables) {
      const state = tables.find(({ name }) => name === table.name)
      if (state === undefined || !state.allowed) continue
      if (state.dead < Math.max(table.deadRows, state.live) || state.live > longestTable) continue
      await pool.query(rewriteOf(schema, table, state.file))
      rewritten.push(table.name)
    }
    return rewritten
  }

  const goOn = (pauseMs: number): void => {
    if (isStopped) return
    timer = setTimeout(() => {
      underWay = look()
    }, pauseMs).unref()
  }
  const look = async (): Promise<void> => {
    try {
      await turn()
      goOn(isHeld ? watchfulPauseMs : usualPauseMs)
    } catch (error) {
      if (!isStopped) onFault(asError(error))
      goOn(pauseAfterFaultMs)
    }
  }

  return {
    turn,
    start: () => goOn(usualPauseMs),
    stop: async () => {
      isStopped = true
      clearTimeout(timer)
      await underWay
    },
  }
}
