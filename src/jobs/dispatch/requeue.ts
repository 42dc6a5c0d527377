import type { JobOutcome } from '../../queues/jobs.ts'
import type { Database } from '../../store/db/database.ts'
import { isSellerServed } from '../../store/sellers/sellers.ts'
import { type Clock, systemClock } from '../../util/clock.ts'

/** Long enough not to take the job again at once, short enough for those who wait for its result. */
const shortestMs = 500
const longestMs = 1_000
/** A job ends before it reaches the limit of starts; due work is enqueued again from Postgres. */
const maxStarts = 500

/** Dependencies of {@link requeue}. */
export interface RequeueParts {
  readonly database: Database
  /** Our own clocks; those of the machine by default. */
  readonly clock?: Clock
  /** Jitter: from 0 up to but not including 1; `Math.random` by default. */
  readonly random?: () => number
}

/**
 * Ends a run of a job whose seller this process does not serve. A queue is shared, and gives its jobs to any process. If another
 * process serves the seller, the job runs again within a second, independent of its earlier delays. If no process serves the seller, the job ends; it is
 * derived from Postgres again when one does.
 */
export const requeue = async (
  { database, clock = systemClock, random = Math.random }: RequeueParts,
  sellerId: string,
  starts = 1,
): Promise<JobOutcome> => {
  if (starts >= maxStarts || !(await isSellerServed(database, sellerId))) return { done: true }
  const delayMs = shortestMs + random() * (longestMs - shortestMs)
  return { runAgainAt: new Date(clock.wallMs() + delayMs), reason: `another process serves seller ${sellerId}` }
}
