/** How a rate limit stands, as far as somebody knows. */
export interface BudgetFigure {
  readonly sellerId: string
  readonly operation: string
  /** Which share of the operation, where each has a limit of its own: a month, for a report of months. */
  readonly scope: string | null
  /** Requests that could be sent at this moment. */
  readonly available: number
  /** Requests a minute that the bucket lets through in the long run, as learned so far. */
  readonly perMinute: number
  /** Set while the marketplace asked us to wait. */
  readonly blockedUntil: Date | null
}
