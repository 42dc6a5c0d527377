import { pause } from '../pause.ts'
import type { Database, Transaction } from './database.ts'
import { retryOnDeadlock, sqlStateOf } from './faults.ts'
import { StatementFailed } from './statement.ts'
import type { TransactionOptions } from './transaction.ts'
import { createTurns, type Turns } from './turns.ts'

/** The first tries wait so long for a lock … */
const shortLockWaitMs = 20
/** … and come again after so long, twice as long each time, so many times: 1.3 s in all. */
const firstAgainMs = 10
const mostTries = 8
/** After that they wait in the queues of the locks, so many at once, and of a holder one. */
const mostInQueue = 4
/** Nobody waits longer than this in all; as long as a session waits for one lock. */
const patienceMs = 20_000

const turnsOf = new WeakMap<Database, Turns>()

const turnsFor = (database: Database): Turns => {
  const turns = turnsOf.get(database) ?? createTurns(mostInQueue)
  turnsOf.set(database, turns)
  return turns
}

/** A lock was waited for as long as may be. */
const isLockWait = (error: unknown): boolean => sqlStateOf(error) === '55P03'

/**
 * Does work in a transaction, as `database.transaction` does, for which somebody else may hold the locks. Meanwhile it holds a connection for moments only,
 * so that many of one holder leave the connections to the others. The work may therefore run more than once, and never has an effect without its commit.
 *
 * @param holder in whose name it waits: the seller
 * @throws what the work throws; StatementFailed with 55P03 where the locks are held for 20 seconds, or the signal fires before they are had
 */
export const withPatience = async <Result>(
  database: Database,
  holder: string,
  work: (transaction: Transaction) => Promise<Result>,
  { signal, ...options }: Omit<TransactionOptions, 'lockWaitMs'> & { readonly signal: AbortSignal },
): Promise<Result> => {
  const beganMs = performance.now()
  const run = (lockWaitMs: number): Promise<Result> =>
    retryOnDeadlock(() => database.transaction(work, { ...options, lockWaitMs }))
  for (let tries = 1; tries <= mostTries; tries += 1) {
    try {
      return await run(shortLockWaitMs)
    } catch (error) {
      if (!isLockWait(error)) throw error
    }
    await pause(firstAgainMs * 2 ** (tries - 1), signal)
  }
  const leftMs = (): number => Math.max(1, Math.round(patienceMs - (performance.now() - beganMs)))
  const endTurn = await turnsFor(database).take(holder, AbortSignal.any([signal, AbortSignal.timeout(leftMs())]))
  if (endTurn === null) throw new StatementFailed('55P03', `the rows that ${holder} waits for are held by somebody else`)
  try {
    return await run(leftMs())
  } finally {
    endTurn()
  }
}
