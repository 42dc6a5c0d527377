import { dayMs, hourMs } from '../core/duration.ts'
import { createRandom, type Random } from '../core/random.ts'
import { returnReasons } from '../generator/catalogue.ts'
import { oneLinePerUnit } from '../generator/legacy.ts'
import { makeOrder } from '../generator/orders.ts'
import { announceOrder } from '../notifications/announce.ts'
import { acknowledge } from '../rules/acknowledge.ts'
import { cancelUnits } from '../rules/cancel.ts'
import type { Actor, EffectDraft, Line, Order, ShipNodeType } from '../rules/model.ts'
import { refundByMarketplace } from '../rules/refund.ts'
import { putUnits, takeUnits, unitsIn } from '../rules/units.ts'
import type { World } from '../world.ts'
import { byItself } from './change.ts'
import { openReturn } from './returns.ts'
import { scheduleAfterPlacement } from './schedule.ts'

/** Orders at least this old come with the life they have had; younger ones wait for the seller. */
const pastMs = 6 * dayMs

export interface BulkRequest {
  readonly sellerId: string
  readonly count: number
  /** Orders are spread evenly at random between these moments (virtual epoch milliseconds). */
  readonly createdFrom: number
  readonly createdTo: number
  readonly shipNodeType?: ShipNodeType | undefined
  readonly alive: boolean
  /** Whether old orders get a past (shipped, delivered, some cancelled or refunded) instead of remaining Created. */
  readonly history: boolean
  /** Whether each line is split into one line a unit. */
  readonly legacy?: boolean
}

/** A fresh pair of ids: digits, unique in this sandbox, rising. */
export const nextIds = (
  world: World,
  count: number,
): { at(index: number): { sequence: number; purchaseOrderId: string; customerOrderId: string } } => {
  const first = world.meta.sequence('order', count)
  return {
    at(index) {
      const sequence = first + index
      return {
        sequence,
        purchaseOrderId: String(4_800_000_000_000 + sequence * 37),
        customerOrderId: String(200_000_000_000_000 + sequence * 53),
      }
    },
  }
}

/** Places random orders in one transaction and gives their ids. */
export const placeRandomOrders = (world: World, request: BulkRequest): string[] =>
  world.database.transaction(() => {
    const ids = nextIds(world, request.count)
    const placed: string[] = []
    for (let index = 0; index < request.count; index += 1) {
      const { sequence, purchaseOrderId, customerOrderId } = ids.at(index)
      const random = createRandom(world.settings.seed, 'order', sequence)
      const createdAt = request.createdFrom + Math.floor(random.next() * (request.createdTo - request.createdFrom + 1))
      const { sellerId, alive, shipNodeType } = request
      const frame = { sellerId, purchaseOrderId, customerOrderId, createdAt, alive, shipNodeType }
      const made = makeOrder(random, frame, createRandom(world.settings.seed, 'rare', sequence))
      const order = request.legacy === true ? { ...made, lines: oneLinePerUnit(made.lines) } : made
      if (request.history && createdAt <= world.clock.now() - pastMs) placeWithPast(world, order, random)
      else placeOrder(world, order)
      placed.push(purchaseOrderId)
    }
    return placed
  })

/** Places one new order; marketplace-fulfilled ones are acknowledged by the marketplace at once. */
export const placeOrder = (world: World, order: Order): void => {
  world.database.transaction(() => {
    const effects = order.shipNodeType === 'WFSFulfilled' ? acknowledge(order, order.createdAt) : []
    world.orders.insert(order, order.createdAt)
    world.effects.append(order, effects, order.createdAt, byItself('marketplace'))
    scheduleAfterPlacement(world, order)
    announceOrder(world, order, 'PO_CREATED', order.createdAt)
  })
}

/** Places an order that is over: nothing more happens to it by itself but what a return may still bring. */
const placeWithPast = (world: World, order: Order, random: Random): void => {
  const seller = byItself(order.shipNodeType === 'WFSFulfilled' ? 'marketplace' : 'seller')
  const past: { at: number; actor: Actor; effects: EffectDraft[] }[] = []
  const happen = (at: number, actor: Actor, effects: EffectDraft[]): void => {
    past.push({ at, actor, effects })
  }
  const acknowledged = order.createdAt + hourMs
  const shipped = order.createdAt + random.whole(4, 40) * hourMs
  const delivered = shipped + random.whole(24, 72) * hourMs
  happen(acknowledged, seller, acknowledge(order, acknowledged))
  const fate = random.next()
  const last = order.lines.at(-1)
  if (fate < 0.04) {
    happen(
      shipped,
      seller,
      order.lines.flatMap((line) => cancelUnits(line, line.ordered, 'SELLER_CANCEL_OUT_OF_STOCK', shipped)),
    )
  } else {
    if (fate < 0.08 && last !== undefined && last.ordered > 1) {
      happen(shipped, byItself('buyer'), cancelUnits(last, random.whole(1, last.ordered - 1), 'CUSTOMER_CANCELLED', shipped))
    }
    happen(
      shipped,
      seller,
      order.lines.flatMap((line) => shipAll(order, line, random, shipped)),
    )
    happen(
      delivered,
      byItself('carrier'),
      order.lines.flatMap((line) => deliverAll(line, delivered)),
    )
    if (fate > 0.97 && last !== undefined) {
      const refunded = delivered + 12 * hourMs
      const units = random.whole(1, unitsIn(last, 'Delivered'))
      happen(refunded, seller, [
        refundByMarketplace(order, last, { quantity: units, money: null, reason: 'DamagedItem' }, refunded),
      ])
    }
  }
  const modifiedAt = past.at(-1)?.at ?? order.createdAt
  world.orders.insert(order, modifiedAt)
  for (const { at, actor, effects } of past) world.effects.append(order, effects, at, actor)
  if (fate > 0.92 && fate <= 0.97 && last !== undefined) {
    const quantity = random.whole(1, unitsIn(last, 'Delivered'))
    const at = delivered + 12 * hourMs
    openReturn(world, order, [{ lineNumber: last.lineNumber, quantity, reason: random.pick(returnReasons) }], at, order.alive)
  }
}

const shipAll = (order: Order, line: Line, random: Random, at: number): EffectDraft[] => {
  const all = unitsIn(line, 'Acknowledged')
  const first = all > 2 && random.chance(0.3) ? random.whole(1, all - 1) : all
  const carrier = random.pick(['UPS', 'FedEx', 'USPS', 'OnTrac'])
  return (first === all ? [all] : [first, all - first]).map((quantity) => {
    const trackingNumber = `1Z${random.whole(100_000_000, 999_999_999)}${random.whole(1_000_000, 9_999_999)}`
    takeUnits(line, quantity, 'Acknowledged')
    const parcel = { shippedAt: at, carrier, otherCarrier: null, methodCode: order.methodCode, trackingNumber, trackingUrl: null }
    putUnits(line, { state: 'Shipped', quantity, parcel })
    line.statusDate = at
    return { lineNumber: line.lineNumber, kind: 'shipped', quantity, from: 'Acknowledged', trackingNumber }
  })
}

const deliverAll = (line: Line, at: number): EffectDraft[] => {
  const effects: EffectDraft[] = []
  for (const entry of line.entries) {
    if (entry.state !== 'Shipped') continue
    entry.state = 'Delivered'
    const { quantity } = entry
    effects.push({
      lineNumber: line.lineNumber,
      kind: 'delivered',
      quantity,
      from: 'Shipped',
      trackingNumber: entry.parcel?.trackingNumber ?? '',
    })
  }
  line.statusDate = at
  return effects
}
