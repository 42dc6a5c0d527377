import type { Line, Order } from '../rules/model.ts'
import type { ReturnOrder } from '../rules/returns-model.ts'
import type { World } from '../world.ts'
import { findEventTypes, type OrderEvent } from './event-types.ts'

const iso = (at: number): string => new Date(at).toISOString()

/** An order in a notification: without its buyer and its money (public facts, section 13). */
const viewOrder = (order: Order, lines: readonly Line[]): Record<string, unknown> => ({
  purchaseOrderId: order.purchaseOrderId,
  customerOrderId: order.customerOrderId,
  orderDate: iso(order.createdAt),
  estimatedDeliveryDate: iso(order.deliverBy),
  estimatedShipDate: iso(order.shipBy),
  orderLines: lines.map((line) => ({
    lineNumber: line.lineNumber,
    sku: line.item.sku,
    productName: line.item.productName,
    quantity: { unitOfMeasure: 'EACH', measurementValue: line.ordered },
    status: line.entries[0]?.state ?? 'Created',
    statusDate: iso(line.statusDate),
    shippingMethod: order.methodCode,
  })),
  shipNodeType: order.shipNodeType,
})

/** Announces what has happened to an order: as `ORDER_UPDATES`, and as the single event of before while there are such (public facts, section 15). */
export const announceOrder = (
  { notifications }: World,
  order: Order,
  event: OrderEvent,
  at: number,
  lines: readonly Line[] = order.lines,
): void => {
  const { sellerId } = order
  notifications.announce(sellerId, 'ORDER_UPDATES', at, () => ({
    partnerId: sellerId,
    subEventType: event,
    order: viewOrder(order, lines),
  }))
  if (findEventTypes(at).some(({ eventType }) => eventType === event))
    notifications.announce(sellerId, event, at, () => ({ partnerId: sellerId, ...viewOrder(order, lines) }))
}

/** Announces a new return, or that goods of one have arrived. */
export const announceReturn = (
  { notifications }: World,
  returned: ReturnOrder,
  eventType: 'RETURN_CREATED' | 'RETURN_DELIVERED',
  at: number,
): void => {
  const { sellerId, returnOrderId, lines } = returned
  notifications.announce(sellerId, eventType, at, () => ({
    partnerId: sellerId,
    partnerName: sellerId,
    returnOrders: lines.map((line) => ({
      purchaseOrderId: line.purchaseOrderId,
      returnOrderId,
      returnOrderLineNumber: line.returnOrderLineNumber,
      sku: line.sku,
      productName: line.productName,
      quantity: { unitOfMeasure: 'EACH', measurementValue: line.quantity },
      returnReason: line.reason,
      trackingNumber: returned.trackingNumber,
    })),
  }))
}
