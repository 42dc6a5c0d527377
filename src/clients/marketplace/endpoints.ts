import { behavioralAudiencesEndpoint, contextualTargetsEndpoint } from '../display/targeting.ts'
import { taxonomiesEndpoint } from '../display/taxonomies.ts'
import { campaignsEndpoint } from './campaigns.ts'
import { inventoryLogEndpoint } from './inventory-log.ts'
import { subscriptionsEndpoint } from './notifications/subscriptions.ts'
import { ordersEndpoint } from './orders/orders.ts'
import { replenishmentEndpoint } from './replenishment.ts'
import { reconciliationEndpoint } from './reports/reconciliation-report.ts'
import { settlementsEndpoint } from './reports/settlements.ts'
import { returnsEndpoint } from './returns.ts'
import { salesChannelsEndpoint } from './sales-channels.ts'
import { shippingSettingsEndpoint } from './shipping-settings.ts'
import { stockEndpoint } from './stock.ts'
import { tokenOperation } from './token-authorisation.ts'
import { tokenDetailEndpoint } from './token-detail.ts'
import { apiStatusEndpoint } from './utilities/api-status.ts'

/** Every endpoint of the marketplace, display advertising included. */
const endpoints = [
  apiStatusEndpoint,
  behavioralAudiencesEndpoint,
  campaignsEndpoint,
  contextualTargetsEndpoint,
  inventoryLogEndpoint,
  ordersEndpoint,
  reconciliationEndpoint,
  replenishmentEndpoint,
  returnsEndpoint,
  salesChannelsEndpoint,
  settlementsEndpoint,
  shippingSettingsEndpoint,
  stockEndpoint,
  subscriptionsEndpoint,
  taxonomiesEndpoint,
  tokenDetailEndpoint,
] as const

/** The distinct names of all operations, that of the token included, sorted. */
export const operationNames: readonly string[] = [
  ...new Set([tokenOperation.name, ...endpoints.flatMap(({ operations }) => Object.values(operations).map(({ name }) => name))]),
].sort()
