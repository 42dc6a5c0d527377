import type { Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { LockLost, StoppedHard } from './errors.ts'
import type { JobName, QueueName } from './jobs.ts'

interface ActiveRun {
  readonly queue: QueueName
  readonly abort: AbortController
  lockRenewedAtMs: number
}

/** The job of a run. */
export interface RunIdentity {
  readonly queue: QueueName
  readonly name: JobName
  readonly jobId: string
}

/** What a run gets from {@link ActiveRuns}. */
export interface RunTools {
  /** Aborted with a `StoppedHard` or a `LockLost`. */
  readonly signal: AbortSignal
  /** Logger with the job's name and id. */
  readonly log: Logger
  readonly heartbeat: () => void
}

const buildKey = (queue: QueueName, jobId: string): string => `${queue}/${jobId}`

/** The jobs that run in this process: their progress, their locks and their abort signals. */
export class ActiveRuns {
  readonly #log: Logger
  readonly #metrics: Metrics
  readonly #lockMs: number
  readonly #runs = new Map<string, ActiveRun>()
  readonly #lastProgressAtMs = new Map<QueueName, number>()
  #stopped: StoppedHard | undefined
  #onIdle: (() => void)[] = []

  constructor({ log, metrics, lockMs }: { readonly log: Logger; readonly metrics: Metrics; readonly lockMs: number }) {
    this.#log = log
    this.#metrics = metrics
    this.#lockMs = lockMs
  }

  /** Counts the run as active until `work` ends. */
  async track<Result>({ queue, name, jobId }: RunIdentity, work: (tools: RunTools) => Promise<Result>): Promise<Result> {
    const key = buildKey(queue, jobId)
    const run: ActiveRun = { queue, abort: new AbortController(), lockRenewedAtMs: Date.now() }
    if (this.#stopped !== undefined) run.abort.abort(this.#stopped)
    this.#runs.set(key, run)
    this.#metrics.jobsActive.inc({ queue })
    this.#heartbeat(queue)
    const stopTimer = this.#metrics.jobDuration.startTimer({ job: name })
    try {
      return await work({
        signal: run.abort.signal,
        log: this.#log.child({ job: name, job_id: jobId }),
        heartbeat: () => this.#heartbeat(queue),
      })
    } finally {
      stopTimer()
      this.#heartbeat(queue)
      this.#runs.delete(key)
      this.#metrics.jobsActive.dec({ queue })
      if (this.#runs.size === 0) {
        for (const resolve of this.#onIdle) resolve()
        this.#onIdle = []
      }
    }
  }

  #heartbeat(queue: QueueName): void {
    this.#lastProgressAtMs.set(queue, Date.now())
  }

  /** When a run of the queue last began, ended or reported progress, in epoch milliseconds; null: never. */
  lastProgressAtMs(queue: QueueName): number | null {
    return this.#lastProgressAtMs.get(queue) ?? null
  }

  count(queue: QueueName): number {
    let count = 0
    for (const run of this.#runs.values()) if (run.queue === queue) count += 1
    return count
  }

  /** `queue/jobId` of every active run. */
  list(): readonly string[] {
    return [...this.#runs.keys()]
  }

  /** Resolves when no job runs. */
  idle(): Promise<void> {
    return this.#runs.size === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }

  locksRenewed(queue: QueueName, jobIds: readonly string[]): void {
    for (const jobId of jobIds) {
      const run = this.#runs.get(buildKey(queue, jobId))
      if (run !== undefined) run.lockRenewedAtMs = Date.now()
    }
  }

  locksLost(queue: QueueName, jobIds: readonly string[]): void {
    for (const jobId of jobIds)
      this.#runs.get(buildKey(queue, jobId))?.abort.abort(new LockLost('another worker holds the lock of the job'))
  }

  /** Aborts the runs whose lock has expired: an unavailable store reports no lost lock, and the renewal just does not succeed. */
  abortExpiredLocks(): void {
    const oldest = Date.now() - this.#lockMs
    for (const run of this.#runs.values()) {
      if (run.lockRenewedAtMs < oldest) run.abort.abort(new LockLost('the lock of the job could not be renewed in time'))
    }
  }

  /** Aborts every running job, and those that start from now on. */
  stopHard(): void {
    this.#stopped = new StoppedHard('the process must end now')
    for (const run of this.#runs.values()) run.abort.abort(this.#stopped)
  }
}
