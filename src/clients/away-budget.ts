import { allowedAtMs, type BudgetSignal, bucketShape, fullBucket, intervalOf, learnFrom } from './bucket.ts'
import { type BucketKey, type Grant, localBucket, nameOfBucket, noteAnswer, takeLocally, type Wait, waitUntil } from './budget.ts'
import type { Standing } from './budget-standing.ts'
import type { CallLane } from './lane.ts'
import type { RateLimit } from './operation.ts'
import { noPromises } from './promises.ts'
import type { AwayPart, SharedBucket } from './shared-bucket.ts'

/** The budget of a process that does not reach the store: a part of each limit. */
export interface AwayBudget {
  take(key: BucketKey, lane: CallLane): Grant | Wait
  learn(key: BucketKey, signal: BudgetSignal): void
}

/** Longest wait that is named, in milliseconds: the store may answer again at any moment. */
const patienceMs = 5_000
/** Share of a process that has never reached the store. */
const strangersShare = 1 / 4

/** A part of a limit; never more than that part in the long run. */
const partOf = ({ tokens, perMs, ...limit }: RateLimit, part: number): RateLimit =>
  tokens * part >= 1
    ? { ...limit, tokens: Math.floor(tokens * part), perMs }
    : { ...limit, tokens: 1, perMs: Math.ceil(perMs / (tokens * part)) }

/** For one process. */
export const createAwayBudget = (standing: Standing): AwayBudget => {
  const { limitOf, random, carried } = standing

  const limitAway = ({ sellerId, operation }: BucketKey): RateLimit =>
    partOf(limitOf(sellerId, operation), standing.members === 0 ? strangersShare : 1 / (standing.members + 1))

  /**
   * The bucket as it was known before nobody could be asked, and the part of it that is this process's meanwhile. The part begins empty, since
   * somebody else may have used it, and with all that was learned.
   */
  const bucketAway = (key: BucketKey): SharedBucket & { readonly away: AwayPart } => {
    const bucket = standing.bucketOf(key)
    const { away } = bucket
    if (away !== null) return Object.assign(bucket, { away })
    const known = carried.get(nameOfBucket(key))
    carried.delete(nameOfBucket(key))
    if (known !== undefined) {
      bucket.memory = known.memory
      bucket.limit = known.limit
    }
    const shape = bucketShape(limitAway(key), bucket.memory.counted)
    const arrivalMs = standing.now() + shape.burst * intervalOf(shape, bucket.memory)
    const part = localBucket(key, { ...bucket.memory, arrivalMs, promises: noPromises })
    return Object.assign(bucket, { away: { part, used: known?.used ?? fullBucket } })
  }

  return {
    take(key, lane) {
      const nowMs = standing.now()
      const bucket = bucketAway(key)
      const limit = standing.limitOfBucket(bucket)
      const soon = (ms: number): Wait => waitUntil(Math.min(ms, nowMs + patienceMs))
      const allowedMs = allowedAtMs(bucketShape(limit, bucket.memory.counted), bucket.memory)
      if (allowedMs > nowMs) return soon(allowedMs)
      const leave = takeLocally(bucket.away.part, limitAway(key), nowMs, lane)
      if (!leave.granted) return soon(leave.availableAt.getTime())
      const { used } = bucket.away
      const shape = bucketShape(limit, used.counted)
      bucket.away.used = { ...used, arrivalMs: Math.max(used.arrivalMs, nowMs) + intervalOf(shape, used) }
      return leave
    },
    learn(key, signal) {
      const bucket = bucketAway(key)
      const limit = standing.limitOfBucket(bucket)
      const { part } = bucket.away
      const at = { nowMs: standing.now(), random: random() }
      noteAnswer(part, at.nowMs)
      part.memory = learnFrom(limitAway(key), part.memory, signal, at)
      bucket.memory = learnFrom(limit, bucket.memory, signal, at)
    },
  }
}
