/** The state of a rate limit, as the process knows it. */
export interface RateLimitSnapshot {
  readonly sellerId: string
  readonly operation: string
  /** The part of the operation that has a limit of its own, for example the month of a report. Null: the whole operation. */
  readonly scope: string | null
  /** Requests that could be sent now. */
  readonly available: number
  /** Requests a minute that the limit allows in the long run, as learned so far. */
  readonly perMinute: number
  /** The marketplace has requested a wait until then; null: no wait. */
  readonly blockedUntil: Date | null
}
