import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { CheckoutPool } from '../../util/net/postgres-client.ts'

const lent = new AsyncLocalStorage<{ connection: pg.PoolClient | null }>()

/**
 * A pool that the typed client shares. Within one of our transactions the typed client must use the connection of that transaction, so the pool hands
 * it out when the typed client asks for a connection.
 */
export class SharedPool extends CheckoutPool {
  protected override checkOut(next: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    const loan = lent.getStore()
    if (loan === undefined || loan.connection === null) return next()
    const { connection } = loan
    loan.connection = null
    return Promise.resolve(connection)
  }
}

const emptyResult: pg.QueryResult = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] }
/** Members and statements that only our transaction may use on its connection; the typed client's calls have no effect. */
const reserved = {
  members: new Set<string | symbol>(['release', 'on', 'removeListener']),
  statements: new Set(['BEGIN', 'COMMIT', 'ROLLBACK']),
}
const toText = (query: unknown): unknown => (typeof query === 'object' && query !== null ? Reflect.get(query, 'text') : query)

/**
 * The connection of a transaction, for the typed client: the typed client cannot begin or end the transaction or release the connection, and its
 * queries reject once `findRejection` returns an error.
 */
const restrictConnection = (connection: pg.PoolClient, findRejection: () => Error | null): pg.PoolClient =>
  new Proxy(connection, {
    get: (target, name) => {
      if (reserved.members.has(name)) return () => undefined
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'query') return member.bind(target)
      return (...given: readonly unknown[]): unknown => {
        if (reserved.statements.has(String(toText(given[0])))) return Promise.resolve(emptyResult)
        const rejection = findRejection()
        return rejection === null ? Reflect.apply(member, target, given) : Promise.reject(rejection)
      }
    },
  })

/** Makes this connection the next one that `work` gets from a {@link SharedPool}. Its transaction is open until `findRejection` returns an error. */
export const lendConnection = async <Result>(
  connection: pg.PoolClient,
  findRejection: () => Error | null,
  work: () => Promise<Result>,
): Promise<Result> => {
  const loan: { connection: pg.PoolClient | null } = { connection: restrictConnection(connection, findRejection) }
  const result = await lent.run(loan, work)
  if (loan.connection !== null) throw new Error('a typed query did not take the connection of its transaction')
  return result
}
