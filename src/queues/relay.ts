import { createQuietLog, type Logger } from '../observability/log.ts'
import { isConnectionError } from './errors.ts'
import type { JobToEnqueue } from './jobs.ts'
import type { QueueRuntime } from './runtime.ts'

/** What the relay counts. */
interface RelayMetrics {
  readonly relayRuns: { inc(labels: { readonly outcome: 'done' | 'failed' }): void }
  readonly relayLastSuccess: { setToCurrentTime(): void }
}

/** Parts and settings of the relay. */
export interface RelayOptions {
  /** Every job that is due, derived from Postgres only. May be called at any time; reads only. */
  readonly derive: () => Promise<readonly JobToEnqueue[]>
  /** Called with each derivation: keeps the schedulers of the queues correct. */
  readonly keepSchedulers?: () => Promise<void>
  /** Maximum time between two derivations, in milliseconds. */
  readonly intervalMs: number
  /** Triggers within this time result in one derivation, in milliseconds. */
  readonly gatherMs?: number
  readonly runtime: Pick<QueueRuntime, 'enqueueMany'>
  readonly log: Logger
  readonly metrics: RelayMetrics
}

/** Keeps the queues consistent with Postgres. */
export interface Relay {
  /** Derives now, then at least every `intervalMs`. */
  start(): void
  /** Something was committed that may be due: derive soon. Cheap, never throws; several triggers result in one derivation. */
  trigger(): void
  /** Ends when the current derivation has ended. */
  stop(): Promise<void>
}

const defaultGatherMs = 20
const firstPauseMs = 500
/** A derivation that takes longer than this multiple of `gatherMs` is slow … */
const slowFactor = 10
/** … and is followed by a pause of this multiple of its duration: derivations use at most a fifth of a core, however often they are triggered. */
const slowPauseFactor = 4

/**
 * Postgres is the source of truth, the queues only trigger work. The relay derives every due job from Postgres at the start, after triggers and at
 * intervals, and enqueues it; a job that is already in its queue is not changed. When Postgres or the queues do not answer, it waits with a back-off,
 * up to the interval.
 */
export const createRelay = ({
  derive,
  keepSchedulers,
  intervalMs,
  gatherMs = defaultGatherMs,
  runtime,
  log,
  metrics,
}: RelayOptions): Relay => {
  const quiet = createQuietLog(log)
  let running: Promise<void> | undefined
  let stopping = false
  let triggered = false
  let failuresInARow = 0
  let tookMs = 0
  let wake: (() => void) | undefined

  const trigger = (): void => {
    if (triggered) return
    triggered = true
    if (failuresInARow === 0) wake?.()
  }

  const deriveOnce = async (): Promise<void> => {
    // Cleared first: a commit during the derivation requires another one.
    triggered = false
    try {
      const startedMs = performance.now()
      const due = await derive()
      tookMs = performance.now() - startedMs
      if (due.length > 0) await runtime.enqueueMany(due)
      await keepSchedulers?.()
      failuresInARow = 0
      metrics.relayRuns.inc({ outcome: 'done' })
      metrics.relayLastSuccess.setToCurrentTime()
      quiet.recovered('relay', 'the relay works again')
    } catch (error) {
      failuresInARow += 1
      metrics.relayRuns.inc({ outcome: 'failed' })
      const unavailable = isConnectionError(error)
      quiet.error(
        'relay',
        { err: error },
        unavailable ? 'the relay cannot reach Postgres or the queues; it will retry' : 'the relay failed; it will retry',
      )
    }
  }

  const pauseMs = (): number => {
    if (failuresInARow === 0) {
      if (!triggered) return intervalMs
      return tookMs > slowFactor * gatherMs ? Math.min(slowPauseFactor * tookMs, intervalMs) : gatherMs
    }
    // A trigger does not shorten this back-off.
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
      await deriveOnce()
      if (!stopping) await waitForNext()
    }
  }

  return {
    start: () => {
      running ??= loop()
    },
    trigger,
    stop: async () => {
      stopping = true
      wake?.()
      await running
    },
  }
}
