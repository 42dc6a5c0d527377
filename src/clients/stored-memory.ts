import { z } from 'zod'
import { type BucketMemory, bucketShape, fullBucket, shifted, underLimit } from './bucket.ts'
import { jsonOrNull } from './json.ts'
import type { RateLimit } from './operation.ts'
import { noPromises } from './promises.ts'
import { noDraws, type RecentDraws, unknownDraws } from './recent-draws.ts'

/** A moment of writing may be so far ahead of the clock of the store by the network alone. */
const aheadByNetworkMs = 2_000

const memorySchema = z.object({
  // When it was written; missing where a version has written that did not say.
  writtenMs: z.number().optional(),
  arrivalMs: z.number(),
  rate: z.number(),
  ceiling: z.number(),
  calm: z.number(),
  counted: z.boolean(),
  blockedUntilMs: z.number(),
  strikes: z.number(),
  slowedAtMs: z.number(),
  // Missing where none has.
  isForCommands: z.boolean().default(false),
  // The limit under which it stands so; missing where a version has written that knew of none.
  tokens: z.number().positive().optional(),
  perMs: z.number().positive().optional(),
  // What was drawn lately; missing where a process alone has written, or a version that did not count it.
  draws: z
    .object({
      sinceMs: z.number(),
      count: z.number(),
      before: z.number(),
      // Missing where a version has written that did not count them.
      answered: z.number().default(0),
      total: z.number().optional(),
    })
    .optional(),
})

/**
 * A bucket as it is stored at that moment of the store's clock, with its limit: the next reader may have another one. What callers were told is a matter of
 * their process; older versions read a moment there.
 */
export const storedText = (
  { promises: _told, isForCommands, ...memory }: BucketMemory,
  { tokens, perMs }: RateLimit,
  writtenMs: number,
  draws?: RecentDraws,
): string =>
  JSON.stringify({ ...memory, ...(isForCommands ? { isForCommands } : {}), promisedMs: 0, tokens, perMs, writtenMs, draws })

/** A bucket at a moment, on the clock of the store. */
export interface BucketReading {
  readonly memory: BucketMemory
  readonly draws: RecentDraws
}

/** What is stored of a bucket, as it is to be read. */
export interface StoredMemory extends BucketReading {
  /** The clock of the store was set back since it was written, as by a failover. It has moved with the clock, and must be stored so. */
  readonly isSetBack: boolean
}

/** Reads what is stored of a bucket. What another version has written, and this one cannot read, counts as an empty one. */
export const readStored = (text: string | null, limit: RateLimit, storeMs: number): StoredMemory => {
  if (text === null) return { memory: fullBucket, draws: noDraws(storeMs), isSetBack: false }
  const stored = memorySchema.safeParse(jsonOrNull(text))
  if (!stored.success) {
    const shape = bucketShape(limit)
    const memory = { ...fullBucket, arrivalMs: storeMs + shape.burst * shape.intervalMs }
    return { memory, draws: unknownDraws(storeMs), isSetBack: false }
  }
  const { tokens = limit.tokens, perMs = limit.perMs, draws, writtenMs = storeMs, ...memory } = stored.data
  const isSetBack = writtenMs > storeMs + aheadByNetworkMs
  const moved = shifted({ ...memory, promises: noPromises }, isSetBack ? storeMs - writtenMs : 0)
  return {
    memory: underLimit(moved, { tokens, perMs }, limit, storeMs),
    draws: draws === undefined ? unknownDraws(storeMs) : { ...draws, total: draws.total ?? storeMs },
    isSetBack,
  }
}

/** What is owed for no longer than this need not be remembered, in milliseconds. */
const shortDebtMs = 10_000

const owesUntilMs = ({ arrivalMs, blockedUntilMs }: Pick<BucketMemory, 'arrivalMs' | 'blockedUntilMs'>): number =>
  Math.max(arrivalMs, blockedUntilMs)

/** Whether a bucket owes so much that it would matter if what is stored of it were lost. */
export const owesMuch = (text: string, storeMs: number): boolean => {
  const stored = memorySchema.safeParse(jsonOrNull(text))
  return stored.success && owesUntilMs(stored.data) > storeMs + shortDebtMs
}

/** Of two states of a bucket that do not know of each other the one that owes for longer; null: nothing is stored. */
export const owingLonger = (one: string | null, other: string): string => {
  if (one === null) return other
  const [a, b] = [one, other].map((text) => memorySchema.safeParse(jsonOrNull(text)))
  if (a?.success !== true || b?.success !== true) return one
  return owesUntilMs(b.data) > owesUntilMs(a.data) ? other : one
}
