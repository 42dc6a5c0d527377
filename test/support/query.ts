import type pg from 'pg'
import { openPool } from './pool.ts'

const pools = new Map<string, pg.Pool>()

const buildPool = (databaseUrl: string): pg.Pool => {
  const known = pools.get(databaseUrl)
  if (known !== undefined) return known
  const pool = openPool({ connectionString: databaseUrl, idleTimeoutMillis: 1_000, allowExitOnIdle: true })
  pools.set(databaseUrl, pool)
  return pool
}

/**
 * Rows of a query. Its connection is kept for a second: who asks again and again (`eventually`) would else spend more of the processor on
 * connections, in the server and here, than the daemon under test needs.
 */
export const query = async <Row extends object>(
  databaseUrl: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> => (await buildPool(databaseUrl).query<Row>(sql, values.length === 0 ? undefined : [...values])).rows
