import type { Job, Queue } from 'bullmq'
import { systemClock, watchSteps } from '../clock.ts'
import { createQuietLog, type Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { pause } from '../pause.ts'
import type { BackendCheck, QueueBackend } from './backend-interface.ts'
import type { Consumer } from './consumer.ts'
import { asError, withDeadline } from './faults.ts'
import {
  type EnqueueOptions,
  isJobName,
  type JobData,
  type JobName,
  type JobToEnqueue,
  type PlainJob,
  type QueueName,
  queueNames,
} from './jobs.ts'
import { type ConsumptionVerdict, evaluateConsumption } from './liveness.ts'
import { createProducer, type EnqueueResult } from './producer.ts'
import { createRuns, type JobHandler, type JobOptions, sellerField } from './runs.ts'
import { createSchedulers, type Scheduler } from './schedulers.ts'
import { createStandIn, type StandIn } from './stand-in.ts'

export type { JobHandler, JobOptions } from './runs.ts'

/** Times of the runtime, in milliseconds. Tests shorten them. */
export interface RuntimeTimes {
  /** Without a renewal of its lock for this time a job is recovered from its worker. */
  readonly lockMs: number
  /** Interval of the search for stalled jobs. */
  readonly stalledIntervalMs: number
  /** Time-out of the store when enqueueing or counting. */
  readonly operationTimeoutMs: number
  /** How long a failed job stays before an ordinary enqueue restarts it. */
  readonly failedRestMs: number
  /** How long jobs may take to end after their signal was aborted. */
  readonly abortGraceMs: number
  readonly bootGraceMs: number
  /** A queue without consumption for this time counts as stuck. */
  readonly stuckAfterMs: number
}

const defaultTimes: RuntimeTimes = {
  lockMs: 30_000,
  stalledIntervalMs: 15_000,
  operationTimeoutMs: 5_000,
  failedRestMs: 60_000,
  abortGraceMs: 5_000,
  bootGraceMs: 60_000,
  stuckAfterMs: 600_000,
}
/** Number of processes that may die while running a job before the job counts as the cause. */
const maxStalls = 3
const longestOpenPauseMs = 5_000
/** Interval of checking the machine's clock. */
const clockWatchMs = 1_000

/** Parts and settings of the runtime. */
export interface QueueRuntimeOptions {
  readonly backend: QueueBackend
  readonly log: Logger
  readonly metrics: Metrics
  readonly times?: Partial<RuntimeTimes>
  /**
   * The lane of a job within its queue, a whole number: a job starts only when none of a lower number is ready. Default: 0 for all, in the order
   * in which they are enqueued.
   */
  readonly laneOf?: (job: PlainJob) => number
  /** Whose work a job is, for lines about it that are logged before it runs; null: of no single seller. Default: of none. */
  readonly sellerOf?: (job: PlainJob) => Promise<string | null>
  /** Whether a run failed since what every job needs is away: that counts as no attempt, and the job comes back soon. Default: never. */
  readonly isOutage?: (error: Error) => boolean
}

/** How the jobs of this process ended during a stop. */
export interface DrainResult {
  /** Every job ended normally. */
  readonly clean: boolean
  /** Jobs whose signal had to be aborted. */
  readonly aborted: number
  /** Jobs that did not even end then; another worker recovers them when their lock has expired. */
  readonly abandoned: readonly string[]
}

/** Interface of the queues for the rest of the program. */
export interface QueueRuntime {
  /** Registers the handler of a job; before `start`. @throws Error when the name already has a handler */
  register<Name extends JobName>(name: Name, handler: JobHandler<Name>, options?: JobOptions): void
  /**
   * Connects, and consumes the queues that have handlers. Resolves when connected, or after the first failed attempt, which is logged; attempts
   * continue in the background. Never rejects.
   */
  start(): Promise<void>
  /** Resolves when the queues are connected for the first time. */
  readonly opened: Promise<void>
  /** @throws QueuesUnavailable when the store does not answer; the relay derives the job again */
  enqueue<Name extends JobName>(name: Name, data: JobData<Name>, options?: EnqueueOptions): Promise<EnqueueResult>
  /** Enqueues many, in few round trips; returns how many were delivered (including those that exist already). @throws QueuesUnavailable */
  enqueueMany(jobs: readonly JobToEnqueue[]): Promise<number>
  /**
   * Runs a job at once, in this process and without a queue, which costs the store nothing. One that fails, or is to be run again, goes on as a job
   * of its queue. Resolves when it has ended; false: not begun, since the process is about to end. @throws QueuesUnavailable when it cannot go on so
   */
  runHere<Name extends JobName>(name: Name, data: JobData<Name>): Promise<boolean>
  /** Another stand-in for the queues, for one that derives what is due. It begins nothing once the process is about to end. */
  standIn(): StandIn
  /** Sets the schedulers to exactly these: missing ones are created, different ones changed, all others removed. @throws QueuesUnavailable */
  applySchedulers(wanted: readonly Scheduler[]): Promise<{ readonly made: number; readonly removed: number }>
  /**
   * Ends consuming finally, in two stages: no more jobs are taken and running ones get `timeoutMs`; then their signals are aborted. Enqueueing
   * still works. Never rejects.
   */
  drain(timeoutMs: number): Promise<DrainResult>
  /** Drains with no time at all what was not drained, and disconnects. Never rejects. */
  close(): Promise<void>
  /** Is work being consumed? Uses no network. */
  liveness(nowMs: number): ConsumptionVerdict
  /** Does the store answer? Never rejects, never takes longer than `timeoutMs`. */
  check(timeoutMs: number): Promise<BackendCheck>
  /** Jobs by queue and state. @throws QueuesUnavailable */
  counts(): Promise<Readonly<Record<QueueName, Readonly<Record<string, number>>>>>
  /** Updates the gauges of the queues, before metrics are read. Never rejects. */
  refreshMetrics(): Promise<void>
  /** For bull-board; empty until `opened`. */
  queues(): readonly Queue[]
}

/** Creates the runtime of the queues. Does not connect before `start`. */
export const createQueueRuntime = (options: QueueRuntimeOptions): QueueRuntime => {
  const { backend, log, metrics, laneOf = () => 0, sellerOf = async () => null, isOutage = () => false } = options
  const times = { ...defaultTimes, ...options.times }
  const quiet = createQuietLog(log)
  const { operationTimeoutMs } = times
  const producer = createProducer({ backend, metrics, timeoutMs: operationTimeoutMs, failedRestMs: times.failedRestMs, laneOf })
  const schedulers = createSchedulers({ backend, timeoutMs: operationTimeoutMs })
  const runs = createRuns({ log, metrics, lockMs: times.lockMs, enqueue: producer.enqueue, isOutage })

  const consumers = new Map<QueueName, Consumer>()
  const lastTurnAtMs = new Map<QueueName, number>()
  const standIns: StandIn[] = []
  const opened = Promise.withResolvers<void>()
  const closing = new AbortController()
  let startedAtMs: number | null = null
  let isOpen = false
  let isDraining = false
  let lockWatch: NodeJS.Timeout | undefined
  let storeWatch: NodeJS.Timeout | undefined
  const stepOfClock = watchSteps(systemClock)
  const clockWatch = setInterval(() => watchClock(), clockWatchMs).unref()
  let draining: Promise<DrainResult> | undefined
  let closed: Promise<void> | undefined

  const onTurn = (queue: QueueName): void => {
    const now = Date.now()
    lastTurnAtMs.set(queue, now)
    metrics.queueLastTurn.set({ queue }, now / 1_000)
    if (backend.awaySinceMs() !== null) backend.report(true)
  }

  const onFailed = (queue: QueueName, job: Job<unknown, unknown, string> | undefined, error: Error): void => {
    // BullMQ emits every failed attempt; only the last one leaves the job failed.
    if (job !== undefined && job.finishedOn === undefined) return
    const seller = sellerField(runs.sellerOf(error))
    log.error(
      { queue, job: job?.name, job_id: job?.id, ...seller, attempts: job?.attemptsMade, err: error },
      'job failed finally',
    )
  }

  const sellerOfStored = async (queue: QueueName, jobId: string): Promise<string | null> => {
    const read = async (): Promise<string | null> => {
      const job = await backend.queue(queue).getJob(jobId)
      return job !== undefined && isJobName(job.name) ? sellerOf({ name: job.name, data: job.data }) : null
    }
    try {
      return await withDeadline(read(), operationTimeoutMs, 'reading whose job it is')
    } catch (error) {
      quiet.warn('recovered', { queue, job_id: jobId, err: asError(error) }, 'whose job was recovered could not be read')
      return null
    }
  }

  const onStalled = async (queue: QueueName, jobId: string): Promise<void> => {
    metrics.jobsStalled.inc({ queue })
    const seller = sellerField(await sellerOfStored(queue, jobId))
    log.warn({ queue, job_id: jobId, ...seller }, 'job recovered from a worker that no longer answers')
  }

  const consume = async (): Promise<void> => {
    if (isDraining) return
    for (const [queue, concurrency] of runs.queues()) {
      const consumer = backend.consumer({
        queue,
        concurrency,
        lockMs: times.lockMs,
        stalledIntervalMs: times.stalledIntervalMs,
        maxStalls,
        process: (job, token) => runs.process(queue, job, token),
        backoff: runs.nextAttemptMs,
        on: {
          turn: () => onTurn(queue),
          fault: (error) => backend.fault(error),
          failed: (job, error) => onFailed(queue, job, error),
          stalled: (jobId) => void onStalled(queue, jobId),
          locksRenewed: (jobIds) => runs.locksRenewed(queue, jobIds),
          locksLost: (jobIds) => runs.locksLost(queue, jobIds),
        },
      })
      consumers.set(queue, consumer)
    }
    const made = [...consumers.values()]
    try {
      await withDeadline(Promise.all(made.map((consumer) => consumer.ready())), operationTimeoutMs, 'connecting the consumers')
    } catch (error) {
      consumers.clear()
      await endsWithin(settle(made.map((consumer) => consumer.close(true))), operationTimeoutMs)
      throw error
    }
    // Drained while we connected: nothing was taken yet.
    if (isDraining) return settle(made.map((consumer) => consumer.close(true)))
    for (const consumer of made) consumer.start()
    lockWatch = setInterval(runs.watchLocks, times.lockMs / 4)
  }

  const open = async (): Promise<boolean> => {
    try {
      await backend.open()
      if (closing.signal.aborted) return true
      await consume()
    } catch (error) {
      backend.fault(error)
      return false
    }
    isOpen = true
    log.info({ queues: backend.kind, consuming: [...consumers.keys()] }, 'queues connected')
    opened.resolve()
    return true
  }

  const keepOpening = async (): Promise<void> => {
    for (let pauseMs = 250; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, longestOpenPauseMs)) {
      await pause(pauseMs * (0.75 + Math.random() / 4), closing.signal)
      if (closing.signal.aborted || (await open())) return
    }
  }

  const drain = async (timeoutMs: number): Promise<DrainResult> => {
    isDraining = true
    await settle([...consumers.values()].map((consumer) => consumer.pause()))
    const endedInTime = await endsWithin(runs.idle(), timeoutMs)
    const aborted = endedInTime ? 0 : runs.running().length
    if (!endedInTime) runs.stopHard()
    const ended = endedInTime || (await endsWithin(runs.idle(), times.abortGraceMs))
    const abandoned = ended ? [] : runs.running()
    // The results of the handlers must still reach the store; if it is unavailable, waiting has no use.
    const settling = settle([...consumers.values()].map((consumer) => consumer.close(!ended)))
    if (!(await endsWithin(settling, operationTimeoutMs)))
      quiet.warn('drain', {}, 'the store of the queues did not confirm the end of all jobs')
    clearInterval(lockWatch)
    if (aborted > 0) log.warn({ aborted, abandoned }, 'jobs were stopped before their end')
    return { clean: endedInTime, aborted, abandoned }
  }
  const drainOnce = (timeoutMs: number): Promise<DrainResult> => {
    draining ??= drain(timeoutMs)
    return draining
  }

  // Faults during a stop are logged, never thrown: the stop continues in any case.
  const settle = async (work: readonly Promise<unknown>[]): Promise<void> => {
    for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') backend.fault(result.reason)
  }

  // Jobs delayed by the former clock would wait for that much longer. Handlers that run too early postpone themselves again.
  const promoteAll = async (setBackMs: number): Promise<void> => {
    log.warn({ set_back_ms: Math.round(setBackMs) }, 'the clock was set back: delayed jobs are rescheduled')
    if (isOpen) await settle(queueNames.map((name) => backend.queue(name).promoteJobs()))
  }

  /** What takes no jobs may not look like what is away; then it is not consumed from either. */
  const standingInSinceMs = (nowMs: number): number | null =>
    standIns.map((standIn) => standIn.takenAtMs()).find((atMs) => atMs !== null && nowMs - atMs < times.stuckAfterMs) ?? null

  const watchClock = (): void => {
    const stepMs = stepOfClock()
    if (stepMs < 0) void promoteAll(-stepMs)
  }

  const counts = async () => {
    const counted = queueNames.map(async (name) => {
      const {
        prioritized = 0,
        waiting = 0,
        ...others
      } = await backend.queue(name).getJobCounts('waiting', 'prioritized', 'active', 'delayed', 'failed')
      // BullMQ counts those of later lanes apart.
      return [name, { waiting: waiting + prioritized, ...others }] as const
    })
    const found = new Map(await withDeadline(Promise.all(counted), operationTimeoutMs, 'counting jobs'))
    const of = (name: QueueName): Readonly<Record<string, number>> => found.get(name) ?? {}
    return {
      sync: of('sync'),
      commands: of('commands'),
      events: of('events'),
      webhooks: of('webhooks'),
      housekeeping: of('housekeeping'),
    }
  }

  return {
    register: (name, handler, jobOptions) => runs.register(name, handler, jobOptions),
    start: async () => {
      startedAtMs = Date.now()
      // One that is full, or silent over connections that stand, is known by being asked only.
      storeWatch = setInterval(() => void backend.check(operationTimeoutMs), times.stuckAfterMs / 4).unref()
      if (await open()) return
      // Runs until it is open or closed; it handles its own faults.
      void keepOpening()
    },
    opened: opened.promise,
    enqueue: (name, data, enqueueOptions = {}) => producer.enqueue({ name, data, ...enqueueOptions }),
    enqueueMany: (jobs) => producer.enqueueMany(jobs),
    runHere: async (name, data) => {
      if (isDraining || startedAtMs === null) return false
      const { againInMs } = await runs.processHere(name, data)
      if (againInMs !== null) await producer.enqueueMany([{ name, data, delayMs: againInMs }])
      return true
    },
    standIn: () => {
      const standIn = createStandIn({
        queues: runs.queues,
        run: async ({ name, data }, failedAttempts) =>
          isDraining ? { againInMs: null, failed: false } : await runs.processHere(name, data, failedAttempts),
        onFault: (error) => quiet.error('stand-in', { err: error }, 'a job could not be run without its queue'),
      })
      standIns.push(standIn)
      return standIn
    },
    applySchedulers: schedulers.apply,
    drain: drainOnce,
    close: () => {
      closed ??= (async () => {
        closing.abort()
        clearInterval(clockWatch)
        clearInterval(storeWatch)
        await drainOnce(0)
        await settle([withDeadline(backend.close(), operationTimeoutMs, 'disconnecting the queues')])
      })()
      return closed
    },
    liveness: (nowMs) =>
      evaluateConsumption({
        nowMs,
        startedAtMs,
        resting: isDraining,
        storeAwaySinceMs: isOpen ? (backend.awaySinceMs() ?? standingInSinceMs(nowMs)) : startedAtMs,
        marks: [...runs.queues()].map(([queue, concurrency]) => ({
          queue,
          concurrency,
          lastTurnAtMs: lastTurnAtMs.get(queue) ?? null,
          lastProgressAtMs: runs.lastProgressAtMs(queue),
          active: runs.active(queue),
        })),
        bootGraceMs: times.bootGraceMs,
        stuckAfterMs: times.stuckAfterMs,
      }),
    check: (timeoutMs) => backend.check(timeoutMs),
    counts,
    refreshMetrics: async () => {
      const up = (value: number) => metrics.queueBackendUp.set({ backend: backend.kind }, value)
      try {
        for (const [queue, states] of Object.entries(await counts())) {
          for (const [state, count] of Object.entries(states)) metrics.queueJobs.set({ queue, state }, count)
        }
        up(1)
      } catch (error) {
        backend.fault(asError(error))
        // Old counts would be misleading.
        metrics.queueJobs.reset()
        up(0)
      }
    },
    queues: () => (isOpen ? queueNames.map((name) => backend.queue(name)) : []),
  }
}

const endsWithin = async (work: Promise<unknown>, timeoutMs: number): Promise<boolean> => {
  const over = new AbortController()
  const ended = work.then(() => true)
  const late = pause(timeoutMs, over.signal).then(() => false)
  const result = await Promise.race([ended, late])
  over.abort()
  return result
}
