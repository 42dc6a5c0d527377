import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { HandingPool } from '../steady-client.ts'

const lent = new AsyncLocalStorage<{ connection: pg.PoolClient | null }>()

/**
 * A pool of which the typed client takes its connections too. What it asks within a transaction of ours it must ask on the connection of that
 * transaction, which only it can be handed as one of the pool's.
 */
export class SharedPool extends HandingPool {
  protected override handOut(next: () => Promise<pg.PoolClient>): Promise<pg.PoolClient> {
    const loan = lent.getStore()
    if (loan === undefined || loan.connection === null) return next()
    const { connection } = loan
    loan.connection = null
    return Promise.resolve(connection)
  }
}

const nothing: pg.QueryResult = { command: '', rowCount: 0, oid: 0, fields: [], rows: [] }
/** What only the transaction itself does with its connection: it ends, and listens for errors, by itself. */
const outerOnly = {
  members: new Set<string | symbol>(['release', 'on', 'removeListener']),
  statements: new Set(['BEGIN', 'COMMIT', 'ROLLBACK']),
}
const textOf = (query: unknown): unknown => (typeof query === 'object' && query !== null ? Reflect.get(query, 'text') : query)

/**
 * The connection of a transaction for one within it: whoever has it neither begins nor ends anything, cannot give it back, and asks nothing once
 * `refusal` says why.
 */
const within = (connection: pg.PoolClient, refusal: () => Error | null): pg.PoolClient =>
  new Proxy(connection, {
    get: (target, name) => {
      if (outerOnly.members.has(name)) return () => undefined
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'query') return member.bind(target)
      return (...given: readonly unknown[]): unknown => {
        if (outerOnly.statements.has(String(textOf(given[0])))) return Promise.resolve(nothing)
        const refused = refusal()
        return refused === null ? Reflect.apply(member, target, given) : Promise.reject(refused)
      }
    },
  })

/** The next connection that `work` takes of a {@link SharedPool} is this one, whose transaction is under way until `refusal` says otherwise. */
export const lending = async <Result>(
  connection: pg.PoolClient,
  refusal: () => Error | null,
  work: () => Promise<Result>,
): Promise<Result> => {
  const loan: { connection: pg.PoolClient | null } = { connection: within(connection, refusal) }
  const result = await lent.run(loan, work)
  if (loan.connection !== null) throw new Error('a typed query did not take the connection of its transaction')
  return result
}
