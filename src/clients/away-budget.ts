import { allowedAtMs, type BudgetSignal, bucketShape, emptied, intervalOf, learnFrom } from './bucket.ts'
import { type BucketKey, type Grant, localBucket, nameOfBucket, noteAnswer, takeLocally, type Wait, waitUntil } from './budget.ts'
import type { Standing } from './budget-standing.ts'
import type { CallLane } from './lane.ts'
import type { RateLimit } from './operation.ts'
import { nothingOwed, type OwedRequests, owedTogether, owing } from './owed-requests.ts'
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

  const share = (): number => (standing.members === 0 ? strangersShare : 1 / (standing.members + 1))
  const limitAway = ({ sellerId, operation }: BucketKey): RateLimit => partOf(limitOf(sellerId, operation), share())
  /** What an answer says of the part: the others read the same count. */
  const signalAway = (signal: BudgetSignal): BudgetSignal =>
    signal.remaining === null || signal.remaining <= 1
      ? signal
      : { ...signal, remaining: Math.max(1, Math.floor(signal.remaining * share())) }

  /**
   * The bucket as it was known before nobody could be asked, and the part of it that is this process's meanwhile. The part begins empty, since
   * somebody else may have used it, and with all that was learned.
   */
  const bucketAway = (key: BucketKey): SharedBucket & { readonly away: AwayPart } => {
    const bucket = standing.bucketOf(key)
    const { away } = bucket
    if (away !== null) return Object.assign(bucket, { away })
    const known = carried.get(nameOfBucket(key))?.known
    carried.delete(nameOfBucket(key))
    if (known !== undefined) {
      bucket.memory = known.memory
      bucket.limit = known.limit
    }
    const untouched = { ...bucket.memory, arrivalMs: 0, promises: noPromises }
    const part = localBucket(key, emptied(limitAway(key), untouched, standing.now()))
    return Object.assign(bucket, { away: { part, used: known?.used ?? nothingOwed } })
  }

  /** So many more are owed to all. What was owed before comes back first, and the others owe as much, maybe. */
  const owed = ({ key, memory }: SharedBucket, count: number): OwedRequests => {
    const shape = bucketShape(limitOf(key.sellerId, key.operation), memory.counted)
    const intervalMs = intervalOf(shape, memory) * Math.max(1, standing.members)
    return owing(count, { nowMs: standing.now(), freeMs: memory.arrivalMs, intervalMs })
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
      bucket.away.used = owedTogether(bucket.away.used, owed(bucket, 1), nowMs)
      return leave
    },
    learn(key, signal) {
      const bucket = bucketAway(key)
      const limit = standing.limitOfBucket(bucket)
      const { part } = bucket.away
      const at = { nowMs: standing.now(), random: random() }
      noteAnswer(part, at.nowMs)
      const wasCounted = part.memory.counted
      part.memory = learnFrom(limitAway(key), part.memory, signalAway(signal), at)
      // The bucket of a marketplace that counts is larger, and begins empty as well.
      if (part.memory.counted && !wasCounted) part.memory = emptied(limitAway(key), part.memory, at.nowMs)
      bucket.memory = learnFrom(limit, bucket.memory, signal, at)
      // The marketplace has counted all but those that are under way.
      if (signal.remaining !== null) bucket.away.used = owed(bucket, part.outstanding)
    },
  }
}
