import { DelayedError, UnrecoverableError } from 'bullmq'
import { createQuietLog, type Logger, type QuietLog } from '../observability/log.ts'
import type { JobRunOutcome, Metrics } from '../observability/metrics.ts'
import { inSpan, messagingAttributes } from '../observability/trace.ts'
import { ActiveRuns } from './active-runs.ts'
import type { RawJob } from './consumer.ts'
import { asError, LockLost, StoppedHard } from './errors.ts'
import { isJobName, type JobData, type JobName, type JobOutcome, jobDefinitions, jobSchemas, type QueueName } from './jobs.ts'

/** Arguments of a handler. */
export interface JobContext<Name extends JobName = JobName> {
  readonly name: Name
  readonly data: JobData<Name>
  readonly jobId: string
  /** Runs of this job that ended in an error, excluding this one. */
  readonly failedAttempts: number
  /** Runs of this job, including this one. */
  readonly starts: number
  /** Aborted when the process must end now or the job is no longer ours; `reason` is a `StoppedHard` or a `LockLost`. */
  readonly signal: AbortSignal
  /** Logger with the job's name and id. */
  readonly log: Logger
  /** Reports progress; a long run calls it regularly, otherwise it counts as stuck. */
  heartbeat(): void
  /** Sets the seller of the job when its data does not name one; log lines about this run then name the seller. */
  setSeller(sellerId: string): void
}

/** The work of a job. */
export type JobHandler<Name extends JobName> = (context: JobContext<Name>) => Promise<JobOutcome>

/** Options of running a job. */
export interface JobOptions {
  /** Concurrency of its queue in this process; a queue uses the largest requested number. */
  readonly concurrency?: number
  /** Number of runs without an end (each requested another run) after which the job fails. BullMQ does not count these. */
  readonly maxStarts?: number
  /** Number of failed runs, without outages, after which the job fails finally; the relay enqueues it again later. */
  readonly attempts?: number
  /** Back-off after a failed run: doubled each time from `firstMs` to `longestMs`, with jitter. In milliseconds. */
  readonly backoff?: { readonly firstMs: number; readonly longestMs: number }
}

const defaults = { maxStarts: 1_000, attempts: 8, backoff: { firstMs: 1_000, longestMs: 300_000 } } as const
/** Maximum delay of a job that failed because of an outage: its work is due. */
const maxOutageDelayMs = 10_000
/** Minimum delay of a job that requests another run at once: other jobs run in between. */
const minRunAgainDelayMs = 50

/** Back-off after the given number of failed runs, in milliseconds: exponential, with a jitter of at most half. */
export const backoffMs = (
  failed: number,
  { firstMs, longestMs }: NonNullable<JobOptions['backoff']>,
  random: () => number = Math.random,
): number => Math.round(Math.min(firstMs * 2 ** Math.min(failed - 1, 40), longestMs) * (0.5 + random() / 2))

type PlainContext = Omit<JobContext, 'name' | 'data'>

interface PreparedRun {
  readonly data: Readonly<Record<string, string>>
  readonly run: (context: PlainContext) => Promise<JobOutcome>
}

interface Registration {
  readonly options: JobOptions
  /** Validates the payload; a text describes the error. */
  readonly prepare: (payload: unknown) => PreparedRun | string
}

const createPrepare =
  <Name extends JobName>(name: Name, handler: JobHandler<Name>): Registration['prepare'] =>
  (payload) => {
    const parsed = jobSchemas[name].safeParse(payload)
    if (!parsed.success) return `payload of ${name}: ${parsed.error.message}`
    const { data } = parsed
    return { data, run: (context) => handler({ ...context, name, data }) }
  }

/** The field of a log line that names the seller of a job; no field if the job has no single seller. */
export const sellerField = (sellerId: string | null | undefined): { readonly seller_id?: string } =>
  typeof sellerId === 'string' ? { seller_id: sellerId } : {}

/** Dependencies of the runner. */
export interface JobRunnerOptions {
  readonly log: Logger
  readonly metrics: Metrics
  readonly lockMs: number
  /** Whether the error is an outage of a service that every job needs: it does not count as an attempt. */
  readonly isOutage: (error: Error) => boolean
}

/** A run in progress. */
interface Run {
  readonly job: RawJob
  readonly token: string
  readonly name: JobName
  readonly jobId: string
  readonly options: JobOptions
  readonly prepared: PreparedRun
  sellerId: string | undefined
}

/** Runs jobs; the only place that calls handlers. */
export class JobRunner {
  readonly active: ActiveRuns
  readonly #metrics: Metrics
  readonly #quiet: QuietLog
  readonly #isOutage: (error: Error) => boolean
  readonly #registrations = new Map<JobName, Registration>()
  readonly #sellersByError = new WeakMap<Error, string>()

  constructor({ log, metrics, lockMs, isOutage }: JobRunnerOptions) {
    this.active = new ActiveRuns({ log, metrics, lockMs })
    this.#metrics = metrics
    this.#quiet = createQuietLog(log)
    this.#isOutage = isOutage
  }

  /** @throws Error when the name already has a handler */
  register<Name extends JobName>(name: Name, handler: JobHandler<Name>, options: JobOptions = {}): void {
    if (this.#registrations.has(name)) throw new Error(`${name} is registered already`)
    this.#registrations.set(name, { options, prepare: createPrepare(name, handler) })
  }

  /** Queues that have a handler, with their concurrency. */
  queues(): ReadonlyMap<QueueName, number> {
    const found = new Map<QueueName, number>()
    for (const [name, { options }] of this.#registrations) {
      const { queue } = jobDefinitions[name]
      found.set(queue, Math.max(found.get(queue) ?? 1, options.concurrency ?? 1))
    }
    return found
  }

  /** Milliseconds until the next attempt; -1: none. */
  nextAttemptMs(failed: number, name: string): number {
    const options = isJobName(name) ? this.#registrations.get(name)?.options : undefined
    if (options === undefined || failed >= (options.attempts ?? defaults.attempts)) return -1
    return backoffMs(failed, options.backoff ?? defaults.backoff)
  }

  /** The seller of the job that failed with this error; undefined: none, or unknown. */
  findSeller(error: Error): string | undefined {
    return this.#sellersByError.get(error)
  }

  /** Runs a job in its own trace span; the only function that BullMQ calls. @throws DelayedError when the job was postponed */
  async process(queue: QueueName, job: RawJob, token: string): Promise<void> {
    const delayed = await runInSpan(queue, job, async () => {
      try {
        await this.#run(queue, job, token)
        return null
      } catch (error) {
        // A postponement is not a failure of the span.
        if (error instanceof DelayedError) return error
        throw error
      }
    })
    if (delayed !== null) throw delayed
  }

  async #run(queue: QueueName, job: RawJob, token: string): Promise<void> {
    const run = this.#prepare(queue, job, token)
    await this.active.track({ queue, name: run.name, jobId: run.jobId }, async (tools) => {
      const { signal, log } = tools
      try {
        const outcome = await run.prepared.run({
          ...tools,
          jobId: run.jobId,
          failedAttempts: job.attemptsMade,
          starts: job.attemptsStarted,
          setSeller: (sellerId) => {
            run.sellerId = sellerId
          },
        })
        // BullMQ would refuse to settle a job that is no longer ours.
        if (signal.reason instanceof LockLost) throw signal.reason
        if ('done' in outcome) this.#count(run.name, 'done')
        else await this.#runAgain(run, outcome, log)
      } catch (thrown) {
        if (thrown instanceof DelayedError) throw thrown
        await this.#settleError(run, asError(thrown), signal.reason)
      }
    })
  }

  /** @throws UnrecoverableError when the job cannot be run */
  #prepare(queue: QueueName, job: RawJob, token: string): Run {
    const { name, id: jobId = '' } = job
    const registration = isJobName(name) ? this.#registrations.get(name) : undefined
    if (!isJobName(name) || registration === undefined || jobDefinitions[name].queue !== queue) {
      return this.#giveUp(job, 'invalid', `no handler for ${name} in the queue ${queue}`)
    }
    const { options } = registration
    const prepared = registration.prepare(job.data)
    if (typeof prepared === 'string') return this.#giveUp(job, 'invalid', prepared)
    const maxStarts = options.maxStarts ?? defaults.maxStarts
    if (job.attemptsStarted > maxStarts) {
      const message = `run ${maxStarts} times without an end; given up until the relay enqueues it again`
      return this.#giveUp(job, 'capped', message)
    }
    return { job, token, name, jobId, options, prepared, sellerId: prepared.data['sellerId'] }
  }

  #giveUp(job: RawJob, outcome: 'invalid' | 'capped', message: string): never {
    this.#count(job.name, outcome)
    throw new UnrecoverableError(message)
  }

  async #runAgain(run: Run, { runAgainAt, reason }: Exclude<JobOutcome, { done: true }>, log: Logger): Promise<never> {
    const at = runAgainAt.getTime()
    if (Number.isNaN(at)) throw new TypeError(`${run.name} requested another run at an invalid time`)
    this.#count(run.name, 'again')
    log.debug({ ...sellerField(run.sellerId), run_again_at: runAgainAt, reason }, 'job postponed')
    return await postpone(run, Math.max(at, Date.now() + minRunAgainDelayMs))
  }

  /** Throws what BullMQ expects for this error. `abortReason`: why the run's signal was aborted. */
  async #settleError(run: Run, error: Error, abortReason: unknown): Promise<never> {
    const { job, name, jobId, options } = run
    if (abortReason instanceof LockLost) {
      this.#count(name, 'aborted')
      const fields = { job: name, job_id: jobId, ...sellerField(run.sellerId), reason: abortReason.message }
      this.#quiet.warn(`lock:${name}`, fields, 'job left to another worker')
      // BullMQ then changes nothing: another worker owns the job.
      throw new DelayedError()
    }
    if (abortReason instanceof StoppedHard) {
      this.#count(name, 'aborted')
      return await postpone(run, Date.now())
    }
    if (this.#isOutage(error)) {
      // As an attempt, an outage of half a minute would use up all attempts, and the due job would then wait in state failed.
      this.#countRetry(run, error)
      const { firstMs, longestMs } = options.backoff ?? defaults.backoff
      const bounds = { firstMs, longestMs: Math.min(longestMs, maxOutageDelayMs) }
      return await postpone(run, Date.now() + backoffMs(job.attemptsStarted, bounds))
    }
    const attempts = options.attempts ?? defaults.attempts
    if (!(error instanceof UnrecoverableError) && job.attemptsMade + 1 < attempts) {
      this.#countRetry(run, error)
    } else {
      this.#count(name, 'failed')
      if (run.sellerId !== undefined) this.#sellersByError.set(error, run.sellerId)
    }
    throw error
  }

  #countRetry({ job, name, jobId, sellerId }: Run, error: Error): void {
    this.#count(name, 'retried')
    this.#quiet.warn(
      `run:${name}:${error.message.slice(0, 60)}`,
      { job: name, job_id: jobId, ...sellerField(sellerId), err: error, attempt: job.attemptsMade + 1 },
      'job failed, will be retried',
    )
  }

  #count(name: string, outcome: JobRunOutcome): void {
    this.#metrics.jobRuns.inc({ job: isJobName(name) ? name : 'unknown', outcome })
  }
}

const postpone = async ({ job, token }: Run, atMs: number): Promise<never> => {
  await job.moveToDelayed(atMs, token)
  throw new DelayedError()
}

const runInSpan = <Result>(queue: QueueName, job: RawJob, work: () => Promise<Result>): Promise<Result> =>
  inSpan(
    `process ${queue}`,
    {
      kind: 'consumer',
      parent: job.opts.telemetry?.metadata ?? null,
      attributes: messagingAttributes('process', queue, { name: job.name, ...(job.id === undefined ? {} : { id: job.id }) }),
    },
    work,
  )
