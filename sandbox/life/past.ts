import { dayMs, hourMs } from '../core/duration.ts'
import type { World } from '../world.ts'
import { placeRandomOrders } from './place.ts'

const pastDays = 30
/** The youngest of them is so old: it stands in every list, however long a client lets those settle. */
const youngestMs = hourMs
const placed = 'past-orders'

/** A new world, also one after a reset, begins with orders of the last month, a third of them fulfilled by the marketplace; once. */
export const placePast = (world: World): void => {
  const { settings, meta, clock } = world
  const { pastOrders: count, sellerId } = settings
  if (count === 0 || meta.get(placed) !== null) return
  const createdTo = clock.now() - youngestMs
  const span = { sellerId, createdFrom: createdTo - pastDays * dayMs, createdTo, alive: true, history: true }
  const byMarketplace = Math.floor(count / 3)
  placeRandomOrders(world, { ...span, count: count - byMarketplace, shipNodeType: 'SellerFulfilled' })
  placeRandomOrders(world, { ...span, count: byMarketplace, shipNodeType: 'WFSFulfilled' })
  meta.set(placed, String(count))
}
