import type { ClientBase } from 'pg'
import { SteadyClient } from '../steady-client.ts'
import { isDenied } from './grants.ts'
import { markedColumns } from './personal-data.ts'

/** Tables that may hold a buyer's data. */
export const tablesOfBuyers = async (): Promise<readonly string[]> => [
  ...new Set((await markedColumns()).flatMap(({ table, mark }) => (mark === 'buyer' ? [table] : []))),
]

/** What became of the files of Postgres. */
export interface Vacuumed {
  readonly tables: readonly string[]
  /** Tables that this login may not rewrite: nothing was done then. */
  readonly denied: readonly string[]
  /** False: this login may not have the write-ahead log ended; it is recycled in time. */
  readonly logEnded: boolean
}

/** So long a table is waited for, while others read or write it. */
const lockTimeout = '20s'

const deniedAmong = async (client: ClientBase, tables: readonly string[]): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `SELECT n.nspname || '.' || c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname || '.' || c.relname = ANY($1::text[]) AND NOT pg_has_role(c.relowner, 'USAGE') ORDER BY 1`,
    [tables],
  )
  return rows.map(({ name }) => name)
}

// What is written from then on goes into a new segment, and the checkpoint lets go of all before it.
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
 * Rewrites every table that may hold a buyer's data, with what the planner knows of it, so that nothing of erased rows is left in data files;
 * then ends the write-ahead log. One table after the other, each locked meanwhile.
 * @throws Error of Postgres when a table cannot be locked within 20 s
 */
export const vacuumBuyers = async (url: string): Promise<Vacuumed> => {
  const client = new SteadyClient({ connectionString: url, application_name: 'tallyman vacuum' })
  await client.connect()
  try {
    const tables = await tablesOfBuyers()
    const denied = await deniedAmong(client, tables)
    if (denied.length > 0) return { tables: [], denied, logEnded: false }
    await client.query(`SET statement_timeout = 0`)
    await client.query(`SET lock_timeout = '${lockTimeout}'`)
    for (const table of tables) await client.query(`VACUUM (FULL, ANALYZE) ${table}`)
    // Samples of values stand there; whoever does not own the database is passed over with a warning.
    await client.query('VACUUM (FULL) pg_catalog.pg_statistic')
    return { tables, denied, logEnded: await endLog(client) }
  } finally {
    await client.end()
  }
}
