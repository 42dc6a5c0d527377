import { dayMs, hourMs, minuteMs } from '../core/duration.ts'
import { createRandom } from '../core/random.ts'
import { returnReasons } from '../generator/catalogue.ts'
import type { EffectDraft, Order } from '../rules/model.ts'
import type { World } from '../world.ts'

/** Not shipped with tracking this long after the ship-by date: the marketplace cancels (public facts, section 9.2). */
const autoCancelAfterMs = 4 * dayMs

/** Schedules, when an order is placed, the actions of its buyer and of the marketplace that occur without other events. */
export const scheduleAfterPlacement = (world: World, order: Order): void => {
  if (!order.alive) return
  const { sellerId, purchaseOrderId } = order
  const at = (ms: number): number => order.createdAt + ms
  if (order.shipNodeType === 'WFSFulfilled') {
    world.dueEvents.schedule(at(18 * hourMs), { kind: 'marketplace-ship', sellerId, purchaseOrderId })
    return
  }
  world.dueEvents.schedule(order.shipBy + autoCancelAfterMs, { kind: 'auto-cancel', sellerId, purchaseOrderId })
  const random = createRandom(world.settings.seed, 'buyer', purchaseOrderId)
  const line = order.lines[random.whole(0, order.lines.length - 1)]
  if (line === undefined) return
  const { lineNumber } = line
  const mood = random.next()
  if (mood < 0.04) {
    world.dueEvents.schedule(at(random.whole(10, 300) * minuteMs), {
      kind: 'intent-to-cancel',
      sellerId,
      purchaseOrderId,
      lineNumber,
    })
  } else if (mood < 0.08) {
    const quantity = random.whole(1, line.ordered)
    world.dueEvents.schedule(at(random.whole(10, 300) * minuteMs), {
      kind: 'buyer-cancel',
      sellerId,
      purchaseOrderId,
      lineNumber,
      quantity,
    })
  }
}

/** Once units are on their way: when they arrive, and whether the buyer will send some back. Corrected units arrive under their new number. */
export const scheduleAfterShipping = (world: World, order: Order, effects: readonly EffectDraft[], now: number): void => {
  if (!order.alive) return
  const { sellerId, purchaseOrderId } = order
  for (const { lineNumber, trackingNumber, quantity, kind } of effects) {
    if ((kind !== 'shipped' && kind !== 'corrected') || trackingNumber === undefined) continue
    const random = createRandom(world.settings.seed, 'parcel', purchaseOrderId, lineNumber, trackingNumber)
    const arrival = now + random.whole(20, 96) * hourMs
    world.dueEvents.schedule(arrival, { kind: 'deliver', sellerId, purchaseOrderId, lineNumber, trackingNumber })
    // What is sent back was decided when the units left.
    if (kind === 'shipped' && random.chance(0.08)) {
      world.dueEvents.schedule(arrival + random.whole(6, 240) * hourMs, {
        kind: 'open-return',
        sellerId,
        purchaseOrderId,
        lineNumber,
        quantity: random.whole(1, quantity),
        reason: random.pick(returnReasons),
      })
    }
  }
}
