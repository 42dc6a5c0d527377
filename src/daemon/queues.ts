import { resourcesOf as resourcesOfClient, type StreamInterval, streamsOf } from '../jobs/sync/syncs.ts'
import { createQueueBackend } from '../queues/backend.ts'
import { createRelay, type Relay } from '../queues/relay.ts'
import { createQueueRuntime, type QueueRuntime } from '../queues/runtime.ts'
import { commandsWithinShare, dueCommands } from '../store/commands.ts'
import { dueEvents } from '../store/events.ts'
import { type Listener, openListener } from '../store/listener.ts'
import { streamsWithDueSkips } from '../store/quarantine.ts'
import { dueProbes, sellersAtRest, sellersChannel, servedSellers } from '../store/sellers.ts'
import { listSyncs, unfinishedSyncs } from '../store/sync-states.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import { jobsOf } from './derivation.ts'
import { laneOfJob } from './lanes.ts'
import type { MarketplacePart } from './marketplace.ts'
import { createRefill } from './refill.ts'
import { firstLook, type ScheduledStream, scheduleOf, schedulersOf } from './schedule.ts'

/** How often due work is derived from Postgres without being asked. */
const relayIntervalMs = 5_000
/** Due commands, and waiting events, that one derivation enqueues; the others follow. Each seller has its share of them. */
const mostCommands = 2_000
const mostEvents = 500
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
export interface QueuesPart {
  readonly kind: 'redis' | 'postgres'
  readonly runtime: QueueRuntime
  readonly relay: Relay
  readonly listener: Listener
  /** The resources that a seller has. */
  resourcesOf(sellerId: string): readonly string[]
  /** Commands are due now. Never throws: the relay finds them as well, and brings those that are beyond the share of their seller. */
  wakeCommands(commandIds: readonly string[]): void
  /** A run of a command, or of an event, has ended for good: once half of what was derived has, more is derived. */
  ended(name: 'command.run' | 'event.process'): void
  /** Consumes what was registered, and where this process plans, derives what is due from now on. */
  start(): Promise<void>
}

/** Opens the queues and listens to Postgres; nothing is consumed before `start`. */
export const createQueues = (
  { config, log, quiet, metrics, closers, has }: DaemonContext,
  { database, url }: DatabasePart,
  { sellers, learnSellers }: MarketplacePart,
): QueuesPart => {
  const backend = createQueueBackend({ redisUrl: config.redisUrl, databaseUrl: url, quiet })
  const runtime = createQueueRuntime({ backend, log, metrics, times: jobTimes, laneOf: laneOfJob })
  closers.add('the queues', () => runtime.close())
  const listener = openListener({ url, channels: ['tallyman_changes', inboxChannel, sellersChannel], log })
  closers.add('the listener', () => listener.close())
  listener.on(sellersChannel, () => void learnSellers())
  const learning = setInterval(() => void learnSellers(), learnSellersMs)
  closers.add('the look at the sellers', async () => clearInterval(learning))

  const resourcesOf = (sellerId: string): readonly string[] => resourcesOfClient(sellers.client(sellerId))
  const intervalsOf = (resource: string): readonly StreamInterval[] => streamsOf(resource, config.intervals)
  const schedule = (): readonly ScheduledStream[] => scheduleOf({ sellerIds: sellers.ids(), resourcesOf, intervalsOf })

  const refills = { 'command.run': createRefill(() => relay.nudge()), 'event.process': createRefill(() => relay.nudge()) }
  const derived = <Due>(name: keyof typeof refills, due: readonly Due[]): readonly Due[] => {
    refills[name].derived(due.length)
    return due
  }
  const relay = createRelay({
    schedulers: () => schedulersOf(schedule()),
    derive: async () =>
      jobsOf({
        resting: await sellersAtRest(database),
        commands: derived('command.run', await dueCommands(database, mostCommands)),
        // What was passed over is tried again when it is due, however seldom its stream runs by itself.
        syncs: [...(await unfinishedSyncs(database)), ...(await streamsWithDueSkips(database))],
        events: derived('event.process', await dueEvents(database, mostEvents)),
        probes: await dueProbes(database),
        serves: sellers.has,
        resourcesOf,
      }),
    foreignSellers: async () => new Set([...(await servedSellers(database))].filter((sellerId) => !sellers.has(sellerId))),
    intervalMs: relayIntervalMs,
    runtime,
    log,
    metrics,
  })

  const wake = async (commandIds: readonly string[]): Promise<void> => {
    const ids = await commandsWithinShare(database, commandIds)
    await Promise.all(ids.map((commandId) => runtime.enqueue('command.run', { commandId }, { runNow: true })))
  }

  const lookFirst = async (): Promise<void> => {
    await runtime.enqueueMany(firstLook(schedule(), await listSyncs(database)))
  }

  return {
    kind: backend.kind,
    runtime,
    relay,
    listener,
    resourcesOf,
    wakeCommands: (commandIds) => {
      wake(commandIds).catch((error: unknown) => {
        quiet.warn('wake', { err: error }, 'a command could not be enqueued; the relay brings it later')
      })
    },
    ended: (name) => refills[name].ended(),
    start: async () => {
      await runtime.start()
      if (!has('scheduler')) return
      relay.start()
      // The relay looks for rows of the SQL inbox at intervals as well.
      listener.on(inboxChannel, () => relay.nudge())
      listener.on(sellersChannel, () => relay.nudge())
      runtime.opened
        .then(lookFirst)
        .catch((error: unknown) => log.warn({ err: error }, 'the first look is left to the schedulers'))
      closers.add('the relay', () => relay.stop())
    },
  }
}
