import { pause } from '../../util/sleep.ts'
import { createKeyedSemaphore, type KeyedSemaphore } from '../commit/keyed-semaphore.ts'
import type { Database, Transaction } from './database.ts'
import { findSqlState, retryOnDeadlock } from './errors.ts'
import { StatementFailed } from './statement.ts'
import type { TransactionOptions } from './transaction.ts'

/** The first tries wait this long for a lock. */
const shortLockWaitMs = 20
/** Pause after the first try, doubled after each further one: 1.3 s in all. */
const firstPauseMs = 10
const maxTries = 8
/** Transactions that then wait in the queues of the locks: at most this many at once, and one for each seller. */
const maxQueued = 4
/** Maximum wait in all; equal to the lock timeout of a session. */
const maxWaitMs = 20_000

const semaphores = new WeakMap<Database, KeyedSemaphore>()

const semaphoreFor = (database: Database): KeyedSemaphore => {
  const semaphore = semaphores.get(database) ?? createKeyedSemaphore(maxQueued)
  semaphores.set(database, semaphore)
  return semaphore
}

const isLockTimeout = (error: unknown): boolean => findSqlState(error) === '55P03'

/**
 * Does work in a transaction, as `database.transaction` does, whose locks other transactions may hold. It waits for locks in short tries, so that many
 * waiting transactions of one seller do not take all connections. The work may run more than once, and must have no effect outside of its transaction.
 *
 * @param seller the seller for whom it waits
 * @throws what the work throws; StatementFailed with 55P03 if the locks are held for 20 seconds, or if the signal fires before they are acquired
 */
export const runWithLockRetry = async <Result>(
  database: Database,
  seller: string,
  work: (transaction: Transaction) => Promise<Result>,
  { signal, ...options }: Omit<TransactionOptions, 'lockWaitMs'> & { readonly signal: AbortSignal },
): Promise<Result> => {
  const beganMs = performance.now()
  const run = (lockWaitMs: number): Promise<Result> =>
    retryOnDeadlock(() => database.transaction(work, { ...options, lockWaitMs }))
  for (let tries = 1; tries <= maxTries; tries += 1) {
    try {
      return await run(shortLockWaitMs)
    } catch (error) {
      if (!isLockTimeout(error)) throw error
    }
    await pause(firstPauseMs * 2 ** (tries - 1), signal)
  }
  const leftMs = (): number => Math.max(1, Math.round(maxWaitMs - (performance.now() - beganMs)))
  const release = await semaphoreFor(database).acquire(seller, AbortSignal.any([signal, AbortSignal.timeout(leftMs())]))
  if (release === null) throw new StatementFailed('55P03', `another transaction holds the rows that ${seller} waits for`)
  try {
    return await run(leftMs())
  } finally {
    release()
  }
}
