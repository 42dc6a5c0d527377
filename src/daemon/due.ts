import type { DueStanding } from '../store/sync-states.ts'
import type { DueTick } from './agenda.ts'
import type { ScheduledStream } from './schedule.ts'

// When polls are looked for, and what becomes of those that are due: pure, for the daemon and for what simulates it.

/** What runs at least so often runs without a queue: should its process die, it is due again soon. What is seldom due is not to be lost. */
const oftenMs = 900_000
/** Another process has begun it just now if it did so less than this before it was due here: their clocks differ. */
const toleranceMs = 5_000
/** Of one that has not begun after so long it is asked again how it stands: another process may have been faster. */
export const patienceMs = 5_000
/** What becomes due within so long is looked at together; of short intervals within a tenth. */
export const gatherMs = 1_000
const leastGatherMs = 50

/** How long what becomes due is gathered, for streams of these intervals, in milliseconds. */
export const gatherFor = (streams: readonly Pick<ScheduledStream, 'everyMs'>[]): number => {
  const shortestMs = streams.reduce((shortest, { everyMs }) => Math.min(shortest, everyMs), Number.POSITIVE_INFINITY)
  return Math.max(leastGatherMs, Math.min(gatherMs, shortestMs / 10))
}

/** What is to be done with a stream that is due. */
export type DueDecision = 'here' | 'queue' | 'leave'

/**
 * What is to be done with a stream that is due. Left alone is what rests, what runs, and what another process has just begun for the same moment.
 * What has failed or left something over belongs to the queue, which knows when it is to be tried again.
 */
export const decideDue = (
  { stream: { everyMs }, dueAtMs }: DueTick,
  { atRest, running, unfinished, startedAgoMs }: Omit<DueStanding, 'pausing'>,
  { nowMs, runsHere }: { readonly nowMs: number; readonly runsHere: boolean },
): DueDecision => {
  if (atRest || running) return 'leave'
  if (startedAgoMs !== null && startedAgoMs < nowMs - dueAtMs + Math.min(toleranceMs, everyMs / 4)) return 'leave'
  return runsHere && everyMs <= oftenMs && !unfinished ? 'here' : 'queue'
}
