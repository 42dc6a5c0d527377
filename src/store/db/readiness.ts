import type { Database } from './database.ts'
import { describeUnavailable } from './errors.ts'

/** Whether Postgres is usable for the daemon; `detail` is a text for the operator. */
export interface StoreReadiness {
  readonly ok: boolean
  readonly detail: string
}

// It writes a temporary file of half a megabyte: without space for it there is none for the next page of a table either. This leaves nothing in the
// catalog or the write-ahead log, and works on a read-only server.
const check = `
  WITH room AS MATERIALIZED (SELECT repeat('x', 1000) AS filler FROM generate_series(1, 500))
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only,
    (SELECT sum(length(filler)) FROM room) AS written,
    coalesce((SELECT array_agg(migration_name) FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL), '{}') AS finished`

/** Checks whether Postgres is reachable through the pool, accepts writes, has disk space, and has finished these migrations. Never throws. */
export const checkStore = async (
  database: Database,
  migrations: readonly string[],
  timeoutMs: number,
): Promise<StoreReadiness> => {
  try {
    const [row] = await database.transaction(
      async (tx) => {
        await tx.execute(`SET LOCAL work_mem = '64kB'`)
        return tx.query<{ read_only: boolean; finished: readonly string[] }>(check)
      },
      { maxWaitMs: timeoutMs, timeoutMs: timeoutMs * 2 },
    )
    if (row === undefined || row.read_only) return { ok: false, detail: 'Postgres takes no writes: it is read-only' }
    const missing = migrations.filter((name) => !row.finished.includes(name))
    if (missing.length > 0) return { ok: false, detail: `migrations are missing: ${missing.join(', ')}` }
    return { ok: true, detail: 'Postgres answers and takes writes' }
  } catch (error) {
    return { ok: false, detail: describeUnavailable(error) }
  }
}
