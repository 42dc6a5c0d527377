import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import type { Transaction } from '../db/database.ts'
import type { QueryBatcher, SettleCallers } from './query-batching.ts'

/** Sends the collected batches once every task waits for a result or has ended. */
const createLockstepBatcher = (tasks: number): QueryBatcher => {
  let running = tasks
  let sending = false
  let batches: (() => Promise<SettleCallers>)[] = []

  const sendBatches = async (): Promise<void> => {
    while (running <= 0 && batches.length > 0) {
      const next = batches
      batches = []
      sending = true
      const settled = await Promise.all(next.map((send) => send()))
      sending = false
      for (const settleCallers of settled) settleCallers()
      // The continued tasks call `pause` when they wait or end again.
      if (running > 0) return
    }
  }
  const pause = (): void => {
    running -= 1
    // Batches report failures to their callers and never reject.
    if (running <= 0 && !sending) void sendBatches()
  }
  return {
    waits: (_statement, send) => {
      if (send !== null) batches.push(send)
      pause()
    },
    continues: () => {
      running += 1
    },
    ended: pause,
    isSending: () => sending,
    mayRetrySingly: false,
  }
}

/**
 * Runs several tasks in one transaction in lockstep: a batched statement (`batchQuery`) that all tasks need is sent once for all. Each task is written
 * as if it were alone. Returns the results once all tasks have ended.
 *
 * @throws the first error of a task; the transaction must not be committed then
 */
export const runInLockstep = async <Result>(
  transaction: Transaction,
  tasks: readonly ((transaction: Transaction) => Promise<Result>)[],
): Promise<readonly Result[]> => {
  const batcher = createLockstepBatcher(tasks.length)
  const changes: ChangeRecord[][] = tasks.map(() => [])
  // In order of occurrence: after a failed statement, later statements fail as a consequence.
  const errors: unknown[] = []
  const outcomes = await Promise.allSettled(
    tasks.map(async (task, index) => {
      try {
        return await task({ ...transaction, batcher, record: (change) => changes[index]?.push(change) })
      } catch (error) {
        errors.push(error)
        throw error
      } finally {
        batcher.ended()
      }
    }),
  )
  if (errors.length > 0) throw errors[0]
  for (const change of changes.flat()) transaction.record(change)
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
}
