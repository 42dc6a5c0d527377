import type { SqlRunner } from './database.ts'

/** A holder of an old snapshot, which prevents vacuum from removing dead rows. Without its query, which may contain a buyer's data. */
export interface HeldSnapshot {
  readonly kind: 'session' | 'standby' | 'prepared transaction' | 'replication slot'
  /** Process id of a session or standby, or the name. */
  readonly name: string
  readonly user: string | null
  readonly application: string | null
  /** When its transaction began; null: Postgres does not report it, or not to this login. */
  readonly since: Date | null
  /** The number of transactions that have begun since. */
  readonly transactions: number
}

/**
 * Holders of snapshots of this database that are older than `forMs`, the oldest first. If Postgres does not report the time (a replication slot; a
 * session of another login, if ours lacks `pg_read_all_stats`), those older than `transactions`. Every login sees that there is a holder.
 */
export const findHeldSnapshots = async (
  sql: SqlRunner,
  { forMs, transactions }: { readonly forMs: number; readonly transactions: number },
): Promise<readonly HeldSnapshot[]> =>
  sql.query<HeldSnapshot>(
    `SELECT kind, name, "user", application, since, transactions FROM (
       SELECT CASE a.backend_type WHEN 'walsender' THEN 'standby' ELSE 'session' END AS kind, a.pid::text AS name, a.usename::text AS "user",
         nullif(a.application_name, '') AS application, a.xact_start AS since, age(coalesce(a.backend_xmin, a.backend_xid))::float8 AS transactions
       FROM pg_stat_activity a
       WHERE a.pid <> pg_backend_pid() AND (a.datname = current_database() OR a.backend_type = 'walsender')
         AND coalesce(a.backend_xmin, a.backend_xid) IS NOT NULL AND coalesce(a.backend_type, '') NOT LIKE 'autovacuum%'
       UNION ALL
       SELECT 'prepared transaction', p.gid, p.owner::text, NULL, p.prepared, age(p.transaction)::float8
       FROM pg_prepared_xacts p WHERE p.database = current_database()
       UNION ALL
       SELECT 'replication slot', s.slot_name::text, NULL, NULL, NULL, age(s.xmin)::float8
       FROM pg_replication_slots s WHERE s.xmin IS NOT NULL
     ) h
     WHERE since < now() - make_interval(secs => $1::float8 / 1000) OR (since IS NULL AND transactions > $2::float8)
     ORDER BY transactions DESC, name`,
    forMs,
    transactions,
  )

/** A terminated session. */
export interface EndedSession {
  readonly pid: number
  readonly user: string
  readonly application: string
  readonly since: Date
}

/**
 * Terminates sessions of members of `tallyman_bi` whose transaction has been idle for `idleMs`, if our login may: as a superuser, or as a member of
 * `pg_read_all_stats` and `pg_signal_backend`. Running statements, superusers and the daemon are never terminated.
 */
export const terminateIdleSessions = async (sql: SqlRunner, idleMs: number): Promise<readonly EndedSession[]> =>
  sql.query<EndedSession>(
    `WITH idle AS MATERIALIZED (
       SELECT a.pid, a.usename::text AS "user", a.application_name AS application, a.xact_start AS since
       FROM pg_stat_activity a JOIN pg_roles r ON r.oid = a.usesysid
       WHERE a.datname = current_database() AND a.state LIKE 'idle in transaction%'
         AND a.state_change < now() - make_interval(secs => $1::float8 / 1000)
         AND NOT r.rolsuper AND r.rolname <> current_user
         AND EXISTS (SELECT FROM pg_roles b WHERE b.rolname = 'tallyman_bi' AND pg_has_role(r.oid, b.oid, 'USAGE'))
         AND NOT EXISTS (SELECT FROM pg_roles d WHERE d.rolname = 'tallyman_daemon' AND pg_has_role(r.oid, d.oid, 'USAGE'))
         AND (pg_has_role(r.oid, 'USAGE') OR pg_has_role('pg_signal_backend', 'USAGE'))
     ) SELECT pid, "user", application, since FROM idle WHERE pg_terminate_backend(pid) ORDER BY pid`,
    idleMs,
  )
