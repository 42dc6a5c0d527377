import { createCaller } from './caller.ts'
import { createDisplayCaller, createDisplayClient } from './display/display.ts'
import type { ClientParts, MarketplaceClient, SellerConnection } from './interface.ts'
import { createTokenAuthorisation } from './marketplace/authorisation.ts'
import { createCampaignsClient } from './marketplace/campaigns.ts'
import { createInventoryLogClient } from './marketplace/inventory-log.ts'
import { createOrdersClient } from './marketplace/orders.ts'
import { createReconciliationClient } from './marketplace/reconciliation-report.ts'
import { createReplenishmentClient } from './marketplace/replenishment.ts'
import { createReturnsClient } from './marketplace/returns.ts'
import { createSalesChannelsClient } from './marketplace/sales-channels.ts'
import { createShippingSettingsClient } from './marketplace/shipping-settings.ts'

export { parseBehavioralAudience, parseContextualTarget } from './display/target-record.ts'
export { parseTaxonomyNode } from './display/taxonomy-record.ts'
export type * from './interface.ts'
export { parseCampaign } from './marketplace/campaign-record.ts'
export { parseInventoryLogEntry } from './marketplace/inventory-log-record.ts'
export { parseOrder } from './marketplace/order-record.ts'
export { parseReplenishment } from './marketplace/replenishment-record.ts'
export { parseReturn } from './marketplace/return-record.ts'
export { parseSalesChannel } from './marketplace/sales-channel-record.ts'
export { parseShippingSettings } from './marketplace/shipping-settings-record.ts'

/**
 * The marketplace as one seller sees it. Keep one client for as long as the credentials stay the same: it holds the token, the
 * estimate of the marketplace's clock and the memory that the credentials were refused.
 */
export function createMarketplaceClient(connection: SellerConnection, parts: ClientParts): MarketplaceClient {
  const { profile, sellerId, quantityField, display } = connection
  const caller = createCaller({
    connection,
    parts,
    baseUrl: connection.marketplaceUrl,
    authorise: (bare) => createTokenAuthorisation(connection, parts.now ?? Date.now, bare),
  })
  const displayCaller = display === null ? null : createDisplayCaller(connection, display, parts)
  const onUnknownValue = parts.hooks?.onUnknownValue ?? (() => undefined)
  return {
    sellerId,
    credentials: caller.authorisation,
    clock: () => caller.clock,
    orders: createOrdersClient(caller, { ...profile, quantityField }, onUnknownValue),
    returns: createReturnsClient(caller, profile.maxPageSize, onUnknownValue),
    campaigns: createCampaignsClient(caller, onUnknownValue),
    salesChannels: createSalesChannelsClient(caller, connection, onUnknownValue),
    replenishment: createReplenishmentClient(caller, profile, onUnknownValue),
    inventoryLog: createInventoryLogClient(caller, profile, onUnknownValue),
    reconciliation: createReconciliationClient(caller, profile, connection.reportColumns ?? {}),
    shippingSettings: createShippingSettingsClient(caller),
    display: display === null || displayCaller === null ? null : createDisplayClient(displayCaller, display, onUnknownValue),
    budget: { take: (operation) => parts.budget.take(sellerId, operation) },
    close: async () => void (await Promise.all([caller.close(), displayCaller?.close()])),
  }
}
