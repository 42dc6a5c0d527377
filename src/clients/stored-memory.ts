import { z } from 'zod'
import { type BucketMemory, bucketShape, fullBucket, underLimit } from './bucket.ts'
import { jsonOrNull } from './json.ts'
import type { RateLimit } from './operation.ts'
import { noPromises } from './promises.ts'
import { noDraws, type RecentDraws, unknownDraws } from './recent-draws.ts'

const memorySchema = z.object({
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
 * A bucket as it is stored, with its limit: the next reader may have another one. What callers were told is a matter of their process; older versions
 * read a moment there.
 */
export const storedText = (
  { promises: _told, isForCommands, ...memory }: BucketMemory,
  { tokens, perMs }: RateLimit,
  draws?: RecentDraws,
): string => JSON.stringify({ ...memory, ...(isForCommands ? { isForCommands } : {}), promisedMs: 0, tokens, perMs, draws })

/** What was drawn lately on what is stored. */
export const drawsOf = (text: string | null, storeMs: number): RecentDraws => {
  if (text === null) return noDraws(storeMs)
  const stored = memorySchema.safeParse(jsonOrNull(text))
  const draws = stored.success ? stored.data.draws : undefined
  return draws === undefined ? unknownDraws(storeMs) : { ...draws, total: draws.total ?? storeMs }
}

/** What is stored of a bucket. What another version has written, and this one cannot read, counts as an empty one. */
export const memoryOf = (text: string | null, limit: RateLimit, storeMs: number): BucketMemory => {
  if (text === null) return fullBucket
  const stored = memorySchema.safeParse(jsonOrNull(text))
  if (stored.success) {
    const { tokens = limit.tokens, perMs = limit.perMs, draws: _drawn, ...memory } = stored.data
    return underLimit({ ...memory, promises: noPromises }, { tokens, perMs }, limit, storeMs)
  }
  const shape = bucketShape(limit)
  return { ...fullBucket, arrivalMs: storeMs + shape.burst * shape.intervalMs }
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
