import { createInTurn } from '../in-turn.ts'
import { type BucketMemory, type BudgetSignal, bucketShape, intervalOf, learnFrom, shifted, takeFrom } from './bucket.ts'
import {
  type BucketKey,
  type Grant,
  giveBack,
  grantThat,
  nameOfBucket,
  noteAnswer,
  takeLocally,
  type Wait,
  waitUntil,
} from './budget.ts'
import type { Standing } from './budget-standing.ts'
import type { CarriedStoring } from './carried-storing.ts'
import type { CallLane } from './lane.ts'
import type { RateLimit } from './operation.ts'
import { nothingOwed } from './owed-requests.ts'
import { type RecentDraws, shiftedDraws } from './recent-draws.ts'
import type { SharedBucket } from './shared-bucket.ts'
import { storedText } from './stored-memory.ts'

/** What a bucket has back sooner than this need not be remembered for a process that is killed: nobody takes its place before it has it back. */
export const shortMemoryMs = 1_200
/** What is stored of a bucket in use covers what is used for so long after that, unless one call comes back later than that. */
const snapshotHoldsMs = 5_000
/** A call that is stored before it leaves may take so much longer than the last one did, at least. */
const leastStoringMs = 100
/** A bucket that is still not covered after being stored so often waits a moment. */
const mostCovers = 20

/** The budget of a process that is alone: its own memory, of which so much is stored that nobody who takes its place makes a call again. */
export interface SoleBudget {
  take(key: BucketKey, lane: CallLane): Promise<Grant | Wait>
  learn(key: BucketKey, signal: BudgetSignal, grant: Grant | undefined): Promise<void>
  /** Stores what was used and learned since it was stored last. The next announcement does not wait for it. */
  storeMeanwhile(): void
  /** Stores exactly what it remembers, for whoever comes after, and has no bucket any more. */
  handOver(): Promise<void>
}

/** For one process (docs/decisions/0058-stored-before-it-leaves.md). */
export const createSoleBudget = (standing: Standing, storing: CarriedStoring): SoleBudget => {
  const { id, store, clock, random, limitOf, buckets, carried } = standing
  /** One after another: what is computed later is stored later. */
  const puts = createInTurn()
  const toCover = new Set<SharedBucket>()
  let covering: Promise<void> | null = null
  /** A call that is stored leaves so much later at most, in ms. */
  let storingMs = leastStoringMs
  let isStoringMeanwhile = false

  /** As it is stored; left out what was drawn lately, it counts as unknown. */
  const textOf = (memory: BucketMemory, limit: RateLimit, draws: RecentDraws | null): string =>
    storedText(
      shifted(memory, standing.aheadMs),
      limit,
      standing.now() + standing.aheadMs,
      draws === null ? undefined : shiftedDraws(draws, standing.aheadMs),
    )

  /**
   * The arrival of a bucket as whoever takes over must take it: as if all were used that this process may use until it stores it again. Where one call comes
   * back later than that, only those that wait for it are counted in.
   */
  const arrivalToStore = (bucket: SharedBucket, limit: RateLimit, nowMs: number): number => {
    const shape = bucketShape(limit, bucket.memory.counted)
    const interval = intervalOf(shape, bucket.memory)
    const { arrivalMs } = bucket.memory
    if (interval > snapshotHoldsMs)
      return bucket.uncovered === 0
        ? arrivalMs
        : Math.max(arrivalMs, nowMs + storingMs) + Math.min(bucket.uncovered, shape.burst) * interval
    return Math.max(arrivalMs, nowMs + snapshotHoldsMs + shape.burst * interval)
  }

  /** Whether it owes something for so long that whoever takes over must know of it. */
  const owesLong = ({ memory }: SharedBucket): boolean =>
    Math.max(memory.arrivalMs, memory.blockedUntilMs) > standing.now() + shortMemoryMs

  /** Stores buckets as a process that takes over must take them, and with that covers what this one draws next. Each after what was asked for before. */
  const storeUsedUp = (which: () => readonly SharedBucket[]): Promise<void> =>
    puts(async () => {
      const nowMs = standing.now()
      const used = which().map((bucket) => {
        const limit = standing.limitOfBucket(bucket)
        const arrivalMs = arrivalToStore(bucket, limit, nowMs)
        const text = textOf({ ...bucket.memory, arrivalMs }, limit, bucket.draws)
        // What is stored already may cover more, but not for long.
        bucket.coveredMs = Math.min(bucket.coveredMs, arrivalMs)
        return { bucket, limit, storedMs: arrivalMs + standing.aheadMs, text }
      })
      if (standing.mode !== 'sole' || used.length === 0) return
      const sentMs = clock.monotonicMs()
      const isWritten = await store.put(id, new Map(used.map(({ bucket, text }) => [nameOfBucket(bucket.key), text])))
      storingMs = Math.max(leastStoringMs, storingMs / 2, 2 * (clock.monotonicMs() - sentMs))
      if (!isWritten) {
        // Somebody else has come, or may have.
        standing.believedUntilMs = Number.NEGATIVE_INFINITY
        return
      }
      standing.now()
      // What was stored by another limit covers nothing.
      for (const { bucket, limit, storedMs } of used) if (bucket.limit === limit) bucket.coveredMs = storedMs - standing.aheadMs
    })

  /** Stores a bucket before a call leaves, with all others that are to be stored by then. */
  const cover = async (bucket: SharedBucket): Promise<void> => {
    toCover.add(bucket)
    bucket.uncovered += 1
    covering ??= storeUsedUp(() => {
      covering = null
      const some = [...toCover]
      toCover.clear()
      return some
    })
    try {
      await covering
    } finally {
      bucket.uncovered -= 1
    }
  }

  /** The bucket as it was left by this or another process; null when this one is not alone any more. */
  const adopt = async (key: BucketKey): Promise<SharedBucket | null> => {
    const name = nameOfBucket(key)
    const known = buckets.get(name)
    if (known !== undefined) return known
    await storing.endOf(name)
    const knownBefore = carried.get(name)
    const { term } = standing
    const stored = await standing.read(name)
    standing.doubt()
    if (standing.mode !== 'sole' || standing.term !== term) return null
    const limit = limitOf(key.sellerId, key.operation)
    if (!buckets.has(name)) {
      // What is being stored meanwhile was not there yet when it was read.
      if (knownBefore !== undefined && carried.get(name) === undefined) standing.carry(name, knownBefore.known)
      const bucket = standing.bucketOf(key)
      const { memory, draws } = standing.readingOf(name, stored, limit)
      bucket.memory = shifted(memory, -standing.aheadMs)
      bucket.limit = limit
      bucket.draws = shiftedDraws(draws, -standing.aheadMs)
      bucket.isDirty = carried.delete(name)
    }
    return standing.bucketOf(key)
  }

  /** Whether this process still owns the bucket: while it waited for the store somebody else may have come. */
  const isOwn = (bucket: SharedBucket): boolean => {
    standing.doubt()
    return standing.mode === 'sole' && buckets.get(nameOfBucket(bucket.key)) === bucket
  }

  const storeChanged = async (): Promise<void> => {
    const changed = [...buckets.values()].filter((bucket) => bucket.isDirty || (bucket.isDrawn && owesLong(bucket)))
    for (const bucket of buckets.values()) bucket.isDrawn = false
    for (const bucket of changed) bucket.isDirty = false
    try {
      if (changed.length > 0) await storeUsedUp(() => changed)
    } catch (error) {
      for (const bucket of changed) bucket.isDirty = true
      throw error
    }
  }

  return {
    async take(key, lane) {
      const bucket = await adopt(key)
      for (let covers = 0; bucket !== null && covers < mostCovers && isOwn(bucket); covers += 1) {
        const [limit, nowMs] = [standing.limitOfBucket(bucket), standing.now()]
        const { memory } = bucket
        const shape = bucketShape(limit, memory.counted)
        const arrivalMs = Math.max(memory.arrivalMs, nowMs) + intervalOf(shape, memory)
        const isShort = arrivalMs <= nowMs + shortMemoryMs
        if (!isShort && arrivalMs > bucket.coveredMs && takeFrom(shape, memory, nowMs, 0, lane).waitUntilMs === null) {
          // Whoever takes over after a crash must know of it before it leaves.
          await cover(bucket)
          continue
        }
        const leave = takeLocally(bucket, limit, nowMs, lane)
        if (!leave.granted || isShort) return leave
        bucket.isDrawn = true
        return grantThat(async () => {
          await giveBack(leave)
          bucket.isDirty = true
        }, standing.now())
      }
      return waitUntil(standing.now())
    },
    async learn(key, signal, grant) {
      const bucket = await adopt(key)
      if (bucket === null || !isOwn(bucket)) return standing.carryForbidden(key, signal)
      const uncounted = noteAnswer(bucket, standing.now(), grant)
      const limit = standing.limitOfBucket(bucket)
      const before = bucket.memory
      bucket.memory = learnFrom(limit, before, signal, { nowMs: standing.now(), random: random(), uncounted })
      const owesMore = bucket.memory.arrivalMs > Math.max(before.arrivalMs, bucket.coveredMs) && owesLong(bucket)
      bucket.isDirty ||= owesMore || bucket.memory.rate !== before.rate || bucket.memory.blockedUntilMs !== before.blockedUntilMs
    },
    storeMeanwhile() {
      if (isStoringMeanwhile) return
      isStoringMeanwhile = true
      void storeChanged()
        .catch(standing.bear)
        .finally(() => {
          isStoringMeanwhile = false
        })
    },
    async handOver() {
      await storing.storeAll()
      await puts(async () => {
        const given = [...buckets].map(([name, bucket]) => {
          const limit = standing.limitOfBucket(bucket)
          const text = textOf(bucket.memory, limit, bucket.draws)
          // Known until it is stored.
          return { name, text, entry: standing.carry(name, { memory: bucket.memory, limit, used: nothingOwed }) }
        })
        buckets.clear()
        if (given.length === 0 || !(await store.put(id, new Map(given.map(({ name, text }) => [name, text]))))) return
        for (const { name, entry } of given) carried.deleteStored(name, entry)
      })
    },
  }
}
