import { DelayedError, UnrecoverableError } from 'bullmq'
import { createQuietLog, type Logger, type QuietLog } from '../observability/log.ts'
import type { JobRunOutcome, Metrics } from '../observability/metrics.ts'
import { inSpan, messagingAttributes } from '../observability/trace.ts'
import type { RawJob } from './consumer.ts'
import { asError, LockLost, StoppedHard } from './faults.ts'
import {
  isJobName,
  type JobData,
  type JobName,
  type JobOutcome,
  jobDefinitions,
  jobIdOf,
  jobSchemas,
  type PlainJob,
  type QueueName,
} from './jobs.ts'

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
  beat(): void
  /** Says whose work it is where the job's data do not: lines about this run name the seller. */
  ofSeller(sellerId: string): void
}

/** The work of a job. */
export type JobHandler<Name extends JobName> = (context: JobContext<Name>) => Promise<JobOutcome>

/** Options of running a job. */
export interface JobOptions {
  /** Concurrency of its queue in this process; a queue uses the largest requested number. */
  readonly concurrency?: number
  /** Number of runs without an end (each requested another run) after which the job fails. BullMQ does not count these. */
  readonly maxStarts?: number
  /** Number of failed runs, outages aside, after which the job fails finally; the relay enqueues it again later. */
  readonly attempts?: number
  /** Back-off after a failed run: doubled each time from `firstMs` to `longestMs`, with jitter. In milliseconds. */
  readonly backoff?: { readonly firstMs: number; readonly longestMs: number }
}

const defaults = { maxStarts: 1_000, attempts: 8, backoff: { firstMs: 1_000, longestMs: 300_000 } } as const
/** A run that failed by an outage is tried again after so long at most: what it was about is due. */
const longestOutagePauseMs = 10_000
/** Minimum delay of a job that requests another run at once, so that the others get their turn. */
const soonestAgainMs = 50

/** Back-off after the given number of failed runs, in milliseconds: exponential, with a jitter of at most half. */
export const backoffMs = (
  failed: number,
  { firstMs, longestMs }: NonNullable<JobOptions['backoff']>,
  random: () => number = Math.random,
): number => Math.round(Math.min(firstMs * 2 ** Math.min(failed - 1, 40), longestMs) * (0.5 + random() / 2))

type PlainContext = Omit<JobContext, 'name' | 'data'>

interface Prepared {
  readonly data: Readonly<Record<string, string>>
  readonly run: (context: PlainContext) => Promise<JobOutcome>
}

interface Registration {
  readonly options: JobOptions
  /** Validates the payload; a text describes the fault. */
  readonly prepare: (payload: unknown) => Prepared | string
}

const prepareFor =
  <Name extends JobName>(name: Name, handler: JobHandler<Name>): Registration['prepare'] =>
  (payload) => {
    const parsed = jobSchemas[name].safeParse(payload)
    if (!parsed.success) return `payload of ${name}: ${parsed.error.message}`
    const { data } = parsed
    return { data, run: (context) => handler({ ...context, name, data }) }
  }

/** The field of a log line that names its seller; none where it is of no single one. */
export const sellerField = (sellerId: string | null | undefined): { readonly seller_id?: string } =>
  typeof sellerId === 'string' ? { seller_id: sellerId } : {}

/** Dependencies of the runs. */
export interface RunsOptions {
  readonly log: Logger
  readonly metrics: Metrics
  readonly lockMs: number
  /** Enqueues the job that a tick represents. */
  readonly enqueue: (job: PlainJob) => Promise<unknown>
  /** Whether a run failed since what every job needs is away: that counts as no attempt. */
  readonly isOutage: (error: Error) => boolean
}

interface ActiveRun {
  readonly queue: QueueName
  readonly abort: AbortController
  lockRenewedAtMs: number
}

/** A run under way, as the lines about it name it. */
interface NamedRun {
  readonly name: JobName
  readonly jobId: string
  sellerId: string | undefined
}

interface EnteredRun extends Pick<ActiveRun, 'lockRenewedAtMs'> {
  readonly name: JobName
  readonly jobId: string
  readonly key: string
}

/** How a job that no queue holds has ended: when it is to be run again, in milliseconds from now (null: it is done), and whether it has failed. */
export interface RunHere {
  readonly againInMs: number | null
  readonly failed: boolean
}

/** The jobs that run in this process: the only place that calls handlers. */
export const createRuns = ({ log, metrics, lockMs, enqueue, isOutage }: RunsOptions) => {
  const registered = new Map<JobName, Registration>()
  const active = new Map<string, ActiveRun>()
  const progressAtMs = new Map<QueueName, number>()
  const quiet: QuietLog = createQuietLog(log)
  let stopped: StoppedHard | undefined
  let onIdle: (() => void)[] = []
  const sellerOfError = new WeakMap<Error, string>()

  const keyOf = (queue: QueueName, jobId: string) => `${queue}/${jobId}`
  const beat = (queue: QueueName) => void progressAtMs.set(queue, Date.now())
  const countActive = (queue: QueueName): number => {
    let count = 0
    for (const run of active.values()) if (run.queue === queue) count += 1
    return count
  }

  const abort = (queue: QueueName, jobIds: readonly string[], reason: string): void => {
    for (const jobId of jobIds) active.get(keyOf(queue, jobId))?.abort.abort(new LockLost(reason))
  }

  // While the store is unavailable no renewal is refused, it just does not succeed: the lock expires all the same.
  const watchLocks = (): void => {
    const oldest = Date.now() - lockMs
    for (const run of active.values()) {
      if (run.lockRenewedAtMs < oldest) run.abort.abort(new LockLost('the lock of the job could not be renewed in time'))
    }
  }

  const putOff = async (job: RawJob, token: string, at: number): Promise<never> => {
    await job.moveToDelayed(at, token)
    throw new DelayedError()
  }

  const count = (name: string, outcome: JobRunOutcome): void =>
    metrics.jobRuns.inc({ job: isJobName(name) ? name : 'unknown', outcome })

  const giveUp = (job: RawJob, outcome: 'invalid' | 'capped', message: string): never => {
    count(job.name, outcome)
    throw new UnrecoverableError(message)
  }

  const noteRetry = (named: NamedRun, error: Error, attempt: number): void => {
    const { name, jobId } = named
    count(name, 'retried')
    quiet.warn(
      `run:${name}:${error.message.slice(0, 60)}`,
      { job: name, job_id: jobId, ...sellerField(named.sellerId), err: error, attempt },
      'job failed, will be retried',
    )
  }

  const momentOf = (name: JobName, { runAgainAt }: { readonly runAgainAt: Date }): number => {
    const at = runAgainAt.getTime()
    if (Number.isNaN(at)) throw new TypeError(`${name} asked to be run again at no valid time`)
    return at
  }

  /** Counts a run among the active ones for as long as it lasts. */
  const entered = async <Result>(
    queue: QueueName,
    { name, jobId, key, lockRenewedAtMs }: EnteredRun,
    work: (signal: AbortSignal, jobLog: Logger, beatNow: () => void) => Promise<Result>,
  ): Promise<Result> => {
    const entry: ActiveRun = { queue, abort: new AbortController(), lockRenewedAtMs }
    if (stopped !== undefined) entry.abort.abort(stopped)
    active.set(key, entry)
    metrics.jobsActive.inc({ queue })
    beat(queue)
    const stopTimer = metrics.jobDuration.startTimer({ job: name })
    try {
      return await work(entry.abort.signal, log.child({ job: name, job_id: jobId }), () => beat(queue))
    } finally {
      stopTimer()
      beat(queue)
      active.delete(key)
      metrics.jobsActive.dec({ queue })
      if (active.size === 0) {
        for (const tell of onIdle) tell()
        onIdle = []
      }
    }
  }

  const run = async (queue: QueueName, job: RawJob, token: string): Promise<void> => {
    const { name, id: jobId = '' } = job
    const registration = isJobName(name) ? registered.get(name) : undefined
    if (!isJobName(name) || registration === undefined || jobDefinitions[name].queue !== queue) {
      return giveUp(job, 'invalid', `no handler for ${name} in the queue ${queue}`)
    }
    const prepared = registration.prepare(job.data)
    if (typeof prepared === 'string') return giveUp(job, 'invalid', prepared)
    if (job.repeatJobKey !== undefined) {
      await enqueue({ name, data: prepared.data })
      return
    }
    const maxStarts = registration.options.maxStarts ?? defaults.maxStarts
    if (job.attemptsStarted > maxStarts) {
      return giveUp(job, 'capped', `run ${maxStarts} times without an end; given up until the relay enqueues it again`)
    }

    const named: NamedRun = { name, jobId, sellerId: prepared.data['sellerId'] }
    return await entered(
      queue,
      { name, jobId, key: keyOf(queue, jobId), lockRenewedAtMs: Date.now() },
      async (signal, jobLog, beatNow) => {
        try {
          const outcome = await prepared.run({
            jobId,
            failedAttempts: job.attemptsMade,
            starts: job.attemptsStarted,
            signal,
            log: jobLog,
            beat: beatNow,
            ofSeller: (sellerId) => {
              named.sellerId = sellerId
            },
          })
          // Settling a job that is no longer ours would only be refused.
          if (signal.reason instanceof LockLost) throw signal.reason
          if ('done' in outcome) {
            count(name, 'done')
            return
          }
          const at = momentOf(name, outcome)
          count(name, 'again')
          const again = { ...sellerField(named.sellerId), run_again_at: outcome.runAgainAt, reason: outcome.reason }
          jobLog.debug(again, 'job postponed')
          return await putOff(job, token, Math.max(at, Date.now() + soonestAgainMs))
        } catch (thrown) {
          if (thrown instanceof DelayedError) throw thrown
          if (signal.reason instanceof LockLost) {
            count(name, 'aborted')
            const left = { job: name, job_id: jobId, ...sellerField(named.sellerId), reason: signal.reason.message }
            quiet.warn(`lock:${name}`, left, 'job left to another worker')
            // Tells BullMQ to change nothing: another worker owns the job.
            throw new DelayedError()
          }
          if (signal.reason instanceof StoppedHard) {
            count(name, 'aborted')
            return await putOff(job, token, Date.now())
          }
          const error = asError(thrown)
          if (isOutage(error)) {
            // Otherwise an outage of half a minute would use all attempts up, and what is due would rest after it.
            noteRetry(named, error, job.attemptsMade + 1)
            const { firstMs, longestMs } = registration.options.backoff ?? defaults.backoff
            const bounds = { firstMs, longestMs: Math.min(longestMs, longestOutagePauseMs) }
            return await putOff(job, token, Date.now() + backoffMs(job.attemptsStarted, bounds))
          }
          const attempts = registration.options.attempts ?? defaults.attempts
          if (!(error instanceof UnrecoverableError) && job.attemptsMade + 1 < attempts) {
            noteRetry(named, error, job.attemptsMade + 1)
          } else {
            count(name, 'failed')
            if (named.sellerId !== undefined) sellerOfError.set(error, named.sellerId)
          }
          throw error
        }
      },
    )
  }

  const runHere = async (name: JobName, data: Readonly<Record<string, string>>, failedAttempts: number): Promise<RunHere> => {
    const registration = registered.get(name)
    if (registration === undefined) throw new Error(`no handler for ${name}`)
    const prepared = registration.prepare(data)
    if (typeof prepared === 'string') throw new TypeError(prepared)
    const { queue } = jobDefinitions[name]
    const jobId = jobIdOf(name, data)
    // No lock: nobody else can take what no queue holds.
    const entry = { name, jobId, key: keyOf(queue, `here~${jobId}`), lockRenewedAtMs: Number.POSITIVE_INFINITY }
    if (active.has(entry.key)) return { againInMs: null, failed: false }
    const named: NamedRun = { name, jobId, sellerId: data['sellerId'] }
    const ofSeller = (sellerId: string): void => {
      named.sellerId = sellerId
    }
    return await entered(queue, entry, async (signal, jobLog, beatNow) => {
      try {
        const outcome = await prepared.run({ jobId, failedAttempts, starts: 1, signal, log: jobLog, beat: beatNow, ofSeller })
        count(name, 'done' in outcome ? 'done' : 'again')
        if ('done' in outcome) return { againInMs: null, failed: false }
        jobLog.debug(
          { ...sellerField(named.sellerId), run_again_at: outcome.runAgainAt, reason: outcome.reason },
          'job postponed',
        )
        return { againInMs: Math.max(momentOf(name, outcome) - Date.now(), soonestAgainMs), failed: false }
      } catch (thrown) {
        if (signal.reason instanceof StoppedHard) {
          count(name, 'aborted')
          return { againInMs: 0, failed: false }
        }
        const failed = failedAttempts + 1
        noteRetry(named, asError(thrown), failed)
        return { againInMs: backoffMs(failed, registration.options.backoff ?? defaults.backoff), failed: true }
      }
    })
  }

  return {
    register: <Name extends JobName>(name: Name, handler: JobHandler<Name>, options: JobOptions = {}): void => {
      if (registered.has(name)) throw new Error(`${name} is registered already`)
      registered.set(name, { options, prepare: prepareFor(name, handler) })
    },
    /** Queues that have a handler, with their concurrency. */
    queues: (): ReadonlyMap<QueueName, number> => {
      const found = new Map<QueueName, number>()
      for (const [name, { options }] of registered) {
        const { queue } = jobDefinitions[name]
        found.set(queue, Math.max(found.get(queue) ?? 1, options.concurrency ?? 1))
      }
      return found
    },
    /** Runs a job in its own trace span; the only function that BullMQ calls. */
    process: (queue: QueueName, job: RawJob, token: string): Promise<void> =>
      withoutDelays(
        inSpanOf(queue, job, () =>
          run(queue, job, token).then(
            () => undefined,
            // Being postponed is not a failure of the span.
            (error: unknown) => {
              if (error instanceof DelayedError) return error
              throw error
            },
          ),
        ),
      ),
    /** As {@link process}, of a job that no queue holds, and that has failed so often before. */
    processHere: (name: JobName, data: Readonly<Record<string, string>>, failedAttempts = 0): Promise<RunHere> => {
      const { queue } = jobDefinitions[name]
      const attributes = messagingAttributes('process', queue, { name, id: jobIdOf(name, data) })
      return inSpan(`process ${queue}`, { kind: 'consumer', attributes }, () => runHere(name, data, failedAttempts))
    },
    /** Milliseconds until the next attempt; -1: none. */
    nextAttemptMs: (failed: number, name: string): number => {
      const options = isJobName(name) ? registered.get(name)?.options : undefined
      if (options === undefined || failed >= (options.attempts ?? defaults.attempts)) return -1
      return backoffMs(failed, options.backoff ?? defaults.backoff)
    },
    /** Whose job has failed with this error; undefined: nobody's, or it could not be told. */
    sellerOf: (error: Error): string | undefined => sellerOfError.get(error),
    active: (queue: QueueName): number => countActive(queue),
    lastProgressAtMs: (queue: QueueName): number | null => progressAtMs.get(queue) ?? null,
    locksRenewed: (queue: QueueName, jobIds: readonly string[]): void => {
      for (const jobId of jobIds) {
        const entry = active.get(keyOf(queue, jobId))
        if (entry !== undefined) entry.lockRenewedAtMs = Date.now()
      }
    },
    locksLost: (queue: QueueName, jobIds: readonly string[]): void =>
      abort(queue, jobIds, 'another worker holds the lock of the job'),
    watchLocks,
    /** Aborts every running job, and those that start from now on. */
    stopHard: (): void => {
      stopped = new StoppedHard('the process must end now')
      for (const entry of active.values()) entry.abort.abort(stopped)
    },
    running: (): readonly string[] => [...active.keys()],
    /** Resolves when no job runs. */
    idle: (): Promise<void> => (active.size === 0 ? Promise.resolve() : new Promise((resolve) => onIdle.push(resolve))),
  } as const
}

const inSpanOf = <Result>(queue: QueueName, job: RawJob, work: () => Promise<Result>): Promise<Result> =>
  inSpan(
    `process ${queue}`,
    {
      kind: 'consumer',
      parent: job.opts.telemetry?.metadata ?? null,
      attributes: messagingAttributes('process', queue, { name: job.name, ...(job.id === undefined ? {} : { id: job.id }) }),
    },
    work,
  )

const withoutDelays = async (run: Promise<DelayedError | undefined>): Promise<void> => {
  const delayed = await run
  if (delayed !== undefined) throw delayed
}
