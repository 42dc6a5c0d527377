import {
  type BackendFactory,
  type IQueueBackend,
  type Job,
  type JobProgress,
  type KeepJobs,
  Worker,
  type WorkerOptions,
} from 'bullmq'
import { pause } from '../util/sleep.ts'
import { asError } from './errors.ts'
import type { inboundQueue, QueueName } from './jobs.ts'

/** A job as delivered by BullMQ. Its data is unknown until it has been validated. */
export type RawJob = Job<unknown, unknown, string>

/** How a queue is consumed. */
export interface ConsumerOptions {
  readonly queue: QueueName | typeof inboundQueue
  readonly concurrency: number
  /** Whether jobs are processed strictly in their order, at the price of one more round trip each; default: nearly in order. */
  readonly inOrder?: boolean
  /** Lock duration: without a renewal for this time a job counts as stalled, in milliseconds. */
  readonly lockMs: number
  /** Interval of the search for stalled jobs, in milliseconds. */
  readonly stalledIntervalMs: number
  /** Number of times that a job may stall before it fails. */
  readonly maxStalls: number
  /** Its result is the return value of the job. */
  readonly process: (job: RawJob, token: string) => Promise<unknown>
  /** How long ended jobs are kept if their producer does not say so; default: for ever. */
  readonly keep?: { readonly completed: KeepJobs; readonly failed: KeepJobs }
  /** Milliseconds until the next attempt after this number of failed ones; -1: no further attempt. */
  readonly backoff: (attemptsMade: number, jobName: string) => number
  readonly on: ConsumerEvents
}

/** Callbacks of a consumer. None of these may throw. */
export interface ConsumerEvents {
  /** The queue was polled and answered. */
  readonly polled: () => void
  readonly error: (error: Error) => void
  /** A job failed finally. */
  readonly failed: (job: RawJob | undefined, error: Error) => void
  readonly stalled: (jobId: string) => void
  readonly locksRenewed: (jobIds: readonly string[]) => void
  readonly locksLost: (jobIds: readonly string[]) => void
}

/** One queue being consumed by this process. */
export interface Consumer {
  /** Resolves when it is connected. One that failed to connect never recovers: close it and create another. */
  ready(): Promise<void>
  /** Starts fetching jobs; once, when it is ready. */
  start(): void
  /** Fetches no more jobs; running ones continue. */
  pause(): Promise<void>
  /** Stops. Not forced: when the running jobs are settled. */
  close(force: boolean): Promise<void>
}

const firstPauseMs = 100
const maxPauseMs = 5_000
/** Maximum interval of polling when idle, in seconds: it limits the delay after a lost notification. */
const maxBlockSeconds = 5

const lostLockMessage = /^could not renew lock for job /

/**
 * BullMQ's worker with a back-off. BullMQ retries immediately when a fetch fails for anything but a refused connection (a server that shuts down or
 * starts up, a name that does not resolve, a full disk), which is a busy loop. Here every consecutive failure waits longer.
 */
class BackoffWorker<B extends IQueueBackend, C> extends Worker<unknown, unknown, string, B, JobProgress, C> {
  readonly #events: ConsumerEvents
  readonly #inOrder: boolean
  readonly #closing = new AbortController()
  #failuresInARow = 0

  constructor(options: ConsumerOptions, workerOptions: WorkerOptions<C>, factory: BackendFactory<B, C>) {
    // Two parameters, so that BullMQ creates no abort signal.
    super(options.queue, (job, token) => options.process(job, token ?? ''), workerOptions, factory)
    this.#events = options.on
    this.#inOrder = options.inOrder ?? false
    this.on('error', (error) => {
      // `lockRenewalFailed` was emitted before: the run of the job logs it with its seller. The store is available.
      if (!lostLockMessage.test(error.message)) this.#events.error(asError(error))
    })
    this.on('failed', (job, error) => this.#events.failed(job, asError(error)))
    this.on('stalled', (jobId) => this.#events.stalled(jobId))
    this.on('locksRenewed', ({ jobIds }) => this.#events.locksRenewed(jobIds))
    this.on('lockRenewalFailed', (jobIds) => this.#events.locksLost(jobIds))
    this.on('closing', () => this.#closing.abort())
  }

  #pauseMs(): number {
    const maxMs = Math.min(firstPauseMs * 2 ** this.#failuresInARow, maxPauseMs)
    return maxMs * (0.75 + Math.random() / 4)
  }

  async #wait(milliseconds: number): Promise<void> {
    await pause(milliseconds, this.#closing.signal)
  }

  protected override async moveToActive(token: string, name?: string): Promise<RawJob> {
    // A blocking wait that ends after `pause` would still take a job: this prevents it.
    if (this.paused || this.closing !== undefined) return this.nextJobFromJobData()
    try {
      const job = await super.moveToActive(token, name)
      this.#failuresInARow = 0
      this.#events.polled()
      return job
    } catch (error) {
      this.#events.error(asError(error))
      await this.#wait(this.#pauseMs())
      this.#failuresInARow += 1
      throw error
    }
  }

  // The end of a job may fetch the next job while another fetch is in progress: the two answers may arrive in either order.
  override processJob(
    job: RawJob,
    token: string,
    fetchesNext?: () => boolean,
  ): ReturnType<Worker<unknown, unknown, string, B, JobProgress, C>['processJob']> {
    return super.processJob(job, token, this.#inOrder ? () => false : fetchesNext)
  }

  protected override getBlockTimeout(blockUntil: number): number {
    return Math.min(super.getBlockTimeout(blockUntil), maxBlockSeconds)
  }

  // BullMQ's pause between failures. Without a duration it follows a failed wait for jobs, which BullMQ would repeat ten times a second.
  override async delay(milliseconds?: number): Promise<void> {
    if (milliseconds === undefined) this.#failuresInARow += 1
    await this.#wait(milliseconds ?? this.#pauseMs())
  }
}

/** Creates a consumer on any store that BullMQ supports. */
export const createConsumer = <B extends IQueueBackend, C>(
  options: ConsumerOptions,
  connection: Pick<WorkerOptions<C>, 'connection' | 'prefix' | 'skipVersionCheck'>,
  factory: BackendFactory<B, C>,
): Consumer => {
  const worker = new BackoffWorker(
    options,
    {
      ...connection,
      autorun: false,
      concurrency: options.concurrency,
      lockDuration: options.lockMs,
      stalledInterval: options.stalledIntervalMs,
      maxStalledCount: options.maxStalls,
      runRetryDelay: 1_000,
      ...(options.keep === undefined ? {} : { removeOnComplete: options.keep.completed, removeOnFail: options.keep.failed }),
      settings: {
        backoffStrategy: (attemptsMade, _type, _error, job) => (job === undefined ? -1 : options.backoff(attemptsMade, job.name)),
      },
    },
    factory,
  )
  return {
    ready: () => worker.waitUntilReady(),
    start: () => {
      worker.run().catch((error: unknown) => options.on.error(asError(error)))
    },
    pause: () => worker.pause(true),
    close: (force) => worker.close(force),
  }
}
