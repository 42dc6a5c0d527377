import { MarketplaceFailure } from '../clients/errors.ts'
import { systemClock } from '../clock.ts'
import { reviewAlarms } from '../jobs/alarms.ts'
import { createOverdueWatch, reviewOverdueCommands } from '../jobs/commands/overdue.ts'
import { readOpenCommand, runAsRead } from '../jobs/commands/run.ts'
import { createEventQueue } from '../jobs/events/from-queue.ts'
import type { AcceptParts } from '../jobs/events/parts.ts'
import { processReceivedEvent } from '../jobs/events/process.ts'
import { reviewEvents } from '../jobs/events/review.ts'
import { handBack } from '../jobs/hand-back.ts'
import { runRetention } from '../jobs/retention.ts'
import { probeSeller, stopRefused, UnknownSeller } from '../jobs/sellers.ts'
import { runSync } from '../jobs/sync/syncs.ts'
import { type JobOutcome, jobIdOf } from '../queues/jobs.ts'
import { createSlots, turnedAway } from '../queues/slots.ts'
import { reviewSyncAlarm } from '../store/alarms.ts'
import { headCommand } from '../store/commands.ts'
import { readWaitingSubject } from '../store/events.ts'
import { endForgotten } from '../store/held-snapshots.ts'
import { isSellerAtRest } from '../store/sellers.ts'
import { removeExpiredSecrets } from '../store/webhook-endpoints.ts'
import { reviewBehind } from '../store/webhook-log.ts'
import { commandsAtOnce, eventsAtOnce, queuedSyncsAtOnce, relayIntervalMs, syncSlots } from './capacity.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import { savingOf } from './intake.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'
import type { SyncMetrics } from './sync-metrics.ts'

/** A command or an event that failed (Postgres was away) must not wait long: its rows are due, and a look costs little. */
const jobBackoff = { firstMs: 500, longestMs: 10_000 }
/** An event comes back after so long while another one about the same order is being decided: that one may decide it as well. */
const sameOrderAgainMs = 250
/** The built-in sandbox shows a change in its lists at once; a real marketplace takes its time. */
const sandboxLagMs = 2_000
/** Removing old data leaves other upkeep its turn after so long. */
const trimTurnMs = 10_000
/** … and may need many turns: the first pass over years of data lasts hours. */
const upkeepStarts = { maxStarts: 10_000 }

/** What the work of this process is done with. */
export interface WorkParts {
  readonly context: DaemonContext
  readonly database: DatabasePart['database']
  readonly marketplace: MarketplacePart
  readonly queues: QueuesPart
  readonly intake: AcceptParts
  readonly syncMetrics: SyncMetrics
}

/** Names the work of every kind of job; before the queues start. */
export const registerWork = (parts: WorkParts): void => {
  registerCommands(parts)
  registerSyncs(parts)
  registerEvents(parts)
  takeQueuedEvents(parts)
  registerProbes(parts)
  registerUpkeep(parts)
}

const registerCommands = ({ context, database, marketplace, queues }: WorkParts): void => {
  const { config, metrics, owner } = context
  const commandParts = {
    database,
    sellers: marketplace.sellers,
    owner,
    requestTimeoutMs: config.requestTimeoutMs,
    settleTimeMs: config.settleTimeMs,
    ...(config.afterRestore ? { afterRestore: { readsFromMs: systemClock.monotonicMs() + config.settleTimeMs } } : {}),
    onSettled: async (sellerId: string, subject: string) => {
      const next = await headCommand(database, sellerId, subject)
      if (next !== null) queues.wakeCommands([{ id: next, sellerId }])
    },
    onRunForAnother: queues.wakeMoved,
    onOutcome: (kind: string, outcome: string) => metrics.commands.inc({ kind, outcome }),
  }
  const slots = createSlots({ total: commandsAtOnce })
  const underWay = new Set<string>()
  const logOf = (commandId: string) => context.log.child({ job: 'command.run', job_id: jobIdOf('command.run', { commandId }) })
  queues.runtime.register(
    'command.run',
    async ({ data, signal, starts, log, ofSeller }) => {
      // Nothing depends on what is known of it beforehand: all of it is compared under its lock.
      const command = (await queues.takeAsStored(data.commandId)) ?? (await readOpenCommand(commandParts, data.commandId))
      // What waits for a seller that is stopped or paused is due again when the seller is.
      if (command === null || !command.sellerAtWork) return { done: true }
      const { sellerId } = command
      ofSeller(sellerId)
      const release = await slots.take(sellerId, signal)
      if (release === null) return turnedAway(`seller ${sellerId}`, starts)
      underWay.add(command.id)
      try {
        const outcome = await runAsRead(commandParts, command, { signal, starts, log, logOf, underWay })
        if ('done' in outcome) queues.ended('command.run')
        return outcome
      } finally {
        underWay.delete(command.id)
        release()
      }
    },
    { concurrency: commandsAtOnce, backoff: jobBackoff },
  )
}

const registerSyncs = ({ context, database, marketplace, queues, syncMetrics }: WorkParts): void => {
  const { config, owner } = context
  const { sellers, sandboxUrl } = marketplace
  const saving = savingOf(context)
  const deps = {
    database,
    client: sellers.client,
    owner,
    settings: {
      lookBackMs: config.lookBackMs,
      rereadDepthMs: config.rereadDepthMs,
      ...(sandboxUrl === null ? {} : { lagMs: sandboxLagMs }),
    },
    ...saving,
    onRun: syncMetrics.countRun,
  }
  const slots = createSlots({ total: syncSlots })
  queues.runtime.register(
    'sync.run',
    async ({ data, signal, starts, log }) => {
      if (await isSellerAtRest(database, data.sellerId)) return { done: true }
      if (!sellers.worksFor(data.sellerId)) return handBack({ database }, data.sellerId, starts)
      const release = await slots.take(data.sellerId, signal)
      if (release === null) return turnedAway(`seller ${data.sellerId}`, starts)
      const run = async (): Promise<JobOutcome> => {
        // It may have been dropped while this waited.
        if (!sellers.worksFor(data.sellerId)) return handBack({ database }, data.sellerId, starts)
        // Taken before the run: settings that are read again meanwhile are not those that were refused.
        const seller = sellers.configured(data.sellerId)
        try {
          return await runSync(deps, data, { signal, log })
        } catch (error) {
          if (error instanceof UnknownSeller) return handBack({ database }, data.sellerId, starts)
          if (!(error instanceof MarketplaceFailure) || !error.credentialsDead) throw error
          const { stop, reason } = await stopRefused({ database, sellers, owner }, seller, error.httpStatus)
          if (stop !== 'outdated') log.warn({ seller_id: data.sellerId }, reason)
          return { done: true }
        }
      }
      const outcome = await run()
        .finally(release)
        .finally(() => reviewSyncAlarm(database, data))
      if (saving.afterSave !== undefined) queues.relay.nudge()
      return outcome
    },
    { concurrency: queuedSyncsAtOnce },
  )
}

const registerEvents = ({ database, marketplace: { sellers }, queues, intake }: WorkParts): void => {
  const slots = createSlots({ total: eventsAtOnce })
  const deciding = new Set<string>()
  queues.runtime.register(
    'event.process',
    async ({ data, signal, starts, ofSeller }) => {
      const about = await readWaitingSubject(database, data)
      if (about === null) return { done: true }
      const { sellerId } = about
      ofSeller(sellerId)
      // Whoever serves its seller decides it: what can only be handed back takes no slot, and is not read. What nobody serves is told of below.
      if (!sellers.worksFor(sellerId) && (about.isServed || sellers.has(sellerId))) {
        return handBack({ database }, sellerId, starts)
      }
      const subject = JSON.stringify([sellerId, about.purchaseOrderId])
      if (deciding.has(subject)) {
        return {
          runAgainAt: new Date(Date.now() + sameOrderAgainMs),
          reason: 'another event about the same order is being decided',
        }
      }
      deciding.add(subject)
      try {
        const release = await slots.take(sellerId, signal)
        if (release === null) return turnedAway(`seller ${sellerId}`, starts)
        const came = await processReceivedEvent(intake, data, signal).finally(release)
        if (came === 'settled') {
          queues.ended('event.process')
          return { done: true }
        }
        if ('elsewhere' in came) return handBack({ database }, came.elsewhere, starts)
        // One that still waits is due again when its row says so, and then in any process; before the next look at the rows only its job comes again.
        return came.dueInMs < relayIntervalMs
          ? { runAgainAt: new Date(Date.now() + came.dueInMs), reason: 'its order can be asked for then' }
          : { done: true }
      } finally {
        deciding.delete(subject)
      }
    },
    { concurrency: eventsAtOnce, backoff: jobBackoff },
  )
}

const takeQueuedEvents = ({ context: { config, metrics }, queues, intake }: WorkParts): void => {
  if (!config.erpEventsQueue) return
  queues.takeEvents(createEventQueue({ ...intake, onQueued: (outcome) => metrics.eventsReceived.inc({ way: 'queue', outcome }) }))
}

const registerProbes = ({ database, marketplace: { sellers }, queues }: WorkParts): void =>
  queues.runtime.register('seller.probe', async ({ data: { sellerId }, signal, starts, log }) => {
    if (!sellers.has(sellerId)) return handBack({ database }, sellerId, starts)
    const outcome = await probeSeller({ database, sellers }, sellerId, signal)
    if (outcome === 'resumed') log.info({ seller_id: sellerId }, 'the credentials are accepted again; the seller goes on')
    else if (outcome !== null) log.warn({ seller_id: sellerId, outcome }, 'the stopped seller has still not got a token')
    return { done: true }
  })

const registerUpkeep = ({ context, database, marketplace: { sellers }, queues, intake }: WorkParts): void => {
  const { config, metrics, owner } = context
  const overdueWatch = createOverdueWatch()
  queues.runtime.register(
    'housekeeping.run',
    async ({ data, signal, log }) => {
      if (data.task === 'review') {
        const overdue = await reviewOverdueCommands({ database, settleTimeMs: config.settleTimeMs }, overdueWatch)
        if (overdue > 0) log.warn({ overdue }, 'commands are due and nobody works on them')
        const events = await reviewEvents(database, intake)
        if (events.rejected > 0) log.warn({ rejected: events.rejected }, 'events were rejected: they could not be decided')
        if (events.waiting > 0) log.warn({ waiting: events.waiting }, 'events have been waiting for long')
        const { changes } = config.retention
        await reviewBehind(database, changes === 'forever' ? null : changes)
        await removeExpiredSecrets(database)
        return { done: true }
      }
      if (data.task === 'alarms') {
        const idleMs = config.biIdleTransactionMs
        for (const session of idleMs === 'off' ? [] : await endForgotten(database, idleMs))
          log.warn({ ...session }, 'a transaction of BI was left idle: its session was ended')
        const changed = await reviewAlarms({
          database,
          streams: queues.schedule(),
          sellerIds: sellers.ids(),
          nowOf: (sellerId) => (sellers.has(sellerId) ? sellers.client(sellerId).clock().now() : null),
          upForMs: process.uptime() * 1_000,
        })
        if (changed !== null && changed.opened + changed.resolved > 0) log.info({ ...changed }, 'alarms changed')
        return { done: true }
      }
      const { removed, finished } = await runRetention(
        { database, owner, keep: config.retention },
        { signal, turnMs: trimTurnMs },
      )
      for (const [kind, count] of Object.entries(removed)) metrics.retentionRemoved.inc({ data: kind }, count)
      if (Object.values(removed).some((count) => count > 0)) log.info({ removed }, 'old data removed')
      return finished ? { done: true } : { runAgainAt: new Date(), reason: 'there is more to be removed' }
    },
    upkeepStarts,
  )
}
