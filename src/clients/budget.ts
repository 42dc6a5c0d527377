import { systemClock, watchSteps } from '../clock.ts'
import type { Operation, RateLimit, RateLimits } from './operation.ts'

/** Leave to send one request. */
export interface Grant {
  readonly granted: true
}

/** No leave yet: ask again at `availableAt` (our own clock). Nothing is reserved meanwhile. */
export interface Wait {
  readonly granted: false
  readonly availableAt: Date
}

/** What one answer says about the marketplace's own budget. Times are on our own clock. */
export interface BudgetSignal {
  readonly status: number
  readonly remaining: number | null
  readonly replenishAt: Date | null
  readonly retryAfter: Date | null
}

/** State of one bucket, for metrics and the console. */
export interface BudgetState {
  readonly sellerId: string
  readonly operation: string
  /** Which share of the operation, where each has a limit of its own: a month, for a report of months. */
  readonly scope: string | null
  /** Requests that could be sent at this moment. */
  readonly available: number
  /** Requests a minute that the bucket lets through in the long run, as learned so far. */
  readonly perMinute: number
  /** Set while the marketplace has asked us to wait. */
  readonly blockedUntil: Date | null
}

/**
 * The rate budget of all sellers: one bucket for each (seller, operation, scope), so that no bucket waits for another.
 * `take` never sleeps; it answers with a grant or with the moment to ask again.
 */
export interface RateBudget {
  take(sellerId: string, operation: Operation, scope?: string): Promise<Grant | Wait>
  learn(sellerId: string, operation: Operation, signal: BudgetSignal, scope?: string): Promise<void>
  snapshot(): readonly BudgetState[]
}

/**
 * What an in-process budget needs. `now` is our own clock in epoch ms, `monotonicMs` one that nobody sets, in ms from any moment (the same as
 * `now` where that is given alone); `random` a number in [0, 1).
 */
export interface InProcessBudgetOptions {
  /** Limits that hold in place of the operations' own. */
  readonly limits?: RateLimits
  readonly now?: () => number
  readonly monotonicMs?: () => number
  readonly random?: () => number
}

/**
 * A token bucket as one number: the theoretical arrival time (GCRA). It holds at most `burst` requests and lets one more through
 * every `intervalMs`; burst and interval are chosen so that even a full burst followed by the steady rate never exceeds the limit in
 * any window, and at most a tenth of the rate is given up for it.
 */
export interface BucketShape {
  readonly burst: number
  readonly intervalMs: number
}

/** What a bucket remembers. Times are epoch ms of our own clock. */
export interface BucketMemory {
  /** When the bucket would be full again but for one request. */
  readonly arrivalMs: number
  /** Share of the published rate that is used, learned: 1 at most. */
  readonly rate: number
  readonly blockedUntilMs: number
  /** 429s without a hint in a row. */
  readonly strikes: number
  readonly slowedAtMs: number
  /** The last moment that was named to somebody who had to wait. */
  readonly promisedMs: number
}

const BURST_SHARE = 0.1
/** Slowest rate that is learned, as a share of the published one. */
const MIN_RATE = 1 / 32
/** Additive increase: after so many answers without a 429 the full rate is back. */
const RATE_STEP = 1 / 50
/** Multiplicative decrease on a 429 that says nothing, and on one that says when to come back. */
const DECREASE_UNTOLD = 0.5
const DECREASE_TOLD = 0.8
const FIRST_BACKOFF_MS = 2_000
const MAX_BACKOFF_MS = 60_000

/** The bucket for a limit. */
export function bucketShape(limit: RateLimit): BucketShape {
  const burst = Math.max(1, Math.floor(limit.tokens * BURST_SHARE))
  return { burst, intervalMs: limit.perMs / (limit.tokens + 1 - burst) }
}

/** Limits in which one operation has a share of its limit, at least one request. */
export function shareOf(limits: RateLimits, operation: Operation, share: number): RateLimits {
  const { tokens, perMs } = limits[operation.name] ?? operation.limit
  return { ...limits, [operation.name]: { tokens: Math.max(1, Math.floor(tokens * share)), perMs } }
}

/** A full bucket. */
export const FULL_BUCKET: BucketMemory = { arrivalMs: 0, rate: 1, blockedUntilMs: 0, strikes: 0, slowedAtMs: 0, promisedMs: 0 }

/**
 * Intervals are rounded up to 1/1024 ms: sums of such numbers with an epoch in ms are exact in a double, so no rounding error ever
 * lets one request too many through.
 */
function roundUp(ms: number): number {
  return Math.ceil(ms * 1024) / 1024
}

function intervalOf(shape: BucketShape, memory: BucketMemory): number {
  return roundUp(shape.intervalMs / memory.rate)
}

function allowedAtMs(shape: BucketShape, memory: BucketMemory): number {
  const full = memory.arrivalMs - (shape.burst - 1) * intervalOf(shape, memory)
  return Math.ceil(Math.max(full, memory.blockedUntilMs))
}

/** Requests that the bucket would let through at `nowMs`. */
function availableAt(shape: BucketShape, memory: BucketMemory, nowMs: number): number {
  const interval = intervalOf(shape, memory)
  if (nowMs < allowedAtMs(shape, memory)) return 0
  return Math.min(shape.burst, Math.floor((nowMs - memory.arrivalMs) / interval + shape.burst))
}

/**
 * Takes one request out of the bucket, or says when to come back. Callers that have to wait get different moments, one interval
 * apart, so that they neither come back all at once nor starve one another; the list is not longer than `spreadMs`.
 */
export function takeFrom(
  shape: BucketShape,
  memory: BucketMemory,
  nowMs: number,
  spreadMs: number,
): { readonly memory: BucketMemory; readonly waitUntilMs: number | null } {
  const interval = intervalOf(shape, memory)
  const allowed = allowedAtMs(shape, memory)
  if (nowMs >= allowed) {
    return { memory: { ...memory, arrivalMs: Math.max(memory.arrivalMs, nowMs) + interval }, waitUntilMs: null }
  }
  const next = memory.promisedMs < allowed ? allowed : Math.ceil(memory.promisedMs + interval)
  const waitUntilMs = next > allowed + spreadMs ? allowed : next
  return { memory: { ...memory, promisedMs: waitUntilMs }, waitUntilMs }
}

/** Leaves at most `count` requests in the bucket at `atMs`; never adds any. */
function leaveAtMost(shape: BucketShape, memory: BucketMemory, count: number, atMs: number): number {
  return Math.max(memory.arrivalMs, atMs + (shape.burst - count) * intervalOf(shape, memory))
}

/** What one answer changes. Hints block until the moment they name; without one the wait doubles with each 429 in a row. */
export function learnFrom(
  shape: BucketShape,
  memory: BucketMemory,
  signal: BudgetSignal,
  nowMs: number,
  random: number,
): BucketMemory {
  const told = (signal.retryAfter ?? signal.replenishAt)?.getTime() ?? null
  const interval = intervalOf(shape, memory)
  if (signal.status === 429) {
    // Answers to requests that were sent together count as one signal, not as several.
    const fresh = nowMs >= memory.slowedAtMs + Math.min(interval, FIRST_BACKOFF_MS)
    const strikes = told === null && fresh ? memory.strikes + 1 : memory.strikes
    const backoffMs = Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, strikes - 1), MAX_BACKOFF_MS) * (1 + random / 4)
    const until = Math.max(memory.blockedUntilMs, told === null ? nowMs + backoffMs : Math.max(told, nowMs + interval))
    const rate = fresh ? Math.max(MIN_RATE, memory.rate * (told === null ? DECREASE_UNTOLD : DECREASE_TOLD)) : memory.rate
    const slowed = { ...memory, strikes, rate, blockedUntilMs: Math.ceil(until), slowedAtMs: fresh ? nowMs : memory.slowedAtMs }
    return { ...slowed, arrivalMs: leaveAtMost(shape, slowed, 1, until) }
  }
  const eased = signal.status < 500 ? { ...memory, strikes: 0, rate: Math.min(1, memory.rate + RATE_STEP) } : memory
  // A server fault may ask for a pause as well (503 with Retry-After).
  if (signal.retryAfter !== null) return { ...eased, blockedUntilMs: Math.max(eased.blockedUntilMs, signal.retryAfter.getTime()) }
  if (signal.remaining === null) return eased
  if (signal.remaining > 0) return { ...eased, arrivalMs: leaveAtMost(shape, eased, signal.remaining, nowMs) }
  const empty = signal.replenishAt?.getTime() ?? nowMs + interval
  return { ...eased, blockedUntilMs: Math.max(eased.blockedUntilMs, empty), arrivalMs: leaveAtMost(shape, eased, 1, empty) }
}

const shifted = (memory: BucketMemory, stepMs: number): BucketMemory => ({
  ...memory,
  arrivalMs: memory.arrivalMs + stepMs,
  blockedUntilMs: memory.blockedUntilMs + stepMs,
  slowedAtMs: memory.slowedAtMs + stepMs,
  promisedMs: memory.promisedMs + stepMs,
})

interface Bucket {
  readonly operation: Operation
  readonly scope: string | null
  memory: BucketMemory
}

/** A budget of this process alone: right for one daemon, too generous for two of the same seller. */
export function createInProcessBudget(options: InProcessBudgetOptions): RateBudget {
  const clock = options.now ?? systemClock.wallMs
  const monotonicMs = options.monotonicMs ?? options.now ?? systemClock.monotonicMs
  const random = options.random ?? Math.random
  const sellers = new Map<string, Map<string, Bucket>>()
  const limitOf = ({ name, limit }: Operation): RateLimit => options.limits?.[name] ?? limit
  const shapeOf = (operation: Operation): BucketShape => bucketShape(limitOf(operation))
  const bucketOf = (sellerId: string, operation: Operation, scope: string | null): Bucket => {
    const buckets = sellers.get(sellerId) ?? new Map<string, Bucket>()
    sellers.set(sellerId, buckets)
    const key = scope === null ? operation.name : `${operation.name} ${scope}`
    const bucket = buckets.get(key) ?? { operation, scope, memory: FULL_BUCKET }
    buckets.set(key, bucket)
    return bucket
  }
  const stepOfClock = watchSteps({ wallMs: clock, monotonicMs })
  // A clock that is set back by an hour must not empty the buckets for an hour: what they remember moves with it.
  const now = (): number => {
    const stepMs = stepOfClock()
    if (stepMs !== 0) {
      for (const buckets of sellers.values())
        for (const bucket of buckets.values()) bucket.memory = shifted(bucket.memory, stepMs)
    }
    return clock()
  }
  return {
    async take(sellerId, operation, scope) {
      const shape = shapeOf(operation)
      const bucket = bucketOf(sellerId, operation, scope ?? null)
      const spreadMs = operation.isShared ? 0 : limitOf(operation).perMs
      const nowMs = now()
      const { memory, waitUntilMs } = takeFrom(shape, bucket.memory, nowMs, spreadMs)
      bucket.memory = memory
      return waitUntilMs === null ? { granted: true } : { granted: false, availableAt: new Date(waitUntilMs) }
    },
    async learn(sellerId, operation, signal, scope) {
      const bucket = bucketOf(sellerId, operation, scope ?? null)
      const nowMs = now()
      bucket.memory = learnFrom(shapeOf(operation), bucket.memory, signal, nowMs, random())
    },
    snapshot() {
      const nowMs = now()
      return [...sellers].flatMap(([sellerId, buckets]) =>
        [...buckets.values()].map(({ operation, scope, memory }) => ({
          sellerId,
          operation: operation.name,
          scope,
          available: availableAt(shapeOf(operation), memory, nowMs),
          perMinute: 60_000 / intervalOf(shapeOf(operation), memory),
          blockedUntil: memory.blockedUntilMs > nowMs ? new Date(memory.blockedUntilMs) : null,
        })),
      )
    },
  }
}
