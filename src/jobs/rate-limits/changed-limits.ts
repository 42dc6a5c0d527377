import { createHash } from 'node:crypto'
import { profiles } from '../../clients/marketplace/profiles/index.ts'
import type { QuietLog } from '../../observability/log.ts'
import { buildErrorFields } from '../../queues/errors.ts'
import type { Relay } from '../../queues/relay.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import { makeWaitingCommandsDue } from '../../store/commands/waiting-commands.ts'
import type { Database } from '../../store/db/database.ts'
import { makeWaitingEventsDue } from '../../store/events/events.ts'
import { findSellersWithChangedLimits, type LimitDigests, storeLimits } from '../../store/sellers/seller-limits.ts'
import { findUnfinishedSyncs } from '../../store/sync/sync-states.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import type { CommandJobs } from '../commands/engine/command-jobs.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import { syncJob } from '../sync/engine/poll.ts'

/** Work that could not be made due is tried again after this time. */
const againMs = 15_000

/** Waits that were computed from limits which have changed since. */
export interface ChangedLimits {
  /**
   * Makes commands, events and syncs due that wait for a limit which has changed. Never throws; while Postgres or the queues are unavailable it is
   * tried again.
   */
  voidWaits(): void
}

/** Dependencies of finding changed limits, and of making due what waits for them. */
export interface ChangedLimitsParts {
  readonly quiet: QuietLog
  readonly shutdownHooks: ShutdownHooks
  readonly database: Database
  readonly sellers: Pick<SellerRegistry, 'settings'>
  readonly runtime: QueueRuntime
  readonly relay: Relay
  readonly commandJobs: CommandJobs
}

const hashLimits = (limits: unknown): string => createHash('sha256').update(JSON.stringify(limits)).digest('base64url')

/**
 * One for each process. Limits are compared with the previous ones of this process, and with those stored in Postgres, from which the waits that it
 * finds at its start were computed. They are stored last: if a process ends before that, the next one repeats the work.
 */
export const createChangedLimits = ({
  quiet,
  shutdownHooks,
  database,
  sellers,
  runtime,
  relay,
  commandJobs,
}: ChangedLimitsParts): ChangedLimits => {
  const limitsOfSellers = (): LimitDigests =>
    new Map(
      sellers
        .settings()
        .map(({ sellerId, rateLimits, profile }) => [sellerId, hashLimits([rateLimits, profiles.get(profile)?.rateLimits])]),
    )
  let last = limitsOfSellers()
  /** Sellers whose waits are outdated, and not due yet. */
  const open = new Set<string>()
  let isDue = false
  let making: Promise<void> | null = null

  const makeDue = async (): Promise<void> => {
    const limits = limitsOfSellers()
    for (const [sellerId, digest] of limits) if ((last.get(sellerId) ?? digest) !== digest) open.add(sellerId)
    last = limits
    for (const sellerId of await findSellersWithChangedLimits(database, limits)) open.add(sellerId)
    const changed = new Set([...open].filter((sellerId) => limits.has(sellerId)))
    if (changed.size > 0) {
      commandJobs.addNow(await makeWaitingCommandsDue(database, [...changed]))
      await makeWaitingEventsDue(database, [...changed])
      const syncs = (await findUnfinishedSyncs(database)).filter(({ sellerId }) => changed.has(sellerId))
      // Their jobs wait in the queue for the previous time.
      await runtime.enqueueMany(syncs.map((key) => ({ ...syncJob(key), runNow: true })))
      relay.trigger()
      await storeLimits(database, limits)
    }
    open.clear()
  }

  const makeAllDue = async (): Promise<void> => {
    while (isDue) {
      isDue = false
      try {
        await makeDue()
        quiet.recovered('waits for changed limits', 'work that waits for a changed limit is made due again')
      } catch (error) {
        isDue = true
        quiet.warn(
          'waits for changed limits',
          buildErrorFields(error),
          'work that waits for a changed limit could not be made due; it is tried again',
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
  shutdownHooks.add('the waits for changed limits', async () => {
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
