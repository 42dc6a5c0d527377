import { type Clock, systemClock } from '../clock.ts'
import type { JobOutcome } from '../queues/jobs.ts'
import type { Database } from '../store/database.ts'
import { isSellerServed } from '../store/sellers.ts'

/** Long enough not to take the job again at once, short enough for whoever waits for it. */
const shortestMs = 500
const longestMs = 1_000
/** Rather than run into the limit of starts a job ends; what is due is enqueued again from Postgres. */
const mostStarts = 500

/** Dependencies of handing back. */
export interface HandBackParts {
  readonly database: Database
  /** Our own clocks; those of the machine by default. */
  readonly clock?: Clock
  /** Jitter: from 0 up to but not including 1; `Math.random` by default. */
  readonly random?: () => number
}

/**
 * Ends a run of a job whose seller this process does not serve. A queue is shared, and gives its jobs to any process: one of a seller whom
 * another process serves goes back for a moment, whatever happened to it before, so that it is there within moments; one of a seller whom nobody serves
 * ends, and is derived from Postgres again once somebody does.
 */
export const handBack = async (
  { database, clock = systemClock, random = Math.random }: HandBackParts,
  sellerId: string,
  starts = 1,
): Promise<JobOutcome> => {
  if (starts >= mostStarts || !(await isSellerServed(database, sellerId))) return { done: true }
  const delayMs = shortestMs + random() * (longestMs - shortestMs)
  return { runAgainAt: new Date(clock.wallMs() + delayMs), reason: `another process serves seller ${sellerId}` }
}
