import { createClock, type VirtualClock } from './core/clock.ts'
import { type Database, openDatabase } from './core/database.ts'
import { createMeta, type Meta } from './core/meta.ts'
import type { Settings } from './settings.ts'
import { createDueEventStore, type DueEventStore } from './store/due-events.ts'
import { createEffectStore, type EffectStore } from './store/effects.ts'
import { createOrderStore, type OrderStore } from './store/orders.ts'
import { createReturnStore, type ReturnStore } from './store/returns.ts'
import { createSellerStore, type SellerStore } from './store/sellers.ts'

/** Everything that the marketplace remembers. */
export interface World {
  readonly settings: Settings
  readonly database: Database
  readonly meta: Meta
  readonly clock: VirtualClock
  readonly sellers: SellerStore
  readonly orders: OrderStore
  readonly returns: ReturnStore
  readonly effects: EffectStore
  readonly dueEvents: DueEventStore
  /** Forgets all orders, returns, effects, tokens, further sellers and the clock's offset. */
  reset(): void
  close(): void
}

const FORGOTTEN = ['orders', 'order_skus', 'returns', 'due_events', 'effects', 'tokens', 'sellers', 'fault_draws', 'meta']

/** Opens the world that lies in `settings.dataDir`, or begins a new one. Throws `DataDirectoryInUse`. */
export function openWorld(settings: Settings): World {
  const database = openDatabase(settings.dataDir)
  const meta = createMeta(database)
  const clock = createClock(meta)
  const sellers = createSellerStore(database)
  const putDefaultSeller = (): void => {
    const { sellerId, clientId, clientSecret } = settings
    sellers.put({ sellerId, clientId, clientSecret, revoked: sellers.find(sellerId)?.revoked ?? false })
  }
  putDefaultSeller()
  return {
    settings,
    database,
    meta,
    clock,
    sellers,
    orders: createOrderStore(database),
    returns: createReturnStore(database),
    effects: createEffectStore(database),
    dueEvents: createDueEventStore(database),
    reset() {
      clock.advance(-clock.offsetMs())
      database.transaction(() => {
        for (const table of FORGOTTEN) database.run(`DELETE FROM ${table}`)
        putDefaultSeller()
      })
    },
    close: () => database.close(),
  }
}
