import { z } from 'zod'
import type { Meta } from '../core/meta.ts'

const bucket = z.strictObject({
  /** Tokens of a full bucket. */
  tokens: z.number().int().min(1).max(1_000_000_000),
  /** In how long an empty bucket fills up. */
  perMs: z.number().int().min(1),
  /** So many tokens a minute are eaten by another program of the same seller. */
  foreignPerMinute: z.number().min(0).default(0),
  /** Whether it fills in real time (left out), or with the virtual clock, so that an hour can be leapt over. */
  clock: z.enum(['real', 'virtual']).optional(),
})

/** How often an operation may be called. */
export type Limit = z.infer<typeof bucket>

/** Members of the limits, for any operation. */
const buildLimits = <Name extends z.core.$ZodRecordKey>(name: Name) =>
  z.strictObject({
    enabled: z.boolean(),
    /** The header that names the moment of the next token: two spellings are published, and it may be missing. */
    replenishHeader: z.enum(['X-Next-Replenishment-Time', 'x-next-replenish-time', 'none']),
    operations: z.partialRecord(name, bucket.nullable()),
  })
const limitsSchema = buildLimits(z.string())
type Limits = z.infer<typeof limitsSchema>

/** Body of `PUT /_sandbox/limits` for operations of these names; what is left out stays as it is, an operation given `null` has no limit. */
export const limitsChange = (operationNames: readonly string[]) => buildLimits(z.enum([...operationNames])).partial()
type LimitsChange = z.infer<ReturnType<typeof limitsChange>>

/** So many calls a minute, none of them eaten by others. */
export const perMinute = (tokens: number): Limit => ({ tokens, perMs: 60_000, foreignPerMinute: 0 })

export interface Taken {
  readonly granted: boolean
  /** Whole tokens left, or `null` if there is no limit. */
  readonly left: number | null
  /** Real milliseconds until there is one more token. */
  readonly nextInMs: number
}

/**
 * Token buckets, one a seller and operation, or a part of an operation's budget. They fill in real time, regardless of the virtual clock
 * does, but for those that say otherwise.
 */
export interface RateLimits {
  current(): Limits
  change(change: LimitsChange): Limits
  reset(): void
  /** `scope`: the requested part of the operation's budget. */
  take(sellerId: string, operation: string, scope?: string): Taken
}

/** The limits of these operations as they are published, until they are changed; changes are kept. */
export const createRateLimits = (
  meta: Meta,
  operations: readonly { readonly name: string; readonly limit: Limit | null }[],
  nowMs: () => number = () => performance.now(),
  offsetMs: () => number = () => 0,
): RateLimits => {
  const defaultLimits: Limits = {
    enabled: true,
    replenishHeader: 'X-Next-Replenishment-Time',
    operations: Object.fromEntries(operations.map(({ name, limit }) => [name, limit])),
  }
  let limits = meta.read('limits', limitsSchema, defaultLimits)
  const buckets = new Map<string, { tokens: number; at: number }>()
  return {
    current: () => limits,
    change(change) {
      limits = {
        enabled: change.enabled ?? limits.enabled,
        replenishHeader: change.replenishHeader ?? limits.replenishHeader,
        operations: { ...limits.operations, ...change.operations },
      }
      meta.keep('limits', limits)
      buckets.clear()
      return limits
    },
    reset() {
      limits = defaultLimits
      buckets.clear()
    },
    take(sellerId, operation, scope = '') {
      const limit = limits.enabled ? (limits.operations[operation] ?? null) : null
      if (limit === null) return { granted: true, left: null, nextInMs: 0 }
      const key = `${operation}\u0000${sellerId}\u0000${scope}`
      const now = nowMs() + (limit.clock === 'virtual' ? offsetMs() : 0)
      const known = buckets.get(key) ?? { tokens: limit.tokens, at: now }
      const gain = Math.max(0, limit.tokens / limit.perMs - limit.foreignPerMinute / 60_000)
      const tokens = Math.min(limit.tokens, known.tokens + (now - known.at) * gain)
      const granted = tokens >= 1
      const left = granted ? tokens - 1 : tokens
      buckets.set(key, { tokens: left, at: now })
      const missing = Math.floor(left) + 1 - left
      return { granted, left: Math.floor(left), nextInMs: gain === 0 ? 60_000 : Math.ceil(missing / gain) }
    },
  }
}
