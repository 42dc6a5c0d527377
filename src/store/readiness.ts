import type { Database } from './database.ts'
import { describeAway } from './faults.ts'

/** Whether Postgres can do the daemon's work; `detail` is a sentence for a person. */
export interface StoreReadiness {
  readonly ok: boolean
  readonly detail: string
}

// A temporary file of half a megabyte: without room for one the next page of a table has none either. It leaves nothing behind, neither in
// the catalog nor in the log of the database, and works on a server that takes no writes, which says so itself.
const look = `
  WITH room AS MATERIALIZED (SELECT repeat('x', 1000) AS filler FROM generate_series(1, 500))
  SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on' AS read_only,
    (SELECT sum(length(filler)) FROM room) AS written,
    coalesce((SELECT array_agg(migration_name) FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL), '{}') AS finished`

/**
 * Looks whether Postgres is reachable over the pool, takes writes, has room, and has finished these migrations. Never throws.
 */
export const lookAtStore = async (
  database: Database,
  migrations: readonly string[],
  timeoutMs: number,
): Promise<StoreReadiness> => {
  try {
    const [row] = await database.transaction(
      async (tx) => {
        await tx.execute(`SET LOCAL work_mem = '64kB'`)
        return tx.query<{ read_only: boolean; finished: readonly string[] }>(look)
      },
      { maxWaitMs: timeoutMs, timeoutMs: timeoutMs * 2 },
    )
    if (row === undefined || row.read_only) return { ok: false, detail: 'Postgres takes no writes: it is read-only' }
    const missing = migrations.filter((name) => !row.finished.includes(name))
    if (missing.length > 0) return { ok: false, detail: `migrations are missing: ${missing.join(', ')}` }
    return { ok: true, detail: 'Postgres answers and takes writes' }
  } catch (error) {
    return { ok: false, detail: describeAway(error) }
  }
}
