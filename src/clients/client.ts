import { createCaller } from './caller.ts'
import type { ClientParts, MarketplaceClient, SellerConnection } from './interface.ts'
import { createOrdersClient } from './marketplace/orders.ts'
import { createReturnsClient } from './marketplace/returns.ts'

export type * from './interface.ts'
export { parseOrder } from './marketplace/order-record.ts'
export { parseReturn } from './marketplace/return-record.ts'

/**
 * The marketplace as one seller sees it. Keep one client for as long as the credentials stay the same: it holds the token, the
 * estimate of the marketplace's clock and the memory that the credentials are dead.
 */
export function createMarketplaceClient(connection: SellerConnection, parts: ClientParts): MarketplaceClient {
  const { profile, sellerId, quantityField } = connection
  const caller = createCaller(connection, parts)
  const onUnknownValue = parts.hooks?.onUnknownValue ?? (() => undefined)
  return {
    sellerId,
    clock: () => caller.clock,
    orders: createOrdersClient(caller, { ...profile, quantityField }, onUnknownValue),
    returns: createReturnsClient(caller, profile.maxPageSize, onUnknownValue),
    display: null,
    budget: { take: (operation) => parts.budget.take(sellerId, operation) },
    close: () => caller.close(),
  }
}
