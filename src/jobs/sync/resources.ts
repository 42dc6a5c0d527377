import { campaigns } from './campaigns.ts'
import type { IntervalSetting } from './intervals.ts'
import { inventoryLog } from './inventory-log.ts'
import { orders } from './orders.ts'
import { reconciliation } from './reconciliation.ts'
import { replenishment } from './replenishment.ts'
import type { Resource } from './resource.ts'
import { returns } from './returns.ts'
import { salesChannels } from './sales-channels.ts'
import { settlements } from './settlements.ts'
import { shippingSettings } from './shipping-settings.ts'
import { behavioralAudiences, contextualTargets } from './targeting.ts'
import { taxonomies } from './taxonomies.ts'

/** All that is read of the marketplace. Settings, schedules, routes and the table in docs/syncs.md follow from this list. */
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
  settlements,
]

/** The settings of how often the resources and their streams run, each once. */
export const intervalSettings: readonly IntervalSetting[] = [
  ...new Map(
    resources
      .flatMap(({ poll, streams }) => [
        poll,
        ...Object.values(streams).flatMap(({ pace }) => ('setting' in pace ? [pace.setting] : [])),
      ])
      .map((setting) => [setting.variable, setting]),
  ).values(),
]
