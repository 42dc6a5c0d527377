import { resourcesOf as resourcesOfClient, type StreamInterval, streamsOf } from '../jobs/sync/syncs.ts'
import { createQueueBackend } from '../queues/backend.ts'
import { type InboundOptions, serveInbound } from '../queues/inbound.ts'
import { inboundQueue } from '../queues/jobs.ts'
import { createRelay, type Relay } from '../queues/relay.ts'
import { createQueueRuntime, type QueueRuntime } from '../queues/runtime.ts'
import { dueCommands } from '../store/commands.ts'
import { dueEvents } from '../store/events.ts'
import { postgresOutage } from '../store/faults.ts'
import { type Listener, openListener } from '../store/listener.ts'
import { streamsWithDueSkips } from '../store/quarantine.ts'
import { dueProbes, sellersAtRest, sellersChannel } from '../store/sellers.ts'
import { listSyncs, standingOf, unfinishedSyncs } from '../store/sync-states.ts'
import { webhooksChannel } from '../store/webhook-endpoints.ts'
import { commandsAtOnce, commandsWaitingHere, mostCommands, mostEvents, relayIntervalMs, syncSlots } from './capacity.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import { jobsOf } from './derivation.ts'
import { laneOfJob } from './lanes.ts'
import type { MarketplacePart } from './marketplace.ts'
import { createPolls, type Polls } from './polls.ts'
import { createRefill } from './refill.ts'
import { type ScheduledStream, scheduleOf, schedulers } from './schedule.ts'
import { sellerOfJob } from './seller-of-job.ts'
import { createWake, type Wake } from './wake.ts'

/**
 * So often a process says which sellers it serves, and reads how they stand: it learns that another one has resumed a seller by a notification, and
 * one that was lost is made up for.
 */
const learnSellersMs = 15_000
/** A job of a process that was killed is taken over after so long. */
const jobTimes = { lockMs: 10_000, stalledIntervalMs: 5_000 }
/** Told by Postgres of each row of the SQL inbox. */
const inboxChannel = 'tallyman_erp_event'

/** The queues, and what wakes them. */
export interface QueuesPart extends Wake {
  readonly kind: 'redis' | 'postgres'
  readonly runtime: QueueRuntime
  readonly relay: Relay
  readonly polls: Polls
  readonly listener: Listener
  /** The resources that a seller has. */
  resourcesOf(sellerId: string): readonly string[]
  /** The streams of the sellers of this process that run by themselves. */
  schedule(): readonly ScheduledStream[]
  /** A run of a command, or of an event, has ended for good: once half of what was derived has, more is derived. */
  ended(name: 'command.run' | 'event.process'): void
  /** Takes the events that other programs add to the queue `erp-events`, from `start` on. */
  takeEvents(handle: InboundOptions['handle']): void
  /** Consumes what was registered, and where this process plans, derives what is due from now on. */
  start(): Promise<void>
}

/** Opens the queues and listens to Postgres; nothing is consumed before `start`. */
export const createQueues = (
  { config, log, quiet, metrics, closers, has, stop }: DaemonContext,
  { database, sessionUrl }: DatabasePart,
  { sellers, learnSellers }: MarketplacePart,
): QueuesPart => {
  const backend = createQueueBackend({ redisUrl: config.redisUrl, redisTls: config.redisTls, databaseUrl: sessionUrl, quiet })
  const runtime = createQueueRuntime({
    backend,
    log,
    metrics,
    times: jobTimes,
    laneOf: laneOfJob,
    sellerOf: sellerOfJob(database),
    isOutage: (error) => postgresOutage(error) !== null,
  })
  closers.add('the queues', () => runtime.close())
  const listener = openListener({
    url: sessionUrl,
    channels: ['tallyman_changes', inboxChannel, sellersChannel, webhooksChannel],
    log,
  })
  closers.add('the listener', () => listener.close())
  listener.on(sellersChannel, () => void learnSellers())
  const learning = setInterval(() => void learnSellers(), learnSellersMs)
  closers.add('the look at the sellers', async () => clearInterval(learning))

  const resourcesOf = (sellerId: string): readonly string[] => resourcesOfClient(sellers.client(sellerId))
  const intervalsOf = (resource: string): readonly StreamInterval[] => streamsOf(resource, config.intervals)
  const schedule = (): readonly ScheduledStream[] => scheduleOf({ sellerIds: sellers.ids(), resourcesOf, intervalsOf })

  const atOnce = has('worker') ? commandsAtOnce : 0
  const wake = createWake({ database, runtime, atOnce, mostWaiting: commandsWaitingHere, quiet })
  /** Due commands that need a job. */
  const commandsForJobs = async (): Promise<readonly string[]> =>
    (await dueCommands(database, mostCommands)).filter((commandId) => !wake.isInHand(commandId))
  const refills = { 'command.run': createRefill(() => relay.nudge()), 'event.process': createRefill(() => relay.nudge()) }
  const derived = <Due>(name: keyof typeof refills, due: readonly Due[]): readonly Due[] => {
    refills[name].derived(due.length)
    return due
  }
  const relay = createRelay({
    schedulers: () => schedulers,
    derive: async () =>
      jobsOf({
        resting: await sellersAtRest(database),
        commands: derived('command.run', await commandsForJobs()),
        // What was passed over is tried again when it is due, however seldom its stream runs by itself.
        syncs: [...(await unfinishedSyncs(database)), ...(await streamsWithDueSkips(database))],
        events: derived('event.process', await dueEvents(database, mostEvents)),
        probes: await dueProbes(database),
        serves: sellers.has,
        resourcesOf,
      }),
    intervalMs: relayIntervalMs,
    runtime,
    ...(has('worker') ? { standIn: runtime.standIn() } : {}),
    log,
    metrics,
  })

  let eventsHandler: InboundOptions['handle'] | null = null

  const polls = createPolls({
    schedule: () => schedule().filter(({ sellerId }) => sellers.worksFor(sellerId)),
    readLags: () => listSyncs(database),
    standingOf: (streams) => standingOf(database, streams),
    runtime,
    atOnce: has('worker') ? syncSlots : 0,
    quiet,
  })

  sellers.onWorkChanged(() => polls.replan())

  return {
    kind: backend.kind,
    runtime,
    relay,
    polls,
    listener,
    resourcesOf,
    schedule,
    ...wake,
    ended: (name) => refills[name].ended(),
    takeEvents: (handle) => {
      eventsHandler = handle
    },
    start: async () => {
      await runtime.start()
      if (eventsHandler !== null) {
        const inbound = serveInbound({ backend, opened: runtime.opened, log, ...jobTimes, handle: eventsHandler })
        closers.add(`the queue ${inboundQueue}`, () => inbound.close())
        stop.addEventListener('abort', () => void inbound.close(), { once: true })
      }
      if (!has('scheduler')) return
      relay.start()
      // The relay looks for rows of the SQL inbox at intervals as well.
      listener.on(inboxChannel, () => relay.nudge())
      listener.on(sellersChannel, () => relay.nudge())
      polls.start()
      stop.addEventListener('abort', () => void polls.stop(), { once: true })
      closers.add('the relay', () => relay.stop())
      closers.add('the polls', () => polls.stop())
    },
  }
}
