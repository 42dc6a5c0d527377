import { z } from 'zod'
import { hourMs } from '../core/duration.ts'
import type { Meta } from '../core/meta.ts'

/** The operations of the sandbox, by the names that faults and limits use. */
const operations = [
  'token',
  'token.detail',
  'orders.list',
  'orders.released',
  'orders.get',
  'orders.acknowledge',
  'orders.ship',
  'orders.cancel',
  'orders.refund',
  'returns.list',
  'returns.refund',
  'taxonomies.list',
  'targeting.list',
  'campaigns.get',
  'shipping-settings.create',
  'shipping-settings.get',
  'replenishment.recommend',
  'reconciliation.report',
  'inventory-log.list',
  'sales-channels.list',
  'settlements.dates',
  'settlements.report',
] as const
export type OperationName = (typeof operations)[number]
/** The name of an operation, as control requests give it. */
export const operationName = z.enum(operations)

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

const limitsSchema = z.strictObject({
  enabled: z.boolean(),
  /** The header that names the moment of the next token: two spellings are published, and it may be missing. */
  replenishHeader: z.enum(['X-Next-Replenishment-Time', 'x-next-replenish-time', 'none']),
  operations: z.partialRecord(operationName, bucket.nullable()),
})
type Limits = z.infer<typeof limitsSchema>

/** Body of `PUT /_sandbox/limits`; what is left out stays as it is, an operation given `null` has no limit. */
export const limitsChange = limitsSchema.partial()
type LimitsChange = z.infer<typeof limitsChange>

const perMinute = (tokens: number): z.infer<typeof bucket> => ({ tokens, perMs: 60_000, foreignPerMinute: 0 })

/** The published table (public facts, section 5.1). No number is published for the token operation, display advertising and the sales channels. */
const defaultLimits: Limits = {
  enabled: true,
  replenishHeader: 'X-Next-Replenishment-Time',
  operations: {
    'orders.list': perMinute(5_000),
    'orders.get': perMinute(5_000),
    'orders.released': perMinute(60),
    'orders.acknowledge': perMinute(60),
    'orders.ship': perMinute(60),
    'orders.cancel': perMinute(60),
    'orders.refund': perMinute(60),
    'returns.list': perMinute(50),
    'returns.refund': perMinute(60),
    'taxonomies.list': perMinute(600),
    'targeting.list': perMinute(600),
    'campaigns.get': perMinute(10),
    'shipping-settings.create': perMinute(5),
    'shipping-settings.get': perMinute(50),
    'replenishment.recommend': perMinute(100),
    'reconciliation.report': { tokens: 1, perMs: hourMs, foreignPerMinute: 0, clock: 'virtual' },
    'inventory-log.list': perMinute(500),
    'settlements.dates': perMinute(100),
    'settlements.report': perMinute(100),
  },
}

export interface Taken {
  readonly granted: boolean
  /** Whole tokens left, or `null` if there is no limit. */
  readonly left: number | null
  /** Real milliseconds until there is one more token. */
  readonly nextInMs: number
}

/**
 * Token buckets, one a seller and operation, or a part of an operation's budget. They fill in real time, whatever the virtual clock
 * does, but for those that say otherwise.
 */
export interface RateLimits {
  current(): Limits
  change(change: LimitsChange): Limits
  reset(): void
  /** `scope`: the requested part of the operation's budget. */
  take(sellerId: string, operation: OperationName, scope?: string): Taken
}

export const createRateLimits = (
  meta: Meta,
  nowMs: () => number = () => performance.now(),
  offsetMs: () => number = () => 0,
): RateLimits => {
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
