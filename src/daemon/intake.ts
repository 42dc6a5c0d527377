import { ordersEndpoint } from '../clients/marketplace/orders.ts'
import { acknowledgeNewOrders } from '../jobs/commands/auto-acknowledge.ts'
import { createOrderFetcher } from '../jobs/events/fetch-order.ts'
import type { AcceptParts } from '../jobs/events/parts.ts'
import type { SyncHooks } from '../jobs/sync/resource.ts'
import type { DaemonContext } from './context.ts'
import type { DatabasePart } from './database.ts'
import type { MarketplacePart } from './marketplace.ts'
import type { QueuesPart } from './queues.ts'

/** What is done within the transaction that stores an order for the first time, whoever brings it. */
export const savingOf = ({ config }: DaemonContext): SyncHooks =>
  config.autoAcknowledge === 'on-import' ? { afterSave: acknowledgeNewOrders } : {}

/** What events are taken in with, over HTTP and out of the SQL inbox. */
export const createIntake = (
  context: DaemonContext,
  { database }: DatabasePart,
  { sellers, serving, profileOf, mayLookUp }: MarketplacePart,
  { wakeNewCommands }: QueuesPart,
): AcceptParts => {
  const { config, quiet, metrics } = context
  return {
    database,
    sellers,
    fetcher: createOrderFetcher({
      database,
      ordersOf: (sellerId) => sellers.client(sellerId).of(ordersEndpoint),
      quiet,
      mayAsk: mayLookUp,
      ...savingOf(context),
    }),
    wake: wakeNewCommands,
    only: serving.only,
    settleTimeMs: config.settleTimeMs,
    onInbox: (outcome) => metrics.eventsReceived.inc({ way: 'sql', outcome }),
    rules: (sellerId) => {
      const profile = profileOf(sellerId)
      return {
        now: sellers.client(sellerId).clock().now(),
        shipUnacknowledged: config.shipUnacknowledged,
        fullPriceRefundsAll: profile?.fullPriceRefundsAll ?? false,
      }
    },
  }
}
