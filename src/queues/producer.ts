import type { JobsOptions, Queue } from 'bullmq'
import type { Metrics } from '../observability/metrics.ts'
import { inSpan, messagingAttributes, serializeTrace } from '../observability/trace.ts'
import type { QueueBackend } from './backend/backend-interface.ts'
import { asError, isConnectionError, QueuesUnavailable, withDeadline } from './errors.ts'
import { buildJobId, jobDefinitions, type PlainJob, type QueueName } from './jobs.ts'

/** Result of an enqueue. `exists`: the job is already waiting or running; `replaced`: it had ended and starts again. */
export interface EnqueueResult {
  readonly jobId: string
  readonly outcome: 'added' | 'exists' | 'promoted' | 'replaced'
}

/** Settings of the producer. Times in milliseconds. */
export interface ProducerOptions {
  readonly backend: QueueBackend
  readonly metrics: Metrics
  readonly timeoutMs: number
  readonly failedRestMs: number
  /** The lane of a job within its queue; lower lanes run first. */
  readonly findLane: (job: PlainJob) => number
}

const keptFailedJobs = 500
const bulkSize = 500
const lookupConcurrency = 8
/** A job may change between being read and being changed: number of attempts. */
const maxAttempts = 4

/** Settings of every job, a scheduler's included. The consumer decides on the number and times of retries. */
export const storedOptions = {
  // A job that ended releases its id immediately, so that the same work can be enqueued again.
  removeOnComplete: true,
  removeOnFail: { count: keptFailedJobs },
  attempts: 1_000,
  backoff: { type: 'tallyman' },
  stackTraceLimit: 3,
} as const satisfies JobsOptions

const buildJobOptions = (job: PlainJob, jobId: string, lane: number): JobsOptions => {
  const trace = serializeTrace()
  return {
    ...storedOptions,
    jobId,
    // For BullMQ, no priority is the highest one.
    ...(lane > 0 ? { priority: lane } : {}),
    ...(job.delayMs !== undefined && job.delayMs > 0 && job.runNow !== true ? { delay: Math.ceil(job.delayMs) } : {}),
    ...(trace === null ? {} : { telemetry: { metadata: trace } }),
  }
}

/** Adds jobs to the queues. */
export const createProducer = ({ backend, metrics, timeoutMs, failedRestMs, findLane }: ProducerOptions) => {
  const buildOptions = (job: PlainJob, jobId: string): JobsOptions => buildJobOptions(job, jobId, findLane(job))

  const restedEnough = (finishedOn: number | undefined): boolean =>
    finishedOn === undefined || Date.now() - finishedOn >= failedRestMs

  const put = async (queue: Queue, job: PlainJob, jobId: string): Promise<EnqueueResult['outcome']> => {
    let lastError: unknown
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const known = await queue.getJob(jobId)
      if (known === undefined) {
        await queue.add(job.name, job.data, buildOptions(job, jobId))
        return 'added'
      }
      const state = await known.getState()
      try {
        if (state === 'failed' || state === 'completed') {
          if (state === 'failed' && job.runNow !== true && !restedEnough(known.finishedOn)) return 'exists'
          await known.remove()
          await queue.add(job.name, job.data, buildOptions(job, jobId))
          return 'replaced'
        }
        if (state === 'delayed' && job.runNow === true) {
          await known.promote()
          return 'promoted'
        }
        // Unknown: it ended between the two reads.
        if (state !== 'unknown') return 'exists'
      } catch (error) {
        if (isConnectionError(error)) throw error
        lastError = error
      }
    }
    if (lastError === undefined) return 'exists'
    throw lastError
  }

  const clearFailed = async (queue: Queue, jobIds: ReadonlySet<string>): Promise<void> => {
    const failed = await queue.getFailed(0, keptFailedJobs)
    for (const job of failed) {
      if (job.id === undefined || !jobIds.has(job.id) || !restedEnough(job.finishedOn)) continue
      try {
        await job.remove()
      } catch (error) {
        if (isConnectionError(error)) throw error
        // Another process has just enqueued it again, as intended.
      }
    }
  }

  const guarded = async <Result>(name: QueueName, work: (queue: Queue) => Promise<Result>): Promise<Result> => {
    try {
      return await withDeadline(work(backend.queue(name)), timeoutMs, `enqueueing in ${name}`)
    } catch (thrown) {
      const error = asError(thrown)
      if (error instanceof QueuesUnavailable || !isConnectionError(error)) throw error
      throw new QueuesUnavailable(`the queue ${name} cannot be reached: ${error.message}`, { cause: error })
    }
  }

  const count = (job: PlainJob, outcome: string, by = 1): void => metrics.jobsEnqueued.inc({ job: job.name, outcome }, by)

  const enqueue = (job: PlainJob): Promise<EnqueueResult> => {
    const name = jobDefinitions[job.name].queue
    const jobId = buildJobId(job.name, job.data)
    return inSpan(
      `send ${name}`,
      { kind: 'producer', attributes: messagingAttributes('send', name, { name: job.name, id: jobId }) },
      async () => {
        try {
          const outcome = await guarded(name, (queue) => put(queue, job, jobId))
          count(job, outcome)
          return { jobId, outcome }
        } catch (error) {
          count(job, 'failed')
          throw error
        }
      },
    )
  }

  const enqueueBulk = async (name: QueueName, jobs: readonly PlainJob[], fresh: boolean): Promise<void> => {
    const entries = jobs.map((job) => ({ job, jobId: buildJobId(job.name, job.data) }))
    await inSpan(
      `send ${name}`,
      {
        kind: 'producer',
        attributes: messagingAttributes('send', name, { name: jobs[0]?.name ?? name, batchSize: jobs.length }),
      },
      () =>
        guarded(name, async (queue) => {
          if (!fresh) await clearFailed(queue, new Set(entries.map(({ jobId }) => jobId)))
          await queue.addBulk(
            entries.map(({ job, jobId }) => ({ name: job.name, data: job.data, opts: buildOptions(job, jobId) })),
          )
        }),
    )
    for (const { job } of entries) count(job, 'bulk')
  }

  const enqueueMany = async (jobs: readonly PlainJob[]): Promise<number> => {
    const urgent = jobs.filter((job) => job.runNow === true)
    for (let from = 0; from < urgent.length; from += lookupConcurrency)
      await Promise.all(urgent.slice(from, from + lookupConcurrency).map(enqueue))
    const others = jobs.filter((job) => job.runNow !== true)
    for (const fresh of [true, false]) {
      const ordinary = Map.groupBy(
        others.filter((job) => (job.fresh === true) === fresh),
        (job) => jobDefinitions[job.name].queue,
      )
      for (const [name, group] of ordinary) {
        for (let from = 0; from < group.length; from += bulkSize)
          await enqueueBulk(name, group.slice(from, from + bulkSize), fresh)
      }
    }
    return jobs.length
  }

  return { enqueue, enqueueMany } as const
}
