import type { JobToEnqueue } from '../../../queues/jobs.ts'
import type { SqlRunner } from '../../../store/db/database.ts'
import { readStreamStatus, type StreamStatus, type SyncKey } from '../../../store/sync/sync-states.ts'
import { findSyncLane } from './lanes.ts'

/** A stream is due this long before the end of its interval, since its scheduler and its last run do not start at the exact millisecond. */
const toleranceMs = 5_000

/** A scheduled stream of a seller and its interval. */
export interface PolledStream extends SyncKey {
  readonly everyMs: number
}

/** The due streams of a poll. */
export interface DueStreams {
  /** Streams that the poll runs itself. */
  readonly run: readonly SyncKey[]
  /** Streams that get jobs of their own: their last run failed or was not finished, or they read old records. */
  readonly enqueue: readonly SyncKey[]
}

/** Whether a stream is due: it is not running, it does not pause after a failure, and its interval is over. */
export const isDue = (everyMs: number, { running, pausing, startedAgoMs }: StreamStatus): boolean => {
  if (running || pausing) return false
  return startedAgoMs === null || startedAgoMs >= everyMs - Math.min(toleranceMs, everyMs / 4)
}

/**
 * The streams with the intervals that they have while notifications of the seller arrive: those that read new and changed records are polled at this
 * interval, unless they are polled less often anyway.
 */
export const stretchIntervals = (streams: readonly PolledStream[], notifiedIntervalMs: number): readonly PolledStream[] =>
  streams.map((one) =>
    findSyncLane(one.resource, one.stream) === 'poll' ? { ...one, everyMs: Math.max(one.everyMs, notifiedIntervalMs) } : one,
  )

/** Finds the due streams with one statement; none of a seller that is stopped or paused. */
export const findDueStreams = async (sql: SqlRunner, streams: readonly PolledStream[]): Promise<DueStreams> => {
  const states = await readStreamStatus(sql, streams)
  const due = streams.flatMap(({ everyMs, ...key }, place) => {
    const state = states[place]
    if (state === undefined || state.atRest || !isDue(everyMs, state)) return []
    return [{ key, hasOwnJob: state.unfinished || findSyncLane(key.resource, key.stream) !== 'poll' }]
  })
  return {
    run: due.filter(({ hasOwnJob }) => !hasOwnJob).map(({ key }) => key),
    enqueue: due.filter(({ hasOwnJob }) => hasOwnJob).map(({ key }) => key),
  }
}

/** The job that runs one stream: in the queue `polls` for new records, in the queue `backfills` for all else. */
export const syncJob = ({ sellerId, resource, stream }: SyncKey): JobToEnqueue => {
  const data = { sellerId, resource, stream }
  return findSyncLane(resource, stream) === 'poll' ? { name: 'sync.run', data } : { name: 'backfill.run', data }
}
