import { jobSchemas, type PlainJob } from '../queues/jobs.ts'
import { readCommand } from '../store/commands.ts'
import type { SqlRunner } from '../store/database.ts'
import { readWaitingSubject } from '../store/events.ts'
import { readWebhook } from '../store/webhook-endpoints.ts'

/** Whose work a job is; null: of no single seller, or its work is done. */
export const sellerOfJob =
  (sql: SqlRunner) =>
  async ({ name, data }: PlainJob): Promise<string | null> => {
    switch (name) {
      case 'sync.run':
      case 'seller.probe':
        return data['sellerId'] ?? null
      case 'command.run':
        return (await readCommand(sql, jobSchemas[name].parse(data).commandId))?.sellerId ?? null
      case 'event.process':
        return (await readWaitingSubject(sql, jobSchemas[name].parse(data)))?.sellerId || null
      case 'webhook.deliver':
        return (await readWebhook(sql, jobSchemas[name].parse(data).endpointId))?.sellerId ?? null
      case 'housekeeping.run':
        return null
    }
  }
