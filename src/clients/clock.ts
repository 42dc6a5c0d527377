import { headerMomentMs } from '../domain/header-moment.ts'

/**
 * The marketplace's clock, estimated from the `Date` header of its answers.
 *
 * One answer proves that the marketplace's clock minus ours lies between `date - received` and `date + 1 s - sent`: the header is
 * cut to a second, and the answer was written some time between our two readings. The estimate keeps the intersection of these
 * intervals, so a slow answer, whose interval is wide, cannot spoil what a quick one showed. An answer that contradicts the
 * intersection means that a clock was set: then it counts alone.
 */
export interface MarketplaceClock {
  /** The marketplace's time now; our own until an answer was seen. */
  now(): Date
  /** The marketplace's time at a moment of our own clock (epoch ms). */
  at(ownMs: number): Date
  /** Learns from one answer. `sentMs` and `receivedMs` are on our own clock; an unreadable header is ignored. */
  observe(dateHeader: string | undefined, sentMs: number, receivedMs: number): void
}

/** What is known of the offset (other clock minus own clock, ms). */
export interface OffsetEstimate {
  readonly lowMs: number
  readonly highMs: number
  readonly offsetMs: number
  readonly learnedAtMs: number
}

/** Two quartz clocks drift apart by no more than this; the interval widens by it. */
const drift = 200e-6
const headerResolutionMs = 1000

/** A moment of another clock, cut to its resolution, and when it was asked for and known on our own one. In ms. */
export interface SeenMoment {
  readonly momentMs: number
  readonly resolutionMs: number
  readonly sentMs: number
  readonly receivedMs: number
}

/** The estimate after one more answer. Pure. The offset moves only as far as the evidence forces it to. */
export const learnOffset = (
  previous: OffsetEstimate | null,
  { momentMs, resolutionMs, sentMs, receivedMs }: SeenMoment,
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

/** The estimate on an own clock that was set by so many ms. */
export const shiftedOffset = ({ lowMs, highMs, offsetMs, learnedAtMs }: OffsetEstimate, stepMs: number): OffsetEstimate => ({
  lowMs: lowMs - stepMs,
  highMs: highMs - stepMs,
  offsetMs: offsetMs - stepMs,
  learnedAtMs: learnedAtMs + stepMs,
})

/** A clock that knows nothing yet. `now` is our own clock, epoch ms. */
export const createMarketplaceClock = (now: () => number): MarketplaceClock => {
  let estimate: OffsetEstimate | null = null
  const at = (ownMs: number): Date => new Date(Math.round(ownMs + (estimate?.offsetMs ?? 0)))
  return {
    at,
    now: () => at(now()),
    observe(dateHeader, sentMs, receivedMs) {
      const momentMs = dateHeader === undefined ? Number.NaN : headerMomentMs(dateHeader)
      if (Number.isNaN(momentMs)) return
      estimate = learnOffset(estimate, { momentMs, resolutionMs: headerResolutionMs, sentMs, receivedMs })
    },
  }
}
