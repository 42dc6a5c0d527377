import type { SyncLane } from '../../clients/lane.ts'
import { isSeldom } from './intervals.ts'
import { isBackfill } from './resource.ts'
import type { SyncStream } from './stream.ts'

/** The lane of a stream, of its jobs and of its calls. What is read less often than its resource is polled goes with the backfills. */
export const laneOfStream = <T>(stream: Pick<SyncStream<T>, 'kind' | 'pace'>, name: string): SyncLane => {
  if (isBackfill(name)) return 'backfill'
  if (stream.kind === 'snapshot' || stream.kind === 'import') return 'snapshot'
  return stream.kind === 'range' || isSeldom(stream.pace) ? 'backfill' : 'poll'
}
