import pg from 'pg'

const pools = new Map<string, pg.Pool>()

const poolOf = (databaseUrl: string): pg.Pool => {
  const known = pools.get(databaseUrl)
  if (known !== undefined) return known
  const pool = new pg.Pool({ connectionString: databaseUrl, idleTimeoutMillis: 1_000, allowExitOnIdle: true })
  // A connection that breaks while nobody uses it, as when the server is stopped, is left out.
  pool.on('error', () => undefined)
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
): Promise<Row[]> => (await poolOf(databaseUrl).query<Row>(sql, values.length === 0 ? undefined : [...values])).rows
