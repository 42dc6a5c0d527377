import { parseHeaderDateMs } from '../../domain/values/header-date.ts'

/**
 * The marketplace's clock, estimated from the `Date` header of its answers.
 *
 * One answer proves that the marketplace's clock minus ours lies between `date - received` and `date + 1 s - sent`: the header is truncated to a second, and the
 * answer was written between our two readings. The estimate is the intersection of these intervals, so a slow answer with a wide interval does not make the
 * estimate of a fast one worse. If an answer contradicts the intersection, a clock was set: only this answer counts.
 */
export interface MarketplaceClock {
  /** The marketplace's time now; our own until the first answer. */
  now(): Date
  /** The marketplace's time at a time of our own clock (epoch ms). */
  at(ownMs: number): Date
  /** Learns from one answer. `sentMs` and `receivedMs` are on our own clock; an unreadable header is ignored. */
  observe(dateHeader: string | undefined, sentMs: number, receivedMs: number): void
}

/** The estimated offset (other clock minus our own, ms). */
interface OffsetEstimate {
  readonly lowMs: number
  readonly highMs: number
  readonly offsetMs: number
  readonly learnedAtMs: number
}

/** Maximum drift between two quartz clocks; it widens the interval. */
const drift = 200e-6
const headerResolutionMs = 1000

/** A timestamp of another clock, truncated to its resolution, with the times of request and answer on our own clock. In ms. */
interface ClockReading {
  readonly timestampMs: number
  readonly resolutionMs: number
  readonly sentMs: number
  readonly receivedMs: number
}

/** The estimate after one more answer. Pure. The offset changes only as far as necessary. */
const learnOffset = (
  previous: OffsetEstimate | null,
  { timestampMs: momentMs, resolutionMs, sentMs, receivedMs }: ClockReading,
): OffsetEstimate => {
  const low = momentMs - receivedMs
  const high = momentMs + resolutionMs - sentMs
  const middle = { lowMs: low, highMs: high, offsetMs: (low + high) / 2, learnedAtMs: receivedMs }
  if (previous === null || high < low) return high < low ? (previous ?? middle) : middle
  const slack = Math.max(0, receivedMs - previous.learnedAtMs) * drift
  const lowMs = Math.max(low, previous.lowMs - slack)
  const highMs = Math.min(high, previous.highMs + slack)
  if (lowMs > highMs) return middle
  return { lowMs, highMs, offsetMs: Math.min(Math.max(previous.offsetMs, lowMs), highMs), learnedAtMs: receivedMs }
}

/** A clock without an estimate. `now` is our own clock, epoch ms. */
export const createMarketplaceClock = (now: () => number): MarketplaceClock => {
  let estimate: OffsetEstimate | null = null
  const at = (ownMs: number): Date => new Date(Math.round(ownMs + (estimate?.offsetMs ?? 0)))
  return {
    at,
    now: () => at(now()),
    observe(dateHeader, sentMs, receivedMs) {
      const momentMs = dateHeader === undefined ? Number.NaN : parseHeaderDateMs(dateHeader)
      if (Number.isNaN(momentMs)) return
      estimate = learnOffset(estimate, { timestampMs: momentMs, resolutionMs: headerResolutionMs, sentMs, receivedMs })
    },
  }
}
