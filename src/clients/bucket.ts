import type { CallLane } from './lane.ts'
import type { RateLimit } from './operation.ts'
import { aheadOf, noPromises, type Promises, shiftedPromises, withAnother, withoutFirst } from './promises.ts'

/** What one answer says about the marketplace's own budget. Times are on our own clock. */
export interface BudgetSignal {
  readonly status: number
  readonly remaining: number | null
  readonly replenishAt: Date | null
  readonly retryAfter: Date | null
}

/**
 * A token bucket as one number: the theoretical arrival time (GCRA). It holds at most `burst` requests and lets one more through
 * every `intervalMs`.
 */
export interface BucketShape {
  readonly burst: number
  readonly intervalMs: number
}

/** What a bucket remembers. Times are epoch ms of one clock. */
export interface BucketMemory {
  /** When the bucket would be full again but for one request. */
  readonly arrivalMs: number
  /** Share of the published rate that is used, learned: 1 at most. */
  readonly rate: number
  /** Share at which the marketplace refused last; 1 while it never has. */
  readonly ceiling: number
  /** Answers without a refusal since then. */
  readonly calm: number
  /** Whether the marketplace says in its answers how many requests are left. */
  readonly counted: boolean
  readonly blockedUntilMs: number
  /** 429s without a hint in a row. */
  readonly strikes: number
  readonly slowedAtMs: number
  /** A command has asked for it, so others will. */
  readonly isForCommands: boolean
  /** The moments that were named to those who had to wait. */
  readonly promises: Promises
}

const burstShare = 0.1
/** Slowest rate that is learned, as a share of the published one, as long as a storm of refusals may be all that there is. */
const minRate = 1 / 32
/** Who answers in between and still refuses at this share of the published rate has quite another limit. */
const otherLimitShare = 4 * minRate
/** Slowest rate that is learned of such a limit, as time between two requests. */
const slowestMs = 86_400_000
/** Additive increase far below the rate that was refused last. */
const rateStep = 1 / 50
/** Up to this share of it the rate doubles with every answer: a storm of refusals that is over must not be felt for minutes. */
const slowStartShare = 1 / 2
/** From this share of it on the increase is slow at first and faster with every answer, so that few requests are refused for trying. */
const nearCeiling = 0.9
const caution = 6e-9
/** Multiplicative decrease on a 429: one that says nothing, one that says when to come back, one at the rate that was refused before. */
const decreaseUntold = 0.5
const decreaseTold = 0.8
/** Where the marketplace counts aloud, a refusal so soon after another one is about what the count does not show: a hidden limit, or who takes first. */
const hiddenWithinMs = 60_000
/** By so much one request may be quicker on its way than another, at most. */
const hasteMs = 1_000
/** As a share of a limit and its time, where that is less. */
const hasteShare = 0.01
const firstBackoffMs = 2_000
const maxBackoffMs = 60_000
/** After so many refusals in a row, about ten minutes, the wait doubles again with each one. */
const manyStrikes = 15
const longestBackoffMs = 3_600_000

/**
 * The bucket for a limit. Where the marketplace counts aloud it is the marketplace's own but for one request, which the network may bring
 * too early. Where it says nothing, burst and interval are chosen so that even a full burst followed by the steady rate never exceeds the
 * limit in any window, though the last request was quicker on its way than the first, and at most a tenth of the rate is given up for it.
 */
export const bucketShape = ({ tokens, perMs }: RateLimit, counted = false): BucketShape => {
  if (counted && tokens > 2) return { burst: tokens - 1, intervalMs: perMs / tokens }
  const share = counted ? 1 : Math.max(1, Math.floor(tokens * burstShare))
  const intervalMs = perMs / (tokens + 1 - share)
  // For the haste of the last one some of the burst is left out, or, where it is small, every interval is a little longer.
  if (share > 2) return { burst: share - Math.ceil(tokens * hasteShare), intervalMs }
  return { burst: share, intervalMs: intervalMs + Math.min(hasteMs, intervalMs * hasteShare) }
}

/** A full bucket. */
export const fullBucket: BucketMemory = {
  arrivalMs: 0,
  rate: 1,
  ceiling: 1,
  calm: 0,
  counted: false,
  blockedUntilMs: 0,
  strikes: 0,
  slowedAtMs: 0,
  isForCommands: false,
  promises: noPromises,
}

/**
 * Intervals are rounded up to 1/1024 ms: sums of such numbers with an epoch in ms are exact in a double, so no rounding error ever
 * lets one request too many through.
 */
const roundUp = (ms: number): number => Math.ceil(ms * 1024) / 1024

/** Time between two requests at the rate that is used now, in ms. */
export const intervalOf = (shape: BucketShape, memory: BucketMemory): number => roundUp(shape.intervalMs / memory.rate)

/** The first moment at which the bucket lets a request through. */
export const allowedAtMs = (shape: BucketShape, memory: BucketMemory): number => {
  const full = memory.arrivalMs - (shape.burst - 1) * intervalOf(shape, memory)
  return Math.ceil(Math.max(full, memory.blockedUntilMs))
}

/** Requests that are left to commands where they ask for this bucket too: one, where it holds several. */
export const reserveOf = (shape: BucketShape, { isForCommands }: Pick<BucketMemory, 'isForCommands'>): number =>
  isForCommands && shape.burst > 1 ? 1 : 0

/** Requests that a lane leaves to commands ({@link reserveOf}): a command leaves none. */
export const leftByLane = (shape: BucketShape, memory: BucketMemory, lane: CallLane): number =>
  lane === 'command' ? 0 : reserveOf(shape, memory)

/** Requests that the bucket would let through at `nowMs`. */
export const availableAt = (shape: BucketShape, memory: BucketMemory, nowMs: number): number => {
  const interval = intervalOf(shape, memory)
  if (nowMs < allowedAtMs(shape, memory)) return 0
  return Math.min(shape.burst, Math.floor((nowMs - memory.arrivalMs) / interval + shape.burst))
}

/**
 * Takes one request out of the bucket, or says when to come back. Those who have to wait are told different moments, one interval
 * apart, so that they neither come back all at once nor starve one another; the list of a lane is not longer than `spreadMs`.
 *
 * Where a later lane would delay what an earlier one was told, it waits behind that. The other lanes leave commands their reserve ({@link reserveOf}). A
 * command is told a moment as if it were the only lane.
 */
export const takeFrom = (
  shape: BucketShape,
  memory: BucketMemory,
  nowMs: number,
  spreadMs: number,
  lane: CallLane = 'command',
): { readonly memory: BucketMemory; readonly waitUntilMs: number | null } => {
  const intervalMs = intervalOf(shape, memory)
  const isForCommands = memory.isForCommands || lane === 'command'
  const reserveMs = leftByLane(shape, memory, lane) * intervalMs
  const openMs = allowedAtMs(shape, memory) + reserveMs
  const ahead = aheadOf(memory.promises, lane, nowMs, intervalMs)
  const arrivalMs = Math.max(memory.arrivalMs, nowMs) + intervalMs
  // Those ahead leave one to commands too.
  if (nowMs >= openMs && ahead.firstMs >= arrivalMs - (shape.burst - 1) * intervalMs + reserveMs) {
    const promises = withoutFirst(memory.promises, lane, nowMs, intervalMs)
    return { memory: { ...memory, arrivalMs, isForCommands, promises }, waitUntilMs: null }
  }
  const firstMs = Math.ceil(Math.max(openMs, ahead.lastMs + intervalMs))
  const { promises, atMs } = withAnother(memory.promises, lane, {
    firstMs,
    nowMs,
    intervalMs,
    spreadMs,
    isOneAtATime: shape.burst === 1,
  })
  return { memory: { ...memory, isForCommands, promises }, waitUntilMs: atMs }
}

/** Leaves at most `count` requests in the bucket at `atMs`; never adds any. */
const leaveAtMost = (shape: BucketShape, memory: BucketMemory, count: number, atMs: number): number =>
  Math.max(memory.arrivalMs, atMs + (shape.burst - count) * intervalOf(shape, memory))

/**
 * When a bucket of a new shape or rate is full again. What is used of it stays the same number of requests, counted from the moment until which
 * it is blocked: kept as a time, it would be more requests at every shorter interval, and the next one would move away with every good answer.
 * What was used longer ago than a whole period does not count any more, so no more is kept than that or a full bucket.
 */
const refitted = (
  [from, before]: readonly [BucketShape, BucketMemory],
  [to, after]: readonly [BucketShape, BucketMemory],
  { nowMs, perMs }: { readonly nowMs: number; readonly perMs: number },
): number => {
  const [was, is] = [intervalOf(from, before), intervalOf(to, after)]
  if (was === is && from.burst === to.burst) return before.arrivalMs
  const baseMs = Math.max(nowMs, before.blockedUntilMs)
  if (before.arrivalMs <= baseMs) return before.arrivalMs
  const owedMs = ((before.arrivalMs - baseMs) / was) * is
  return roundUp(baseMs + (to.burst < from.burst ? Math.min(owedMs, Math.max(to.burst * is, perMs)) : owedMs))
}

type Learned = Pick<BucketMemory, 'rate' | 'ceiling' | 'calm'>

/**
 * The share of the rate after one more answer without a refusal: doubled while it is far below the last refusal, then step by step, near it as
 * a cubic curve. Where the marketplace says that more are left, the refusals were not about its count: the rate is at once near what it was.
 */
const grown = (memory: BucketMemory, moreIsLeft: boolean): Learned => {
  const calm = memory.calm + 1
  const { rate, ceiling } = memory
  const near = nearCeiling * ceiling
  if (rate < near && moreIsLeft) return { calm, rate: ceiling < 1 ? near : 1, ceiling }
  // It never more than doubles.
  const step = Math.max(Math.min(rateStep, rate), Math.min(rate, slowStartShare * ceiling - rate))
  const next = Math.min(1, rate + (rate < near ? Math.min(step, near - rate + Number.EPSILON) : caution * calm * calm))
  return { calm, rate: next, ceiling: Math.max(ceiling, next) }
}

/** What so many answers without a refusal change. */
export const easedBy = (
  limit: RateLimit,
  memory: BucketMemory,
  answers: number,
  nowMs: number,
  moreIsLeft = false,
): BucketMemory => {
  let eased = memory
  for (let answer = 0; answer < answers; answer += 1) eased = { ...eased, strikes: 0, ...grown(eased, moreIsLeft) }
  const shape = bucketShape(limit, memory.counted)
  return { ...eased, arrivalMs: refitted([shape, memory], [shape, eased], { nowMs, perMs: limit.perMs }) }
}

/** The bucket where another limit holds than the one under which it was filled and emptied. */
export const underLimit = (memory: BucketMemory, from: RateLimit, to: RateLimit, nowMs: number): BucketMemory => {
  if (from.tokens === to.tokens && from.perMs === to.perMs) return memory
  const [before, after] = [bucketShape(from, memory.counted), bucketShape(to, memory.counted)]
  return { ...memory, arrivalMs: refitted([before, memory], [after, memory], { nowMs, perMs: to.perMs }), promises: noPromises }
}

/**
 * One bucket out of two states of it that do not know of each other: what either was told holds, with the longer debt, and the rate of whoever was
 * refused last.
 */
export const merged = (limit: RateLimit, one: BucketMemory, other: BucketMemory, nowMs: number): BucketMemory => {
  const laterMs = other.slowedAtMs - one.slowedAtMs
  // Moments that went from clock to clock are the same but for a little.
  const isSame = Math.abs(laterMs) <= hasteMs
  const { rate, ceiling, calm } = (isSame ? other.rate > one.rate : laterMs > 0) ? other : one
  const both = {
    ...one,
    rate,
    ceiling,
    calm,
    counted: one.counted || other.counted,
    blockedUntilMs: Math.max(one.blockedUntilMs, other.blockedUntilMs),
    strikes: Math.max(one.strikes, other.strikes),
    slowedAtMs: Math.max(one.slowedAtMs, other.slowedAtMs),
    isForCommands: one.isForCommands || other.isForCommands,
  }
  const fitted = [one, other].map((memory) => {
    const [from, to] = [bucketShape(limit, memory.counted), bucketShape(limit, both.counted)]
    return refitted([from, memory], [to, both], { nowMs, perMs: limit.perMs })
  })
  return { ...both, arrivalMs: Math.max(...fitted) }
}

/** The bucket after so many more requests, which were used of it elsewhere. */
export const lessUsed = (limit: RateLimit, memory: BucketMemory, requests: number, nowMs: number): BucketMemory => {
  if (requests <= 0) return memory
  const interval = intervalOf(bucketShape(limit, memory.counted), memory)
  return { ...memory, arrivalMs: roundUp(Math.max(memory.arrivalMs, nowMs) + requests * interval) }
}

/** The bucket as if all were used that it holds: it lets the next one through after an interval. */
export const emptied = (limit: RateLimit, memory: BucketMemory, nowMs: number): BucketMemory => {
  const shape = bucketShape(limit, memory.counted)
  return { ...memory, arrivalMs: leaveAtMost(shape, memory, 0, nowMs) }
}

/** The bucket of a marketplace that does not say any more what is left. What it held when it did is more than it holds now. */
const countedNoMore = (limit: RateLimit, memory: BucketMemory, nowMs: number): BucketMemory => {
  const after = { ...memory, counted: false }
  const [from, to] = [bucketShape(limit, true), bucketShape(limit)]
  return { ...after, arrivalMs: refitted([from, memory], [to, after], { nowMs, perMs: limit.perMs }) }
}

/** Whether an answer has brought the rate back by more than one step: the others should know at once. */
export const recovers = (before: BucketMemory, after: BucketMemory): boolean => after.rate > before.rate + rateStep

/** How long a refusal without a hint blocks, without what chance adds. */
const backoffOf = (strikes: number, isOtherLimit: boolean): number => {
  const most = isOtherLimit
    ? longestBackoffMs
    : Math.min(maxBackoffMs * 2 ** Math.max(0, strikes - manyStrikes), longestBackoffMs)
  return Math.min(firstBackoffMs * 2 ** Math.max(0, strikes - 1), most)
}

/**
 * The slowest share that a refusal may lower the rate to. A storm of refusals must not be felt for long when it is over. Only where answers came in
 * between, the limit is far below the published one: then no more time is left between two requests than was waited last.
 */
const slowestShare = (shape: BucketShape, { ceiling, strikes }: Pick<BucketMemory, 'ceiling' | 'strikes'>): number => {
  if (ceiling > otherLimitShare) return minRate
  const waitMs = backoffOf(strikes, true)
  return Math.min(minRate, shape.intervalMs / (waitMs < longestBackoffMs ? waitMs : slowestMs))
}

const slowed = (shape: BucketShape, memory: BucketMemory, told: boolean, nowMs: number): Learned => {
  const { rate, ceiling, calm } = memory
  // Refused before it could recover: the limit is not where it was thought, or the marketplace refuses everything for a while.
  const isFirst = calm > 0
  const again = ceiling < 1 && rate >= nearCeiling * ceiling
  const factor = told || (isFirst && again) ? decreaseTold : decreaseUntold
  // The marketplace's count was trusted, and it refused soon after: it has a limit of which the count says nothing, or somebody else draws.
  const isHidden = memory.counted && nowMs - memory.slowedAtMs < hiddenWithinMs
  const refusedAt = isHidden ? Math.max(Math.min(minRate, rate), rate * decreaseTold) : rate
  const known = isFirst ? refusedAt : ceiling
  const slowest = told ? minRate : slowestShare(shape, { ceiling: known, strikes: memory.strikes + 1 })
  return { rate: Math.max(Math.min(rate, slowest), rate * factor), ceiling: known, calm: 0 }
}

/** From a moment on so many requests are surely there. */
interface Sure {
  readonly atMs: number
  readonly requests: number
}

/**
 * What is surely there by an answer that says what is left and when there is one more, whatever the table says; but for one, which the network may bring too
 * early. Nothing, where it cannot be told what the marketplace has not counted yet (`uncounted`), or an operator has set the limit.
 */
export const sureOf = (
  limit: RateLimit,
  { remaining, replenishAt }: Pick<BudgetSignal, 'remaining' | 'replenishAt'>,
  uncounted: number | null,
  nowMs: number,
): readonly Sure[] => {
  if (remaining === null || uncounted === null || limit.isSet === true) return []
  const left = remaining - uncounted
  const now = { atMs: nowMs, requests: left - 1 }
  const then = { atMs: replenishAt?.getTime() ?? 0, requests: left }
  return [now, ...(then.atMs > nowMs ? [then] : [])].filter(({ requests }) => requests >= 0)
}

/**
 * What one answer changes. Hints block until the moment they name; without one the wait doubles with each 429 in a row.
 *
 * @param uncounted so many requests at most, drawn on the bucket before this answer, the marketplace may not have counted yet: the rest of what it says
 *   to be left is there, be it more than was thought. Null: it cannot be told. A limit that an operator has set stays, whatever is left
 */
export const learnFrom = (
  limit: RateLimit,
  memory: BucketMemory,
  signal: BudgetSignal,
  { nowMs, random, uncounted = null }: { readonly nowMs: number; readonly random: number; readonly uncounted?: number | null },
): BucketMemory => {
  const told = (signal.retryAfter ?? signal.replenishAt)?.getTime() ?? null
  if (signal.status === 429) {
    const shape = bucketShape(limit, memory.counted)
    const interval = intervalOf(shape, memory)
    // Answers to requests that were under way together say one thing, not several.
    const fresh = nowMs >= memory.slowedAtMs + Math.min(interval, firstBackoffMs)
    const strikes = told === null && fresh ? memory.strikes + 1 : memory.strikes
    const rates: Learned = fresh ? slowed(shape, memory, told !== null, nowMs) : memory
    const backoffMs = backoffOf(strikes, rates.ceiling <= otherLimitShare) * (1 + random / 4)
    const until = Math.max(memory.blockedUntilMs, told === null ? nowMs + backoffMs : Math.max(told, nowMs + interval))
    const after = {
      ...memory,
      rate: rates.rate,
      ceiling: rates.ceiling,
      calm: rates.calm,
      strikes,
      // No sooner than without the refusal, and as a block: as a debt it would be paid at whatever rate comes next.
      blockedUntilMs: Math.ceil(Math.max(until, allowedAtMs(shape, memory))),
      slowedAtMs: fresh ? nowMs : memory.slowedAtMs,
    }
    return { ...after, arrivalMs: leaveAtMost(shape, after, 1, after.blockedUntilMs) }
  }
  const isGood = signal.status < 500
  const counted = signal.remaining !== null || (memory.counted && signal.status >= 300)
  const answered = isGood ? easedBy(limit, memory, 1, nowMs, (signal.remaining ?? 0) > 1) : memory
  const known = memory.counted && !counted ? countedNoMore(limit, answered, nowMs) : { ...answered, counted }
  // A server fault may ask for a pause as well (503 with Retry-After), and so may an answer that counts.
  const eased = { ...known, blockedUntilMs: Math.max(known.blockedUntilMs, signal.retryAfter?.getTime() ?? 0) }
  if (signal.remaining === null) return eased
  const shape = bucketShape(limit, counted)
  const interval = intervalOf(shape, eased)
  if (signal.remaining > 0) {
    const arrivalMs = leaveAtMost(shape, eased, signal.remaining, nowMs)
    const sure = sureOf(limit, signal, uncounted, nowMs).map(
      ({ atMs, requests }) => atMs + (shape.burst - Math.min(requests, shape.burst)) * interval,
    )
    return { ...eased, arrivalMs: Math.min(arrivalMs, ...sure) }
  }
  const empty = signal.replenishAt?.getTime() ?? nowMs + interval
  // Somebody else draws on it, or it would not be empty: the next one is left to them. Only a limit of one is empty after each.
  const next = limit.tokens > 1 ? 0 : 1
  return { ...eased, blockedUntilMs: Math.max(eased.blockedUntilMs, empty), arrivalMs: leaveAtMost(shape, eased, next, empty) }
}

/** What is remembered, on a clock that was set by so many ms. */
export const shifted = (memory: BucketMemory, stepMs: number): BucketMemory => ({
  ...memory,
  arrivalMs: memory.arrivalMs + stepMs,
  blockedUntilMs: memory.blockedUntilMs + stepMs,
  slowedAtMs: memory.slowedAtMs + stepMs,
  promises: shiftedPromises(memory.promises, stepMs),
})
