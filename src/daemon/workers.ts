import type { AlarmChannels } from '../jobs/alarm-channels/alarm-channels.ts'
import { type CommandWorkerParts, registerCommandWorker } from '../jobs/commands/engine/command-worker.ts'
import { type EventWorkerParts, registerEventWorker } from '../jobs/events/event-worker.ts'
import { createEventQueue } from '../jobs/events/from-queue.ts'
import type { AcceptParts } from '../jobs/events/parts.ts'
import { type MaintenanceWorkerParts, registerMaintenanceWorker } from '../jobs/maintenance/maintenance-worker.ts'
import { type NotificationWorkerParts, registerNotificationWorker } from '../jobs/notifications/read-worker.ts'
import { registerProbeWorker } from '../jobs/sellers/probe-worker.ts'
import { registerSyncWorker, type SyncWorkerParts } from '../jobs/sync/engine/sync-worker.ts'
import type { Webhooks } from '../jobs/webhooks/webhooks.ts'
import type { DaemonContext } from './context.ts'
import type { QueuesPart } from './queues.ts'

/** Dependencies of the workers of a process. */
type WorkersParts = CommandWorkerParts &
  SyncWorkerParts &
  EventWorkerParts &
  NotificationWorkerParts &
  MaintenanceWorkerParts & {
    readonly webhooks: Pick<Webhooks, 'registerWorker'>
    readonly alarmChannels: Pick<AlarmChannels, 'registerWorker'>
  }

/** Registers the handlers of all jobs; before the queues start. */
export const registerWorkers = (parts: WorkersParts): void => {
  registerCommandWorker(parts)
  registerSyncWorker(parts)
  registerEventWorker(parts)
  registerNotificationWorker(parts)
  registerProbeWorker(parts)
  registerMaintenanceWorker(parts)
  parts.webhooks.registerWorker()
  parts.alarmChannels.registerWorker()
}

/** Consumes the events of the queue `erp-events`. */
export const serveQueuedEvents = ({
  intake,
  metrics,
  serveEvents,
}: Pick<DaemonContext, 'metrics'> & Pick<QueuesPart, 'serveEvents'> & { readonly intake: AcceptParts }): void =>
  serveEvents(createEventQueue({ ...intake, onQueued: (outcome) => metrics.eventsReceived.inc({ way: 'queue', outcome }) }))
