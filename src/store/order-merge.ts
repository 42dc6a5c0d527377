import type { Charge, ChargeTax, OrderLine, PurchaseOrder } from '../domain/order.ts'
import type { ChangeRecord } from './database.ts'

const isZero = (amount: string): boolean => !/[1-9]/.test(amount)

const keepTax = (stored: ChargeTax | null, reported: ChargeTax | null): ChargeTax | null =>
  stored === null || (isZero(stored.amount) && reported !== null) ? reported : stored

const keepCharge = (stored: Charge, reported: Charge | undefined): Charge => {
  if (reported === undefined) return stored
  const taxAndOtherFees = keepTax(stored.taxAndOtherFees ?? null, reported.taxAndOtherFees ?? null)
  return {
    ...(isZero(stored.amount) ? reported : stored),
    tax: keepTax(stored.tax, reported.tax),
    ...(taxAndOtherFees === null ? {} : { taxAndOtherFees }),
  }
}

// A line may carry two charges of one name, so the n-th of a name belongs to the n-th of that name.
const withOccurrence = (charges: readonly Charge[]): Map<string, Charge> => {
  const counts = new Map<string, number>()
  return new Map(
    charges.map((charge) => {
      const name = `${charge.chargeType}\n${charge.chargeName}`
      const nth = (counts.get(name) ?? 0) + 1
      counts.set(name, nth)
      return [`${name}\n${nth}`, charge]
    }),
  )
}

/**
 * Charges of a line as first seen. The marketplace reports zero once units are cancelled (public facts 2.5), which must not
 * take away what a refund is worked out from; a charge, tax or fee that was zero or not there before is taken over.
 */
export const mergeCharges = (stored: readonly Charge[], reported: readonly Charge[]): readonly Charge[] => {
  const before = withOccurrence(stored)
  const now = withOccurrence(reported)
  const kept = [...before].map(([name, charge]) => keepCharge(charge, now.get(name)))
  const added = [...now].filter(([name]) => !before.has(name)).map(([, charge]) => charge)
  return [...kept, ...added]
}

const worthKeeping = {
  // After a cancellation the phone turns into 0000000000 (public facts 2.5).
  phone: (value: string | null): boolean => value !== null && /[1-9]/.test(value),
  // The relay address is not always ready: a placeholder stands there meanwhile (public facts 2.5).
  email: (value: string | null): boolean => value !== null && value !== '' && !/^nocxemail@/i.test(value),
}

const keepGood = (good: (value: string | null) => boolean, stored: string | null, reported: string | null): string | null =>
  good(stored) && !good(reported) ? stored : reported

/** What to store of an order as reported now, given what is stored: good values are not overwritten by placeholders. */
export const mergeOrder = (stored: PurchaseOrder, reported: PurchaseOrder): PurchaseOrder => {
  const storedLines = new Map(stored.lines.map((line) => [line.lineNumber, line]))
  return {
    ...reported,
    customerPhone: keepGood(worthKeeping.phone, stored.customerPhone, reported.customerPhone),
    customerEmail: keepGood(worthKeeping.email, stored.customerEmail, reported.customerEmail),
    lines: reported.lines.map((line) => {
      const before = storedLines.get(line.lineNumber)
      return before === undefined ? line : { ...line, charges: mergeCharges(before.charges, line.charges) }
    }),
  }
}

/** Whether some unit is neither shipped nor cancelled: such an order is read again every day. */
export const isOpen = (order: PurchaseOrder): boolean =>
  order.lines.some((line) => line.ordered > line.units.shipped + line.units.cancelled)

const lineState = (line: OrderLine) => ({
  ordered: line.ordered,
  acknowledged: line.units.acknowledged,
  shipped: line.units.shipped,
  cancelled: line.units.cancelled,
  refunded: line.units.refunded,
  refundedAmount: line.refundedAmount,
  intentToCancel: line.intentToCancel,
  statuses: line.statuses.map((status) => ({
    status: status.status,
    quantity: status.quantity,
    cancellationReason: status.cancellationReason,
    carrier: status.carrier,
    trackingNumber: status.trackingNumber,
  })),
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

// Readers of the feed learn that a buyer's data changed, and read it where it is kept: the feed itself carries none of it.
const personal = (order: PurchaseOrder) => ({
  customerName: order.customerName,
  customerEmail: order.customerEmail,
  customerPhone: order.customerPhone,
  shippingAddress: order.shippingAddress,
})

const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )

const differs = (before: unknown, after: unknown): boolean => canonical(before) !== canonical(after)

type Fields = Readonly<Record<string, unknown>>
const differingFields = (before: Fields, after: Fields): string[] =>
  Object.keys(after).filter((name) => differs(before[name], after[name]))

/** `order.seen`: an order is stored for the first time. */
export const orderSeen = (sellerId: string, order: PurchaseOrder): ChangeRecord => ({
  sellerId,
  type: 'order.seen',
  purchaseOrderId: order.purchaseOrderId,
  data: {
    customerOrderId: order.customerOrderId,
    orderDate: order.orderDate?.toISOString() ?? null,
    shipNodeType: order.shipNodeType,
    lines: order.lines.map((line) => ({ lineNumber: line.lineNumber, sku: line.sku, ordered: line.ordered })),
  },
})

/** `order.changed` and `order_line.changed`: what differs between the stored order and the one that replaces it. */
export const orderChanges = (sellerId: string, before: PurchaseOrder, after: PurchaseOrder): readonly ChangeRecord[] => {
  const purchaseOrderId = after.purchaseOrderId
  const changes: ChangeRecord[] = []
  const [headerBefore, headerAfter] = [headerState(before), headerState(after)]
  const fields = [...differingFields(headerBefore, headerAfter), ...differingFields(personal(before), personal(after))]
  if (fields.length > 0) {
    changes.push({
      sellerId,
      type: 'order.changed',
      purchaseOrderId,
      data: { fields, before: headerBefore, after: headerAfter },
    })
  }
  const linesBefore = new Map(before.lines.map((line) => [line.lineNumber, line]))
  for (const line of after.lines) {
    const stored = linesBefore.get(line.lineNumber)
    const stateBefore = stored === undefined ? null : lineState(stored)
    const stateAfter = lineState(line)
    if (!differs(stateBefore, stateAfter)) continue
    changes.push({
      sellerId,
      type: 'order_line.changed',
      purchaseOrderId,
      lineNumber: line.lineNumber,
      data: { sku: line.sku, before: stateBefore, after: stateAfter },
    })
  }
  return changes
}
