import { DAY_MS, HOUR_MS } from '../core/duration.ts'
import type { World } from '../world.ts'
import { placeRandomOrders } from './place.ts'

const PAST_DAYS = 30
/** The youngest of them is so old: it stands in every list, however long a client lets those settle. */
const YOUNGEST_MS = HOUR_MS
const PLACED = 'past-orders'

/** A new world, also one after a reset, begins with orders of the last month, a third of them fulfilled by the marketplace; once. */
export function placePast(world: World): void {
  const { settings, meta, clock } = world
  const { pastOrders: count, sellerId } = settings
  if (count === 0 || meta.get(PLACED) !== null) return
  const createdTo = clock.now() - YOUNGEST_MS
  const span = { sellerId, createdFrom: createdTo - PAST_DAYS * DAY_MS, createdTo, alive: true, history: true }
  const byMarketplace = Math.floor(count / 3)
  placeRandomOrders(world, { ...span, count: count - byMarketplace, shipNodeType: 'SellerFulfilled' })
  placeRandomOrders(world, { ...span, count: byMarketplace, shipNodeType: 'WFSFulfilled' })
  meta.set(PLACED, String(count))
}
