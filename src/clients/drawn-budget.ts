import { allowedAtMs, type BudgetSignal, bucketShape, intervalOf, learnFrom, leftByLane, recovers, sureOf } from './bucket.ts'
import { createRewrite } from './bucket-rewriting.ts'
import { type BucketKey, type Grant, grantThat, nameOfBucket, noteAnswer, noteGrant, type Wait, waitUntil } from './budget.ts'
import { drawFrom, leftOf, useLease } from './budget-lease.ts'
import type { Standing } from './budget-standing.ts'
import { type CallLane, callLanes } from './lane.ts'
import type { RateLimit } from './operation.ts'
import { nothingOwed } from './owed-requests.ts'
import { aheadOf, noPromises, withAnother, withoutFirst } from './promises.ts'
import { type DrawPoint, drawPoint, isLate, uncountedIn, withDraws } from './recent-draws.ts'
import { bothAnswered, type DrawnBucket, type News, type SharedBucket } from './shared-bucket.ts'
import { storedText } from './stored-memory.ts'

/** The budget of a process that draws with others on what is stored. */
export interface DrawnBudget {
  take(key: BucketKey, lane: CallLane): Promise<Grant | Wait>
  /** `point`: how it stood when the request was drawn; null: not known. */
  learn(key: BucketKey, signal: BudgetSignal, point: DrawPoint | null): Promise<void>
  /** Stores the answers that have raised a rate a little, which a later draw would have stored. */
  storeEased(): Promise<void>
}

/** A lease is for what was used within so long. */
const leaseForMs = 500
/** Those who wait first in different processes are told moments that differ by this at most, in milliseconds. */
const mostChanceMs = 250
/** Whoever came too late for so many leases waits a moment. */
const mostDraws = 20

/** For one process (docs/decisions/0022-shared-budget.md). */
export const createDrawnBudget = (standing: Standing): DrawnBudget => {
  const { store, clock, random, buckets } = standing
  const rewrite = createRewrite(standing)
  /** So long a draw has taken lately, in ms. */
  let drawingMs = 0

  /** How many to draw at once: what was asked for within the time that a lease is for, and a fair part of what is there. */
  const wanted = (bucket: SharedBucket, monotonicMs: number): number => {
    const overMs = Math.max(leaseForMs, monotonicMs - bucket.askedSinceMs)
    return Math.max(1, Math.ceil((bucket.asked * leaseForMs) / overMs / 2))
  }

  /** Whether the marketplace says that there is something sooner than anything is to be had here. */
  const saysMore = (bucket: SharedBucket, limit: RateLimit, signal: BudgetSignal, point: DrawPoint | null): boolean => {
    const monotonicMs = clock.monotonicMs()
    if (signal.status >= 300 || leftOf(bucket.lease, monotonicMs) > 0 || isLate(point, monotonicMs)) return false
    if (bucket.drawsOfAll === null) return (signal.remaining ?? 0) > 1
    const nowMs = standing.now()
    const shape = bucketShape(limit, bucket.memory.counted)
    const soonMs = allowedAtMs(shape, bucket.memory) - shape.intervalMs / 2
    if (bucket.memory.blockedUntilMs > nowMs || soonMs <= nowMs) return false
    const uncounted = uncountedIn(point, bucket.drawsOfAll, nowMs + standing.aheadMs)
    const surely = (others: number): boolean =>
      sureOf(limit, signal, others, nowMs).some(({ atMs, requests }) => requests > 0 && atMs < soonMs)
    // What was answered here is not known to the others, and may be all that keeps them from seeing it.
    return surely(uncounted) || (bucket.answered.count > 0 && surely(0))
  }

  /** Stores what was there before one request was drawn, unless somebody has written since. Several drawn at once are of a limit that soon has more. */
  const putBack = async (bucket: SharedBucket, before: DrawnBucket['beforeDraw']): Promise<void> => {
    const name = nameOfBucket(bucket.key)
    if (before === null || buckets.get(name) !== bucket) return
    try {
      if (!(await store.swap(name, before.version, before.text))) return
      bucket.notBeforeMs = 0
      bucket.promises = noPromises
    } catch (error) {
      standing.bear(error)
    }
  }

  const undraw = async (bucket: SharedBucket, before: DrawnBucket['beforeDraw']): Promise<void> => {
    noteAnswer(bucket, standing.now())
    await putBack(bucket, before)
  }

  /** Draws on what is stored. */
  const draw = async (bucket: SharedBucket, lane: CallLane): Promise<void> => {
    const limit = standing.limitOfBucket(bucket)
    const drawn = await rewrite(bucket, limit, ({ memory, draws, storeMs, askedAtMs }) => {
      const shape = bucketShape(limit, memory.counted)
      // One at a time, who comes late makes the next one come too early: they bear some of it, and what takes longer is counted on.
      const spareMs = shape.burst === 1 ? shape.intervalMs - limit.perMs / limit.tokens : Number.POSITIVE_INFINITY
      const leaveAfterMs = drawingMs > spareMs / 2 ? 2 * drawingMs : 0
      const fullInMs = Math.max(0, memory.arrivalMs - storeMs)
      // A bucket that is full by then has them back: they lapse on the way.
      const lapsing = Math.floor(Math.max(0, drawingMs - fullInMs) / intervalOf(shape, memory))
      const count = wanted(bucket, clock.monotonicMs()) + lapsing
      const some = drawFrom(shape, memory, storeMs, { count, lane, leaveAfterMs })
      const times = {
        askedAtMs,
        latestMs: askedAtMs + leaveAfterMs + spareMs,
        lapsesFromMs: askedAtMs + fullInMs,
      }
      const isNew = some.drawn > 0 || some.memory.isForCommands !== memory.isForCommands
      const after = withDraws(draws, some.drawn, storeMs)
      const point = drawPoint(after, storeMs, askedAtMs)
      const result = { count: some.drawn, waitUntilMs: some.waitUntilMs, before: { memory, draws }, point, storeMs, ...times }
      return { memory: some.memory, draws: after, isNew, result }
    })
    if (drawn === null) return
    const { count, waitUntilMs, before, point, storeMs, askedAtMs, latestMs, lapsesFromMs } = drawn.result
    const nowMs = clock.monotonicMs()
    drawingMs = Math.max(drawingMs / 2, nowMs - askedAtMs)
    bucket.notBeforeMs = waitUntilMs - standing.aheadMs
    if (count === 0) return
    const { memory } = before
    const beforeDraw = count === 1 ? { version: drawn.version, text: storedText(memory, limit, storeMs, before.draws) } : null
    if (nowMs > latestMs) {
      await putBack(bucket, beforeDraw)
      return
    }
    bucket.beforeDraw = beforeDraw
    const intervalMs = intervalOf(bucketShape(limit, memory.counted), memory)
    bucket.lease = { count, used: 0, lapsesFromMs, intervalMs, point }
  }

  /** So much later than the lane before it a lane comes, in all processes. One at a time it costs a hundredth of the rate at most. */
  const laneStepMs = (intervalMs: number, isOneAtATime: boolean): number =>
    Math.min(
      mostChanceMs,
      intervalMs / Math.max(1, standing.members),
      isOneAtATime ? intervalMs / 25 : Number.POSITIVE_INFINITY,
    ) / callLanes.length

  const take = async (key: BucketKey, lane: CallLane): Promise<Grant | Wait> => {
    const bucket = standing.bucketOf(key)
    const monotonicMs = clock.monotonicMs()
    const overMs = monotonicMs - bucket.askedSinceMs
    if (overMs > 2 * leaseForMs) {
      bucket.asked *= leaseForMs / overMs
      bucket.askedSinceMs = monotonicMs - leaseForMs
    }
    bucket.asked += 1
    const limit = standing.limitOfBucket(bucket)
    const intervalNow = (): number => intervalOf(bucketShape(limit, bucket.memory.counted), bucket.memory)
    /** Others of its process were told a moment before it, and it would have what is theirs. */
    const isBehind = (): boolean =>
      aheadOf(bucket.promises, lane, standing.now(), intervalNow()).firstMs < standing.now() + intervalNow()
    /** When the bucket lets this lane have one. */
    const openMs = (): number => {
      const left = leftByLane(bucketShape(limit, bucket.memory.counted), bucket.memory, lane)
      return bucket.notBeforeMs + left * intervalNow()
    }
    // As long as something is left: a draw takes a fair part, and those who asked together may want more than that.
    for (let draws = 0; !isBehind(); draws += 1) {
      const next = bucket.lease === null ? null : useLease(bucket.lease, clock.monotonicMs())
      if (next !== null) {
        bucket.lease = next
        noteGrant(bucket, standing.now())
        bucket.promises = withoutFirst(bucket.promises, lane, standing.now(), intervalNow())
        const { beforeDraw } = bucket
        return grantThat(() => undraw(bucket, beforeDraw), standing.now(), next.point)
      }
      bucket.lease = null
      if (standing.now() < openMs() || draws === mostDraws) break
      bucket.drawing ??= bucket
        .inTurn(() => draw(bucket, lane))
        .finally(() => {
          bucket.drawing = null
        })
      await bucket.drawing
      standing.doubt()
      if (standing.mode !== 'shared') return waitUntil(standing.now())
    }
    // Those who wait here are told different moments. The first one is a little late by chance, or all processes would ask together, and later
    // lanes a little more, so that those of other processes come before them.
    const [nowMs, intervalMs] = [standing.now(), intervalNow()]
    const { lastMs } = aheadOf(bucket.promises, lane, nowMs, intervalMs)
    // What is left to commands is not there for the other lanes.
    const shapeNow = bucketShape(limit, bucket.memory.counted)
    const isOneAtATime = shapeNow.burst - leftByLane(shapeNow, bucket.memory, lane) === 1
    const stepMs = laneStepMs(intervalMs, isOneAtATime)
    const behindMs = callLanes.indexOf(lane) * stepMs
    const { promises, atMs } = withAnother(bucket.promises, lane, {
      nowMs,
      // One at a time: who comes late makes the next one late, so that each has to leave the others their time anew.
      intervalMs: intervalMs + (isOneAtATime ? behindMs : 0),
      firstMs: Math.max(openMs(), nowMs + 1, lastMs + intervalMs),
      spreadMs: key.operation.isShared === true ? 0 : limit.perMs,
      chanceMs: behindMs + random() * stepMs,
      isOneAtATime,
    })
    bucket.promises = promises
    return waitUntil(atMs)
  }

  /** Stores what the answers say that have come, unless a draw has done it meanwhile; false where too many others wrote. */
  const learnStored = async (bucket: SharedBucket, limit: RateLimit): Promise<boolean> => {
    bucket.learning = null
    if (bucket.news.length === 0) return true
    const learnt = await rewrite(bucket, limit, ({ memory, draws }) => ({
      memory,
      draws,
      isNew: false,
      result: allowedAtMs(bucketShape(limit, memory.counted), memory),
    }))
    if (learnt === null) return false
    const allowedMs = learnt.result - standing.aheadMs
    // More is there than was thought: whoever asks now need not stand behind those who were told of less.
    if (allowedMs < bucket.notBeforeMs) bucket.promises = noPromises
    bucket.notBeforeMs = allowedMs
    return true
  }

  const storeNews = async (bucket: SharedBucket, limit: RateLimit, news: News): Promise<void> => {
    bucket.news.push(news)
    bucket.learning ??= bucket.inTurn(() => learnStored(bucket, limit))
    let isStored = false
    try {
      isStored = await bucket.learning
    } finally {
      if (!isStored) {
        const at = bucket.news.indexOf(news)
        if (at >= 0) bucket.news.splice(at, 1)
        standing.carry(nameOfBucket(bucket.key), { memory: bucket.memory, limit, used: nothingOwed })
      }
    }
  }

  /** Notes that a request was answered, and stands no more among those that nobody may have counted. */
  const noteAnswered = (bucket: SharedBucket, point: DrawPoint | null): void => {
    noteAnswer(bucket, standing.now())
    if (point === null || isLate(point, clock.monotonicMs())) return
    bucket.answered = bothAnswered(bucket.answered, { count: 1, atMs: point.atMs })
  }

  const learn = async (key: BucketKey, signal: BudgetSignal, point: DrawPoint | null): Promise<void> => {
    const bucket = standing.bucketOf(key)
    const limit = standing.limitOfBucket(bucket)
    noteAnswered(bucket, point)
    const believed = learnFrom(limit, bucket.memory, signal, { nowMs: standing.now(), random: 0 })
    const interval = intervalOf(bucketShape(limit, believed.counted), believed)
    const saysNothingNew =
      signal.status !== 429 &&
      !saysMore(bucket, limit, signal, point) &&
      !recovers(bucket.memory, believed) &&
      believed.counted === bucket.memory.counted &&
      believed.blockedUntilMs === bucket.memory.blockedUntilMs &&
      believed.arrivalMs <= bucket.memory.arrivalMs + leftOf(bucket.lease, clock.monotonicMs()) * interval
    if (saysNothingNew) {
      if (bucket.memory.rate < 1 || bucket.memory.strikes > 0) bucket.eased += 1
      return
    }
    // Known here at once, be the store there or not.
    bucket.memory = believed
    bucket.notBeforeMs = Math.max(bucket.notBeforeMs, believed.blockedUntilMs)
    if (signal.status === 429 || signal.remaining === 0) bucket.lease = null
    const storing = storeNews(bucket, limit, { signal, point })
    // What is good to know may come to the others while this caller goes on.
    if (signal.status < 300 && signal.remaining !== 0) storing.catch(standing.bear)
    else await storing
  }

  const storeEased = async (): Promise<void> => {
    for (const bucket of buckets.values()) {
      if (bucket.eased === 0) continue
      await bucket.inTurn(() =>
        rewrite(bucket, standing.limitOfBucket(bucket), ({ memory, draws }) => ({ memory, draws, isNew: false, result: null })),
      )
    }
  }

  return { take, learn, storeEased }
}
