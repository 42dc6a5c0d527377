/** Requests that were used while nobody could be told, and are owed to the budget of all. */
export interface OwedRequests {
  readonly count: number
  /** From this moment on one comes back each interval: what the bucket owed besides has come back by then. In epoch ms. */
  readonly fromMs: number
  readonly intervalMs: number
}

/** Nothing is owed. */
export const nothingOwed: OwedRequests = { count: 0, fromMs: 0, intervalMs: 1 }

/** How many are owed still. */
export const owedAt = ({ count, fromMs, intervalMs }: OwedRequests, nowMs: number): number =>
  Math.max(0, count - Math.max(0, nowMs - fromMs) / intervalMs)

/** What is owed from now on, to a bucket that owes nothing else from `freeMs` on. */
export const owing = (
  count: number,
  { nowMs, freeMs, intervalMs }: { readonly nowMs: number; readonly freeMs: number; readonly intervalMs: number },
): OwedRequests => ({ count, fromMs: Math.max(nowMs, freeMs), intervalMs })

/** What is owed to both at two times, or in two places: it comes back no sooner than either. */
export const owedTogether = (one: OwedRequests, other: OwedRequests, nowMs: number): OwedRequests =>
  owing(owedAt(one, nowMs) + owedAt(other, nowMs), {
    nowMs,
    freeMs: Math.max(one.fromMs, other.fromMs),
    intervalMs: Math.max(one.intervalMs, other.intervalMs),
  })

/** On a clock that was set by so many ms. */
export const shiftedOwed = (owed: OwedRequests, stepMs: number): OwedRequests => ({ ...owed, fromMs: owed.fromMs + stepMs })
