import type { CallOptions } from '../../clients/http/call-options.ts'
import { isCredentialsDoubt, MarketplaceFailure, Refused, Throttled } from '../../clients/http/errors.ts'
import type { Observed } from '../../clients/http/record.ts'
import { ordersEndpoint } from '../../clients/marketplace/orders/orders.ts'
import { returnsEndpoint } from '../../clients/marketplace/returns.ts'
import { notifiedResources } from '../../domain/sync/notification.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import type { Relay } from '../../queues/relay.ts'
import type { QueueRuntime } from '../../queues/runtime.ts'
import { createSlots, postponeForSlot } from '../../queues/slots.ts'
import type { Database } from '../../store/db/database.ts'
import { makeRequestCheckDue } from '../../store/inventory/report-requests.ts'
import { findUnread, markRead, type NotifiedKey, type UnreadNotifications } from '../../store/notifications/notifications.ts'
import { makeHeldShipmentsDue } from '../../store/notifications/shipment-holds.ts'
import { isOrderStored } from '../../store/orders/order-queries.ts'
import { isSellerInactive } from '../../store/sellers/sellers.ts'
import type { CommandJobs } from '../commands/engine/command-jobs.ts'
import { dueJobBackoff, notifiedReadsAtOnce } from '../dispatch/capacity.ts'
import { requeue } from '../dispatch/requeue.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import { stopRefused } from '../sellers/stop-refused.ts'
import { syncJob } from '../sync/engine/poll.ts'
import type { Resource, SyncHooks } from '../sync/engine/resource.ts'
import { storeRecord } from '../sync/engine/store-record.ts'
import { orders } from '../sync/resources/orders.ts'
import { returns } from '../sync/resources/returns.ts'

/** A record that the marketplace does not show yet is requested again for this long; then it is left to the polls. */
const absentForMs = 600_000
/** Bounds of the pause before a record is requested again. */
const minPauseMs = 2_000
const maxPauseMs = 60_000

/** Dependencies of reading records that notifications name. */
export interface NotificationReaderParts {
  readonly database: Database
  /** Names this process. */
  readonly owner: string
  readonly sellers: Pick<SellerRegistry, 'has' | 'worksFor' | 'client' | 'configured' | 'findSettings' | 'suspend'>
  readonly runtime: Pick<QueueRuntime, 'enqueueMany'>
  readonly commandJobs: Pick<CommandJobs, 'addNow'>
  readonly saveHooks: SyncHooks
  /** Called when this process works for fewer sellers than before. */
  sellersChanged(): void
}

/** Dependencies of the worker. */
export interface NotificationWorkerParts extends NotificationReaderParts {
  readonly runtime: Pick<QueueRuntime, 'register' | 'enqueueMany'>
  readonly relay: Pick<Relay, 'trigger'>
}

/** The marketplace itself answered that it has no such record. */
const isAbsent = (error: unknown): boolean => error instanceof Refused && error.httpStatus === 404

/** A resource whose records are requested by their id. */
interface ReadById {
  /** Requests the record, and stores it together with the marks of its notifications. */
  read(key: NotifiedKey, unread: UnreadNotifications, options: CallOptions): Promise<'stored' | 'faulty' | 'absent'>
}

const readById = <T>(
  { database, saveHooks, sellers }: Pick<NotificationReaderParts, 'database' | 'saveHooks' | 'sellers'>,
  resource: Resource<T>,
  request: (client: ReturnType<SellerRegistry['client']>, id: string, options: CallOptions) => Promise<Observed<T> | null>,
): ReadById => ({
  read: async ({ sellerId, recordId }, unread, options) => {
    let observed: Observed<T> | null
    try {
      observed = await request(sellers.client(sellerId), recordId, options)
    } catch (error) {
      if (isAbsent(error)) return 'absent'
      throw error
    }
    if (observed === null) return 'absent'
    const result = await storeRecord({ database, ...saveHooks }, resource, sellerId, observed, (tx) => markRead(tx, unread.ids))
    return result.stored ? 'stored' : 'faulty'
  },
})

/** Reads the records that notifications name. */
export class NotificationReader {
  readonly #parts: NotificationReaderParts
  readonly #readers: Readonly<Record<'orders' | 'returns', ReadById>>

  constructor(parts: NotificationReaderParts) {
    this.#parts = parts
    this.#readers = {
      orders: readById(parts, orders, (client, id, options) => client.of(ordersEndpoint).get(id, options)),
      returns: readById(parts, returns, (client, id, options) => client.of(returnsEndpoint).get(id, options)),
    }
  }

  /** Reads a record until no notification about it is unread. One that arrives while a read runs is not covered by it. */
  async run(key: NotifiedKey, options: CallOptions): Promise<JobOutcome> {
    const { database, commandJobs } = this.#parts
    for (;;) {
      const unread = await findUnread(database, key)
      if (unread === null || options.signal.aborted) return { done: true }
      const outcome = await this.#read(key, unread, options)
      if (outcome !== 'read') return outcome
      // The order's new state decides what becomes of the shipments that have waited for it.
      if (unread.holds) commandJobs.addNow(await makeHeldShipmentsDue(database, key.sellerId, key.recordId))
    }
  }

  async #read(key: NotifiedKey, unread: UnreadNotifications, options: CallOptions): Promise<JobOutcome | 'read'> {
    const { sellers, owner, database, sellersChanged } = this.#parts
    if (key.resource === 'reconciliation') return this.#continueReport(key, unread)
    // Taken before the request: settings that are read again meanwhile are not those that were refused.
    const seller = sellers.configured(key.sellerId)
    try {
      const result = await this.#readers[key.resource].read(key, unread, options)
      return result === 'stored' ? 'read' : await this.#giveUpOrRetry(key, result, unread)
    } catch (error) {
      if (!(error instanceof MarketplaceFailure)) throw error
      if (error instanceof Throttled) return { runAgainAt: error.retryAt, reason: 'the rate budget is used up' }
      if (isCredentialsDoubt(error)) return { runAgainAt: error.retryAt, reason: 'the credentials are in doubt' }
      if (!error.credentialsDead) throw error
      await stopRefused({ database, sellers, owner, onSuspended: sellersChanged }, seller, error.httpStatus)
      return { done: true }
    }
  }

  /** The poll of reports reads the progress of the request, and downloads the report. */
  async #continueReport({ sellerId, recordId }: NotifiedKey, { ids }: UnreadNotifications): Promise<'read'> {
    const { database, runtime } = this.#parts
    if (await makeRequestCheckDue(database, sellerId, recordId)) {
      const poll = syncJob({ sellerId, resource: 'reconciliation', stream: 'reports' })
      await runtime.enqueueMany([{ ...poll, runNow: true }])
    }
    await database.transaction((tx) => markRead(tx, ids))
    return 'read'
  }

  /**
   * A record that the marketplace does not show yet is requested again for some minutes. Then, and if it cannot be parsed, the polls take over; but held
   * shipments wait until their order can be read. An order that is not stored has no shipments.
   */
  async #giveUpOrRetry(
    { sellerId, recordId }: NotifiedKey,
    result: 'faulty' | 'absent',
    { ids, ageMs, holds }: UnreadNotifications,
  ): Promise<JobOutcome | 'read'> {
    const { database } = this.#parts
    const retries =
      result === 'faulty' ? holds : ageMs < absentForMs || (holds && (await isOrderStored(database, sellerId, recordId)))
    if (!retries) {
      await database.transaction((tx) => markRead(tx, ids))
      return 'read'
    }
    const pauseMs = Math.min(maxPauseMs, Math.max(minPauseMs, ageMs))
    const reason = result === 'faulty' ? 'the record cannot be parsed' : 'the marketplace does not show the record yet'
    return { runAgainAt: new Date(Date.now() + pauseMs), reason }
  }
}

/** Registers the handler of the jobs `notification.read`; before the queues start. */
export const registerNotificationWorker = (parts: NotificationWorkerParts): void => {
  const { database, sellers, runtime, saveHooks, relay } = parts
  const reader = new NotificationReader(parts)
  const slots = createSlots({ total: notifiedReadsAtOnce })
  runtime.register(
    'notification.read',
    async ({ data, signal, starts }) => {
      const { sellerId, recordId } = data
      const resource = notifiedResources.find((one) => one === data.resource)
      // A job of a later version; or the seller rests, and the relay adds the job again when it is active.
      if (resource === undefined || (await isSellerInactive(database, sellerId))) return { done: true }
      if (!sellers.worksFor(sellerId)) return requeue({ database }, sellerId, starts)
      const release = await slots.take(sellerId, signal)
      if (release === null) return postponeForSlot(`seller ${sellerId}`, starts)
      try {
        return await reader.run({ sellerId, resource, recordId }, { signal })
      } finally {
        release()
        if (saveHooks.afterSave !== undefined) relay.trigger()
      }
    },
    { concurrency: notifiedReadsAtOnce, backoff: dueJobBackoff },
  )
}
