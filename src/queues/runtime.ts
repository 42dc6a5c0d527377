import type { Queue } from 'bullmq'
import { createQuietLog, type Logger } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { systemClock, watchSteps } from '../util/clock.ts'
import { pause } from '../util/sleep.ts'
import type { BackendCheck, QueueBackend } from './backend/backend-interface.ts'
import { Consumption, type DrainResult, settleAll } from './consumption.ts'
import { asError, withDeadline } from './errors.ts'
import { type JobHandler, type JobOptions, JobRunner } from './job-runner.ts'
import {
  type EnqueueOptions,
  inboundQueue,
  type JobData,
  type JobName,
  type JobToEnqueue,
  type PlainJob,
  queueNames,
  type ShownQueue,
  shownQueues,
} from './jobs.ts'
import { type ConsumptionVerdict, evaluateConsumption } from './liveness.ts'
import { createProducer, type EnqueueResult } from './producer.ts'
import { type AppliedSchedulers, createSchedulers, type Scheduler } from './schedulers.ts'

export type { DrainResult } from './consumption.ts'
export type { JobHandler, JobOptions } from './job-runner.ts'

/** Times of the runtime, in milliseconds. Tests shorten them. */
export interface RuntimeTimes {
  /** Without a renewal of its lock for this time a job is recovered from its worker. */
  readonly lockMs: number
  /** Interval of the search for stalled jobs. */
  readonly stalledIntervalMs: number
  /** Timeout of an operation of the store. */
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
const maxOpenPauseMs = 5_000
/** Interval of checking the machine's clock. */
const clockWatchMs = 1_000

/** Parts and settings of the runtime. */
export interface QueueRuntimeOptions {
  readonly backend: QueueBackend
  readonly log: Logger
  readonly metrics: Metrics
  readonly times?: Partial<RuntimeTimes>
  /** The lane of a job within its queue, a whole number: a job starts only when no job of a lower lane is ready. Default: 0, first in, first out. */
  readonly findLane?: (job: PlainJob) => number
  /** The seller of a job, for log lines before it runs; null: no single seller. Default: null. */
  readonly findSeller?: (job: PlainJob) => Promise<string | null>
  /** Whether the error is an outage of a service that every job needs: it is not counted as an attempt, and the job is retried soon. Default: never. */
  readonly isOutage?: (error: Error) => boolean
}

/** Number of jobs by queue and state. */
export type JobCounts = Readonly<Record<ShownQueue, Readonly<Record<string, number>>>>

/** Interface of the queues for the rest of the program. */
export interface QueueRuntime {
  /** Registers the handler of a job; before `start`. @throws Error when the name already has a handler */
  register<Name extends JobName>(name: Name, handler: JobHandler<Name>, options?: JobOptions): void
  /**
   * Connects, and consumes the queues that have handlers. Resolves when connected, or after the first failed attempt, which is logged; attempts
   * continue in the background. Never rejects.
   *
   * @param onClockSetBack called whenever the machine's clock was set back: the schedulers computed their next times with the former clock
   */
  start(onClockSetBack?: () => void): Promise<void>
  /** Resolves when the queues are connected for the first time. */
  readonly opened: Promise<void>
  /** @throws QueuesUnavailable when the store does not answer; the relay derives the job again */
  enqueue<Name extends JobName>(name: Name, data: JobData<Name>, options?: EnqueueOptions): Promise<EnqueueResult>
  /** Enqueues many, in few round trips; returns how many were delivered (including those that exist already). @throws QueuesUnavailable */
  enqueueMany(jobs: readonly JobToEnqueue[]): Promise<number>
  /**
   * Sets the schedulers to these: creates missing ones, changes different ones, and removes others if `mayRemove` of their data is true
   * (default: always). @throws QueuesUnavailable
   */
  applySchedulers(wanted: readonly Scheduler[], mayRemove?: (data: unknown) => boolean): Promise<AppliedSchedulers>
  /** Number of schedulers in the queues. @throws QueuesUnavailable */
  countSchedulers(): Promise<number>
  /**
   * Ends consuming finally, in two stages: no more jobs are taken and running ones get `timeoutMs`; then their signals are aborted. Enqueueing
   * still works. Never rejects.
   */
  drain(timeoutMs: number): Promise<DrainResult>
  /** Drains without a grace period if it was not drained yet, and disconnects. Never rejects. */
  close(): Promise<void>
  /** Is work being consumed? Uses no network. */
  liveness(nowMs: number): ConsumptionVerdict
  /** Does the store answer? Never rejects, never takes longer than `timeoutMs`. */
  check(timeoutMs: number): Promise<BackendCheck>
  /** Jobs by queue and state. @throws QueuesUnavailable */
  counts(): Promise<JobCounts>
  /** Updates the gauges of the queues, before metrics are read. Never rejects. */
  refreshMetrics(): Promise<void>
  /** For bull-board; empty until `opened`. */
  queues(): readonly Queue[]
}

/** Creates the runtime of the queues. Does not connect before `start`. */
export const createQueueRuntime = (options: QueueRuntimeOptions): QueueRuntime => {
  const { backend, log, metrics, findLane = () => 0, findSeller = async () => null, isOutage = () => false } = options
  const times = { ...defaultTimes, ...options.times }
  const { operationTimeoutMs } = times
  const producer = createProducer({ backend, metrics, timeoutMs: operationTimeoutMs, failedRestMs: times.failedRestMs, findLane })
  const schedulers = createSchedulers({ backend, timeoutMs: operationTimeoutMs })
  const runner = new JobRunner({ log, metrics, lockMs: times.lockMs, isOutage })
  const consumption = new Consumption({ backend, runner, times, log, quiet: createQuietLog(log), metrics, findSeller })

  const opened = Promise.withResolvers<void>()
  const closing = new AbortController()
  let startedAtMs: number | null = null
  let isOpen = false
  let storeWatch: NodeJS.Timeout | undefined
  let clockWatch: NodeJS.Timeout | undefined
  let closed: Promise<void> | undefined

  const open = async (): Promise<boolean> => {
    try {
      await backend.open()
      if (closing.signal.aborted) return true
      await consumption.start()
    } catch (error) {
      backend.reportError(error)
      return false
    }
    isOpen = true
    log.info({ queues: backend.kind, consuming: consumption.queues() }, 'queues connected')
    opened.resolve()
    return true
  }

  const keepOpening = async (): Promise<void> => {
    for (let pauseMs = 250; !closing.signal.aborted; pauseMs = Math.min(pauseMs * 2, maxOpenPauseMs)) {
      await pause(pauseMs * (0.75 + Math.random() / 4), closing.signal)
      if (closing.signal.aborted || (await open())) return
    }
  }

  /** Jobs delayed by the former clock would wait for that much longer. Handlers that run too early postpone themselves again. */
  const promoteDelayed = (): void => {
    if (!isOpen) return
    void settleAll(
      backend,
      queueNames.map((name) => backend.queue(name).promoteJobs()),
    )
  }

  const close = async (): Promise<void> => {
    closing.abort()
    clearInterval(clockWatch)
    clearInterval(storeWatch)
    await consumption.drain(0)
    await settleAll(backend, [withDeadline(backend.close(), operationTimeoutMs, 'disconnecting the queues')])
  }

  const counts = (): Promise<JobCounts> => withDeadline(countJobs(backend), operationTimeoutMs, 'counting jobs')

  return {
    register: (name, handler, jobOptions) => runner.register(name, handler, jobOptions),
    start: async (onClockSetBack = () => undefined) => {
      startedAtMs = Date.now()
      clockWatch = watchClock(log, () => {
        promoteDelayed()
        onClockSetBack()
      })
      // A store that is full, or silent on open connections, is only noticed by a check.
      storeWatch = setInterval(() => void backend.check(operationTimeoutMs), times.stuckAfterMs / 4).unref()
      if (await open()) return
      // Runs until it is open or closed; it handles its own errors.
      void keepOpening()
    },
    opened: opened.promise,
    enqueue: (name, data, enqueueOptions = {}) => producer.enqueue({ name, data, ...enqueueOptions }),
    enqueueMany: (jobs) => producer.enqueueMany(jobs),
    applySchedulers: schedulers.apply,
    countSchedulers: schedulers.count,
    drain: (timeoutMs) => consumption.drain(timeoutMs),
    close: () => {
      closed ??= close()
      return closed
    },
    liveness: (nowMs) =>
      evaluateConsumption({
        nowMs,
        startedAtMs,
        isDraining: consumption.isDraining,
        storeUnavailableSinceMs: isOpen ? backend.unavailableSinceMs() : startedAtMs,
        marks: consumption.marks(),
        bootGraceMs: times.bootGraceMs,
        stuckAfterMs: times.stuckAfterMs,
      }),
    check: (timeoutMs) => backend.check(timeoutMs),
    counts,
    refreshMetrics: async () => {
      const setUp = (value: number) => metrics.queueBackendUp.set({ backend: backend.kind }, value)
      try {
        for (const [queue, states] of Object.entries(await counts())) {
          for (const [state, count] of Object.entries(states)) metrics.queueJobs.set({ queue, state }, count)
        }
        setUp(1)
      } catch (error) {
        backend.reportError(asError(error))
        // Old counts would be misleading.
        metrics.queueJobs.reset()
        setUp(0)
      }
    },
    queues: () => (isOpen ? shownQueues.map((name) => backend.queue(name)) : []),
  }
}

/** Logs changes of the machine's clock. Returns the timer of the watch. */
const watchClock = (log: Logger, onSetBack: () => void): NodeJS.Timeout => {
  const readStepMs = watchSteps(systemClock)
  return setInterval(() => {
    const stepMs = readStepMs()
    if (stepMs > 0) log.info({ set_on_ms: Math.round(stepMs) }, 'the clock was set forward')
    if (stepMs >= 0) return
    log.warn({ set_back_ms: Math.round(-stepMs) }, 'the clock was set back: delayed jobs are rescheduled')
    onSetBack()
  }, clockWatchMs).unref()
}

const countJobs = async (backend: QueueBackend): Promise<JobCounts> => {
  const count = async (name: ShownQueue): Promise<Readonly<Record<string, number>>> => {
    const states = ['waiting', 'prioritized', 'active', 'delayed', 'failed'] as const
    // BullMQ counts waiting jobs with a priority separately.
    const { prioritized = 0, waiting = 0, ...others } = await backend.queue(name).getJobCounts(...states)
    return { waiting: waiting + prioritized, ...others }
  }
  const [polls, backfills, commands, events, webhooks, maintenance, inbound] = await Promise.all([
    count('polls'),
    count('backfills'),
    count('commands'),
    count('events'),
    count('webhooks'),
    count('maintenance'),
    count(inboundQueue),
  ])
  return { polls, backfills, commands, events, webhooks, maintenance, [inboundQueue]: inbound }
}
