import { sameJson } from '../values/values.ts'
import type { LineStatus, OrderLine, PurchaseOrder } from './order.ts'

const statusState = (status: LineStatus) => ({
  status: status.status,
  quantity: status.quantity,
  cancellationReason: status.cancellationReason,
  carrier: status.carrier,
  trackingNumber: status.trackingNumber,
})

const lineState = (line: OrderLine) => ({
  ordered: line.ordered,
  acknowledged: line.units.acknowledged,
  shipped: line.units.shipped,
  cancelled: line.units.cancelled,
  refunded: line.units.refunded,
  refundedAmount: line.refundedAmount,
  intentToCancel: line.intentToCancel,
  statuses: line.statuses.map(statusState),
})

const headerState = (order: PurchaseOrder) => ({
  customerOrderId: order.customerOrderId,
  orderDate: order.orderDate?.toISOString() ?? null,
  orderType: order.orderType,
  shipNodeType: order.shipNodeType,
  methodCode: order.methodCode,
  estimatedShipDate: order.estimatedShipDate?.toISOString() ?? null,
  estimatedDeliveryDate: order.estimatedDeliveryDate?.toISOString() ?? null,
  totalAmount: order.totalAmount,
  currency: order.currency,
})

/** Fields of a header whose changes are recorded. For a buyer's data the feed contains the name of the field only; readers read the order. */
const recordedFields = [
  'customerOrderId',
  'orderDate',
  'orderType',
  'shipNodeType',
  'methodCode',
  'estimatedShipDate',
  'estimatedDeliveryDate',
  'totalAmount',
  'currency',
  'customerName',
  'customerEmail',
  'customerPhone',
  'shippingAddress',
] as const satisfies readonly (keyof PurchaseOrder)[]

/** `order.seen`: an order is stored for the first time. */
export const orderSeen = (order: PurchaseOrder) => ({
  type: 'order.seen' as const,
  purchaseOrderId: order.purchaseOrderId,
  data: {
    customerOrderId: order.customerOrderId,
    orderDate: order.orderDate?.toISOString() ?? null,
    shipNodeType: order.shipNodeType,
    lines: order.lines.map((line) => ({ lineNumber: line.lineNumber, sku: line.sku, ordered: line.ordered })),
  },
})

const headerChanges = (before: PurchaseOrder, after: PurchaseOrder) => {
  const fields = recordedFields.filter((name) => !sameJson(before[name], after[name]))
  if (fields.length === 0) return []
  const data = { fields, before: headerState(before), after: headerState(after) }
  return [{ type: 'order.changed' as const, purchaseOrderId: after.purchaseOrderId, data }]
}

const lineChanges = (before: PurchaseOrder, after: PurchaseOrder) => {
  const linesBefore = new Map(before.lines.map((line) => [line.lineNumber, line]))
  return after.lines.flatMap((line) => {
    const stored = linesBefore.get(line.lineNumber)
    const data = { sku: line.sku, before: stored === undefined ? null : lineState(stored), after: lineState(line) }
    if (sameJson(data.before, data.after)) return []
    return [{ type: 'order_line.changed' as const, purchaseOrderId: after.purchaseOrderId, lineNumber: line.lineNumber, data }]
  })
}

/** `order.changed` and `order_line.changed`: what differs between the stored order and the one that replaces it. */
export const orderChanges = (before: PurchaseOrder, after: PurchaseOrder) => [
  ...headerChanges(before, after),
  ...lineChanges(before, after),
]
