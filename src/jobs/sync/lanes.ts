import { isSeldom } from './intervals.ts'
import { isBackfill, type Resource, streamOf } from './resource.ts'
import { resources } from './resources.ts'

/** Which syncs go first where there is not room for all: what is new, then the past, then what is read as a whole. */
export type SyncLane = 'poll' | 'backfill' | 'snapshot'

const byName: ReadonlyMap<string, Resource> = new Map(resources.map((resource) => [resource.name, resource]))

/**
 * The lane of a stream. What is read less often than its resource is polled goes with the backfills. One that does not exist is a poll: its run
 * says at once that there is none.
 */
export const syncLaneOf = (resource: string, stream: string): SyncLane => {
  const declared = byName.get(resource)
  const found = declared === undefined ? null : streamOf(declared, stream)
  if (found === null) return 'poll'
  if (isBackfill(stream)) return 'backfill'
  if (found.kind === 'snapshot' || found.kind === 'import') return 'snapshot'
  return found.kind === 'range' || isSeldom(found.pace) ? 'backfill' : 'poll'
}
