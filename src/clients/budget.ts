import { systemClock, watchSteps } from '../clock.ts'
import type { BudgetFigure } from '../domain/budget-figure.ts'
import {
  availableAt,
  type BucketMemory,
  type BudgetSignal,
  bucketShape,
  fullBucket,
  intervalOf,
  learnFrom,
  shifted,
  takeFrom,
  underLimit,
} from './bucket.ts'
import type { CallLane } from './lane.ts'
import type { Operation, RateLimit, RateLimits } from './operation.ts'
import { noPromises } from './promises.ts'
import { type DrawPoint, drawnLately, isLate, type RecentDraws, shiftedDraws, unknownDraws, withDraws } from './recent-draws.ts'

/** Leave to send one request. Whoever sends none gives it back ({@link giveBack}). */
export interface Grant {
  readonly granted: true
}

// The undoing belongs to the grant: kept beside it in a map, it cost half of the time of a simulated fleet.
class UndoableGrant implements Grant {
  readonly granted = true
  readonly #atMs: number
  readonly #point: DrawPoint | null
  #undo: (() => void | Promise<void>) | null

  constructor(undo: () => void | Promise<void>, atMs: number, point: DrawPoint | null) {
    this.#undo = undo
    this.#atMs = atMs
    this.#point = point
  }

  /** Our own clock. */
  get atMs(): number {
    return this.#atMs
  }

  get point(): DrawPoint | null {
    return this.#point
  }

  async undo(): Promise<void> {
    const undo = this.#undo
    this.#undo = null
    await undo?.()
  }
}

/** A grant of this moment (our own clock) that can be given back, once; `point`: how it stood with the bucket of all processes when its request was drawn. */
export const grantThat = (undo: () => void | Promise<void>, atMs: number, point: DrawPoint | null = null): Grant =>
  new UndoableGrant(undo, atMs, point)

/** How it stood with the bucket of all processes when the request of a grant was drawn; null: not known. */
export const pointOf = (grant: Grant | undefined): DrawPoint | null => (grant instanceof UndoableGrant ? grant.point : null)

/**
 * Gives back leave of which no use was made. It is there again if nobody has drawn on the bucket since, and no answer has come; otherwise it has gone,
 * since what is left of the limit is then not known so well. Never rejects.
 */
export const giveBack = async (grant: Grant): Promise<void> => {
  if (grant instanceof UndoableGrant) await grant.undo()
}

/** Leave in the hands of a piece of work ({@link holding}). */
export interface HeldLeave {
  readonly grant: Grant
  /** From now on the request may leave, or somebody else holds the leave: it is not given back any more. */
  spend(): void
}

/** Does a piece of work that has leave for one request, and gives the leave back where the work ends without having spent it, however it ends. */
export const holding = async <Result>(grant: Grant, work: (leave: HeldLeave) => Promise<Result>): Promise<Result> => {
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

/** No leave yet: ask again at `availableAt` (our own clock). Nothing is reserved meanwhile. */
export interface Wait {
  readonly granted: false
  readonly availableAt: Date
}

/** No leave before that moment, in epoch ms. */
export const waitUntil = (ms: number): Wait => ({ granted: false, availableAt: new Date(Math.ceil(ms)) })

/** State of one bucket, for metrics and the console. */
export interface BudgetState extends BudgetFigure {
  /** What it remembers, for whoever goes on from here. */
  readonly memory: BucketMemory
}

/**
 * The rate budget of all sellers: one bucket for each (seller, operation, scope), so that none waits for another.
 * `take` never sleeps; it answers with a grant or with the moment to ask again. A caller that names no lane is of the first one. An answer without the
 * grant of its request says less of what is left.
 */
export interface RateBudget {
  take(sellerId: string, operation: Operation, scope?: string, lane?: CallLane): Promise<Grant | Wait>
  learn(sellerId: string, operation: Operation, signal: BudgetSignal, scope?: string, grant?: Grant): Promise<void>
  snapshot(): readonly BudgetState[]
}

/** A part of a limit, at least one request. */
export const shareOf = ({ tokens, ...limit }: RateLimit, share: number): RateLimit => ({
  ...limit,
  tokens: Math.max(1, Math.floor(tokens * share)),
})

/** Whose bucket it is, and of what. */
export interface BucketKey {
  readonly sellerId: string
  readonly operation: Operation
  /** The share of the operation that has a limit of its own; null where there is none. */
  readonly scope: string | null
}

/** The limit that holds for a seller. */
export type LimitOf = (sellerId: string, operation: Operation) => RateLimit

/** A bucket in memory. */
export interface LocalBucket {
  readonly key: BucketKey
  memory: BucketMemory
  /** The limit under which it stands so; null while it is untouched. */
  limit: RateLimit | null
  /** Requests that were granted and are not answered yet. */
  outstanding: number
  /** Whether two of them were under way together since the last moment without any. */
  overlapped: boolean
  grantedAtMs: number
  /** What was drawn in this process lately; null while the marketplace does not count: nobody asks for it, and a simulation draws millions of times. */
  draws: RecentDraws | null
}

/** After so long a request that was granted will not be answered any more, in milliseconds. */
const lostAfterMs = 300_000

/** Names a bucket within its budget. */
export const nameOfBucket = ({ sellerId, operation, scope }: BucketKey): string =>
  JSON.stringify([sellerId, operation.name, scope])

/** An untouched bucket that remembers this. */
export const localBucket = (key: BucketKey, memory: BucketMemory = fullBucket): LocalBucket => ({
  key,
  memory,
  limit: null,
  outstanding: 0,
  overlapped: false,
  grantedAtMs: 0,
  draws: null,
})

/** Notes that a request is on its way. */
export const noteGrant = (bucket: LocalBucket, nowMs: number): void => {
  if (bucket.outstanding > 0 && nowMs - bucket.grantedAtMs > lostAfterMs) {
    bucket.outstanding = 0
    bucket.overlapped = false
  }
  bucket.overlapped ||= bucket.outstanding > 0
  bucket.outstanding += 1
  bucket.grantedAtMs = nowMs
  if (bucket.memory.counted) bucket.draws = withDraws(bucket.draws ?? unknownDraws(nowMs), 1, nowMs)
  else if (bucket.draws !== null) bucket.draws = null
}

/**
 * Notes that one was answered, to which leave was granted by `grant`. Tells how many others at most the marketplace may not have counted in that answer: none
 * where no other was under way meanwhile. Null: it cannot be told.
 */
export const noteAnswer = (bucket: LocalBucket, nowMs: number, grant?: Grant): number | null => {
  bucket.outstanding = Math.max(0, bucket.outstanding - 1)
  const isAlone = bucket.outstanding === 0 && !bucket.overlapped
  if (bucket.outstanding === 0) bucket.overlapped = false
  if (isAlone) return 0
  if (bucket.draws === null || isLate(grant instanceof UndoableGrant ? grant : null, nowMs)) return null
  return drawnLately(bucket.draws, nowMs)
}

/** Makes a bucket one of the limit that holds now; whether another one held before. */
export const holdTo = (bucket: LocalBucket, limit: RateLimit, nowMs: number): boolean => {
  const before = bucket.memory
  if (bucket.limit !== null) bucket.memory = underLimit(before, bucket.limit, limit, nowMs)
  bucket.limit = limit
  return bucket.memory !== before
}

/** Whether nothing has been taken out of a bucket since it stood so, and nothing learned. */
const isDrawnAsAfter = (then: BucketMemory, now: BucketMemory): boolean =>
  now.arrivalMs === then.arrivalMs && now.blockedUntilMs === then.blockedUntilMs && now.calm === then.calm

/** Moves what a bucket in memory remembers to a clock that was set by so many ms. */
export const shiftLocally = (bucket: LocalBucket, stepMs: number): void => {
  bucket.memory = shifted(bucket.memory, stepMs)
  bucket.draws &&= shiftedDraws(bucket.draws, stepMs)
}

/** Takes one request out of a bucket in memory. */
export const takeLocally = (bucket: LocalBucket, limit: RateLimit, nowMs: number, lane: CallLane = 'command'): Grant | Wait => {
  holdTo(bucket, limit, nowMs)
  const spreadMs = bucket.key.operation.isShared ? 0 : limit.perMs
  const before = bucket.memory
  const shape = bucketShape(limit, before.counted)
  const { memory, waitUntilMs } = takeFrom(shape, before, nowMs, spreadMs, lane)
  bucket.memory = memory
  if (waitUntilMs !== null) return { granted: false, availableAt: new Date(waitUntilMs) }
  noteGrant(bucket, nowMs)
  return grantThat(() => {
    noteAnswer(bucket, nowMs)
    if (isDrawnAsAfter(memory, bucket.memory)) bucket.memory = { ...bucket.memory, arrivalMs: before.arrivalMs }
  }, nowMs)
}

/** How a bucket stands. */
export const stateOfBucket = (bucket: LocalBucket, limit: RateLimit, nowMs: number): BudgetState => {
  const { key } = bucket
  const memory = underLimit(bucket.memory, bucket.limit ?? limit, limit, nowMs)
  const shape = bucketShape(limit, memory.counted)
  return {
    sellerId: key.sellerId,
    operation: key.operation.name,
    scope: key.scope,
    available: availableAt(shape, memory, nowMs),
    perMinute: 60_000 / intervalOf(shape, memory),
    blockedUntil: memory.blockedUntilMs > nowMs ? new Date(memory.blockedUntilMs) : null,
    // Whoever goes on from here has been told nothing.
    memory: { ...memory, promises: noPromises },
  }
}

/**
 * What an in-process budget needs. `now` is our own clock in epoch ms, `monotonicMs` one that nobody sets, in ms from any moment (the same as
 * `now` where that is given alone); `random` a number in [0, 1).
 */
export interface InProcessBudgetOptions {
  /** Limits that hold in place of the operations' own. */
  readonly limits?: RateLimits
  /** The limit that holds for a seller, in place of `limits`. */
  readonly limitOf?: LimitOf
  readonly now?: () => number
  readonly monotonicMs?: () => number
  readonly random?: () => number
}

/** A budget of this process alone: right for one daemon, too generous for two of the same seller. */
export const createInProcessBudget = (options: InProcessBudgetOptions): RateBudget => {
  const clock = options.now ?? systemClock.wallMs
  const monotonicMs = options.monotonicMs ?? options.now ?? systemClock.monotonicMs
  const random = options.random ?? Math.random
  const buckets = new Map<string, LocalBucket>()
  const limitOf: LimitOf = options.limitOf ?? ((_sellerId, { name, limit }) => options.limits?.[name] ?? limit)
  const bucketOf = (key: BucketKey): LocalBucket => {
    const name = nameOfBucket(key)
    const bucket = buckets.get(name) ?? localBucket(key)
    buckets.set(name, bucket)
    return bucket
  }
  const stepOfClock = watchSteps({ wallMs: clock, monotonicMs })
  // A clock that is set back by an hour must not empty the buckets for an hour: what they remember moves with it.
  const now = (): number => {
    const stepMs = stepOfClock()
    if (stepMs !== 0) for (const bucket of buckets.values()) shiftLocally(bucket, stepMs)
    return clock()
  }
  return {
    async take(sellerId, operation, scope, lane) {
      return takeLocally(bucketOf({ sellerId, operation, scope: scope ?? null }), limitOf(sellerId, operation), now(), lane)
    },
    async learn(sellerId, operation, signal, scope, grant) {
      const bucket = bucketOf({ sellerId, operation, scope: scope ?? null })
      const nowMs = now()
      const uncounted = noteAnswer(bucket, nowMs, grant)
      const limit = limitOf(sellerId, operation)
      holdTo(bucket, limit, nowMs)
      bucket.memory = learnFrom(limit, bucket.memory, signal, { nowMs, random: random(), uncounted })
    },
    snapshot() {
      const nowMs = now()
      return [...buckets.values()].map((bucket) =>
        stateOfBucket(bucket, limitOf(bucket.key.sellerId, bucket.key.operation), nowMs),
      )
    },
  }
}
