import { SteadyClient } from '../steady-client.ts'

const timeoutMs = 5_000
/** Looks at a pooler that others use too may miss it: what they hold meanwhile, these clients do not get. */
const looks = 3

/** What {@link sharesSessions} has found, as a sentence. */
export const sharedSessions =
  'a pooler in transaction mode is between us and Postgres, and what needs a session of its own (notifications, queues, migrations) does not work behind it'

const within = async <Result>(url: string, work: (client: SteadyClient) => Promise<Result>): Promise<Result> => {
  const client = new SteadyClient({
    connectionString: url,
    application_name: 'tallyman look',
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

const backendOf = async (client: SteadyClient): Promise<number | undefined> =>
  (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid

/**
 * Whether clients share sessions of Postgres, as those of a pooler in transaction mode do: two that are connected at the same time get answers
 * from the same session, or one gets them from two. Never true without such a pooler; with one, rarely false while others use it.
 * @throws what keeps Postgres from being reached
 */
export const sharesSessions = (url: string): Promise<boolean> =>
  within(url, (one) =>
    within(url, async (other) => {
      const seen = { one: new Set<unknown>(), other: new Set<unknown>() }
      for (let look = 0; look < looks; look += 1) {
        seen.one.add(await backendOf(one))
        // A transaction keeps its session from the other client.
        await other.query('BEGIN')
        seen.other.add(await backendOf(other))
        seen.one.add(await backendOf(one))
        await other.query('ROLLBACK')
      }
      return seen.one.size > 1 || seen.other.size > 1 || !seen.one.isDisjointFrom(seen.other)
    }),
  )

/**
 * Whether two addresses lead to the same database of the same server: the session of a transaction at one is seen at the other.
 * @throws what keeps Postgres from being reached
 */
export const isSameDatabase = (url: string, otherUrl: string): Promise<boolean> =>
  within(url, async (client) => {
    await client.query('BEGIN')
    const pid = await backendOf(client)
    const seen = await within(otherUrl, (other) =>
      other.query('SELECT FROM pg_stat_activity WHERE pid = $1 AND datname = current_database()', [pid]),
    )
    await client.query('ROLLBACK')
    return seen.rowCount === 1
  })
