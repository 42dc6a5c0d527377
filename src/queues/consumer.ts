import { setTimeout as pause } from 'node:timers/promises'
import { type BackendFactory, type IQueueBackend, type Job, type JobProgress, Worker, type WorkerOptions } from 'bullmq'
import { asError } from './faults.ts'
import type { QueueName } from './jobs.ts'

/** A job as BullMQ hands it over. Nothing about its data is known until it has been checked. */
export type RawJob = Job<unknown, unknown, string>

/** How a queue is consumed. */
export interface ConsumerOptions {
  readonly queue: QueueName
  readonly concurrency: number
  /** After so long without a sign of life a job belongs to nobody, in milliseconds. */
  readonly lockMs: number
  /** How often jobs that belong to nobody are looked for, in milliseconds. */
  readonly stalledIntervalMs: number
  /** So often may a job be left behind by a dying worker before it fails. */
  readonly maxStalls: number
  readonly process: (job: RawJob, token: string) => Promise<void>
  /** Milliseconds until the next attempt after so many failed ones; -1: no further attempt. */
  readonly backoff: (attemptsMade: number, jobName: string) => number
  readonly on: ConsumerEvents
}

/** What a consumer tells. None of these may throw. */
export interface ConsumerEvents {
  /** The queue was asked for work and answered. */
  readonly turn: () => void
  readonly fault: (error: Error) => void
  /** A job failed for good. */
  readonly failed: (job: RawJob | undefined, error: Error) => void
  readonly stalled: (jobId: string) => void
  readonly locksRenewed: (jobIds: readonly string[]) => void
  readonly locksLost: (jobIds: readonly string[]) => void
}

/** One queue being consumed by this process. */
export interface Consumer {
  /** Resolves when it is connected. One that failed to connect never recovers: close it and make another. */
  ready(): Promise<void>
  /** Begins to fetch jobs; once, when it is ready. */
  start(): void
  /** Fetches no more jobs; those that run go on. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Stops. Not forced: when the running jobs are settled. */
  close(force: boolean): Promise<void>
}

const firstPauseMs = 100
const longestPauseMs = 5_000
/** An idle consumer asks at least this often, whatever it was told to wait for: a lost notification costs no more than this, in seconds. */
const longestBlockSeconds = 5

/**
 * BullMQ's worker, made patient: BullMQ asks again at once when a fetch fails for anything but a refused connection (a server that shuts down or
 * starts up, a name that does not resolve, a full disk), which is a busy loop. Here every failure in a row waits longer.
 */
class PatientWorker<B extends IQueueBackend, C> extends Worker<unknown, unknown, string, B, JobProgress, C> {
  readonly #events: ConsumerEvents
  readonly #closing = new AbortController()
  #failuresInARow = 0

  constructor(options: ConsumerOptions, workerOptions: WorkerOptions<C>, factory: BackendFactory<B, C>) {
    // Two parameters, so that BullMQ makes no abort signal of its own.
    super(options.queue, (job, token) => options.process(job, token ?? ''), workerOptions, factory)
    this.#events = options.on
    this.on('error', (error) => this.#events.fault(asError(error)))
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
    await pause(milliseconds, undefined, { signal: this.#closing.signal }).catch((error: unknown) => {
      if (!this.#closing.signal.aborted) throw error
    })
  }

  protected override async moveToActive(token: string, name?: string): Promise<RawJob> {
    // A blocking wait that ends after `pause` would still take a job: there is none for us then.
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

  protected override getBlockTimeout(blockUntil: number): number {
    return Math.min(super.getBlockTimeout(blockUntil), longestBlockSeconds)
  }

  // BullMQ's pause between failures; without a length it is the one after a failed wait for jobs, which it would repeat ten times a second.
  override async delay(milliseconds?: number): Promise<void> {
    if (milliseconds === undefined) this.#failuresInARow += 1
    await this.#wait(milliseconds ?? this.#pauseMs())
  }
}

/** Makes a consumer on any store that BullMQ has a factory for. */
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
    resume: () => worker.resume(),
    close: (force) => worker.close(force),
  }
}
