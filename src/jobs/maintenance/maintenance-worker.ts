import type { Config } from '../../config/config.ts'
import type { Logger } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import type { Database } from '../../store/db/database.ts'
import { terminateIdleSessions } from '../../store/db/held-snapshots.ts'
import { deleteOldProposals } from '../../store/events/proposals.ts'
import { removeExpiredSecrets } from '../../store/webhooks/webhook-endpoints.ts'
import { reviewBehindAlarms } from '../../store/webhooks/webhook-log.ts'
import type { AlarmChannels } from '../alarm-channels/alarm-channels.ts'
import { createOverdueWatch, type OverdueWatch, reviewOverdueCommands } from '../commands/engine/overdue.ts'
import type { AcceptParts } from '../events/parts.ts'
import { reviewEvents } from '../events/review.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import type { PolledStream } from '../sync/engine/poll.ts'
import { type MarketplaceStatusParts, readMarketplaceStatuses } from './marketplace-status.ts'
import { noteFigures } from './note-figures.ts'
import { noteNamedOrders } from './note-named-orders.ts'
import { runRetention } from './retention.ts'
import { reviewAlarms } from './review-alarms.ts'

/** Maximum duration of one turn of removing old data: then other maintenance may run. */
const trimTurnMs = 10_000
/** Turns of one job: the first removal of years of data takes hours. */
const maxTurns = 10_000

/** Dependencies of maintenance. */
export interface MaintenanceWorkerParts extends MarketplaceStatusParts {
  readonly config: Pick<Config, 'settleTimeMs' | 'retention' | 'biIdleTransactionMs' | 'claimWindows' | 'intervals'>
  readonly database: Database
  readonly metrics: Pick<Metrics, 'retentionRemoved'>
  /** Names this process in passes of the retention. */
  readonly owner: string
  readonly runtime: Pick<QueueRuntime, 'register'>
  readonly sellers: Pick<SellerRegistry, 'ids' | 'has' | 'client' | 'settings' | 'worksFor'>
  readonly intake: Pick<AcceptParts, 'onInbox'>
  readonly alarmChannels: Pick<AlarmChannels, 'enqueueDue'>
  /** The scheduled streams of the sellers of this process. */
  schedule(): readonly PolledStream[]
}

/** Finds commands and events that no process handles, and what webhooks have left behind. */
const review = async (
  { config, database, intake }: MaintenanceWorkerParts,
  overdueWatch: OverdueWatch,
  log: Logger,
): Promise<void> => {
  const overdue = await reviewOverdueCommands({ database, settleTimeMs: config.settleTimeMs, log }, overdueWatch)
  if (overdue > 0) log.warn({ overdue }, 'commands are due and nobody works on them')
  const events = await reviewEvents(database, intake)
  if (events.rejected > 0) log.warn({ rejected: events.rejected }, 'events were rejected: they could not be decided')
  if (events.waiting > 0) log.warn({ waiting: events.waiting }, 'events have been waiting for long')
  const { changes, events: eventsKept } = config.retention
  if (eventsKept !== 'forever') await deleteOldProposals(database, eventsKept)
  await reviewBehindAlarms(database, changes === 'forever' ? null : changes)
  await removeExpiredSecrets(database)
}

/** Ends idle transactions of BI, raises or resolves the alarms about deadlines, and has channels sent the alarms that are due to them. */
const checkDeadlines = async (
  { config, database, sellers, schedule, alarmChannels }: MaintenanceWorkerParts,
  log: Logger,
): Promise<void> => {
  const idleMs = config.biIdleTransactionMs
  for (const session of idleMs === 'off' ? [] : await terminateIdleSessions(database, idleMs))
    log.warn({ ...session }, 'a transaction of BI was left idle: its session was ended')
  const changed = await reviewAlarms({
    database,
    streams: schedule(),
    sellerIds: sellers.ids(),
    findNow: (sellerId) => (sellers.has(sellerId) ? sellers.client(sellerId).clock().now() : null),
    upForMs: process.uptime() * 1_000,
    claimWindows: config.claimWindows,
  })
  if (changed !== null && changed.opened + changed.resolved > 0) log.info({ ...changed }, 'alarms changed')
  await alarmChannels.enqueueDue()
}

/** Removes old data for one turn. */
const trim = async (
  { config, database, metrics, owner }: MaintenanceWorkerParts,
  signal: AbortSignal,
  log: Logger,
): Promise<JobOutcome> => {
  const { removed, finished } = await runRetention({ database, owner, keep: config.retention }, { signal, turnMs: trimTurnMs })
  for (const [kind, count] of Object.entries(removed)) metrics.retentionRemoved.inc({ data: kind }, count)
  if (Object.values(removed).some((count) => count > 0)) log.info({ removed }, 'old data removed')
  return finished ? { done: true } : { runAgainAt: new Date(), reason: 'there is more to be removed' }
}

/** Registers the handler of the jobs `maintenance.run`; before the queues start. */
export const registerMaintenanceWorker = (parts: MaintenanceWorkerParts): void => {
  const overdueWatch = createOverdueWatch()
  parts.runtime.register(
    'maintenance.run',
    async ({ data: { task }, signal, log }) => {
      if (task === 'trim') return trim(parts, signal, log)
      if (task === 'named-orders') {
        await noteNamedOrders(parts.database, parts.sellers.ids(), new Date())
        return { done: true }
      }
      if (task === 'figures') {
        await noteFigures(parts.database, parts.config.intervals, new Date())
        return { done: true }
      }
      if (task === 'marketplace-status') {
        await readMarketplaceStatuses(parts, signal)
        return { done: true }
      }
      await (task === 'review' ? review(parts, overdueWatch, log) : checkDeadlines(parts, log))
      return { done: true }
    },
    { maxStarts: maxTurns },
  )
}
