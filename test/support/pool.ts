import pg from 'pg'

/**
 * A pool of connections of a test's own. A connection that nobody uses may break: where the server is stopped, and after `end()`, which answers
 * a moment before the connections are closed. That is no fault of the test's.
 */
export const openPool = (config: pg.PoolConfig): pg.Pool => {
  const pool = new pg.Pool(config)
  pool.on('error', () => undefined)
  return pool
}
