import { setTimeout as delay } from 'node:timers/promises'
import { createLogger, createQuietLog } from '../../src/observability/log.ts'
import { createMetrics } from '../../src/observability/metrics.ts'
import { createQueueBackend } from '../../src/queues/backend/backend.ts'
import type { JobContext } from '../../src/queues/job-runner.ts'
import { buildJobId, type JobOutcome, type JobToEnqueue } from '../../src/queues/jobs.ts'
import { createQueueRuntime } from '../../src/queues/runtime.ts'
import { startTestPostgres } from '../support/postgres.ts'
import { startTestRedis } from '../support/redis.ts'

/** A job whose steps a play carries. */
type Carried = Extract<JobToEnqueue, { readonly name: 'command.run' | 'event.process' }>

/** Carries one step of a job to whoever works; `missed`: another step of the same job is in progress, so nothing ran. */
export type Carry = (job: Carried, work: () => Promise<JobOutcome>) => Promise<JobOutcome | 'missed'>

/** Calls the step, with no queue between. */
export const directly: Carry = (_job, work) => work()

/** Where the jobs of a play go through: called directly, or through the queues of the daemon on one of both stores. */
export const carriers = ['none', 'postgres', 'redis'] as const
export type CarrierName = (typeof carriers)[number]

/** The daemon's own queues, in a store of their own. */
export interface QueueCarrier {
  readonly carry: Carry
  stop(): Promise<void>
}

/** A step that stands still keeps its worker. */
const workers = 32

/** Opens queues for plays. A job passes through them as it does in the daemon; only when it is due is decided in virtual time. */
export const openQueues = async (store: Exclude<CarrierName, 'none'>): Promise<QueueCarrier> => {
  const server = store === 'redis' ? await startTestRedis() : await startTestPostgres()
  const log = createLogger({ level: 'error', format: 'json', destination: process.stderr })
  const backend = createQueueBackend({
    redisUrl: store === 'redis' ? server.url : null,
    databaseUrl: server.url,
    quiet: createQuietLog(log),
  })
  const runtime = createQueueRuntime({ backend, log, metrics: createMetrics({ version: 'histories', processMetrics: false }) })
  const steps = new Map<string, () => Promise<void>>()
  const run = async ({ jobId }: JobContext): Promise<JobOutcome> => {
    await steps.get(jobId)?.()
    return { done: true }
  }
  runtime.register('command.run', run, { concurrency: workers })
  runtime.register('event.process', run, { concurrency: workers })
  await runtime.start()
  await runtime.opened

  const enqueue = (job: Carried) =>
    job.name === 'command.run' ? runtime.enqueue(job.name, job.data) : runtime.enqueue(job.name, job.data)
  const carry: Carry = async (job, work) => {
    const jobId = buildJobId(job.name, job.data)
    if (steps.has(jobId)) return 'missed'
    const { promise, resolve, reject } = Promise.withResolvers<JobOutcome>()
    // The play handles what a step throws: it tries again in virtual time, not by the queue.
    steps.set(jobId, () => work().then(resolve, reject))
    // The step may fail before the answer to `enqueue` arrives, and before the failure is awaited below.
    promise.catch(() => undefined)
    try {
      // The job of the step before may still be on its way out.
      while ((await enqueue(job)).outcome === 'exists') await delay(1)
      return await promise
    } finally {
      steps.delete(jobId)
    }
  }
  return {
    carry,
    stop: async () => {
      await runtime.close()
      await server.stop()
    },
  }
}
