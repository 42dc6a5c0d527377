import type { RateLimitSnapshot } from '../../domain/values/rate-limit-snapshot.ts'
import type { CallLane } from '../http/lane.ts'
import type { Operation, RateLimit } from '../http/operation.ts'

/** The marketplace's rate limit in one answer. Times are on our own clock. */
export interface BudgetSignal {
  readonly status: number
  readonly remaining: number | null
  readonly replenishAt: Date | null
  readonly retryAfter: Date | null
}

/** A permit to send one request. If none is sent, it is given back ({@link giveBack}). */
export interface Grant {
  readonly granted: true
}

/** No permit yet: ask again at `availableAt` (our own clock). Nothing is reserved meanwhile. */
export interface Wait {
  readonly granted: false
  readonly availableAt: Date
}

/**
 * The rate limits of all sellers: one bucket for each seller, operation and scope. `take` never sleeps and never rejects: it returns a permit or the time to
 * ask again. A caller that names no lane is in the first one. An answer without the grant of its request is less exact about the remaining requests.
 */
export interface RateBudget {
  take(sellerId: string, operation: Operation, scope?: string, lane?: CallLane): Promise<Grant | Wait>
  learn(sellerId: string, operation: Operation, signal: BudgetSignal, scope?: string, grant?: Grant): Promise<void>
  /** The limits that this process has used, as it read them last; for metrics, `/v1` and forecasts. */
  snapshot(): readonly RateLimitSnapshot[]
}

/** The limit of a seller. */
export type FindLimit = (sellerId: string, operation: Operation) => RateLimit

/** A part of a limit, at least one request. */
export const computeShare = ({ tokens, ...limit }: RateLimit, share: number): RateLimit => ({
  ...limit,
  tokens: Math.max(1, Math.floor(tokens * share)),
})

/** What a bucket limits; `scope`: the part of the operation with a limit of its own, null if there is none. */
export interface BucketKey {
  readonly sellerId: string
  readonly operation: Operation
  readonly scope: string | null
}

/** The name under which the state of a bucket is stored. */
export const bucketName = ({ sellerId, operation, scope }: BucketKey): string => JSON.stringify([sellerId, operation.name, scope])

/** A permit that was drawn from a bucket. */
export class DrawnGrant implements Grant {
  readonly granted = true
  readonly #drawnAtMs: number
  #undo: (() => Promise<void>) | null

  /** @param drawnAtMs monotonic clock */
  constructor(drawnAtMs: number, undo: () => Promise<void>) {
    this.#drawnAtMs = drawnAtMs
    this.#undo = undo
  }

  get drawnAtMs(): number {
    return this.#drawnAtMs
  }

  /** Once only. */
  async giveBack(): Promise<void> {
    const undo = this.#undo
    this.#undo = null
    await undo?.()
  }
}

/** Gives back a permit that was not used, so that another request can be sent in its place. Never rejects. */
export const giveBack = async (grant: Grant): Promise<void> => {
  if (grant instanceof DrawnGrant) await grant.giveBack()
}

/** A permit during work ({@link withGrant}). */
export interface HeldGrant {
  readonly grant: Grant
  /** From now on the request may be sent, or other work owns the permit: it is no longer given back. */
  spend(): void
}

/** Runs work with a permit. If the work ends or throws without having spent it, the permit is given back. */
export const withGrant = async <Result>(grant: Grant, work: (held: HeldGrant) => Promise<Result>): Promise<Result> => {
  let isSpent = false
  try {
    return await work({
      grant,
      spend: () => {
        isSpent = true
      },
    })
  } finally {
    if (!isSpent) await giveBack(grant)
  }
}
