import type { SyncLane } from '../../../clients/http/lane.ts'
import { resources } from '../resources/resources.ts'
import { findStream, findStreamLane, type Resource } from './resource.ts'

const byName: ReadonlyMap<string, Resource> = new Map(resources.map((resource) => [resource.name, resource]))

/** The lane of a stream by its names. An unknown stream gets the lane of polls: its run reports the error. */
export const findSyncLane = (resource: string, stream: string): SyncLane => {
  const declared = byName.get(resource)
  const found = declared === undefined ? null : findStream(declared, stream)
  return found === null ? 'poll' : findStreamLane(found, stream)
}
