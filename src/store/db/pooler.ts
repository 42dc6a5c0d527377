import { SteadyClient } from '../../util/net/postgres-client.ts'

const timeoutMs = 5_000
/** One check may miss a pooler that others use too, because their sessions are not given to these clients meanwhile. */
const checks = 3

/** The message for a pooler that {@link detectTransactionPooler} has found. */
export const transactionPoolerFound =
  'a pooler in transaction mode is between the daemon and Postgres; notifications, queues and migrations need sessions of their own and do not work behind it'

const withClient = async <Result>(url: string, work: (client: SteadyClient) => Promise<Result>): Promise<Result> => {
  const client = new SteadyClient({
    connectionString: url,
    application_name: 'tallyman pooler check',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const readBackendPid = async (client: SteadyClient): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid

/**
 * Whether clients share sessions of Postgres, as behind a pooler in transaction mode: two connected clients use the same session, or one client uses
 * two. Never true without such a pooler; with one, rarely false while others use it.
 * @throws the error of the connection
 */
export const detectTransactionPooler = (url: string): Promise<boolean> =>
  withClient(url, (one) =>
    withClient(url, async (other) => {
      const seen = { one: new Set<unknown>(), other: new Set<unknown>() }
      for (let check = 0; check < checks; check += 1) {
        seen.one.add(await readBackendPid(one))
        // During the transaction the first client cannot get its session.
        await other.query('BEGIN')
        seen.other.add(await readBackendPid(other))
        seen.one.add(await readBackendPid(one))
        await other.query('ROLLBACK')
      }
      return seen.one.size > 1 || seen.other.size > 1 || !seen.one.isDisjointFrom(seen.other)
    }),
  )

/**
 * Whether two URLs lead to the same database of the same server: a session of one is visible in the other.
 * @throws the error of the connection
 */
export const isSameDatabase = (url: string, otherUrl: string): Promise<boolean> =>
  withClient(url, async (client) => {
    await client.query('BEGIN')
    const pid = await readBackendPid(client)
    const seen = await withClient(otherUrl, (other) =>
      other.query('SELECT FROM pg_stat_activity WHERE pid = $1 AND datname = current_database()', [pid]),
    )
    await client.query('ROLLBACK')
    return seen.rowCount === 1
  })
