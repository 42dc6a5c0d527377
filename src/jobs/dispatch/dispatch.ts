import type { Config } from '../../config/config.ts'
import { findPollInterval, pollIntervals } from '../../domain/sync/intervals.ts'
import type { Logger } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { JobToEnqueue } from '../../queues/jobs.ts'
import { createRelay, type Relay } from '../../queues/relay.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import { findDueCommands } from '../../store/commands/commands.ts'
import type { Database } from '../../store/db/database.ts'
import type { Listener } from '../../store/db/listener.ts'
import { findDueEvents } from '../../store/events/events.ts'
import { findUnreadRecords } from '../../store/notifications/notifications.ts'
import { findDueNamedOrders } from '../../store/orders/named-orders.ts'
import { findDueProbes, readInactiveSellers, sellersChannel } from '../../store/sellers/sellers.ts'
import { findStreamsWithDueSkips } from '../../store/sync/quarantine.ts'
import { findUnfinishedSyncs } from '../../store/sync/sync-states.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'
import { maintenanceSchedulers } from '../maintenance/schedulers.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import type { PolledStream } from '../sync/engine/poll.ts'
import { createPollSchedule, listScheduledStreams, type PollSchedule } from '../sync/engine/poll-schedule.ts'
import { readStreams, listResources as resourcesOfClient } from '../sync/engine/syncs.ts'
import { maxCommands, maxEvents, maxNotified, relayIntervalMs } from './capacity.ts'
import { listJobs } from './due-jobs.ts'
import { createPrefetch } from './prefetch.ts'

/** Notified by Postgres of each row of the SQL inbox. */
export const inboxChannel = 'tallyman_erp_event'

/** Dependencies of the dispatch. */
export interface DispatchParts {
  readonly config: Pick<Config, 'intervals'>
  readonly log: Logger
  readonly metrics: Pick<Metrics, 'relayRuns' | 'relayLastSuccess'>
  readonly database: Database
  readonly runtime: QueueRuntime
  readonly listener: Pick<Listener, 'on'>
  readonly shutdownHooks: ShutdownHooks
  readonly sellers: Pick<SellerRegistry, 'ids' | 'has' | 'client' | 'worksFor'>
}

/** What a process derives from Postgres: the jobs of due work, and the schedulers of polls. */
export interface Dispatch {
  readonly relay: Relay
  /** The resources that a seller has. @throws UnknownSeller */
  listResources(sellerId: string): readonly string[]
  /** The scheduled streams of the sellers of this process. */
  schedule(): readonly PolledStream[]
  /** The sellers or their resources have changed: schedulers are compared, and due work is derived. */
  sellersChanged(): void
  /** The machine's clock was set back. */
  clockSetBack(): void
  /** A run of a command or of an event has ended for good: once half of the derived ones have, more are derived. */
  ended(name: 'command.run' | 'event.process'): void
  /** Derives due work from now on. */
  start(): void
}

/** The streams of a process that are scheduled. */
const createStreamList = ({ config, sellers }: DispatchParts): Pick<Dispatch, 'listResources' | 'schedule'> => {
  const listResources = (sellerId: string): readonly string[] => resourcesOfClient(sellers.client(sellerId))
  return {
    listResources,
    schedule: () =>
      listScheduledStreams({
        sellerIds: sellers.ids(),
        listResources,
        listIntervals: (resource) => readStreams(resource, config.intervals),
      }),
  }
}

/** Derives due work, and derives more of it when half of the commands or events are done. */
class JobDerivation {
  readonly #parts: DispatchParts & Pick<Dispatch, 'listResources'>
  readonly #pollsOrders: boolean
  readonly #prefetches = {
    'command.run': createPrefetch(() => this.relay.trigger()),
    'event.process': createPrefetch(() => this.relay.trigger()),
  }
  readonly relay: Relay

  constructor(parts: DispatchParts & Pick<Dispatch, 'listResources'>, pollSchedule: Pick<PollSchedule, 'keep'>) {
    const { runtime, log, metrics } = parts
    this.#parts = parts
    this.#pollsOrders = findPollInterval(pollIntervals.orders, parts.config.intervals) !== 'off'
    this.relay = createRelay({
      keepSchedulers: pollSchedule.keep,
      derive: () => this.#derive(),
      intervalMs: relayIntervalMs,
      runtime,
      log,
      metrics,
    })
  }

  ended(name: 'command.run' | 'event.process'): void {
    this.#prefetches[name].ended()
  }

  async #derive(): Promise<readonly JobToEnqueue[]> {
    const { database, sellers, listResources } = this.#parts
    const resting = await readInactiveSellers(database)
    const commands = await findDueCommands(database, maxCommands)
    this.#prefetches['command.run'].derived(commands.length)
    // Skipped parts are requested again when they are due, however seldom their stream runs by itself.
    const syncs = [...(await findUnfinishedSyncs(database)), ...(await findStreamsWithDueSkips(database))]
    // Named orders are read while orders are polled at all.
    if (this.#pollsOrders) syncs.push(...(await findDueNamedOrders(database)))
    const events = await findDueEvents(database, maxEvents)
    this.#prefetches['event.process'].derived(events.length)
    const notified = await findUnreadRecords(database, maxNotified)
    const probes = await findDueProbes(database)
    return listJobs({ resting, commands, syncs, events, notified, probes, serves: sellers.has, listResources })
  }
}

/** Creates the dispatch of a process. It derives nothing before `start`. */
export const createDispatch = (parts: DispatchParts): Dispatch => {
  const { database, runtime, listener, shutdownHooks, sellers } = parts
  const { listResources, schedule } = createStreamList(parts)
  const pollSchedule = createPollSchedule({
    database,
    runtime,
    polled: () => schedule().filter(({ sellerId }) => sellers.worksFor(sellerId)),
    worksFor: sellers.worksFor,
    others: maintenanceSchedulers,
  })
  const derivation = new JobDerivation({ ...parts, listResources }, pollSchedule)
  const { relay } = derivation
  const sellersChanged = (): void => {
    pollSchedule.changed()
    relay.trigger()
  }
  return {
    relay,
    listResources,
    schedule,
    sellersChanged,
    clockSetBack: () => {
      pollSchedule.clockSetBack()
      relay.trigger()
    },
    ended: (name) => derivation.ended(name),
    start: () => {
      relay.start()
      // The relay looks for rows of the SQL inbox at intervals as well.
      listener.on(inboxChannel, () => relay.trigger())
      listener.on(sellersChannel, sellersChanged)
      shutdownHooks.add('the relay', () => relay.stop())
    },
  }
}
