import { firstCampaigns } from './campaigns/create.ts'
import { type CampaignStore, createCampaignStore } from './campaigns/store.ts'
import { createClock, type VirtualClock } from './core/clock.ts'
import { type Database, openDatabase } from './core/database.ts'
import { createMeta, type Meta } from './core/meta.ts'
import { createDisplay, type Display } from './display/display.ts'
import { createHiding, type Hiding } from './faults/records.ts'
import { createDiscrepancyStore, type DiscrepancyStore } from './fulfillment/discrepancy-store.ts'
import { inventoryTables } from './fulfillment/schema.ts'
import { createInventoryStore, type InventoryStore } from './fulfillment/store.ts'
import { notificationTables } from './notifications/schema.ts'
import { createNotificationStore, type NotificationStore } from './notifications/store.ts'
import type { Settings } from './settings.ts'
import { createShippingSettingsStore, type ShippingSettingsStore } from './shipping-settings/store.ts'
import { type ConnectionStore, createConnectionStore } from './store/connections.ts'
import { createDueEventStore, type DueEventStore } from './store/due-events.ts'
import { createEffectStore, type EffectStore } from './store/effects.ts'
import { createOrderStore, type OrderStore } from './store/orders.ts'
import { createPasts } from './store/pasts.ts'
import { createReturnStore, type ReturnStore } from './store/returns.ts'
import { createSellerStore, type SellerStore } from './store/sellers.ts'
import { createTriggerStore, type TriggerStore } from './store/triggers.ts'

/** Everything that the marketplace remembers. */
export interface World {
  readonly settings: Settings
  readonly database: Database
  readonly meta: Meta
  readonly clock: VirtualClock
  readonly sellers: SellerStore
  readonly connections: ConnectionStore
  readonly orders: OrderStore
  readonly returns: ReturnStore
  readonly effects: EffectStore
  readonly dueEvents: DueEventStore
  readonly triggers: TriggerStore
  readonly notifications: NotificationStore
  readonly hiding: Hiding
  readonly inventory: InventoryStore
  readonly discrepancies: DiscrepancyStore
  readonly display: Display
  readonly campaigns: CampaignStore
  readonly shippingSettings: ShippingSettingsStore
  /** Forgets all orders, returns, effects, inventory, tokens, further sellers and the clock's offset. */
  reset(): void
  close(): void
}

const clearedTables = [
  'orders',
  'order_skus',
  'returns',
  'due_events',
  'effects',
  'tokens',
  'sellers',
  'apps',
  'refresh_tokens',
  'fault_draws',
  'dead_cursors',
  'hidden_records',
  'pasts',
  'triggers',
  'meta',
  'campaigns',
  'shipping_settings',
  'seller_traits',
  'settlement_errors',
]

const firstCampaignsKey = 'first-campaigns'

/** Opens the world stored in `settings.dataDir`, or creates a new one. Throws `DataDirectoryInUse`. */
export const openWorld = (settings: Settings): World => {
  const database = openDatabase(settings.dataDir)
  const meta = createMeta(database)
  const clock = createClock(meta)
  const sellers = createSellerStore(database)
  const putDefaultSeller = (): void => {
    const { sellerId, clientId, clientSecret } = settings
    const known = sellers.find(sellerId)
    sellers.put({ sellerId, clientId, clientSecret, revoked: known?.revoked ?? false, delegated: known?.delegated ?? false })
  }
  putDefaultSeller()
  const display = createDisplay(meta, settings.dataDir, settings.seed)
  const campaigns = createCampaignStore(database)
  const putFirstCampaigns = (): void => {
    for (const campaign of firstCampaigns(settings.sellerId, settings.seed, clock.now())) campaigns.put(campaign)
    meta.set(firstCampaignsKey, 'there')
  }
  if (meta.get(firstCampaignsKey) === null) database.transaction(putFirstCampaigns)
  const pasts = createPasts(database)
  const hiding = createHiding(meta, database, clock)
  return {
    settings,
    database,
    meta,
    clock,
    sellers,
    connections: createConnectionStore(database),
    orders: createOrderStore(database, pasts, hiding),
    returns: createReturnStore(database, pasts, hiding),
    effects: createEffectStore(database),
    dueEvents: createDueEventStore(database),
    triggers: createTriggerStore(database),
    notifications: createNotificationStore(database),
    hiding,
    inventory: createInventoryStore(database),
    discrepancies: createDiscrepancyStore(database),
    display,
    campaigns,
    shippingSettings: createShippingSettingsStore(database),
    reset() {
      clock.advance(-clock.offsetMs())
      database.transaction(() => {
        for (const table of [...clearedTables, ...inventoryTables, ...notificationTables]) database.run(`DELETE FROM ${table}`)
        putDefaultSeller()
        putFirstCampaigns()
      })
      display.reset()
      hiding.follow()
    },
    close: () => database.close(),
  }
}
