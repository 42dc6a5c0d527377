import type { QuietLog } from '../observability/log.ts'
import type { QueueRuntime } from '../queues/runtime.ts'
import { commandsWithinShare } from '../store/commands.ts'
import type { Database } from '../store/database.ts'

/** What begins commands that this process has made due. */
export interface Wake {
  /** Commands are due now. Never throws: the relay finds them as well, and brings those that are beyond the share of their seller. */
  wakeCommands(commandIds: readonly string[]): void
  /** As `wakeCommands`, of commands whose jobs wait in the queue for a moment that does not hold any more. */
  wakeWaitingCommands(commandIds: readonly string[]): void
  /** As `wakeCommands`, of commands that have only just been stored. */
  wakeNewCommands(commandIds: readonly string[]): void
  /** The next step of a command is due at another moment than its job, if it has one, comes at. */
  wakeMoved(commandId: string): void
}

/** What is woken, and how. */
export interface WakeParts {
  readonly database: Database
  readonly runtime: Pick<QueueRuntime, 'enqueue' | 'enqueueMany' | 'runHere'>
  /** Runs without a queue that are under way at once; 0: this process does not work. */
  readonly atOnce: number
  readonly quiet: QuietLog
}

/**
 * Whoever makes a command due begins it, without a job: the way through a queue costs several waits for the disk or for Redis, and the command is
 * in Postgres already. What finds no room here goes to the queue, and so to any process.
 */
export const createWake = ({ database, runtime, atOnce, quiet }: WakeParts): Wake => {
  let under = 0
  const couldNotWake = (error: unknown): void =>
    quiet.warn('wake', { err: error }, 'a command could not be enqueued; the relay brings it later')

  const runHere = async (commandId: string): Promise<void> => {
    under += 1
    try {
      await runtime.runHere('command.run', { commandId })
    } catch (error) {
      couldNotWake(error)
    } finally {
      under -= 1
    }
  }

  /** Begins as many as there is room for; answers the others. */
  const begin = (commandIds: readonly string[]): readonly string[] => {
    const room = Math.max(0, atOnce - under)
    for (const commandId of commandIds.slice(0, room)) void runHere(commandId)
    return commandIds.slice(room)
  }

  const enqueue = async (commandIds: readonly string[]): Promise<void> => {
    const ids = await commandsWithinShare(database, commandIds)
    await Promise.all(ids.map((commandId) => runtime.enqueue('command.run', { commandId }, { runNow: true })))
  }

  /** Commands that came while others were being enqueued: they go together. */
  let newCommands: string[] = []
  let enqueueing = false
  const enqueueNew = async (): Promise<void> => {
    while (newCommands.length > 0) {
      const commandIds = newCommands
      newCommands = []
      try {
        const ids = await commandsWithinShare(database, commandIds)
        await runtime.enqueueMany(ids.map((commandId) => ({ name: 'command.run', data: { commandId }, fresh: true })))
      } catch (error) {
        couldNotWake(error)
      }
    }
    enqueueing = false
  }

  return {
    // Not begun here: a job that waits would keep its old moment when the command has to wait again.
    wakeWaitingCommands: (commandIds) => {
      if (commandIds.length > 0) enqueue(commandIds).catch(couldNotWake)
    },
    wakeCommands: (commandIds) => {
      const others = begin(commandIds)
      if (others.length > 0) enqueue(others).catch(couldNotWake)
    },
    wakeNewCommands: (commandIds) => {
      newCommands.push(...begin(commandIds))
      if (enqueueing || newCommands.length === 0) return
      enqueueing = true
      void enqueueNew()
    },
    wakeMoved: (commandId) => {
      runtime.enqueue('command.run', { commandId }, { runNow: true }).catch(couldNotWake)
    },
  }
}
