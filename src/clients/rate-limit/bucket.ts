import { type CallLane, callLanes } from '../http/lane.ts'
import type { RateLimit } from '../http/operation.ts'

/** What one answer of the marketplace says about its rate limit. Times are epoch ms of the store's clock. */
export interface BucketSignal {
  readonly status: number
  readonly remaining: number | null
  readonly replenishAtMs: number | null
  readonly retryAtMs: number | null
  /** Its token was acquired before the count that it answers with: later requests may be missing, so it can only reduce the tokens. */
  readonly isLate: boolean
}

/**
 * State of one limit, as it is stored: a leaky meter of requests, so that what is used stays the same number of requests when the learned rate or the limit
 * changes. Times are epoch ms of the store's clock.
 */
export interface Bucket {
  /** Requests used at `atMs`; they drain at the learned rate from then on. */
  readonly used: number
  readonly atMs: number
  /** The marketplace has asked for no requests before this time. */
  readonly blockedUntilMs: number
  /** Learned share of the published rate, and the share at which the marketplace refused last (1: never). */
  readonly rate: number
  readonly ceiling: number
  /** Accepted requests since the last refusal, and when that was. */
  readonly accepted: number
  readonly refusedAtMs: number
  /** Consecutive 429s that did not say when to come back. */
  readonly strikes: number
  /** Answers report how many requests remain. */
  readonly reportsRemaining: boolean
  /** The last time that was given to a waiting caller, by lane. */
  readonly waitsUntilMs: readonly number[]
  /** Requests drawn in all, and how many of them when a reported count corrected `used` last. */
  readonly drawn: number
  readonly drawnAtCorrection: number
  /** Requests drawn since `sinceMs`, and in the period before: the marketplace may not have counted them yet. */
  readonly recent: { readonly sinceMs: number; readonly count: number; readonly before: number }
  /** When it was written; a store whose clock is behind that has failed over. */
  readonly writtenAtMs: number
}

const minRate = 1 / 32
/** Up to this share of the refused rate the rate grows fast, and from there on slowly. */
const nearCeiling = 0.9
const firstBackoffMs = 2_000
const maxBackoffMs = 3_600_000
/** A caller that has been given a time asks again at most this long after it. */
const askAgainWithinMs = 5_000
/** A request has arrived at the marketplace after this time, or never will. */
const arrivesWithinMs = 10_000
/** A second refusal within this time, although tokens were reported, means that the count does not show the whole limit. */
const hiddenLimitWithinMs = 60_000
const toleratedClockStepMs = 2_000
const epsilon = 1e-9

/** An unused bucket. */
export const createBucket = (nowMs: number): Bucket => ({
  ...{ used: 0, atMs: nowMs, blockedUntilMs: 0 },
  ...{ rate: 1, ceiling: 1, accepted: 0, refusedAtMs: 0, strikes: 0, reportsRemaining: false },
  ...{ waitsUntilMs: callLanes.map(() => 0), drawn: 0, drawnAtCorrection: 0 },
  ...{ recent: { sinceMs: nowMs, count: 0, before: 0 }, writtenAtMs: nowMs },
})

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** The bucket in a stored text; an unused one if the text is corrupt or of another version of the program: it must not stop the seller for ever. */
export const parseBucket = (text: string, nowMs: number): Bucket => {
  const stored = parseJson(text)
  const fresh = createBucket(nowMs)
  return isBucket(stored, fresh) ? stored : fresh
}

const isBucket = (value: unknown, example: Bucket): value is Bucket => {
  if (typeof value !== 'object' || value === null) return false
  const fields = new Map<string, unknown>(Object.entries(value))
  return Object.entries(example).every(([name, expected]) => typeof fields.get(name) === typeof expected)
}

/**
 * Requests that a bucket holds, and the time between two requests in ms. If the marketplace reports what remains, this is its own bucket without 1 %.
 * Otherwise a full burst followed by the steady rate stays within the limit, with a margin for requests that overtake each other.
 */
export const shapeOfBucket = (
  { tokens, perMs }: RateLimit,
  { reportsRemaining, rate }: Pick<Bucket, 'reportsRemaining' | 'rate'>,
): { readonly burst: number; readonly intervalMs: number } => {
  if (reportsRemaining) return { burst: tokens > 2 ? tokens - Math.ceil(tokens / 100) : 1, intervalMs: perMs / tokens / rate }
  const burst = Math.max(1, Math.floor(tokens / 10))
  const intervalMs = perMs / (tokens + 1 - burst) / rate
  if (burst > 2) return { burst: burst - Math.ceil(tokens / 100), intervalMs }
  return { burst, intervalMs: intervalMs + Math.min(1_000, intervalMs / 100) }
}

/** The same state on a store whose clock is behind by `byMs`. */
const onEarlierClock = (bucket: Bucket, byMs: number, nowMs: number): Bucket => ({
  ...bucket,
  atMs: bucket.atMs - byMs,
  blockedUntilMs: bucket.blockedUntilMs - byMs,
  refusedAtMs: bucket.refusedAtMs - byMs,
  waitsUntilMs: bucket.waitsUntilMs.map((ms) => ms - byMs),
  recent: { ...bucket.recent, sinceMs: bucket.recent.sinceMs - byMs },
  writtenAtMs: nowMs,
})

/** The bucket at a later time. */
const advance = (bucket: Bucket, limit: RateLimit, nowMs: number): Bucket => {
  const behindMs = bucket.writtenAtMs - nowMs
  if (behindMs > toleratedClockStepMs) return advance(onEarlierClock(bucket, behindMs, nowMs), limit, nowMs)
  if (nowMs <= bucket.atMs) return bucket
  const { sinceMs, count } = bucket.recent
  const ageMs = nowMs - sinceMs
  const recent =
    ageMs < arrivesWithinMs ? bucket.recent : { sinceMs: nowMs, count: 0, before: ageMs < 2 * arrivesWithinMs ? count : 0 }
  const drained = Math.max(0, bucket.used - (nowMs - bucket.atMs) / shapeOfBucket(limit, bucket).intervalMs)
  // A limit that was lowered is used up at most once.
  return { ...bucket, used: Math.min(drained, limit.tokens + 1), atMs: nowMs, recent }
}

/** Requests that could be sent now. */
export const availableIn = (bucket: Bucket, limit: RateLimit, nowMs: number): number => {
  const { used, blockedUntilMs } = advance(bucket, limit, nowMs)
  return blockedUntilMs > nowMs ? 0 : Math.max(0, Math.floor(shapeOfBucket(limit, bucket).burst - used + epsilon))
}

/** The result of {@link drawFrom}; `waitUntilMs` is null if the request may be sent. */
export interface Draw {
  readonly bucket: Bucket
  readonly waitUntilMs: number | null
}

/**
 * Draws one request for a lane, or gives the time to ask again. A lane leaves one request to each lane before it. If the bucket is too small for that, it
 * waits for the callers of those lanes. Waiting callers of a lane get times one interval apart, up to one period ahead, unless one answer serves all of them
 * (`isShared`).
 */
export const drawFrom = (from: Bucket, limit: RateLimit, lane: CallLane, nowMs: number, isShared = false): Draw => {
  const bucket = advance(from, limit, nowMs)
  const { burst, intervalMs } = shapeOfBucket(limit, bucket)
  const place = callLanes.indexOf(lane)
  const reserved = Math.min(place, burst - 1)
  const drainedAtMs = Math.max(bucket.atMs, nowMs) + Math.max(0, bucket.used + 1 + reserved - burst) * intervalMs
  let openMs = Math.max(bucket.blockedUntilMs, drainedAtMs)
  if (reserved < place) {
    const aheadMs = Math.max(...bucket.waitsUntilMs.slice(0, place))
    const isExpected = aheadMs > nowMs - Math.min(askAgainWithinMs, intervalMs / 2)
    // Times of a slower limit are no longer valid.
    if (isExpected) openMs = Math.max(openMs, Math.min(aheadMs, openMs + limit.perMs) + intervalMs)
  }
  if (openMs <= nowMs + epsilon) {
    const recent = { ...bucket.recent, count: bucket.recent.count + 1 }
    return { bucket: { ...bucket, used: bucket.used + 1, drawn: bucket.drawn + 1, recent }, waitUntilMs: null }
  }
  // A caller that is a little early, since its time has moved, keeps its place.
  if (openMs - nowMs < intervalMs / 10) return { bucket, waitUntilMs: Math.ceil(openMs) }
  const nextMs = (bucket.waitsUntilMs[place] ?? 0) + intervalMs
  const waitUntilMs = !isShared && nextMs < openMs + limit.perMs ? Math.max(openMs, nextMs) : openMs
  return {
    bucket: { ...bucket, waitsUntilMs: bucket.waitsUntilMs.with(place, waitUntilMs) },
    waitUntilMs: Math.ceil(waitUntilMs),
  }
}

/** Undoes the draw with this number, whose request was never sent; not if there was another draw or a correction since, as its token may have drained. */
export const undoDraw = (bucket: Bucket, drawn: number): Bucket =>
  bucket.drawn === drawn && bucket.drawnAtCorrection < drawn
    ? { ...bucket, used: Math.max(0, bucket.used - 1), drawn: drawn - 1 }
    : bucket

type LearnedRate = Pick<Bucket, 'rate' | 'ceiling' | 'accepted'>

/**
 * The rate after an accepted request: doubled far below the refused rate, then additive, and cubic near the refused rate. If requests remain, the refusals
 * were not about the limit, and the rate is near that at once.
 */
const increased = ({ rate, ceiling, accepted: before }: Bucket, someRemain: boolean): LearnedRate => {
  const accepted = before + 1
  const near = nearCeiling * ceiling
  const increase = (): number => {
    if (rate < near && someRemain) return ceiling < 1 ? near : 1
    if (rate < ceiling / 2) return Math.min(2 * rate, ceiling / 2)
    return rate < near ? Math.min(rate + 1 / 50, near) : Math.min(1, rate + 6e-9 * accepted * accepted)
  }
  const next = increase()
  return { accepted, rate: next, ceiling: Math.max(ceiling, next) }
}

/** The rate after a refusal: multiplicative decrease, less if the refusal says when to come back or comes at the known ceiling. */
const decreased = (
  { rate, ceiling, accepted, reportsRemaining, refusedAtMs }: Bucket,
  saysWhen: boolean,
  nowMs: number,
): LearnedRate => {
  const isKnownCeiling = accepted > 0 && ceiling < 1 && rate >= nearCeiling * ceiling
  const refusedRate = reportsRemaining && nowMs - refusedAtMs < hiddenLimitWithinMs ? 0.8 * rate : rate
  return {
    rate: Math.max(minRate, rate * (saysWhen || isKnownCeiling ? 0.8 : 0.5)),
    ceiling: accepted > 0 ? Math.max(minRate, refusedRate) : ceiling,
    accepted: 0,
  }
}

/** When an answer arrived, the present, and a number in [0, 1) that spreads retries. */
export interface LearnContext {
  readonly atMs: number
  readonly nowMs: number
  readonly random: number
}

const learnRefusal = (from: Bucket, limit: RateLimit, signal: BucketSignal, { nowMs, random }: LearnContext): Bucket => {
  const bucket = advance(from, limit, nowMs)
  const { burst, intervalMs } = shapeOfBucket(limit, bucket)
  const comeBackMs = signal.retryAtMs ?? signal.replenishAtMs
  // Refusals of requests that were in progress together are one.
  const isNew = nowMs >= bucket.refusedAtMs + Math.min(intervalMs, firstBackoffMs)
  const strikes = bucket.strikes + (comeBackMs === null && isNew ? 1 : 0)
  const backoffMs = Math.min(firstBackoffMs * 2 ** Math.max(0, strikes - 1), maxBackoffMs) * (1 + random / 4)
  const untilMs = comeBackMs === null ? nowMs + backoffMs : Math.max(comeBackMs, nowMs + intervalMs)
  const drainedAtMs = Math.max(bucket.atMs, nowMs) + Math.max(0, bucket.used + 1 - burst) * intervalMs
  const blockedUntilMs = Math.max(bucket.blockedUntilMs, untilMs, drainedAtMs)
  const learned = isNew ? { ...decreased(bucket, comeBackMs !== null, nowMs), refusedAtMs: nowMs } : {}
  return { ...bucket, ...learned, strikes, blockedUntilMs, used: Math.max(bucket.used, burst - 1), atMs: blockedUntilMs }
}

const learnRemaining = (
  from: Bucket,
  limit: RateLimit,
  { remaining, replenishAtMs, isLate }: Pick<BucketSignal, 'replenishAtMs' | 'isLate'> & { readonly remaining: number },
  { atMs, nowMs }: LearnContext,
): Bucket => {
  const bucket = advance(from, limit, nowMs)
  const { burst, intervalMs } = shapeOfBucket(limit, bucket)
  const corrected = (used: number): Bucket => ({ ...bucket, used, drawnAtCorrection: bucket.drawn })
  if (remaining === 0) {
    const untilMs = replenishAtMs ?? atMs + intervalMs
    if (untilMs <= nowMs) return from
    // Another application draws too, or it would not be empty: it gets the next request. A limit of one is empty after each request.
    const used = Math.max(bucket.used, burst - (limit.tokens > 1 ? 0 : 1))
    const blockedUntilMs = Math.max(bucket.blockedUntilMs, untilMs)
    return { ...corrected(used), atMs: Math.max(bucket.atMs, untilMs), blockedUntilMs }
  }
  const atMost = remaining + (nowMs - atMs) / intervalMs
  if (burst - bucket.used > atMost) return corrected(burst - atMost)
  const isHidden = nowMs - bucket.refusedAtMs < hiddenLimitWithinMs
  if (isLate || isHidden || nowMs - atMs > arrivesWithinMs || limit.isSet === true) return from
  // Requests drawn recently may not be counted yet. The rest remains for certain, even if the published limit says less.
  const certain = Math.min(burst, remaining - 1 - bucket.recent.count - bucket.recent.before)
  return certain > burst - bucket.used + 0.5 ? corrected(burst - certain) : from
}

/** The bucket after one answer; the same object if nothing changes. What the marketplace says overrules what was computed. */
export const learnFrom = (from: Bucket, limit: RateLimit, signal: BucketSignal, context: LearnContext): Bucket => {
  const { status, remaining, retryAtMs } = signal
  if (status === 429) return learnRefusal(from, limit, signal, context)
  const reportsRemaining = remaining !== null || (from.reportsRemaining && status >= 300)
  const isAtFullRate = from.rate === 1 && from.ceiling === 1 && from.strikes === 0
  let after = from
  if (reportsRemaining !== from.reportsRemaining || !isAtFullRate) {
    const bucket = advance(from, limit, context.nowMs)
    const isAccepted = status < 500 && !isAtFullRate
    const learned = isAccepted ? { strikes: bucket.strikes >> 1, ...increased(bucket, (remaining ?? 0) > 1) } : {}
    after = { ...bucket, reportsRemaining, ...learned }
  }
  if (retryAtMs !== null && retryAtMs > after.blockedUntilMs) after = { ...after, blockedUntilMs: retryAtMs }
  return remaining === null ? after : learnRemaining(after, limit, { ...signal, remaining }, context)
}
