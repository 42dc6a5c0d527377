import { type BucketMemory, easedBy, learnFrom, shifted } from './bucket.ts'
import { nameOfBucket } from './budget.ts'
import type { Standing, StoredReading } from './budget-standing.ts'
import type { RateLimit } from './operation.ts'
import { isLate, type RecentDraws, uncountedIn, withAnswered } from './recent-draws.ts'
import { bothAnswered, type News, noneAnswered, type SharedBucket } from './shared-bucket.ts'
import { type BucketReading, storedText } from './stored-memory.ts'

/** A bucket as it was read, and when. On the clock of the store. */
export interface Read extends BucketReading, Pick<StoredReading, 'storeMs' | 'askedAtMs'> {}

/** What becomes of it. */
export interface Rewritten<Result> extends BucketReading {
  readonly isNew: boolean
  readonly result: Result
}

/** Reads a stored bucket and stores it changed. */
export type Rewrite = <Result>(
  bucket: SharedBucket,
  limit: RateLimit,
  change: (read: Read) => Rewritten<Result>,
) => Promise<{ readonly result: Result; readonly version: number } | null>

const mostSwaps = 20

/**
 * For one process. Reads what is stored, changes it, and stores it unless nothing has changed; again where somebody else has written meanwhile. What the
 * process knows besides is stored with it. Null: too many others wrote.
 */
export const createRewrite = (standing: Standing): Rewrite => {
  const { store, random, carried } = standing

  /** What answers change of what was read. */
  const learnAll = (
    memory: BucketMemory,
    of: {
      readonly limit: RateLimit
      readonly news: readonly News[]
      readonly draws: RecentDraws
      readonly storeMs: number
    },
  ): BucketMemory => {
    const { limit, news, draws, storeMs } = of
    const onStoresClock = (moment: Date | null): Date | null => moment && new Date(moment.getTime() + standing.aheadMs)
    return news.reduce((learned, { signal, point }) => {
      const moved = { ...signal, replenishAt: onStoresClock(signal.replenishAt), retryAfter: onStoresClock(signal.retryAfter) }
      return learnFrom(limit, learned, moved, {
        nowMs: storeMs,
        random: random(),
        uncounted: isLate(point, standing.clock.monotonicMs()) ? null : uncountedIn(point, draws, storeMs),
      })
    }, memory)
  }

  return async (bucket, limit, change) => {
    const name = nameOfBucket(bucket.key)
    for (let swap = 0; swap < mostSwaps; swap += 1) {
      const stored = await standing.read(name)
      const { version, storeMs, askedAtMs } = stored
      const eased = bucket.eased
      const known = carried.get(name)
      const { memory: whole, draws: drawn, isSetBack } = standing.readingOf(name, stored, limit)
      if (isLate(bucket.answered, standing.clock.monotonicMs())) bucket.answered = noneAnswered
      const { answered } = bucket
      const draws = withAnswered(drawn, answered.count, storeMs)
      const news = [...bucket.news]
      const memory = learnAll(easedBy(limit, whole, eased, storeMs), { limit, news, draws, storeMs })
      const { result, ...changed } = change({ memory, draws, storeMs, askedAtMs })
      bucket.memory = shifted(changed.memory, -standing.aheadMs)
      bucket.drawsOfAll = changed.draws
      if (!changed.isNew && !isSetBack && eased === 0 && known === undefined && news.length === 0) return { result, version }
      // Taken off first: where the answer of the store is lost they may have been written, and must not be counted twice.
      bucket.answered = noneAnswered
      if (!(await store.swap(name, version, storedText(changed.memory, limit, storeMs, changed.draws)))) {
        bucket.answered = bothAnswered(bucket.answered, answered)
        continue
      }
      bucket.eased -= eased
      bucket.news.splice(0, news.length)
      carried.deleteStored(name, known)
      return { result, version: version + 1 }
    }
    return null
  }
}
