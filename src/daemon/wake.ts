import { mostOfAKind } from '../domain/command-shares.ts'
import type { QuietLog } from '../observability/log.ts'
import { loggedFault } from '../queues/faults.ts'
import type { QueueRuntime } from '../queues/runtime.ts'
import { createShares, nextToAdmit } from '../queues/shares.ts'
import { commandsWithinShare, type DueCommand, type StoredCommand } from '../store/commands.ts'
import type { Database } from '../store/database.ts'
import type { Later } from '../store/transaction.ts'

/** What begins commands that this process has made due. */
export interface Wake {
  /** Commands are due now. Never throws: the relay finds them as well, and brings those that are beyond the share of their seller. */
  wakeCommands(commands: readonly DueCommand[]): void
  /** As `wakeCommands`, of commands that have only just been stored. */
  wakeNewCommands(commands: readonly DueCommand[]): void
  /** As `wakeCommands`, of commands whose jobs wait in the queue for a moment that does not hold any more. */
  wakeWaitingCommands(commandIds: readonly string[]): void
  /** The next step of a command is due at another moment than its job, if it has one, comes at. */
  wakeMoved(commandId: string): void
  /**
   * A command that this process has just stored and begins at once, as a reader would find it: it need not be read. Once for each; null: it must be
   * read.
   */
  takeAsStored(commandId: string): Promise<StoredCommand | null>
  /** Whether this process has begun a command without a job, or is about to: it needs none. */
  isInHand(commandId: string): boolean
}

/** What is woken, and how. */
export interface WakeParts {
  readonly database: Database
  readonly runtime: Pick<QueueRuntime, 'enqueue' | 'enqueueMany' | 'runHere'>
  /** Runs without a queue that are under way at once; 0: this process does not work. */
  readonly atOnce: number
  /** So many commands wait in the process for a place, of a seller never more than one derivation would bring of it. */
  readonly mostWaiting: number
  readonly quiet: QuietLog
}

/**
 * Whoever makes a command due begins it, without a job: the way through a queue costs several waits for the disk or for Redis, and the command is
 * in Postgres already. Where all places are taken it waits for one here, in rounds over the sellers; the places are shared like the slots, so that
 * one whose marketplace is silent keeps no other waiting. What there is no room to wait for goes to the queue, and so to any process.
 */
export const createWake = ({ database, runtime, atOnce, mostWaiting, quiet }: WakeParts): Wake => {
  const shares = createShares(atOnce)
  const waiting = new Map<string, string[]>()
  const inHand = new Set<string>()
  const justStored = new Map<string, Later<StoredCommand | null>>()
  let waits = 0
  const couldNotWake = (error: unknown): void =>
    quiet.warn('wake', loggedFault(error), 'a command could not be enqueued; the relay brings it later')

  const run = async ({ id, sellerId, asStored }: DueCommand): Promise<void> => {
    shares.occupy(sellerId)
    inHand.add(id)
    if (asStored !== undefined) justStored.set(id, asStored)
    try {
      await runtime.runHere('command.run', { commandId: id })
    } catch (error) {
      couldNotWake(error)
    } finally {
      inHand.delete(id)
      justStored.delete(id)
      shares.release(sellerId)
      admit()
    }
  }

  /** Gives places to those who wait: whoever holds least goes first, and then behind those who hold as many. */
  const admit = (): void => {
    for (let sellerId = nextToAdmit(shares, waiting.keys()); sellerId !== null; sellerId = nextToAdmit(shares, waiting.keys())) {
      const [id, ...others] = waiting.get(sellerId) ?? []
      waiting.delete(sellerId)
      if (others.length > 0) waiting.set(sellerId, others)
      if (id === undefined) continue
      waits -= 1
      void run({ id, sellerId })
    }
  }

  /** Takes in hand as many as there is room for; answers the others. */
  const take = (commands: readonly DueCommand[]): readonly DueCommand[] => {
    if (atOnce === 0) return commands
    const others: DueCommand[] = []
    for (const command of commands) {
      const { id, sellerId } = command
      if (inHand.has(id)) continue
      const ofSeller = waiting.get(sellerId) ?? []
      if (ofSeller.length === 0 && shares.mayHave(sellerId)) void run(command)
      else if (waits >= mostWaiting) others.push(command)
      // More of a seller stay in Postgres alone, as they would for the queue.
      else if (ofSeller.length < mostOfAKind) {
        waits += 1
        inHand.add(id)
        ofSeller.push(id)
        waiting.set(sellerId, ofSeller)
      }
    }
    return others
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

  const enqueue = async (commandIds: readonly string[]): Promise<void> => {
    const ids = await commandsWithinShare(database, commandIds)
    await Promise.all(ids.map((commandId) => runtime.enqueue('command.run', { commandId }, { runNow: true })))
  }

  return {
    // Not begun here: a job that waits would keep its old moment when the command has to wait again.
    wakeWaitingCommands: (commandIds) => {
      if (commandIds.length > 0) enqueue(commandIds).catch(couldNotWake)
    },
    wakeCommands: (commands) => {
      const others = take(commands).map(({ id }) => id)
      if (others.length > 0) enqueue(others).catch(couldNotWake)
    },
    wakeNewCommands: (commands) => {
      newCommands.push(...take(commands).map(({ id }) => id))
      if (enqueueing || newCommands.length === 0) return
      enqueueing = true
      void enqueueNew()
    },
    wakeMoved: (commandId) => {
      runtime.enqueue('command.run', { commandId }, { runNow: true }).catch(couldNotWake)
    },
    takeAsStored: async (commandId) => {
      const command = justStored.get(commandId)
      justStored.delete(commandId)
      return (await command?.onceCommitted()) ?? null
    },
    isInHand: (commandId) => inHand.has(commandId),
  }
}
