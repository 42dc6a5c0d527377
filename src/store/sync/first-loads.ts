import type { SqlRunner, Transaction } from '../db/database.ts'

// The first complete reading of a list is one change. Until then no changes of its records are recorded.

const isUnloaded = async (sql: SqlRunner, sellerId: string, resource: string): Promise<boolean> => {
  const [row] = await sql.query<{ unloaded: boolean | null }>(
    'SELECT bool_and(loaded_at IS NULL) AS unloaded FROM tallyman.sync_states WHERE seller_id = $1 AND resource = $2',
    sellerId,
    resource,
  )
  return row?.unloaded === true
}

const lock = (
  tx: Transaction,
  kind: 'pg_advisory_xact_lock' | 'pg_advisory_xact_lock_shared',
  sellerId: string,
  resource: string,
) => tx.query(`SELECT 1 AS locked FROM ${kind}(hashtextextended('first-load ' || $1 || ' ' || $2, 0))`, sellerId, resource)

/**
 * Whether a resource of a seller is being read for the first time. If so, the first load does not end before this transaction.
 */
export const isFirstLoad = async (tx: Transaction, sellerId: string, resource: string): Promise<boolean> => {
  if (!(await isUnloaded(tx, sellerId, resource))) return false
  await lock(tx, 'pg_advisory_xact_lock_shared', sellerId, resource)
  return isUnloaded(tx, sellerId, resource)
}

/** Stores that a resource of a seller has been read completely; false: it was stored before. */
export const endFirstLoad = async (tx: Transaction, sellerId: string, resource: string): Promise<boolean> => {
  if (!(await isUnloaded(tx, sellerId, resource))) return false
  await lock(tx, 'pg_advisory_xact_lock', sellerId, resource)
  const updated = await tx.execute(
    'UPDATE tallyman.sync_states SET loaded_at = now() WHERE seller_id = $1 AND resource = $2 AND loaded_at IS NULL',
    sellerId,
    resource,
  )
  return updated > 0
}
