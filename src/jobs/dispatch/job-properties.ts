import { syncLanes } from '../../clients/http/lane.ts'
import { jobSchemas, type PlainJob } from '../../queues/jobs.ts'
import { readCommand } from '../../store/commands/commands.ts'
import type { SqlRunner } from '../../store/db/database.ts'
import { readWaitingSubject } from '../../store/events/events.ts'
import { readWebhook } from '../../store/webhooks/webhook-endpoints.ts'
import { findSyncLane } from '../sync/engine/lanes.ts'

/** The lane of a job within its queue: of the queue `backfills`, backfills before snapshots. Each other queue has one lane. */
export const findJobLane = ({ name, data }: PlainJob): number => {
  if (name !== 'backfill.run') return 0
  const { resource, stream } = jobSchemas['backfill.run'].parse(data)
  return syncLanes.indexOf(findSyncLane(resource, stream))
}

/** The seller of a job; null: the job belongs to no single seller, or its work is done. */
export const findJobSeller = async (sql: SqlRunner, { name, data }: PlainJob): Promise<string | null> => {
  switch (name) {
    case 'poll.run':
    case 'notification.read':
    case 'sync.run':
    case 'backfill.run':
    case 'seller.probe':
      return data['sellerId'] ?? null
    case 'command.run':
      return (await readCommand(sql, jobSchemas[name].parse(data).commandId))?.sellerId ?? null
    case 'event.process':
      return (await readWaitingSubject(sql, jobSchemas[name].parse(data)))?.sellerId || null
    case 'webhook.deliver':
      return (await readWebhook(sql, jobSchemas[name].parse(data).endpointId))?.sellerId ?? null
    case 'alarm.send':
    case 'maintenance.run':
      return null
  }
}
