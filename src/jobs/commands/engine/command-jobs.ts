import type { QuietLog } from '../../../observability/log.ts'
import { buildErrorFields } from '../../../queues/errors.ts'
import type { QueueRuntime } from '../../../queues/runtime.ts'
import { filterWithinShare } from '../../../store/commands/commands.ts'
import type { SqlRunner } from '../../../store/db/database.ts'

/** Adds the jobs of commands that are due. The relay finds every due command as well, so a failure here is logged and costs a few seconds. */
export interface CommandJobs {
  /** For commands that were just stored, or have become the first of their subject: they have no job yet. Never throws. */
  add(commandIds: readonly string[]): void
  /** For commands that are due now although their jobs may wait for a later time. Never throws. */
  addNow(commandIds: readonly string[]): void
}

/** Dependencies of adding jobs. */
export interface CommandJobsParts {
  readonly database: SqlRunner
  readonly runtime: Pick<QueueRuntime, 'enqueueMany'>
  readonly quiet: QuietLog
}

/**
 * Each seller and kind has a share of the queue. Commands beyond it stay in Postgres, and the relay adds them later. Ids that arrive while others are
 * being added are added together, in one statement and one bulk.
 */
export const createCommandJobs = ({ database, runtime, quiet }: CommandJobsParts): CommandJobs => {
  const enqueue = async (
    commandIds: readonly string[],
    how: { readonly fresh: true } | { readonly runNow: true },
  ): Promise<void> => {
    try {
      const ids = await filterWithinShare(database, commandIds)
      await runtime.enqueueMany(ids.map((commandId) => ({ name: 'command.run', data: { commandId }, ...how })))
    } catch (error) {
      quiet.warn('command jobs', buildErrorFields(error), 'commands could not be enqueued; the relay adds them later')
    }
  }

  let waiting: string[] = []
  let isAdding = false
  const addWaiting = async (): Promise<void> => {
    isAdding = true
    while (waiting.length > 0) {
      const commandIds = waiting
      waiting = []
      await enqueue(commandIds, { fresh: true })
    }
    isAdding = false
  }

  return {
    add: (commandIds) => {
      waiting.push(...commandIds)
      if (!isAdding) void addWaiting()
    },
    addNow: (commandIds) => {
      if (commandIds.length > 0) void enqueue(commandIds, { runNow: true })
    },
  }
}
