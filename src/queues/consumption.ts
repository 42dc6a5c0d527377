import type { Logger, QuietLog } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { pause } from '../util/sleep.ts'
import type { QueueBackend } from './backend/backend-interface.ts'
import type { Consumer, RawJob } from './consumer.ts'
import { asError, withDeadline } from './errors.ts'
import { type JobRunner, sellerField } from './job-runner.ts'
import { isJobName, type PlainJob, type QueueName } from './jobs.ts'
import type { ConsumptionMark } from './liveness.ts'

/** How the jobs of this process ended during a stop. */
export interface DrainResult {
  /** Every job ended normally. */
  readonly clean: boolean
  /** Jobs whose signal had to be aborted. */
  readonly aborted: number
  /** Jobs that did not even end then; another worker recovers them when their lock has expired. */
  readonly abandoned: readonly string[]
}

/** Times of consuming, in milliseconds. */
export interface ConsumptionTimes {
  readonly lockMs: number
  readonly stalledIntervalMs: number
  readonly operationTimeoutMs: number
  readonly abortGraceMs: number
}

/** Dependencies of consuming. */
export interface ConsumptionOptions {
  readonly backend: QueueBackend
  readonly runner: JobRunner
  readonly times: ConsumptionTimes
  readonly log: Logger
  readonly quiet: QuietLog
  readonly metrics: Metrics
  /** The seller of a job; null: none. */
  readonly findSeller: (job: PlainJob) => Promise<string | null>
}

/** Number of processes that may die while running a job before the job counts as the cause. */
const maxStalls = 3

/** Consumes the queues that have handlers, until it is drained. */
export class Consumption {
  readonly #options: ConsumptionOptions
  readonly #consumers = new Map<QueueName, Consumer>()
  readonly #lastPolledAtMs = new Map<QueueName, number>()
  #lockWatch: NodeJS.Timeout | undefined
  #draining: Promise<DrainResult> | undefined

  constructor(options: ConsumptionOptions) {
    this.#options = options
  }

  get isDraining(): boolean {
    return this.#draining !== undefined
  }

  queues(): readonly QueueName[] {
    return [...this.#consumers.keys()]
  }

  /** State of every queue that has a handler. */
  marks(): readonly ConsumptionMark[] {
    const { runner } = this.#options
    return [...runner.queues()].map(([queue, concurrency]) => ({
      queue,
      concurrency,
      lastPolledAtMs: this.#lastPolledAtMs.get(queue) ?? null,
      lastProgressAtMs: runner.active.lastProgressAtMs(queue),
      active: runner.active.count(queue),
    }))
  }

  /** Connects the consumers and starts fetching jobs. May be called again after a failure. @throws QueuesUnavailable */
  async start(): Promise<void> {
    if (this.isDraining) return
    const { runner, times, backend } = this.#options
    for (const [queue, concurrency] of runner.queues()) this.#consumers.set(queue, this.#createConsumer(queue, concurrency))
    const consumers = [...this.#consumers.values()]
    try {
      const ready = Promise.all(consumers.map((consumer) => consumer.ready()))
      await withDeadline(ready, times.operationTimeoutMs, 'connecting the consumers')
    } catch (error) {
      this.#consumers.clear()
      await endsWithin(
        settleAll(
          backend,
          consumers.map((consumer) => consumer.close(true)),
        ),
        times.operationTimeoutMs,
      )
      throw error
    }
    // Drained while connecting: no job was taken yet.
    if (this.isDraining)
      return settleAll(
        backend,
        consumers.map((consumer) => consumer.close(true)),
      )
    for (const consumer of consumers) consumer.start()
    this.#lockWatch = setInterval(() => runner.active.abortExpiredLocks(), times.lockMs / 4)
  }

  /**
   * Ends consuming finally, in two stages: no more jobs are taken and running ones get `timeoutMs`; then their signals are aborted. Further calls
   * return the result of the first one. Never rejects.
   */
  drain(timeoutMs: number): Promise<DrainResult> {
    this.#draining ??= this.#drain(timeoutMs)
    return this.#draining
  }

  async #drain(timeoutMs: number): Promise<DrainResult> {
    const { backend, runner, times, log, quiet } = this.#options
    const { active } = runner
    await settleAll(
      backend,
      [...this.#consumers.values()].map((consumer) => consumer.pause()),
    )
    const endedInTime = await endsWithin(active.idle(), timeoutMs)
    const aborted = endedInTime ? 0 : active.list().length
    if (!endedInTime) active.stopHard()
    const ended = endedInTime || (await endsWithin(active.idle(), times.abortGraceMs))
    const abandoned = ended ? [] : active.list()
    // The results of the handlers must still reach the store; if it is unavailable, waiting has no use.
    const closing = settleAll(
      backend,
      [...this.#consumers.values()].map((consumer) => consumer.close(!ended)),
    )
    if (!(await endsWithin(closing, times.operationTimeoutMs)))
      quiet.warn('drain', {}, 'the store of the queues did not confirm the end of all jobs')
    clearInterval(this.#lockWatch)
    if (aborted > 0) log.warn({ aborted, abandoned }, 'jobs were stopped before their end')
    return { clean: endedInTime, aborted, abandoned }
  }

  #createConsumer(queue: QueueName, concurrency: number): Consumer {
    const { backend, runner, times } = this.#options
    return backend.consumer({
      queue,
      concurrency,
      lockMs: times.lockMs,
      stalledIntervalMs: times.stalledIntervalMs,
      maxStalls,
      process: (job, token) => runner.process(queue, job, token),
      backoff: (failed, name) => runner.nextAttemptMs(failed, name),
      on: {
        polled: () => this.#onPolled(queue),
        error: (error) => backend.reportError(error),
        failed: (job, error) => this.#onFailed(queue, job, error),
        stalled: (jobId) => void this.#onStalled(queue, jobId),
        locksRenewed: (jobIds) => runner.active.locksRenewed(queue, jobIds),
        locksLost: (jobIds) => runner.active.locksLost(queue, jobIds),
      },
    })
  }

  #onPolled(queue: QueueName): void {
    const { backend, metrics } = this.#options
    const now = Date.now()
    this.#lastPolledAtMs.set(queue, now)
    metrics.queueLastTurn.set({ queue }, now / 1_000)
    if (backend.unavailableSinceMs() !== null) backend.reportAvailable(true)
  }

  #onFailed(queue: QueueName, job: RawJob | undefined, error: Error): void {
    // BullMQ emits every failed attempt; only the last one leaves the job failed.
    if (job !== undefined && job.finishedOn === undefined) return
    const { log, runner } = this.#options
    const seller = sellerField(runner.findSeller(error))
    const fields = { queue, job: job?.name, job_id: job?.id, ...seller, attempts: job?.attemptsMade, err: error }
    log.error(fields, 'job failed finally')
  }

  async #onStalled(queue: QueueName, jobId: string): Promise<void> {
    const { log, metrics } = this.#options
    metrics.jobsStalled.inc({ queue })
    const seller = sellerField(await this.#findSeller(queue, jobId))
    log.warn({ queue, job_id: jobId, ...seller }, 'job recovered from a worker that no longer answers')
  }

  /** The seller of a job that is in the queue; null: none, or it could not be read. */
  async #findSeller(queue: QueueName, jobId: string): Promise<string | null> {
    const { backend, findSeller, quiet, times } = this.#options
    const read = async (): Promise<string | null> => {
      const job = await backend.queue(queue).getJob(jobId)
      return job !== undefined && isJobName(job.name) ? findSeller({ name: job.name, data: job.data }) : null
    }
    try {
      return await withDeadline(read(), times.operationTimeoutMs, 'reading the seller of a job')
    } catch (error) {
      quiet.warn('recovered', { queue, job_id: jobId, err: asError(error) }, 'the seller of a recovered job could not be read')
      return null
    }
  }
}

/** Waits for all of them; errors are reported to the backend, never thrown. */
export const settleAll = async (backend: QueueBackend, work: readonly Promise<unknown>[]): Promise<void> => {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') backend.reportError(result.reason)
}

const endsWithin = async (work: Promise<unknown>, timeoutMs: number): Promise<boolean> => {
  const over = new AbortController()
  const ended = work.then(() => true)
  const late = pause(timeoutMs, over.signal).then(() => false)
  const result = await Promise.race([ended, late])
  over.abort()
  return result
}
