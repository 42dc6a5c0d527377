import { dayMs, hourMs } from '../core/duration.ts'
import { type Cents, computeShare } from '../core/money.ts'
import { createRandom } from '../core/random.ts'
import { bookReturned } from '../fulfillment/stock-moves.ts'
import { announceReturn } from '../notifications/announce.ts'
import type { Actor, EffectDraft, Line, Order } from '../rules/model.ts'
import { refundByMarketplace, sumCharged } from '../rules/refund.ts'
import { moveReturned, type ReturnedLine, type ReturnOrder } from '../rules/returns-model.ts'
import { unitsIn } from '../rules/units.ts'
import type { World } from '../world.ts'
import { byItself, changeOrder } from './change.ts'

/** A received return that the seller does not refund is refunded by the marketplace (public facts, section 9.2). */
const marketplaceRefundAfterMs = 48 * hourMs
const returnWindowMs = 30 * dayMs

export interface ReturnRequest {
  readonly lineNumber: string
  readonly quantity: number
  readonly reason: string
  readonly exceptionItemType?: string | undefined
}

/** Units of a line that a buyer may still send back: shipped, not refunded, not in another return. */
export const returnableUnits = (world: World, order: Order, line: Line): number => {
  const underway = openReturnedLines(world, order, line.lineNumber).reduce(
    (sum, one) => sum + one.line.quantity - one.line.refundedQuantity,
    0,
  )
  return Math.max(0, unitsIn(line, 'Shipped', 'Delivered') - underway)
}

/** Opens a return of units of one or several lines. With `travels` the goods move, arrive and are refunded by themselves in time. */
export const openReturn = (
  world: World,
  order: Order,
  asked: readonly ReturnRequest[],
  at: number,
  travels: boolean,
): ReturnOrder => {
  const returnOrderId = String(1_190_000_000_000 + world.meta.sequence('return', 1))
  const random = createRandom(world.settings.seed, 'return', returnOrderId)
  const opened: ReturnOrder = {
    sellerId: order.sellerId,
    returnOrderId,
    customerOrderId: order.customerOrderId,
    customerEmail: order.buyer.email,
    customerName: order.buyer.name,
    wfs: order.shipNodeType === 'WFSFulfilled',
    createdAt: at,
    returnBy: at + returnWindowMs,
    currency: order.currency,
    trackingNumber: `RT${returnOrderId}`,
    lines: asked.flatMap((request, index) => {
      const line = order.lines.find((candidate) => candidate.lineNumber === request.lineNumber)
      if (line === undefined) return []
      // Part of the money may go to a gift card: two channels, split by quantity.
      const toCard = request.quantity > 1 && random.chance(0.3) ? random.whole(1, request.quantity - 1) : 0
      const channels = [{ name: 'ORIGINAL_PAYMENT_METHOD', quantity: request.quantity - toCard }]
      if (toCard > 0) channels.push({ name: 'GIFT_CARD', quantity: toCard })
      return [returnedLine(order, line, request, index + 1, at, channels)]
    }),
  }
  world.returns.insert(opened, at)
  if (travels) for (const line of opened.lines) scheduleJourney(world, opened, line, at)
  return opened
}

const returnedLine = (
  order: Order,
  line: Line,
  request: ReturnRequest,
  number: number,
  at: number,
  channels: ReturnedLine['channels'],
): ReturnedLine => ({
  returnOrderLineNumber: number,
  purchaseOrderId: order.purchaseOrderId,
  purchaseOrderLineNumber: line.lineNumber,
  sku: line.item.sku,
  productName: line.item.productName,
  reason: request.reason,
  ...(request.exceptionItemType === undefined ? {} : { exceptionItemType: request.exceptionItemType }),
  quantity: request.quantity,
  unitPrice: computeShare(sumCharged(line, 'PRODUCT', 'amount'), 1, line.ordered),
  unitTax: computeShare(sumCharged(line, 'PRODUCT', 'tax'), 1, line.ordered),
  refundedQuantity: 0,
  refundedAmount: 0,
  steps: [{ state: 'RETURN_INITIATED', quantity: request.quantity, at }],
  channels,
})

/** Several units need not travel together: the goods may come back in two parcels. */
const scheduleJourney = (world: World, order: ReturnOrder, line: ReturnedLine, at: number): void => {
  const random = createRandom(world.settings.seed, 'journey', order.returnOrderId, line.returnOrderLineNumber)
  const first = line.quantity > 1 && random.chance(0.5) ? random.whole(1, line.quantity - 1) : line.quantity
  let sent = at
  for (const quantity of first === line.quantity ? [first] : [first, line.quantity - first]) {
    const common = {
      sellerId: order.sellerId,
      returnOrderId: order.returnOrderId,
      returnOrderLineNumber: line.returnOrderLineNumber,
      quantity,
    }
    sent += random.whole(4, 48) * hourMs
    const received = sent + random.whole(36, 120) * hourMs
    world.dueEvents.schedule(sent, { kind: 'return-step', ...common, from: 'RETURN_INITIATED' })
    world.dueEvents.schedule(received, { kind: 'return-step', ...common, from: 'RETURN_IN_TRANSIT' })
    // Now and then the marketplace pays at once instead of leaving the seller his 48 hours.
    const refund = random.chance(0.2) ? sent + hourMs : received + marketplaceRefundAfterMs
    world.dueEvents.schedule(refund, { kind: 'return-refund', ...common })
  }
}

/** Goods move one step on. */
export const moveReturn = (
  world: World,
  sellerId: string,
  returnOrderId: string,
  lineNumber: number,
  from: 'RETURN_INITIATED' | 'RETURN_IN_TRANSIT',
  quantity: number,
  at: number,
): void => {
  const order = world.returns.find(sellerId, returnOrderId)
  const line = order?.lines.find((candidate) => candidate.returnOrderLineNumber === lineNumber)
  if (order == null || line === undefined) return
  const to = from === 'RETURN_INITIATED' ? 'RETURN_IN_TRANSIT' : 'DELIVERED_AT_RETURN_CENTER'
  const moved = moveReturned(line, from, to, quantity, at)
  if (moved === 0) return
  if (to === 'DELIVERED_AT_RETURN_CENTER') {
    completePaid(line, at)
    bookReturned(world, order, line, moved, at)
  }
  world.returns.update(order, at)
  if (to === 'DELIVERED_AT_RETURN_CENTER') announceReturn(world, order, 'RETURN_DELIVERED', at)
}

/** All goods of a return arrive at once. */
export const arriveReturn = (world: World, { sellerId, returnOrderId, lines }: ReturnOrder, at: number): void => {
  for (const { returnOrderLineNumber: number, quantity } of lines) {
    moveReturn(world, sellerId, returnOrderId, number, 'RETURN_INITIATED', quantity, at)
    moveReturn(world, sellerId, returnOrderId, number, 'RETURN_IN_TRANSIT', quantity, at)
  }
}

/** Units that have arrived and are paid back are done with. */
const completePaid = (line: ReturnedLine, at: number): void => {
  const issued = line.steps.reduce((sum, step) => (step.state === 'REFUND_ISSUED' ? sum + step.quantity : sum), 0)
  moveReturned(line, 'DELIVERED_AT_RETURN_CENTER', 'REFUND_ISSUED', line.refundedQuantity - issued, at)
}

/** Refunds units of a returned line, as far as the order has them; returns their number. The caller has checked that these units are open. */
export const refundReturnedUnits = (
  world: World,
  returned: ReturnOrder,
  line: ReturnedLine,
  quantity: number,
  actor: Actor,
  at: number,
  /** Left out or null: the product charge of these units. */
  amount: Cents | null = null,
): number => {
  const order = world.orders.find(returned.sellerId, line.purchaseOrderId)
  const orderLine = order?.lines.find((candidate) => candidate.lineNumber === line.purchaseOrderLineNumber)
  if (order == null || orderLine === undefined) return 0
  const units = Math.min(quantity, line.quantity - line.refundedQuantity, unitsIn(orderLine, 'Shipped', 'Delivered'))
  if (units === 0) return 0
  const [effect] = changeOrder(world, order, at, actor, () => [
    refundByMarketplace(
      order,
      orderLine,
      { quantity: units, money: amount === null ? null : { amount }, reason: 'Customer returned item' },
      at,
    ),
  ])
  payReturned(line, units, effect?.amount ?? 0, at)
  world.returns.update(returned, at)
  return units
}

/** The marketplace pays for units whose refund the seller has left open. */
export const refundReturn = (
  world: World,
  sellerId: string,
  returnOrderId: string,
  lineNumber: number,
  quantity: number,
  at: number,
): void => {
  const returned = world.returns.find(sellerId, returnOrderId)
  const line = returned?.lines.find((candidate) => candidate.returnOrderLineNumber === lineNumber)
  if (returned == null || line === undefined) return
  refundReturnedUnits(world, returned, line, quantity, byItself('marketplace'), at)
}

/** A refund by the seller counts towards the open returns of the same line, oldest first, so that nothing is paid for twice. */
export const creditReturns = (world: World, order: Order, effects: readonly EffectDraft[], at: number): void => {
  for (const effect of effects) {
    if (effect.kind !== 'refunded') continue
    let left = effect.quantity
    for (const { returned, line } of openReturnedLines(world, order, effect.lineNumber)) {
      const units = Math.min(left, line.quantity - line.refundedQuantity)
      if (units === 0) continue
      payReturned(line, units, Math.round(((effect.amount ?? 0) * units) / Math.max(1, effect.quantity)), at)
      world.returns.update(returned, at)
      left -= units
    }
  }
}

const payReturned = (line: ReturnedLine, units: number, amount: number, at: number): void => {
  line.refundedQuantity += units
  line.refundedAmount += amount
  completePaid(line, at)
}

const openReturnedLines = (world: World, order: Order, lineNumber: string): { returned: ReturnOrder; line: ReturnedLine }[] =>
  world.returns
    .ofPurchaseOrder(order.sellerId, order.purchaseOrderId)
    .flatMap((returned) =>
      returned.lines
        .filter((line) => line.purchaseOrderLineNumber === lineNumber && line.refundedQuantity < line.quantity)
        .map((line) => ({ returned, line })),
    )
