import { createInTurn, type InTurn } from '../in-turn.ts'
import type { BudgetSignal } from './bucket.ts'
import { type BucketKey, type LocalBucket, localBucket, shiftLocally } from './budget.ts'
import type { Lease } from './budget-lease.ts'
import { type OwedRequests, shiftedOwed } from './owed-requests.ts'
import { noPromises, type Promises, shiftedPromises } from './promises.ts'
import type { DrawPoint, RecentDraws } from './recent-draws.ts'

/** The part of a bucket that is a process's while nobody can be asked, and what it has used of the whole since then. */
export interface AwayPart {
  readonly part: LocalBucket
  used: OwedRequests
}

/** What a process knows of a bucket while it is the only one. */
export interface SoleBucket {
  /** It has learned something since it stored it last. */
  isDirty: boolean
  /** It has drawn on it since then, which what is stored covers. */
  isDrawn: boolean
  /** As full as this the bucket is for whoever takes over: its arrival (own clock) as it is stored. */
  coveredMs: number
  /** Calls that wait for being covered. */
  uncovered: number
}

/** An answer that is to be stored, and how it stood when its request was drawn; null: not known. */
export interface News {
  readonly signal: BudgetSignal
  readonly point: DrawPoint | null
}

/** What a process knows of a bucket while several draw on it. */
export interface DrawnBucket {
  lease: Lease | null
  /** Requests that were answered, which is not stored yet, and when the first of them was drawn, on a clock that nobody sets. */
  answered: { readonly count: number; readonly atMs: number }
  /** What was stored before a single request was drawn, and the version in which it was; null: several were, or none. */
  beforeDraw: { readonly version: number; readonly text: string } | null
  drawing: Promise<void> | null
  /** One after another what this process does about it in the store: two at once would only have to do it again. */
  readonly inTurn: InTurn
  /** Answers that are to be stored, and who stores them next. */
  readonly news: News[]
  learning: Promise<boolean> | null
  /** Requests that were asked for lately, and since when. */
  asked: number
  askedSinceMs: number
  /** Answers that raise the rate and are not stored yet. */
  eased: number
  /** Not before this moment (own clock) the stored bucket lets a request through, to a command. */
  notBeforeMs: number
  /** What all processes had drawn when the stored bucket was seen last, on the clock of the store; null: it was not seen yet. */
  drawsOfAll: RecentDraws | null
  /** The moments that were named. */
  promises: Promises
}

/** A bucket as a process that shares it knows it, however it stands to the others. */
export interface SharedBucket extends LocalBucket, SoleBucket, DrawnBucket {
  away: AwayPart | null
}

/** No request was answered that is to be stored as such. */
export const noneAnswered: DrawnBucket['answered'] = { count: 0, atMs: Number.POSITIVE_INFINITY }

/** Those and these. */
export const bothAnswered = (some: DrawnBucket['answered'], others: DrawnBucket['answered']): DrawnBucket['answered'] => ({
  count: some.count + others.count,
  atMs: Math.min(some.atMs, others.atMs),
})

/** A bucket of which nothing is known yet. */
export const sharedBucket = (key: BucketKey): SharedBucket => ({
  ...localBucket(key),
  isDirty: false,
  isDrawn: false,
  coveredMs: Number.NEGATIVE_INFINITY,
  uncovered: 0,
  lease: null,
  answered: noneAnswered,
  beforeDraw: null,
  drawing: null,
  inTurn: createInTurn(),
  news: [],
  learning: null,
  asked: 0,
  askedSinceMs: 0,
  eased: 0,
  notBeforeMs: 0,
  drawsOfAll: null,
  promises: noPromises,
  away: null,
})

/** Moves all that is known of a bucket to a clock that was set by so many ms. */
export const shiftShared = (bucket: SharedBucket, stepMs: number): void => {
  bucket.notBeforeMs += stepMs
  bucket.coveredMs += stepMs
  shiftLocally(bucket, stepMs)
  bucket.promises = shiftedPromises(bucket.promises, stepMs)
  // A machine that slept has a lease that is older than it seems.
  if (bucket.lease !== null && stepMs > 0) bucket.lease = { ...bucket.lease, lapsesFromMs: bucket.lease.lapsesFromMs - stepMs }
  if (bucket.away === null) return
  shiftLocally(bucket.away.part, stepMs)
  bucket.away.used = shiftedOwed(bucket.away.used, stepMs)
}
