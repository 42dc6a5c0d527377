import { createQuietLog, type Logger } from '../observability/log.ts'
import { isConnectionFault } from './faults.ts'
import { type JobToEnqueue, jobIdOf } from './jobs.ts'
import type { QueueRuntime } from './runtime.ts'
import type { Scheduler } from './schedulers.ts'
import type { StandIn } from './stand-in.ts'

/** What the relay counts. */
interface RelayMetrics {
  readonly relayRuns: { inc(labels: { readonly outcome: 'done' | 'failed' }): void }
  readonly relayLastSuccess: { setToCurrentTime(): void }
}

/** Parts and settings of the relay. */
export interface RelayOptions {
  /** Every job that is due, derived from Postgres only. May be called at any time; reads only. */
  readonly derive: () => Promise<readonly JobToEnqueue[]>
  /** The schedulers that should exist; those lost in a flush are created again, obsolete ones removed. */
  readonly schedulers?: () => readonly Scheduler[]
  /** Longest time between two derivations, in milliseconds. */
  readonly intervalMs: number
  /** Nudges within this time result in one derivation, in milliseconds. */
  readonly gatherMs?: number
  readonly runtime: Pick<QueueRuntime, 'enqueueMany' | 'applySchedulers' | 'check'>
  /** Takes what the queues do not; without one it waits for them. */
  readonly standIn?: StandIn
  readonly log: Logger
  readonly metrics: RelayMetrics
}

/** Keeps the queues consistent with Postgres. */
export interface Relay {
  /** Derives at once, then at least every `intervalMs`. */
  start(): void
  /** Something was committed that may be due: derive soon. Cheap, never throws; several nudges result in one derivation. */
  nudge(): void
  /** Ends when the current derivation has ended. */
  stop(): Promise<void>
}

const defaultGatherMs = 20
const firstPauseMs = 500
/** Several processes that stand in for the queues divide the work by who looks first: they look often. */
const standInIntervalMs = 1_000
/** So long the queues have to say that they take jobs again. */
const checkTimeoutMs = 2_000
/** A derivation that took so many times as long as nudges are gathered is a slow one … */
const slowFrom = 10
/** … and is followed by a rest of so many times what it took: it is no more than a fifth of a core, however often there is something to derive. */
const restOfSlow = 4

/**
 * Postgres is the source of truth, the queues only trigger work: the relay derives every due job from Postgres at the start, after nudges and
 * at intervals, and enqueues it; a job that is already in its queue is not changed. What the queues do not take is run by a stand-in, and derived
 * again. When Postgres does not answer, or there is no stand-in, it waits with a back-off, up to the interval.
 */
export const createRelay = ({
  derive,
  schedulers,
  intervalMs,
  gatherMs = defaultGatherMs,
  runtime,
  standIn,
  log,
  metrics,
}: RelayOptions): Relay => {
  const quiet = createQuietLog(log)
  let running: Promise<void> | undefined
  let stopping = false
  let nudged = false
  let failuresInARow = 0
  let standsIn = false
  let checking = false
  let tookMs = 0
  let scheduledAtMs = Number.NEGATIVE_INFINITY
  /** When the stand-in got the job of a scheduler last, by its id. */
  const stoodInAtMs = new Map<string, number>()
  let wake: (() => void) | undefined

  // They change seldom: not with each nudge.
  const schedule = async (): Promise<void> => {
    if (schedulers === undefined || performance.now() - scheduledAtMs < intervalMs / 2) return
    await runtime.applySchedulers(schedulers())
    scheduledAtMs = performance.now()
  }

  /** Jobs of schedulers that the queues do not bring now, each at its interval. */
  const dueByClock = (): readonly JobToEnqueue[] => {
    const nowMs = performance.now()
    return (schedulers?.() ?? []).flatMap(({ job, everyMs }) => {
      const jobId = jobIdOf(job.name, job.data)
      if (nowMs - (stoodInAtMs.get(jobId) ?? Number.NEGATIVE_INFINITY) < everyMs) return []
      stoodInAtMs.set(jobId, nowMs)
      return [job]
    })
  }

  const nudge = (): void => {
    if (nudged) return
    nudged = true
    if (failuresInARow === 0) wake?.()
  }

  /** Ends the standing in once the queues say that they take jobs. Nothing waits for them meanwhile: they may be silent for long. */
  const check = async (): Promise<void> => {
    if (checking) return
    checking = true
    const { ok } = await runtime.check(checkTimeoutMs)
    checking = false
    if (!ok || stopping) return
    standsIn = false
    standIn?.stop()
    scheduledAtMs = Number.NEGATIVE_INFINITY
    nudge()
  }

  /** To the queues; what they do not take is run here, where there is a stand-in. */
  const deliver = async (due: readonly JobToEnqueue[]): Promise<void> => {
    try {
      if (due.length > 0) await runtime.enqueueMany(due)
      await schedule()
    } catch (error) {
      if (standIn === undefined) throw error
      standsIn = true
      standIn.take(due, dueByClock())
      quiet.error('relay', { err: error }, 'the queues do not take what is due: this process runs it without them')
    }
  }

  const once = async (): Promise<void> => {
    // Cleared first: a commit during the derivation requires another one.
    nudged = false
    try {
      const startedMs = performance.now()
      const due = await derive()
      tookMs = performance.now() - startedMs
      if (standsIn) {
        standIn?.take(due, dueByClock())
        void check()
      } else {
        await deliver(due)
      }
      failuresInARow = 0
      metrics.relayRuns.inc({ outcome: standsIn ? 'failed' : 'done' })
      if (standsIn) return
      metrics.relayLastSuccess.setToCurrentTime()
      quiet.recovered('relay', 'the relay works again')
    } catch (error) {
      failuresInARow += 1
      metrics.relayRuns.inc({ outcome: 'failed' })
      const away = isConnectionFault(error)
      quiet.error(
        'relay',
        { err: error },
        away ? 'the relay cannot reach Postgres or the queues; it will retry' : 'the relay failed; it will retry',
      )
    }
  }

  const pauseMs = (): number => {
    if (failuresInARow === 0) {
      if (!nudged) return standsIn ? Math.min(standInIntervalMs, intervalMs) : intervalMs
      return tookMs > slowFrom * gatherMs ? Math.min(restOfSlow * tookMs, intervalMs) : gatherMs
    }
    // A nudge does not shorten this back-off.
    return Math.min(firstPauseMs * 2 ** (failuresInARow - 1), intervalMs) * (0.75 + Math.random() / 4)
  }

  const waitForNext = (): Promise<void> =>
    new Promise((resolve) => {
      let timer: NodeJS.Timeout
      const arm = (milliseconds: number): void => {
        timer = setTimeout(() => {
          wake = undefined
          resolve()
        }, milliseconds)
      }
      arm(pauseMs())
      wake = () => {
        clearTimeout(timer)
        arm(stopping ? 0 : pauseMs())
      }
    })

  const loop = async (): Promise<void> => {
    while (!stopping) {
      await once()
      if (!stopping) await waitForNext()
    }
  }

  return {
    start: () => {
      running ??= loop()
    },
    nudge,
    stop: async () => {
      stopping = true
      wake?.()
      await running
      standIn?.stop()
    },
  }
}
