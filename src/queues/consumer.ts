import {
  type BackendFactory,
  type IQueueBackend,
  type Job,
  type JobProgress,
  type KeepJobs,
  Worker,
  type WorkerOptions,
} from 'bullmq'
import { pause } from '../pause.ts'
import { asError } from './faults.ts'
import type { inboundQueue, QueueName } from './jobs.ts'

/** A job as delivered by BullMQ. Its data is unknown until it has been validated. */
export type RawJob = Job<unknown, unknown, string>

/** How a queue is consumed. */
export interface ConsumerOptions {
  readonly queue: QueueName | typeof inboundQueue
  readonly concurrency: number
  /** Whether jobs are handed over in the order in which they wait, at the price of one more round trip for each; left out: nearly. */
  readonly inOrder?: boolean
  /** Lock duration: without a renewal for this time a job counts as stalled, in milliseconds. */
  readonly lockMs: number
  /** Interval of the search for stalled jobs, in milliseconds. */
  readonly stalledIntervalMs: number
  /** Number of times that a job may stall before it fails. */
  readonly maxStalls: number
  /** What it resolves with is the return value of the job. */
  readonly process: (job: RawJob, token: string) => Promise<unknown>
  /** How long ended jobs stay whose producer has not said so; left out: for ever. */
  readonly keep?: { readonly completed: KeepJobs; readonly failed: KeepJobs }
  /** Milliseconds until the next attempt after this number of failed ones; -1: no further attempt. */
  readonly backoff: (attemptsMade: number, jobName: string) => number
  readonly on: ConsumerEvents
}

/** Callbacks of a consumer. None of these may throw. */
export interface ConsumerEvents {
  /** The queue was polled and answered. */
  readonly turn: () => void
  readonly fault: (error: Error) => void
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
const longestPauseMs = 5_000
/** Maximum interval of polling when idle, in seconds: it limits the delay after a lost notification. */
const longestBlockSeconds = 5

const lostLock = /^could not renew lock for job /

/**
 * BullMQ's worker with a back-off: BullMQ retries at once when a fetch fails for anything but a refused connection (a server that shuts down or
 * starts up, a name that does not resolve, a full disk), which is a busy loop. Here every consecutive failure waits longer.
 */
class PatientWorker<B extends IQueueBackend, C> extends Worker<unknown, unknown, string, B, JobProgress, C> {
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
      // Told by `lockRenewalFailed` before: whoever runs the job says so, and whose it is. The store has no fault.
      if (!lostLock.test(error.message)) this.#events.fault(asError(error))
    })
    this.on('failed', (job, error) => this.#events.failed(job, asError(error)))
    this.on('stalled', (jobId) => this.#events.stalled(jobId))
    this.on('locksRenewed', ({ jobIds }) => this.#events.locksRenewed(jobIds))
    this.on('lockRenewalFailed', (jobIds) => this.#events.locksLost(jobIds))
    this.on('closing', () => this.#closing.abort())
  }

  #pauseMs(): number {
    const longestMs = Math.min(firstPauseMs * 2 ** this.#failuresInARow, longestPauseMs)
    return longestMs * (0.75 + Math.random() / 4)
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
      this.#events.turn()
      return job
    } catch (error) {
      this.#events.fault(asError(error))
      await this.#wait(this.#pauseMs())
      this.#failuresInARow += 1
      throw error
    }
  }

  // The end of a job may fetch the next one, while another one is being fetched: of two answers on two connections either may come first.
  override processJob(
    job: RawJob,
    token: string,
    fetchesNext?: () => boolean,
  ): ReturnType<Worker<unknown, unknown, string, B, JobProgress, C>['processJob']> {
    return super.processJob(job, token, this.#inOrder ? () => false : fetchesNext)
  }

  protected override getBlockTimeout(blockUntil: number): number {
    return Math.min(super.getBlockTimeout(blockUntil), longestBlockSeconds)
  }

  // BullMQ's pause between failures; without a duration it is the one after a failed wait for jobs, which it would repeat ten times a second.
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
  const worker = new PatientWorker(
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
      worker.run().catch((error: unknown) => options.on.fault(asError(error)))
    },
    pause: () => worker.pause(true),
    close: (force) => worker.close(force),
  }
}
