import { MarketplaceFailure } from '../../../clients/http/errors.ts'
import type { Config } from '../../../config/config.ts'
import { notifiedWithinMs } from '../../../domain/sync/intervals.ts'
import type { QuietLog } from '../../../observability/log.ts'
import { buildErrorFields } from '../../../queues/errors.ts'
import type { JobOutcome, JobToEnqueue } from '../../../queues/jobs.ts'
import type { Relay } from '../../../queues/relay.ts'
import type { QueueRuntime } from '../../../queues/runtime.ts'
import { createSlots, postponeForSlot, type Slots } from '../../../queues/slots.ts'
import { reviewSyncAlarm } from '../../../store/alarms/alarms.ts'
import type { Database } from '../../../store/db/database.ts'
import { postgresOutage } from '../../../store/db/errors.ts'
import { hasNotifications } from '../../../store/notifications/notifications.ts'
import { isSellerInactive } from '../../../store/sellers/sellers.ts'
import type { SyncKey } from '../../../store/sync/sync-states.ts'
import { backfillsAtOnce, pollsAtOnce } from '../../dispatch/capacity.ts'
import { requeue } from '../../dispatch/requeue.ts'
import { type SellerRegistry, UnknownSeller } from '../../sellers/registry.ts'
import { stopRefused } from '../../sellers/stop-refused.ts'
import { findDueStreams, type PolledStream, stretchIntervals, syncJob } from './poll.ts'
import type { SyncHooks } from './resource.ts'
import type { SyncDeps } from './run.ts'
import type { SyncRunOptions } from './stream-run.ts'
import type { SyncMetrics } from './sync-metrics.ts'
import { readStreams, runSync } from './syncs.ts'

/** Delay of the job that continues a failed poll. */
const failedPollDelayMs = 1_000
/** The built-in sandbox shows a change in its lists at once; a real marketplace needs some time. */
const sandboxLagMs = 2_000

/** Dependencies of running polls, syncs and backfills. */
export interface SyncWorkerParts {
  readonly config: Pick<Config, 'lookBackMs' | 'rereadDepthMs' | 'intervals' | 'notifiedIntervalMs'>
  readonly database: Database
  readonly quiet: QuietLog
  /** Names this process in leases. */
  readonly owner: string
  readonly sellers: SellerRegistry
  /** Address of the built-in sandbox; null: a real marketplace. */
  readonly sandboxUrl: string | null
  readonly runtime: Pick<QueueRuntime, 'register' | 'enqueueMany'>
  readonly relay: Pick<Relay, 'trigger'>
  readonly saveHooks: SyncHooks
  readonly syncMetrics: Pick<SyncMetrics, 'countRun'>
  /** The resources that a seller has. */
  listResources(sellerId: string): readonly string[]
  /** Called when this process works for fewer sellers than before. */
  sellersChanged(): void
}

/** The job of a run: its seller, and what bounds it. */
interface SellerJob {
  readonly sellerId: string
  readonly signal: AbortSignal
  readonly starts: number
}

/** Runs streams in the slots of their sellers. */
class SyncWorker {
  readonly parts: SyncWorkerParts
  readonly deps: SyncDeps

  constructor(parts: SyncWorkerParts) {
    const { config, database, sellers, owner, sandboxUrl, saveHooks, syncMetrics } = parts
    this.parts = parts
    this.deps = {
      database,
      client: sellers.client,
      owner,
      settings: {
        lookBackMs: config.lookBackMs,
        rereadDepthMs: config.rereadDepthMs,
        ...(sandboxUrl === null ? {} : { lagMs: sandboxLagMs }),
      },
      ...saveHooks,
      onRun: syncMetrics.countRun,
    }
  }

  /** Runs one stream of a seller that is assigned to this process. */
  async run(key: SyncKey, { signal, log }: SyncRunOptions): Promise<JobOutcome> {
    const { database, sellers, owner, sellersChanged } = this.parts
    // Taken before the run: settings that are read again meanwhile are not those that were refused.
    const seller = sellers.configured(key.sellerId)
    try {
      return await runSync(this.deps, key, { signal, log })
    } catch (error) {
      if (!(error instanceof MarketplaceFailure) || !error.credentialsDead) throw error
      const { stop, reason } = await stopRefused(
        { database, sellers, owner, onSuspended: sellersChanged },
        seller,
        error.httpStatus,
      )
      if (stop !== 'outdated') log.warn({ seller_id: key.sellerId }, reason)
      return { done: true }
    } finally {
      await reviewSyncAlarm(database, key)
    }
  }

  /** Runs the due streams of a resource; returns the jobs that continue them, and those of streams that get jobs of their own. */
  async poll(data: Pick<SyncKey, 'sellerId' | 'resource'>, options: SyncRunOptions): Promise<readonly JobToEnqueue[]> {
    const { database, listResources } = this.parts
    if (!listResources(data.sellerId).includes(data.resource)) return []
    const due = await findDueStreams(database, await this.#listPolled(data))
    const again = await Promise.all(due.run.map((key) => this.#runPolled(key, options)))
    return [...due.enqueue.map(syncJob), ...again.flat()]
  }

  /** The scheduled streams of a resource with their intervals: rarer ones for orders while notifications arrive. */
  async #listPolled(data: Pick<SyncKey, 'sellerId' | 'resource'>): Promise<readonly PolledStream[]> {
    const { config, database } = this.parts
    const { intervals, notifiedIntervalMs } = config
    const streams = readStreams(data.resource, intervals).map((interval) => ({ ...data, ...interval }))
    if (notifiedIntervalMs === null || data.resource !== 'orders') return streams
    const arrive = await hasNotifications(database, { ...data, resource: 'orders' }, notifiedWithinMs)
    return arrive ? stretchIntervals(streams, notifiedIntervalMs) : streams
  }

  /**
   * Does the work of a seller in one of its slots. The job is delayed if the seller has its share of the slots, and requeued if the seller is assigned
   * to another process.
   */
  async runInSlot(slots: Slots, { sellerId, signal, starts }: SellerJob, work: () => Promise<JobOutcome>): Promise<JobOutcome> {
    const { database, sellers, saveHooks, relay } = this.parts
    if (!sellers.worksFor(sellerId)) return requeue({ database }, sellerId, starts)
    const release = await slots.take(sellerId, signal)
    if (release === null) return postponeForSlot(`seller ${sellerId}`, starts)
    try {
      // It may have been removed while this job waited.
      return sellers.worksFor(sellerId) ? await work() : await requeue({ database }, sellerId, starts)
    } catch (error) {
      if (error instanceof UnknownSeller) return requeue({ database }, sellerId, starts)
      throw error
    } finally {
      release()
      if (saveHooks.afterSave !== undefined) relay.trigger()
    }
  }

  /** Runs a stream within the poll of its resource; returns the job that continues it, if it is not finished. */
  async #runPolled(key: SyncKey, options: SyncRunOptions): Promise<readonly JobToEnqueue[]> {
    try {
      const outcome = await this.run(key, options)
      return 'done' in outcome ? [] : [{ ...syncJob(key), delayMs: Math.max(0, outcome.runAgainAt.getTime() - Date.now()) }]
    } catch (error) {
      if (postgresOutage(error) !== null || error instanceof UnknownSeller) throw error
      this.parts.quiet.warn(
        `poll:${key.resource}`,
        { ...buildErrorFields(error), seller_id: key.sellerId, stream: `${key.resource}/${key.stream}` },
        'a poll failed; it is tried again',
      )
      return [{ ...syncJob(key), delayMs: failedPollDelayMs }]
    }
  }
}

/** Registers the handlers of the jobs `poll.run`, `sync.run` and `backfill.run`; before the queues start. */
export const registerSyncWorker = (parts: SyncWorkerParts): void => {
  const { database, runtime } = parts
  const worker = new SyncWorker(parts)
  const pollSlots = createSlots({ total: pollsAtOnce })
  runtime.register(
    'poll.run',
    ({ data, signal, starts, log }) =>
      worker.runInSlot(pollSlots, { sellerId: data.sellerId, signal, starts }, async () => {
        await runtime.enqueueMany(await worker.poll(data, { signal, log }))
        return { done: true }
      }),
    { concurrency: pollsAtOnce },
  )
  for (const [name, total, slots] of [
    ['sync.run', pollsAtOnce, pollSlots],
    ['backfill.run', backfillsAtOnce, createSlots({ total: backfillsAtOnce })],
  ] as const) {
    runtime.register(
      name,
      async ({ data, signal, starts, log }) => {
        if (await isSellerInactive(database, data.sellerId)) return { done: true }
        return worker.runInSlot(slots, { sellerId: data.sellerId, signal, starts }, () => worker.run(data, { signal, log }))
      },
      { concurrency: total },
    )
  }
}
