import { parseHeaderDateMs } from '../../domain/values/header-date.ts'
import type { FailurePlan } from '../../store/webhooks/webhook-deliveries.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** Waits between the attempts of a message, in milliseconds: the schedule of Standard Webhooks. The first attempt is made at once. */
export const retryDelaysMs: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
]

/** No wait that a receiver asks for is longer, in milliseconds. */
const longestHoldMs = 24 * hour
/** Part of a wait by which it may be longer, so that messages that failed together do not all come back together. */
const jitter = 0.1

/** What a receiver has answered, as far as a plan needs it. */
export interface FailedAnswer {
  readonly httpStatus: number | null
  /** What it asks to wait (Retry-After), in milliseconds. */
  readonly retryAfterMs: number | null
}

/** What follows from a failed attempt that had `attempt` attempts of its schedule before it. */
export const planAfter = (
  attempt: number,
  { httpStatus, retryAfterMs }: FailedAnswer,
  random: () => number = Math.random,
): FailurePlan => {
  const asked = httpStatus === 429 || httpStatus === 503 ? retryAfterMs : null
  const holdMs = asked === null ? null : Math.min(asked, longestHoldMs)
  const delayMs = retryDelaysMs[attempt]
  return {
    nextInMs: delayMs === undefined ? null : Math.max(Math.round(delayMs * (1 + jitter * random())), holdMs ?? 0),
    holdMs,
    gone: httpStatus === 410,
  }
}

/** `Retry-After` as milliseconds from now: seconds, or a date. Null: absent, or neither. */
export const findRetryAfter = (header: string | undefined, nowMs: number): number | null => {
  if (header === undefined) return null
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * second
  const at = parseHeaderDateMs(header)
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs)
}
