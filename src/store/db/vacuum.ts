import type { ClientBase } from 'pg'
import { SteadyClient } from '../../util/net/postgres-client.ts'
import { markedColumns } from '../privacy/personal-data.ts'
import { isDenied } from './grants.ts'

/** Tables that may contain a buyer's data. */
export const listBuyerTables = async (): Promise<readonly string[]> => [
  ...new Set((await markedColumns()).flatMap(({ table, mark }) => (mark === 'buyer' ? [table] : []))),
]

/** The result of {@link vacuumBuyers}. */
export interface Vacuumed {
  readonly tables: readonly string[]
  /** Tables that this login may not rewrite; if there are any, nothing was done. */
  readonly denied: readonly string[]
  /** Whether the write-ahead log was switched; false: this login may not, and Postgres recycles the log later. */
  readonly logEnded: boolean
}

/** Maximum wait for a table that others read or write. */
const lockTimeout = '20s'

const deniedAmong = async (client: ClientBase, tables: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname || '.' || c.relname = ANY($1::text[]) AND NOT pg_has_role(c.relowner, 'USAGE') ORDER BY 1`,
    [tables],
  )
  return rows.map(({ name }) => name)
}

// Later writes go into a new segment, and the checkpoint releases the earlier segments.
const endLog = async (client: ClientBase): Promise<boolean> => {
  try {
    await client.query('SELECT pg_switch_wal()')
    await client.query('CHECKPOINT')
    return true
  } catch (error) {
    if (isDenied(error)) return false
    throw error
  }
}

/**
 * Rewrites every table that may contain a buyer's data, and the planner's statistics, so that data files contain nothing of erased rows; then switches
 * the write-ahead log. Locks one table at a time.
 * @throws the error of Postgres if a table cannot be locked within 20 s
 */
export const vacuumBuyers = async (url: string): Promise<Vacuumed> => {
  const client = new SteadyClient({ connectionString: url, application_name: 'tallyman vacuum' })
  await client.connect()
  try {
    const tables = await listBuyerTables()
    const denied = await deniedAmong(client, tables)
    if (denied.length > 0) return { tables: [], denied, logEnded: false }
    await client.query(`SET statement_timeout = 0`)
    await client.query(`SET lock_timeout = '${lockTimeout}'`)
    for (const table of tables) await client.query(`VACUUM (FULL, ANALYZE) ${table}`)
    // It contains samples of values. Without ownership of the database Postgres skips it with a warning.
    await client.query('VACUUM (FULL) pg_catalog.pg_statistic')
    return { tables, denied, logEnded: await endLog(client) }
  } finally {
    await client.end()
  }
}
