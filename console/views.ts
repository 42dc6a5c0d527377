import type { ComponentType } from 'preact'
import type { Needs } from './lib/rights.ts'
import { AlarmChannels } from './views/alarm-channels.tsx'
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
import { Money } from './views/money.tsx'
import { OrderView } from './views/order.tsx'
import { Orders } from './views/orders.tsx'
import { Overview } from './views/overview.tsx'
import { PickList } from './views/pick-list.tsx'
import { Proposals } from './views/proposals.tsx'
import { Quarantine } from './views/quarantine.tsx'
import { Sellers } from './views/sellers.tsx'
import { Settings } from './views/settings.tsx'
import { Shadow } from './views/shadow.tsx'
import { SyncView } from './views/sync.tsx'
import { Syncs } from './views/syncs.tsx'
import { Targets } from './views/targets.tsx'
import { Today } from './views/today.tsx'
import { TrendsView } from './views/trends.tsx'
import { Webhooks, WebhookView } from './views/webhooks.tsx'

/** Groups of the navigation, in their order. */
export const groups = ['Work', 'Data', 'System'] as const

/** One of {@link groups}. */
export type Group = (typeof groups)[number]

/** A view of the console. */
export interface View {
  /** Address; parts that begin with a colon are passed to the view by their names. */
  readonly path: string
  /** Label in the navigation; null: other views link to it. */
  readonly menu: string | null
  /** Group in the navigation. */
  readonly group?: Group
  /** Rights that a key needs for the view; default: to read. */
  readonly needs?: Needs
  readonly component: ComponentType<{ readonly parts: Readonly<Record<string, string>> }>
}

/** The rights that a key needs for a view. */
export const listNeeds = ({ needs }: View): Needs => needs ?? ['read']

/** All views, in the order of the navigation. */
export const views: readonly View[] = [
  { path: '/', menu: 'Overview', group: 'Work', component: Overview },
  { path: '/console/trends', menu: 'Trends', group: 'Work', component: TrendsView },
  { path: '/console/today', menu: 'Today', group: 'Work', component: Today },
  { path: '/console/pick-list', menu: null, component: PickList },
  { path: '/console/orders', menu: 'Orders', group: 'Work', component: Orders },
  { path: '/console/orders/:sellerId/:purchaseOrderId', menu: null, component: OrderView },
  { path: '/console/commands', menu: 'Commands', group: 'Work', component: Commands },
  { path: '/console/commands/:id', menu: null, component: CommandView },
  { path: '/console/proposals', menu: 'Proposals', group: 'Work', component: Proposals },
  { path: '/console/alarms', menu: 'Alarms', group: 'Work', component: Alarms },
  { path: '/console/syncs', menu: 'Syncs', group: 'Data', component: Syncs },
  { path: '/console/completeness', menu: null, component: Completeness },
  { path: '/console/syncs/:resource', menu: null, component: SyncView },
  { path: '/console/quarantine', menu: 'Quarantine', group: 'Data', component: Quarantine },
  { path: '/console/drift', menu: 'Drift', group: 'System', component: Drift },
  { path: '/console/sellers', menu: 'Sellers', group: 'System', component: Sellers },
  { path: '/console/shadow', menu: 'Shadow', group: 'System', component: Shadow },
  { path: '/console/events', menu: 'Events', group: 'Data', component: Events },
  { path: '/console/events/:source/:id', menu: null, component: EventView },
  { path: '/console/inventory', menu: 'Inventory', group: 'Data', component: Inventory },
  { path: '/console/inventory/:sellerId/:sku', menu: null, component: InventorySku },
  { path: '/console/money', menu: 'Money', group: 'Data', component: Money },
  { path: '/console/campaigns', menu: 'Campaigns', group: 'Data', component: Campaigns },
  { path: '/console/campaigns/:id', menu: null, component: CampaignView },
  { path: '/console/targets', menu: 'Targets', group: 'System', component: Targets },
  { path: '/console/webhooks', menu: 'Webhooks', group: 'System', needs: ['read', 'all'], component: Webhooks },
  { path: '/console/webhooks/:id', menu: null, needs: ['read', 'all'], component: WebhookView },
  { path: '/console/alarm-channels', menu: 'Alarm channels', group: 'System', needs: ['read', 'all'], component: AlarmChannels },
  { path: '/console/keys', menu: 'Keys', group: 'System', needs: ['operate', 'all'], component: Keys },
  { path: '/console/audit', menu: 'Audit', group: 'System', needs: ['operate'], component: Audit },
  { path: '/console/settings', menu: 'Settings', group: 'System', needs: ['read', 'all'], component: Settings },
]
