/**
 * How many requests have been drawn on a bucket lately, by all who share it: so many the marketplace may not have counted yet when it says what is left.
 * Times are epoch ms of one clock.
 */
export interface RecentDraws {
  /** The beginning of the time in which `count` were drawn; `before` were in as long a time before it. */
  readonly sinceMs: number
  readonly count: number
  readonly before: number
}

/** A request that was drawn has come to the marketplace within this time, or never will. */
const arrivesWithinMs = 10_000
/** More than any marketplace says to be left. */
const anyNumber = 1e9

/** Nothing was ever drawn. */
export const noDraws: RecentDraws = { sinceMs: 0, count: 0, before: 0 }

/** Nobody knows what was drawn before this moment. */
export const unknownDraws = (nowMs: number): RecentDraws => ({ sinceMs: nowMs, count: anyNumber, before: 0 })

const at = (draws: RecentDraws, nowMs: number): RecentDraws => {
  const ageMs = nowMs - draws.sinceMs
  // The clock was set back.
  if (ageMs < 0) return { ...draws, sinceMs: nowMs }
  if (ageMs < arrivesWithinMs) return draws
  if (ageMs < 2 * arrivesWithinMs) return { sinceMs: draws.sinceMs + arrivesWithinMs, count: 0, before: draws.count }
  return { sinceMs: nowMs, count: 0, before: 0 }
}

/** With so many more. */
export const withDraws = (draws: RecentDraws, count: number, nowMs: number): RecentDraws => {
  const current = at(draws, nowMs)
  return { ...current, count: current.count + count }
}

/** How many there were, at least, within the time in which a request comes to the marketplace. */
export const drawnLately = (draws: RecentDraws, nowMs: number): number => {
  const { count, before } = at(draws, nowMs)
  return count + before
}

/** The same on a clock that is so many ms ahead. */
export const shiftedDraws = (draws: RecentDraws, byMs: number): RecentDraws => ({ ...draws, sinceMs: draws.sinceMs + byMs })
