import { ordersEndpoint } from '../../clients/marketplace/orders/orders.ts'
import type { Profile } from '../../clients/marketplace/profiles/profile.ts'
import { returnsEndpoint } from '../../clients/marketplace/returns.ts'
import type { Config } from '../../config/config.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Metrics } from '../../observability/metrics.ts'
import type { Database } from '../../store/db/database.ts'
import type { CommandJobs } from '../commands/engine/command-jobs.ts'
import type { SellerRegistry } from '../sellers/registry.ts'
import type { Serving } from '../sellers/serving.ts'
import type { SyncHooks } from '../sync/engine/resource.ts'
import { createOrderFetcher, type OrderFetcherParts } from './fetch-order.ts'
import { createReturnFetcher } from './fetch-return.ts'
import type { AcceptParts } from './parts.ts'

/** Dependencies of the intake of events. */
export interface IntakeParts {
  readonly config: Pick<Config, 'settleTimeMs' | 'shipUnacknowledged'>
  readonly database: Database
  readonly quiet: QuietLog
  readonly metrics: Pick<Metrics, 'eventsReceived'>
  readonly sellers: SellerRegistry
  readonly serving: Pick<Serving, 'only'>
  readonly saveHooks: SyncHooks
  readonly commandJobs: Pick<CommandJobs, 'add'>
  /** The profile of a seller that is configured in this process. */
  findProfile(sellerId: string): Profile | undefined
  /** Takes a permit to request an order that an event names. */
  readonly mayLookUp: NonNullable<OrderFetcherParts['mayAsk']>
}

/** The parts that events are accepted with, by HTTP, from the SQL inbox and from the queue. One for the process. */
export const createIntake = ({
  config,
  database,
  quiet,
  metrics,
  sellers,
  serving,
  saveHooks,
  commandJobs,
  findProfile,
  mayLookUp,
}: IntakeParts): AcceptParts => ({
  database,
  sellers,
  fetcher: createOrderFetcher({
    database,
    getOrdersClient: (sellerId) => sellers.client(sellerId).of(ordersEndpoint),
    quiet,
    mayAsk: mayLookUp,
    ...saveHooks,
  }),
  returns: createReturnFetcher({ database, findReturns: (sellerId) => sellers.client(sellerId).of(returnsEndpoint), quiet }),
  onStored: commandJobs.add,
  only: serving.only,
  settleTimeMs: config.settleTimeMs,
  onInbox: (outcome) => metrics.eventsReceived.inc({ way: 'sql', outcome }),
  rules: (sellerId) => ({
    now: sellers.client(sellerId).clock().now(),
    shipUnacknowledged: config.shipUnacknowledged,
    fullPriceRefundsAll: findProfile(sellerId)?.fullPriceRefundsAll ?? false,
    correctsShipments: findProfile(sellerId)?.correctsShipments ?? false,
  }),
})
