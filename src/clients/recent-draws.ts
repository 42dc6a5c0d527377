/**
 * How many requests have been drawn on a bucket lately, by all who share it: so many the marketplace may not have counted yet when it says what is left.
 * Times are epoch ms of one clock.
 */
export interface RecentDraws {
  /** The beginning of the time in which `count` were drawn; `before` were in as long a time before it. */
  readonly sinceMs: number
  readonly count: number
  readonly before: number
  /** So many of these have been answered. */
  readonly answered: number
  /** Grows by one with each request that is drawn. Where nobody knows what was drawn before, it goes on from the time. */
  readonly total: number
}

/** How it stood with a bucket when a request was drawn on it. */
export interface DrawPoint {
  /** Requests that had been drawn and not been answered, that one among them. */
  readonly unanswered: number
  /** {@link RecentDraws.total}, that one among them. */
  readonly total: number
  /** On a clock that nobody sets. */
  readonly atMs: number
}

/** A request that was drawn has come to the marketplace within this time, or never will. */
const arrivesWithinMs = 10_000
/** More than any marketplace says to be left. */
const anyNumber = 1e9

/** As long as this a request that was answered stands among those that were drawn lately. */
const standsForMs = 9_000

/** Nothing was ever drawn. */
export const noDraws = (nowMs: number): RecentDraws => ({ sinceMs: 0, count: 0, before: 0, answered: 0, total: nowMs })

/** Nobody knows what was drawn before this moment. */
export const unknownDraws = (nowMs: number): RecentDraws => ({ ...noDraws(nowMs), sinceMs: nowMs, count: anyNumber })

const at = (draws: RecentDraws, nowMs: number): RecentDraws => {
  const ageMs = nowMs - draws.sinceMs
  // The clock was set back.
  if (ageMs < 0) return { ...draws, sinceMs: nowMs }
  if (ageMs < arrivesWithinMs) return draws
  // Those that go were drawn first, and count as answered first: the others are more then, never fewer.
  if (ageMs < 2 * arrivesWithinMs)
    return {
      ...draws,
      sinceMs: draws.sinceMs + arrivesWithinMs,
      count: 0,
      before: draws.count,
      answered: Math.max(0, draws.answered - draws.before),
    }
  return { ...draws, sinceMs: nowMs, count: 0, before: 0, answered: 0 }
}

/** With so many more. */
export const withDraws = (draws: RecentDraws, count: number, nowMs: number): RecentDraws => {
  const current = at(draws, nowMs)
  return { ...current, count: current.count + count, total: current.total + count }
}

/** After so many of them were answered. */
export const withAnswered = (draws: RecentDraws, answered: number, nowMs: number): RecentDraws => {
  const current = at(draws, nowMs)
  return { ...current, answered: Math.min(current.answered + answered, current.count + current.before) }
}

/** How many there were, at least, within the time in which a request comes to the marketplace. */
export const drawnLately = (draws: RecentDraws, nowMs: number): number => {
  const { count, before } = at(draws, nowMs)
  return count + before
}

/** How it stands with a bucket on which one was just drawn; `atMs`: when, on a clock that nobody sets. */
export const drawPoint = (draws: RecentDraws, nowMs: number, atMs: number): DrawPoint => {
  const { count, before, answered, total } = at(draws, nowMs)
  return { unanswered: count + before - answered, total, atMs }
}

/**
 * Whether a request that was drawn then may stand among those that were drawn lately no more. An answer that comes so late does not tell what was drawn since
 * it was made. Null: nobody knows when it was drawn.
 */
export const isLate = (point: Pick<DrawPoint, 'atMs'> | null, monotonicMs: number): boolean =>
  point !== null && monotonicMs - point.atMs > standsForMs

/**
 * How many others at most the marketplace may not have counted in the answer to a request. What was answered before that request was drawn was counted by
 * then, so it is what was not, and what was drawn since. Null: nobody knows how it stood then.
 */
export const uncountedIn = (point: DrawPoint | null, draws: RecentDraws, nowMs: number): number => {
  const lately = drawnLately(draws, nowMs)
  const since = point === null ? -1 : draws.total - point.total
  return point === null || since < 0 ? lately : Math.min(lately, point.unanswered + since - 1)
}

/** The same on a clock that is so many ms ahead. */
export const shiftedDraws = (draws: RecentDraws, byMs: number): RecentDraws => ({ ...draws, sinceMs: draws.sinceMs + byMs })
