import { type RefundedMoney, shownRefunds } from '../../../domain/orders/line-refunds.ts'
import type { Charge, ChargeTax, LineStatus, LineUnits, OrderLine, PurchaseOrder } from '../../../domain/orders/order.ts'
import { shownShipments } from '../../../domain/orders/shipments.ts'
import type { WireCharge, WireOrder, WireOrderLine, WireOrderLineStatus, WireRefund } from '../../contract/orders.ts'
import { publishedOrder, wireOrder } from '../../contract/orders.ts'
import { decimalText, ExactDecimal, sumDecimals, wholeNumber } from '../../http/json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../../http/record.ts'
import { parseRecord, parseSku, RecordFault, rawAt, rawUnder, toText } from '../../http/record.ts'
import { parseTimestamp } from '../timestamps.ts'
import { vocabulary } from '../vocabulary.ts'

const nodeTypes = new Set(vocabulary.shipNodes.all)

const parseAmount = (value: unknown, where: string): string => {
  const text = decimalText(value)
  if (text === null) throw new RecordFault(`${where}: not a decimal`)
  return text
}

const parseTax = (wire: WireCharge['tax'], currency: string, where: string): ChargeTax | null => {
  const amount = wire?.taxAmount
  if (amount === undefined || amount === null) return null
  return {
    taxName: wire?.taxName ?? '',
    amount: parseAmount(amount.amount, `${where}.taxAmount.amount`),
    currency: amount.currency ?? currency,
  }
}

const parseCharge = (wire: WireCharge, where: string): Charge => {
  const currency = wire.chargeAmount.currency ?? ''
  const taxAndOtherFees = parseTax(wire.taxAndOtherFees, currency, `${where}.taxAndOtherFees`)
  return {
    chargeType: wire.chargeType ?? '',
    chargeName: wire.chargeName ?? '',
    amount: parseAmount(wire.chargeAmount.amount, `${where}.chargeAmount.amount`),
    currency,
    tax: parseTax(wire.tax, currency, `${where}.tax`),
    ...(taxAndOtherFees === null ? {} : { taxAndOtherFees }),
  }
}

/** Units of one status entry; null if it has none. */
const statusUnits = (wire: WireOrderLineStatus, where: string): number | null => {
  const quantity = wire.statusQuantity ?? wire.quantity
  if (quantity === undefined || quantity === null) return null
  const units = wholeNumber(quantity.amount)
  if (units === null) throw new RecordFault(`${where}: not a whole number of units`)
  return units
}

/** One entry may have no units: then it has the units of no other entry. */
const parseStatusUnits = (entries: readonly WireOrderLineStatus[], ordered: number, where: string): readonly number[] => {
  const named = entries.map((entry, index) => statusUnits(entry, `${where}.${index}.quantity`))
  const open = named.filter((units) => units === null).length
  if (open > 1) throw new RecordFault(`${where}: ${open} entries without a quantity`)
  const rest = ordered - named.reduce<number>((sum, units) => sum + (units ?? 0), 0)
  if (open === 1 && rest < 0) throw new RecordFault(`${where}: quantities exceed the units ordered`)
  return named.map((units) => units ?? rest)
}

const parseLineStatus = (
  wire: WireOrderLineStatus,
  quantity: number,
  raw: unknown,
  onUnknownValue: OnUnknownValue,
): LineStatus => {
  const tracking = wire.trackingInfo
  const carrier = tracking?.carrierName
  return {
    status: wire.status,
    quantity,
    cancellationReason: toText(wire.cancellationReason),
    carrier: typeof carrier === 'string' ? toText(carrier) : (toText(carrier?.carrier) ?? toText(carrier?.otherCarrier)),
    methodCode: toText(tracking?.methodCode),
    trackingNumber: toText(tracking?.trackingNumber),
    trackingUrl: toText(tracking?.trackingURL),
    shippedAt: parseTimestamp(tracking?.shipDateTime, { resource: 'order', field: 'shipDateTime' }, onUnknownValue),
    raw,
  }
}

const cumulativeUnits = (statuses: readonly LineStatus[], onUnknownValue: OnUnknownValue): LineUnits => {
  const direct = { created: 0, acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 }
  for (const { status, quantity } of statuses) {
    const state = vocabulary.statuses.findState(status)
    if (state === null) onUnknownValue({ resource: 'order', field: 'orderLineStatus.status', value: status })
    else direct[state] += quantity
  }
  const shipped = direct.shipped + direct.refunded
  return { acknowledged: direct.acknowledged + shipped, shipped, cancelled: direct.cancelled, refunded: direct.refunded }
}

const parseRefunds = (line: WireOrderLine): readonly WireRefund[] => [line.refund ?? [], line.refunds?.refund ?? []].flat()

const magnitude = (amount: string): string => new ExactDecimal(amount).abs().toFixed()

/**
 * The refunded money of each charge, with taxes and fees. The marketplace documents negative amounts; one of its samples has positive ones. The magnitudes
 * count, so that the sign does not allow a second refund.
 */
const parseRefund = (
  refunds: readonly WireRefund[],
  where: string,
): { readonly money: readonly RefundedMoney[]; readonly reasons: readonly string[] } => {
  const entries = refunds.flatMap(({ refundId, refundCharges }) =>
    (refundCharges?.refundCharge ?? []).map((entry) => ({ ...entry, refundId: toText(refundId) })),
  )
  return {
    money: entries.flatMap(({ refundId, refundReason, charge }, index) => {
      if (charge === undefined || charge === null) return []
      const { amount, tax, taxAndOtherFees } = parseCharge(charge, `${where}.${index}.charge`)
      const taxes = [tax, taxAndOtherFees].flatMap((one) => (one === null || one === undefined ? [] : magnitude(one.amount)))
      return [{ refundId, reason: toText(refundReason), amount: magnitude(amount), tax: sumDecimals(taxes) }]
    }),
    reasons: entries.flatMap(({ refundReason }) => toText(refundReason) ?? []),
  }
}

/** The flag appears only if the buyer has requested to cancel; its type is not published. */
const isIntentToCancel = (value: unknown): boolean => {
  if (typeof value === 'string') return !/^(?:|false|n|no|0)$/i.test(value.trim())
  return value !== undefined && value !== null && value !== false && value !== 0
}

const parseLine = (wire: WireOrderLine, index: number, raw: unknown, onUnknownValue: OnUnknownValue): OrderLine => {
  const where = `orderLines.orderLine.${index}`
  const ordered = wholeNumber(wire.orderLineQuantity.amount)
  if (ordered === null) throw new RecordFault(`${where}.orderLineQuantity.amount: not a whole number of units`)
  const entries = wire.orderLineStatuses?.orderLineStatus ?? []
  const units = parseStatusUnits(entries, ordered, `${where}.orderLineStatuses.orderLineStatus`)
  if (units.reduce<number>((sum, each) => sum + each, 0) > ordered) {
    onUnknownValue({ resource: 'order', field: 'orderLineStatus.quantity', value: 'more than ordered' })
  }
  const rawStatuses = rawUnder(raw, 'orderLineStatuses', 'orderLineStatus')
  const statuses = entries.map((entry, at) => parseLineStatus(entry, units[at] ?? 0, rawAt(rawStatuses, at), onUnknownValue))
  const charges = (wire.charges?.charge ?? []).map((charge, at) => parseCharge(charge, `${where}.charges.charge.${at}`))
  const refund = parseRefund(parseRefunds(wire), `${where}.refund`)
  const lineUnits = cumulativeUnits(statuses, onUnknownValue)
  const statusDate = parseTimestamp(wire.statusDate, { resource: 'order', field: 'statusDate' }, onUnknownValue)
  return {
    lineNumber: String(wire.lineNumber),
    sku: parseSku(wire.item?.sku),
    productName: toText(wire.item?.productName),
    unitOfMeasure: toText(wire.orderLineQuantity.unitOfMeasurement),
    ordered,
    units: lineUnits,
    statuses,
    shipments: shownShipments(statuses, vocabulary.statuses.isDelivered, statusDate),
    charges,
    refundedAmount: sumDecimals(refund.money.flatMap(({ amount, tax }) => [amount, tax])),
    refundReasons: refund.reasons,
    refunds: shownRefunds(refund.money, lineUnits.refunded, statusDate),
    currency: toText(charges[0]?.currency),
    intentToCancel: isIntentToCancel(wire.intentToCancel),
    statusDate,
    raw,
  }
}

const parseOrderRecord = (
  wire: WireOrder,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): PurchaseOrder => {
  const rawLines = rawUnder(raw, 'orderLines', 'orderLine')
  const lines = wire.orderLines.orderLine.map((line, index) => parseLine(line, index, rawAt(rawLines, index), onUnknownValue))
  if (lines.length === 0) throw new RecordFault('orderLines.orderLine: empty')
  const numbers = new Set(lines.map((line) => line.lineNumber))
  if (numbers.size !== lines.length) throw new RecordFault('orderLines.orderLine: a lineNumber appears twice')
  const shipNodeType = toText(wire.shipNode?.type)
  if (shipNodeType !== null && !nodeTypes.has(shipNodeType)) {
    onUnknownValue({ resource: 'order', field: 'shipNode.type', value: shipNodeType })
  }
  const shipping = wire.shippingInfo
  const total = wire.orderSummary?.totalAmount
  return {
    purchaseOrderId: String(wire.purchaseOrderId),
    customerOrderId: toText(wire.customerOrderId),
    orderDate: parseTimestamp(wire.orderDate, { resource: 'order', field: 'orderDate' }, onUnknownValue),
    orderType: toText(wire.orderType),
    shipNodeType,
    methodCode: toText(shipping?.methodCode),
    estimatedShipDate: parseTimestamp(
      shipping?.estimatedShipDate,
      { resource: 'order', field: 'estimatedShipDate' },
      onUnknownValue,
    ),
    estimatedDeliveryDate: parseTimestamp(
      shipping?.estimatedDeliveryDate,
      { resource: 'order', field: 'estimatedDeliveryDate' },
      onUnknownValue,
    ),
    customerName: toText(shipping?.postalAddress?.name),
    customerEmail: toText(wire.customerEmailId),
    customerPhone: toText(shipping?.phone),
    shippingAddress: shipping?.postalAddress ?? null,
    totalAmount: decimalText(total?.currencyAmount),
    currency: toText(total?.currencyUnit) ?? lines.find((line) => line.currency !== null)?.currency ?? null,
    lines,
    raw,
  }
}

/** Parses a purchase order. */
export const orderReader: RecordReader<WireOrder, PurchaseOrder> = {
  resource: 'order',
  schema: wireOrder,
  published: publishedOrder,
  keyField: 'purchaseOrderId',
  toDomain: parseOrderRecord,
}

/**
 * Parses one purchase order from its JSON text (exact) or from a parsed value; for records in quarantine. Never throws: an unreadable record is returned with its
 * fault.
 */
export const parseOrder = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<PurchaseOrder> =>
  parseRecord(orderReader, raw, onUnknownValue)
