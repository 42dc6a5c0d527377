import type { Charge, ChargeTax, LineStatus, LineUnits, OrderLine, PurchaseOrder } from '../../domain/order.ts'
import type { WireCharge, WireOrder, WireOrderLine, WireOrderLineStatus, WireRefund } from '../contract/orders.ts'
import { wireOrder } from '../contract/orders.ts'
import { decimalText, ExactDecimal, sumDecimals, wholeNumber } from '../json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, rawAt, rawUnder, readAny, textOf } from '../record.ts'
import { momentOf } from './moments.ts'
import { vocabulary } from './vocabulary.ts'

const nodeTypes = new Set(vocabulary.shipNodes.all)

const amountOf = (value: unknown, where: string): string => {
  const text = decimalText(value)
  if (text === null) throw new RecordFault(`${where}: not a decimal`)
  return text
}

const taxOf = (wire: WireCharge['tax'], currency: string, where: string): ChargeTax | null => {
  const amount = wire?.taxAmount
  if (amount === undefined || amount === null) return null
  return {
    taxName: wire?.taxName ?? '',
    amount: amountOf(amount.amount, `${where}.taxAmount.amount`),
    currency: amount.currency ?? currency,
  }
}

const chargeOf = (wire: WireCharge, where: string): Charge => {
  const currency = wire.chargeAmount.currency ?? ''
  const taxAndOtherFees = taxOf(wire.taxAndOtherFees, currency, `${where}.taxAndOtherFees`)
  return {
    chargeType: wire.chargeType ?? '',
    chargeName: wire.chargeName ?? '',
    amount: amountOf(wire.chargeAmount.amount, `${where}.chargeAmount.amount`),
    currency,
    tax: taxOf(wire.tax, currency, `${where}.tax`),
    ...(taxAndOtherFees === null ? {} : { taxAndOtherFees }),
  }
}

/** Units of one status entry, null when it names none. */
const statusUnits = (wire: WireOrderLineStatus, where: string): number | null => {
  const quantity = wire.statusQuantity ?? wire.quantity
  if (quantity === undefined || quantity === null) return null
  const units = wholeNumber(quantity.amount)
  if (units === null) throw new RecordFault(`${where}: not a whole number of units`)
  return units
}

/** One entry may leave its units out: it then stands for the units that no other entry names. */
const unitsOfStatuses = (entries: readonly WireOrderLineStatus[], ordered: number, where: string): readonly number[] => {
  const named = entries.map((entry, index) => statusUnits(entry, `${where}.${index}.quantity`))
  const open = named.filter((units) => units === null).length
  if (open > 1) throw new RecordFault(`${where}: ${open} entries without a quantity`)
  const rest = ordered - named.reduce<number>((sum, units) => sum + (units ?? 0), 0)
  if (open === 1 && rest < 0) throw new RecordFault(`${where}: quantities exceed the units ordered`)
  return named.map((units) => units ?? rest)
}

const lineStatusOf = (wire: WireOrderLineStatus, quantity: number, raw: unknown, onUnknownValue: OnUnknownValue): LineStatus => {
  const tracking = wire.trackingInfo
  const carrier = tracking?.carrierName
  return {
    status: wire.status,
    quantity,
    cancellationReason: textOf(wire.cancellationReason),
    carrier: typeof carrier === 'string' ? textOf(carrier) : (textOf(carrier?.carrier) ?? textOf(carrier?.otherCarrier)),
    methodCode: textOf(tracking?.methodCode),
    trackingNumber: textOf(tracking?.trackingNumber),
    trackingUrl: textOf(tracking?.trackingURL),
    shippedAt: momentOf(tracking?.shipDateTime, { resource: 'order', field: 'shipDateTime' }, onUnknownValue),
    raw,
  }
}

const cumulativeUnits = (statuses: readonly LineStatus[], onUnknownValue: OnUnknownValue): LineUnits => {
  const direct = { created: 0, acknowledged: 0, shipped: 0, cancelled: 0, refunded: 0 }
  for (const { status, quantity } of statuses) {
    const state = vocabulary.statuses.stateOf(status)
    if (state === null) onUnknownValue({ resource: 'order', field: 'orderLineStatus.status', value: status })
    else direct[state] += quantity
  }
  const shipped = direct.shipped + direct.refunded
  return { acknowledged: direct.acknowledged + shipped, shipped, cancelled: direct.cancelled, refunded: direct.refunded }
}

const refundsOf = (line: WireOrderLine): readonly WireRefund[] => [line.refund ?? [], line.refunds?.refund ?? []].flat()

/**
 * What was given back, taxes and fees beside the charges. The marketplace writes it negative; a sample of its own shows it positive. A refund
 * gives back either way: the magnitudes count, so that no sign makes room for a second refund.
 */
const refundOf = (
  refunds: readonly WireRefund[],
  where: string,
): { readonly amount: string; readonly reasons: readonly string[] } => {
  const entries = refunds.flatMap((refund) => refund.refundCharges?.refundCharge ?? [])
  const amounts = entries.flatMap(({ charge }, index) => {
    if (charge === undefined || charge === null) return []
    const { amount, tax, taxAndOtherFees } = chargeOf(charge, `${where}.${index}.charge`)
    return [amount, ...[tax, taxAndOtherFees].flatMap((one) => one?.amount ?? [])]
  })
  return {
    amount: sumDecimals(amounts.map((amount) => new ExactDecimal(amount).abs().toFixed())),
    reasons: entries.flatMap(({ refundReason }) => textOf(refundReason) ?? []),
  }
}

/** The flag appears only with a buyer's wish to cancel; its type is not published. */
const isIntentToCancel = (value: unknown): boolean => {
  if (typeof value === 'string') return !/^(?:|false|n|no|0)$/i.test(value.trim())
  return value !== undefined && value !== null && value !== false && value !== 0
}

const lineOf = (wire: WireOrderLine, index: number, raw: unknown, onUnknownValue: OnUnknownValue): OrderLine => {
  const where = `orderLines.orderLine.${index}`
  const ordered = wholeNumber(wire.orderLineQuantity.amount)
  if (ordered === null) throw new RecordFault(`${where}.orderLineQuantity.amount: not a whole number of units`)
  const entries = wire.orderLineStatuses?.orderLineStatus ?? []
  const units = unitsOfStatuses(entries, ordered, `${where}.orderLineStatuses.orderLineStatus`)
  if (units.reduce<number>((sum, each) => sum + each, 0) > ordered) {
    onUnknownValue({ resource: 'order', field: 'orderLineStatus.quantity', value: 'more than ordered' })
  }
  const rawStatuses = rawUnder(raw, 'orderLineStatuses', 'orderLineStatus')
  const statuses = entries.map((entry, at) => lineStatusOf(entry, units[at] ?? 0, rawAt(rawStatuses, at), onUnknownValue))
  const charges = (wire.charges?.charge ?? []).map((charge, at) => chargeOf(charge, `${where}.charges.charge.${at}`))
  const refund = refundOf(refundsOf(wire), `${where}.refund`)
  return {
    lineNumber: String(wire.lineNumber),
    sku: textOf(wire.item?.sku),
    productName: textOf(wire.item?.productName),
    unitOfMeasure: textOf(wire.orderLineQuantity.unitOfMeasurement),
    ordered,
    units: cumulativeUnits(statuses, onUnknownValue),
    statuses,
    charges,
    refundedAmount: refund.amount,
    refundReasons: refund.reasons,
    currency: textOf(charges[0]?.currency),
    intentToCancel: isIntentToCancel(wire.intentToCancel),
    statusDate: momentOf(wire.statusDate, { resource: 'order', field: 'statusDate' }, onUnknownValue),
    raw,
  }
}

const orderOf = (wire: WireOrder, raw: Readonly<Record<string, unknown>>, onUnknownValue: OnUnknownValue): PurchaseOrder => {
  const rawLines = rawUnder(raw, 'orderLines', 'orderLine')
  const lines = wire.orderLines.orderLine.map((line, index) => lineOf(line, index, rawAt(rawLines, index), onUnknownValue))
  if (lines.length === 0) throw new RecordFault('orderLines.orderLine: empty')
  const numbers = new Set(lines.map((line) => line.lineNumber))
  if (numbers.size !== lines.length) throw new RecordFault('orderLines.orderLine: a lineNumber appears twice')
  const shipNodeType = textOf(wire.shipNode?.type)
  if (shipNodeType !== null && !nodeTypes.has(shipNodeType)) {
    onUnknownValue({ resource: 'order', field: 'shipNode.type', value: shipNodeType })
  }
  const shipping = wire.shippingInfo
  const total = wire.orderSummary?.totalAmount
  return {
    purchaseOrderId: String(wire.purchaseOrderId),
    customerOrderId: textOf(wire.customerOrderId),
    orderDate: momentOf(wire.orderDate, { resource: 'order', field: 'orderDate' }, onUnknownValue),
    orderType: textOf(wire.orderType),
    shipNodeType,
    methodCode: textOf(shipping?.methodCode),
    estimatedShipDate: momentOf(shipping?.estimatedShipDate, { resource: 'order', field: 'estimatedShipDate' }, onUnknownValue),
    estimatedDeliveryDate: momentOf(
      shipping?.estimatedDeliveryDate,
      { resource: 'order', field: 'estimatedDeliveryDate' },
      onUnknownValue,
    ),
    customerName: textOf(shipping?.postalAddress?.name),
    customerEmail: textOf(wire.customerEmailId),
    customerPhone: textOf(shipping?.phone),
    shippingAddress: shipping?.postalAddress ?? null,
    totalAmount: decimalText(total?.currencyAmount),
    currency: textOf(total?.currencyUnit) ?? lines.find((line) => line.currency !== null)?.currency ?? null,
    lines,
    raw,
  }
}

/** How a purchase order is read. */
export const orderReader: RecordReader<WireOrder, PurchaseOrder> = {
  resource: 'order',
  schema: wireOrder,
  keyField: 'purchaseOrderId',
  toDomain: orderOf,
}

/**
 * Reads one purchase order from its JSON text (exact) or from a parsed value; for replaying records in quarantine.
 * Never throws: a record that cannot be read comes back with the fault.
 */
export const parseOrder = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<PurchaseOrder> =>
  readAny(orderReader, raw, onUnknownValue)
