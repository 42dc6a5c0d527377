import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'

const lent = new AsyncLocalStorage<{ connection: pg.PoolClient | null }>()

/**
 * A pool of which the typed client takes its connections too. What it asks within a transaction of ours it must ask on the connection of that
 * transaction, which only it can be handed as one of the pool's.
 */
export class SharedPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(
    callback: (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): void
  override connect(
    callback?: (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void,
  ): Promise<pg.PoolClient> | undefined {
    if (callback !== undefined) {
      super.connect(callback)
      return undefined
    }
    const loan = lent.getStore()
    if (loan === undefined || loan.connection === null) return super.connect()
    const { connection } = loan
    loan.connection = null
    return Promise.resolve(connection)
  }
}

const nothing: pg.QueryResult = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] }
const outerOnly = new Set(['BEGIN', 'COMMIT', 'ROLLBACK'])
const textOf = (query: unknown): unknown => (typeof query === 'object' && query !== null ? Reflect.get(query, 'text') : query)

/** The connection of a transaction for one within it: whoever has it neither begins nor ends anything, and cannot give it back. */
const within = (connection: pg.PoolClient): pg.PoolClient =>
  new Proxy(connection, {
    get: (target, name) => {
      if (name === 'release') return () => undefined
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'query') return member.bind(target)
      return (...given: readonly unknown[]): unknown =>
        outerOnly.has(String(textOf(given[0]))) ? Promise.resolve(nothing) : Reflect.apply(member, target, given)
    },
  })

/** The next connection that `work` takes of a {@link SharedPool} is this one, whose transaction is under way. */
export const lending = <Result>(connection: pg.PoolClient, work: () => Promise<Result>): Promise<Result> =>
  lent.run({ connection: within(connection) }, work)
