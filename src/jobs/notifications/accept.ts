import type { MarketplaceNotification } from '../../domain/sync/notification.ts'
import type { QuietLog } from '../../observability/log.ts'
import { buildErrorFields } from '../../queues/errors.ts'
import type { JobToEnqueue } from '../../queues/jobs.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import type { Database } from '../../store/db/database.ts'
import { storeNotification } from '../../store/notifications/notifications.ts'

/** Dependencies of accepting notifications. */
export interface AcceptNotificationParts {
  readonly database: Database
  readonly runtime: Pick<QueueRuntime, 'enqueueMany'>
  readonly quiet: QuietLog
}

/**
 * Accepts notifications: resolves once one is stored with its hold, to false for a repeated delivery. The jobs that read its records are added after that,
 * without waiting: the relay finds a missing one. Those that arrive while others are being added are added together.
 */
export const createNotificationIntake = ({ database, runtime, quiet }: AcceptNotificationParts) => {
  let waiting: JobToEnqueue[] = []
  let isAdding = false
  const addWaiting = async (): Promise<void> => {
    isAdding = true
    while (waiting.length > 0) {
      const jobs = waiting
      waiting = []
      try {
        await runtime.enqueueMany(jobs)
      } catch (error) {
        quiet.warn('notification jobs', buildErrorFields(error), 'reads could not be enqueued; the relay adds them later')
      }
    }
    isAdding = false
  }
  return async (sellerId: string, notification: MarketplaceNotification): Promise<boolean> => {
    const records = await storeNotification(database, sellerId, notification)
    // Fresh: an existing job of the record is not searched. One that waits or runs reads the record, and then finds what has arrived meanwhile.
    waiting.push(
      ...records.map(
        ({ resource, recordId }): JobToEnqueue => ({
          name: 'notification.read',
          data: { sellerId, resource, recordId },
          fresh: true,
        }),
      ),
    )
    if (!isAdding) void addWaiting()
    return records.length > 0
  }
}
