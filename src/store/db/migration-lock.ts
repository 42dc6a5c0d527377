import type pg from 'pg'
import { pause } from '../../util/sleep.ts'

/**
 * Keys of the advisory locks of migrations: ours, so that one daemon migrates while the others wait, and that of Prisma, so that
 * `prisma migrate deploy` waits too.
 */
const keys = [7_255_311, 72_707_369] as const

const retryEveryMs = 200
/** A shorter wait is not reported: another process may be starting too. */
const quietMs = 2_000

/** The session that holds the lock, as far as this login may see it. */
export interface LockHolder {
  readonly pid: number
  readonly applicationName: string | null
  readonly clientAddress: string | null
  /** Its state in `pg_stat_activity`. */
  readonly state: string | null
  /** When that state began. */
  readonly since: Date | null
}

/** How to wait for the lock. */
export interface MigrationWait {
  /** Ends the wait. */
  readonly signal: AbortSignal
  /** Called at each attempt while waiting; null: the lock has just become free, or this login may not see its holder. */
  readonly onWaiting: (holder: LockHolder | null) => void
}

/** The message for a wait for the lock. */
export const describeLockWait = (holder: LockHolder | null): string => {
  if (holder === null) return 'waiting for the lock of migrations, which another session holds'
  const { pid, applicationName, state, since } = holder
  const named = applicationName === null || applicationName === '' ? '' : ` (${applicationName})`
  const does = state === null ? '' : `, ${state}${since === null ? '' : ` since ${since.toISOString()}`}`
  return (
    `waiting for the lock of migrations, which session ${pid} of Postgres${named} holds${does}; if no other process migrates, a pooler keeps it ` +
    `from a start without DATABASE_DIRECT_URL: send RECONNECT to PgBouncer, or SELECT pg_terminate_backend(${pid}) to Postgres`
  )
}

const readHolder = async (client: pg.Client): Promise<LockHolder | null> => {
  const { rows } = await client.query<LockHolder>(
    `SELECT l.pid, a.application_name AS "applicationName", host(a.client_addr) AS "clientAddress", a.state, a.state_change AS since
     FROM pg_locks l JOIN pg_database d ON d.oid = l.database LEFT JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database()
       AND l.classid = 0 AND l.objsubid = 1 AND l.objid::bigint = ANY ($1::bigint[])
     LIMIT 1`,
    [keys],
  )
  return rows[0] ?? null
}

// No timeout that is set for the role ends the transaction that holds the lock.
const unbounded = `SELECT set_config(name, '0', true) FROM pg_settings
  WHERE name IN ('idle_in_transaction_session_timeout', 'transaction_timeout', 'statement_timeout')`

const tryLock = async (client: pg.Client): Promise<boolean> => {
  await client.query(`BEGIN; ${unbounded}`)
  const { rows } = await client.query<{ held: boolean }>(
    'SELECT bool_and(pg_try_advisory_xact_lock(key)) AS held FROM unnest($1::bigint[]) AS key',
    [keys],
  )
  if (rows[0]?.held === true) return true
  await client.query('ROLLBACK')
  return false
}

/**
 * Begins a transaction that holds the lock of migrations until its connection ends. A session lock would remain in a session that a pooler keeps, and
 * every later start would wait for it. It polls for the lock, because a wait within Postgres cannot be cancelled by the signal.
 * @returns whether the lock is held; false: the signal fired
 */
export const lockMigrations = async (client: pg.Client, { signal, onWaiting }: MigrationWait): Promise<boolean> => {
  const beganMs = performance.now()
  while (!signal.aborted) {
    if (await tryLock(client)) return true
    if (performance.now() - beganMs >= quietMs) onWaiting(await readHolder(client))
    await pause(retryEveryMs, signal)
  }
  return false
}

/** Whether this is the statement by which Prisma's engine takes its session lock; {@link lockMigrations} holds that lock already. */
export const isSessionLock = (sql: string): boolean => /^\s*SELECT\s+pg_advisory_lock\s*\(/i.test(sql)
