import type { SyncLane } from '../../clients/lane.ts'
import { type Resource, streamOf } from './resource.ts'
import { resources } from './resources.ts'
import { laneOfStream } from './stream-lane.ts'

const byName: ReadonlyMap<string, Resource> = new Map(resources.map((resource) => [resource.name, resource]))

/** The lane of a stream by its names. One that does not exist is a poll: its run says at once that there is none. */
export const syncLaneOf = (resource: string, stream: string): SyncLane => {
  const declared = byName.get(resource)
  const found = declared === undefined ? null : streamOf(declared, stream)
  return found === null ? 'poll' : laneOfStream(found, stream)
}
