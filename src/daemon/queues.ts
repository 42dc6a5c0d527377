import { type CommandJobs, createCommandJobs } from '../jobs/commands/engine/command-jobs.ts'
import { findJobLane, findJobSeller } from '../jobs/dispatch/job-properties.ts'
import { createQueueBackend } from '../queues/backend/backend.ts'
import { type InboundOptions, serveInbound } from '../queues/inbound.ts'
import { inboundQueue } from '../queues/jobs.ts'
import { createQueueRuntime, type QueueRuntime } from '../queues/runtime.ts'
import { postgresOutage } from '../store/db/errors.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'

/** A job of a process that was killed is recovered after this time. */
const jobTimes = { lockMs: 10_000, stalledIntervalMs: 5_000 }

/** The queues, and what adds the jobs of commands to them. */
export interface QueuesPart {
  readonly kind: 'redis' | 'postgres'
  readonly runtime: QueueRuntime
  readonly commandJobs: CommandJobs
  /** Consumes the events that other programs add to the queue `erp-events`, until the process stops. */
  serveEvents(handle: InboundOptions['handle']): void
}

/** Opens the queues; nothing is consumed before the runtime is started. */
export const openQueues = (
  { config, log, quiet, metrics, shutdownHooks, stop }: DaemonContext,
  { database, sessionUrl }: DatabasePart,
): QueuesPart => {
  const backend = createQueueBackend({ redisUrl: config.redisUrl, redisTls: config.redisTls, databaseUrl: sessionUrl, quiet })
  const runtime = createQueueRuntime({
    backend,
    log,
    metrics,
    times: jobTimes,
    findLane: findJobLane,
    findSeller: (job) => findJobSeller(database, job),
    isOutage: (error) => postgresOutage(error) !== null,
  })
  shutdownHooks.add('the queues', () => runtime.close())
  return {
    kind: backend.kind,
    runtime,
    commandJobs: createCommandJobs({ database, runtime, quiet }),
    serveEvents: (handle) => {
      const inbound = serveInbound({ backend, opened: runtime.opened, log, ...jobTimes, handle })
      shutdownHooks.add(`the queue ${inboundQueue}`, () => inbound.close())
      stop.addEventListener('abort', () => void inbound.close(), { once: true })
    },
  }
}
