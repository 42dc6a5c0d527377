import type { JobToEnqueue } from '../../queues/jobs.ts'
import type { NotifiedKey } from '../../store/notifications/notifications.ts'
import { syncJob } from '../sync/engine/poll.ts'

/** A stream of a seller, as Postgres names it. */
interface DueStream {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
}

/** What is due by Postgres, and what of it this process may do. */
export interface DueWork {
  readonly commands: readonly string[]
  readonly events: readonly { readonly source: string; readonly id: string }[]
  /** Records that have not been read since a notification. */
  readonly notified: readonly NotifiedKey[]
  readonly syncs: readonly DueStream[]
  /** Stopped sellers whose credentials may be tried again. */
  readonly probes: readonly string[]
  /** Sellers of which nothing runs now. */
  readonly resting: { has(sellerId: string): boolean }
  /** Whether this process serves a seller. */
  readonly serves: (sellerId: string) => boolean
  /** The resources that a seller has; asked only of those that are served. */
  readonly listResources: (sellerId: string) => readonly string[]
}

/** The jobs of due work. Jobs of commands, events and notifications are for any process that serves the seller; syncs and probes only for this one. */
export const listJobs = ({
  commands,
  events,
  notified,
  syncs,
  probes,
  resting,
  serves,
  listResources,
}: DueWork): readonly JobToEnqueue[] => [
  ...commands.map((commandId): JobToEnqueue => ({ name: 'command.run', data: { commandId } })),
  ...events.map(({ source, id }): JobToEnqueue => ({ name: 'event.process', data: { source, id } })),
  ...notified.map(
    ({ sellerId, resource, recordId }): JobToEnqueue => ({
      name: 'notification.read',
      data: { sellerId, resource, recordId },
    }),
  ),
  ...syncs
    .filter(({ sellerId, resource }) => serves(sellerId) && !resting.has(sellerId) && listResources(sellerId).includes(resource))
    .map(syncJob),
  ...probes.filter(serves).map((sellerId): JobToEnqueue => ({ name: 'seller.probe', data: { sellerId } })),
]
