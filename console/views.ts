import type { ComponentType } from 'preact'
import type { Needs } from './lib/rights.ts'
import { Alarms } from './views/alarms.tsx'
import { Audit } from './views/audit.tsx'
import { Campaigns, CampaignView } from './views/campaigns.tsx'
import { CommandView } from './views/command.tsx'
import { Commands } from './views/commands.tsx'
import { Completeness } from './views/completeness.tsx'
import { Drift } from './views/drift.tsx'
import { EventView } from './views/event.tsx'
import { Events } from './views/events.tsx'
import { Inventory, InventorySku } from './views/inventory.tsx'
import { Keys } from './views/keys.tsx'
import { OrderView } from './views/order.tsx'
import { Orders } from './views/orders.tsx'
import { Overview } from './views/overview.tsx'
import { Quarantine } from './views/quarantine.tsx'
import { Sellers } from './views/sellers.tsx'
import { Settings } from './views/settings.tsx'
import { Shadow } from './views/shadow.tsx'
import { SyncView } from './views/sync.tsx'
import { Syncs } from './views/syncs.tsx'
import { Targets } from './views/targets.tsx'
import { Today } from './views/today.tsx'
import { Webhooks, WebhookView } from './views/webhooks.tsx'

/** A view of the console. */
export interface View {
  /** Address; parts that begin with a colon are passed to the view by their names. */
  readonly path: string
  /** Label in the navigation; null: other views link to it. */
  readonly menu: string | null
  /** Rights that a key needs for the view; default: to read. */
  readonly needs?: Needs
  readonly component: ComponentType<{ readonly parts: Readonly<Record<string, string>> }>
}

/** The rights that a key needs for a view. */
export const listNeeds = ({ needs }: View): Needs => needs ?? ['read']

/** All views, in the order of the navigation. */
export const views: readonly View[] = [
  { path: '/', menu: 'Overview', component: Overview },
  { path: '/console/today', menu: 'To do today', component: Today },
  { path: '/console/orders', menu: 'Orders', component: Orders },
  { path: '/console/orders/:sellerId/:purchaseOrderId', menu: null, component: OrderView },
  { path: '/console/commands', menu: 'Commands', component: Commands },
  { path: '/console/commands/:id', menu: null, component: CommandView },
  { path: '/console/alarms', menu: 'Alarms', component: Alarms },
  { path: '/console/syncs', menu: 'Syncs', component: Syncs },
  { path: '/console/completeness', menu: null, component: Completeness },
  { path: '/console/syncs/:resource', menu: null, component: SyncView },
  { path: '/console/quarantine', menu: 'Quarantine', component: Quarantine },
  { path: '/console/drift', menu: 'Drift', component: Drift },
  { path: '/console/sellers', menu: 'Sellers', component: Sellers },
  { path: '/console/shadow', menu: 'Shadow', component: Shadow },
  { path: '/console/events', menu: 'Events', component: Events },
  { path: '/console/events/:source/:id', menu: null, component: EventView },
  { path: '/console/inventory', menu: 'Inventory', component: Inventory },
  { path: '/console/inventory/:sellerId/:sku', menu: null, component: InventorySku },
  { path: '/console/campaigns', menu: 'Campaigns', component: Campaigns },
  { path: '/console/campaigns/:id', menu: null, component: CampaignView },
  { path: '/console/targets', menu: 'Targets', component: Targets },
  { path: '/console/webhooks', menu: 'Webhooks', needs: ['read', 'all'], component: Webhooks },
  { path: '/console/webhooks/:id', menu: null, needs: ['read', 'all'], component: WebhookView },
  { path: '/console/keys', menu: 'Keys', needs: ['operate', 'all'], component: Keys },
  { path: '/console/audit', menu: 'Audit', needs: ['operate'], component: Audit },
  { path: '/console/settings', menu: 'Settings', needs: ['read', 'all'], component: Settings },
]
