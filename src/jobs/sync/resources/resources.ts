import type { Resource } from '../engine/resource.ts'
import { campaigns } from './campaigns.ts'
import { inventoryLog } from './inventory-log.ts'
import { orders } from './orders.ts'
import { reconciliation } from './reconciliation.ts'
import { replenishment } from './replenishment.ts'
import { returns } from './returns.ts'
import { salesChannels } from './sales-channels.ts'
import { settlements } from './settlements.ts'
import { shippingSettings } from './shipping-settings.ts'
import { stock } from './stock.ts'
import { behavioralAudiences, contextualTargets } from './targeting.ts'
import { taxonomies } from './taxonomies.ts'

/** All resources. Settings, schedules, routes and the tables in docs/syncs.md are derived from this list. */
export const resources: readonly Resource[] = [
  orders,
  returns,
  reconciliation,
  taxonomies,
  contextualTargets,
  behavioralAudiences,
  campaigns,
  salesChannels,
  shippingSettings,
  replenishment,
  inventoryLog,
  stock,
  settlements,
]
