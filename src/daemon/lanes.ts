import { syncLanes } from '../clients/lane.ts'
import { syncLaneOf } from '../jobs/sync/lanes.ts'
import { jobSchemas, type PlainJob } from '../queues/jobs.ts'

/** The lane of a job within its queue: polls before backfills before snapshots. Commands and events have queues of their own, and one lane each. */
export const laneOfJob = ({ name, data }: PlainJob): number => {
  if (name !== 'sync.run') return 0
  const { resource, stream } = jobSchemas['sync.run'].parse(data)
  return syncLanes.indexOf(syncLaneOf(resource, stream))
}
