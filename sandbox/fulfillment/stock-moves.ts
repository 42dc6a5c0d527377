import type { EffectDraft, Order } from '../rules/model.ts'
import type { ReturnedLine, ReturnOrder } from '../rules/returns-model.ts'
import type { World } from '../world.ts'
import { type Item, moved, received, returnedWording, sold } from './model.ts'
import { liveOn, nextGtin } from './simulation.ts'

/** What a receipt brings beyond the units that are missing. */
const receivedBeyond = 40
/** Goods returned for these reasons are no longer sellable. */
const toSalvage: ReadonlySet<string> = new Set(['DAMAGED', 'DEFECTIVE', 'MISSING_PARTS'])

/** Units of a marketplace-fulfilled order leave the stock; where there are too few, a receipt comes just before. */
export const bookShipped = (world: World, order: Order, effects: readonly EffectDraft[], at: number): void => {
  if (order.shipNodeType !== 'WFSFulfilled') return
  const when = bookingTime(world, order.sellerId, at)
  for (const { kind, lineNumber, quantity } of effects) {
    const line = order.lines.find((candidate) => candidate.lineNumber === lineNumber)
    if (kind !== 'shipped' || line === undefined) continue
    const item = findItem(world, order.sellerId, line.item.sku, line.item.productName, when)
    const missing = quantity - world.inventory.lowestStock(item, when)
    const receipt = moved(received, missing + receivedBeyond, when, { shipmentId: `${order.purchaseOrderId.slice(-7)}WFA` })
    world.inventory.record(item, [...(missing > 0 ? [receipt] : []), moved(sold, -quantity, when)])
  }
}

/** Units of a marketplace-fulfilled order were returned. */
export const bookReturned = (world: World, returned: ReturnOrder, line: ReturnedLine, units: number, at: number): void => {
  if (!returned.wfs) return
  const when = bookingTime(world, returned.sellerId, at)
  const item = findItem(world, returned.sellerId, line.sku, line.productName, when)
  world.inventory.record(item, [moved(returnedWording, units, when, toSalvage.has(line.reason) ? { location: 'Salvage' } : {})])
}

/**
 * What was due before somebody last looked is booked after that look: no entry is late unless it was asked to be. The history that it is
 * booked into is that of today, however long ago it was due.
 */
const bookingTime = (world: World, sellerId: string, at: number): number => {
  liveOn(world, sellerId, world.clock.now())
  return Math.max(at, (world.inventory.life(sellerId)?.seenAt ?? 0) + 1)
}

const findItem = (world: World, sellerId: string, sku: string, productName: string, firstAt: number): Item => {
  const known = world.inventory.item(sellerId, sku)
  if (known !== null) return known
  return world.inventory.addItem({ sellerId, sku, productName, gtin: nextGtin(world), openingUnits: 0, pace: 0, firstAt })
}
