import { createHash } from 'node:crypto'
import { profiles } from '../clients/marketplace/profiles/index.ts'
import { loggedFault } from '../queues/faults.ts'
import { wakeWaitingCommands } from '../store/command-waits.ts'
import { wakeWaitingEvents } from '../store/events.ts'
import { type LimitDigests, noteLimits, sellersWithOtherLimits } from '../store/seller-limits.ts'
import { unfinishedSyncs } from '../store/sync-states.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'

/** What could not be made due is tried again after so long. */
const againMs = 15_000

/** Waits that were named by limits which do not hold any more. */
export interface OldLimits {
  /**
   * Makes due what waits by a limit of its seller that is another one now: commands, events and syncs. Never throws; while Postgres or the queues are
   * away it is tried again.
   */
  voidWaits(): void
}

const digestOf = (limits: unknown): string => createHash('sha256').update(JSON.stringify(limits)).digest('base64url')

/**
 * One for the process. Limits are compared with those that this process had before, and with those that are noted in Postgres: by these the waits
 * were named that it finds at its start. They are noted last, so that a process that ends in between has left it to the next.
 */
export const createOldLimits = (
  { quiet, closers }: Pick<DaemonContext, 'quiet' | 'closers'>,
  { database }: Pick<DatabasePart, 'database'>,
  { sellers }: Pick<MarketplacePart, 'sellers'>,
  { runtime, relay, wakeWaitingCommands: wakeCommands }: Pick<QueuesPart, 'runtime' | 'relay' | 'wakeWaitingCommands'>,
): OldLimits => {
  const limitsOfSellers = (): LimitDigests =>
    new Map(
      sellers
        .settings()
        .map(({ sellerId, rateLimits, profile }) => [sellerId, digestOf([rateLimits, profiles.get(profile)?.rateLimits])]),
    )
  let last = limitsOfSellers()
  /** Sellers whose waits are void, and not due yet. */
  const open = new Set<string>()
  let isDue = false
  let making: Promise<void> | null = null

  const makeDue = async (): Promise<void> => {
    const limits = limitsOfSellers()
    for (const [sellerId, digest] of limits) if ((last.get(sellerId) ?? digest) !== digest) open.add(sellerId)
    last = limits
    for (const sellerId of await sellersWithOtherLimits(database, limits)) open.add(sellerId)
    const changed = new Set([...open].filter((sellerId) => limits.has(sellerId)))
    if (changed.size > 0) {
      wakeCommands(await wakeWaitingCommands(database, [...changed]))
      await wakeWaitingEvents(database, [...changed])
      const syncs = (await unfinishedSyncs(database)).filter(({ sellerId }) => changed.has(sellerId))
      // Their jobs wait in the queue for the old moment.
      await runtime.enqueueMany(syncs.map((data) => ({ name: 'sync.run', data, runNow: true })))
      relay.nudge()
      await noteLimits(database, limits)
    }
    open.clear()
  }

  const makeAllDue = async (): Promise<void> => {
    while (isDue) {
      isDue = false
      try {
        await makeDue()
        quiet.recovered('waits by old limits', 'what waits by a limit that has been changed is made due again')
      } catch (error) {
        isDue = true
        quiet.warn(
          'waits by old limits',
          loggedFault(error),
          'what waits by a limit that has been changed could not be made due; it is tried again',
        )
        return
      }
    }
  }
  const makeNow = (): void => {
    if (!isDue || making !== null) return
    making = makeAllDue().finally(() => {
      making = null
    })
  }
  const timer = setInterval(makeNow, againMs)
  closers.add('the waits by old limits', async () => {
    clearInterval(timer)
    isDue = false
    await making
  })

  return {
    voidWaits: () => {
      isDue = true
      makeNow()
    },
  }
}
