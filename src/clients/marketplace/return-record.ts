import type { z } from 'zod'
import type { ReturnLine, ReturnOrder, ReturnRefundChannel, ReturnTrackingStatus } from '../../domain/return.ts'
import type { WireReturn, WireReturnLine, wireReturnQuantity } from '../contract/returns.ts'
import { wireRefundChannel, wireReturn, wireTrackingStatus } from '../contract/returns.ts'
import { decimalText, wholeNumber } from '../json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../record.ts'
import { RecordFault, rawAt, rawUnder, readAny, textOf } from '../record.ts'
import { momentOf } from './moments.ts'

const unitsOf = (quantity: z.infer<typeof wireReturnQuantity> | null | undefined): number | null => {
  if (quantity === undefined || quantity === null) return null
  if (typeof quantity !== 'object') return wholeNumber(quantity)
  return wholeNumber(quantity.measurementValue ?? quantity.amount)
}

const listOf = (value: unknown): readonly unknown[] => {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/** Whatever the entry looks like it is kept: a record must not be dropped for it (specification, section 9, rule 6). */
const trackingStatusOf = (raw: unknown, onUnknownValue: OnUnknownValue): ReturnTrackingStatus => {
  const { data } = wireTrackingStatus.safeParse(raw)
  if (typeof data !== 'object') {
    return { status: textOf(data), statusTime: null, currentRefundStatus: null, quantity: null, raw }
  }
  return {
    status: textOf(data.status),
    statusTime: momentOf(data.statusTime, { resource: 'return', field: 'statusTime' }, onUnknownValue),
    currentRefundStatus: textOf(data.currentRefundStatus),
    quantity: unitsOf(data.quantity),
    raw,
  }
}

const refundChannelOf = (raw: unknown): ReturnRefundChannel => {
  const { data } = wireRefundChannel.safeParse(raw)
  if (typeof data !== 'object') return { refundChannelName: textOf(data), quantity: null, raw }
  return { refundChannelName: textOf(data.refundChannelName), quantity: unitsOf(data.quantity), raw }
}

const lineOf = (wire: WireReturnLine, index: number, raw: unknown, onUnknownValue: OnUnknownValue): ReturnLine => {
  const where = `returnOrderLines.${index}`
  const number = wholeNumber(wire.returnOrderLineNumber)
  if (number === null) throw new RecordFault(`${where}.returnOrderLineNumber: not a whole number`)
  const trackingStatuses = listOf(wire.currentTrackingStatuses).map((one) => trackingStatusOf(one, onUnknownValue))
  const stated = unitsOf(wire.quantity)
  if (stated === null && wire.quantity !== undefined && wire.quantity !== null) {
    throw new RecordFault(`${where}.quantity: not a whole number of units`)
  }
  // Without a quantity of its own the line has as many units as its tracking entries account for.
  const tracked = trackingStatuses.map((status) => status.quantity)
  if (stated === null && (tracked.length === 0 || tracked.includes(null))) throw new RecordFault(`${where}.quantity: missing`)
  return {
    returnOrderLineNumber: number,
    purchaseOrderId: textOf(wire.purchaseOrderId),
    purchaseOrderLineNumber: textOf(wire.purchaseOrderLineNumber),
    salesOrderLineNumber: textOf(wire.salesOrderLineNumber),
    sku: textOf(wire.item?.sku),
    productName: textOf(wire.item?.productName),
    quantity: stated ?? tracked.reduce<number>((sum, units) => sum + (units ?? 0), 0),
    unitOfMeasure: typeof wire.quantity === 'object' ? textOf(wire.quantity?.unitOfMeasure) : null,
    refundedQuantity: wholeNumber(wire.refundedQty),
    returnReason: textOf(wire.returnReason),
    status: textOf(wire.status),
    trackingStatuses,
    refundChannels: listOf(wire.refundChannels).map(refundChannelOf),
    raw,
  }
}

const returnTypes = new Set(['REFUND', 'REPLACEMENT', 'PREORDER'])

const returnOf = (wire: WireReturn, raw: Readonly<Record<string, unknown>>, onUnknownValue: OnUnknownValue): ReturnOrder => {
  const rawLines = rawUnder(raw, 'returnOrderLines')
  const lines = wire.returnOrderLines.map((line, index) => lineOf(line, index, rawAt(rawLines, index), onUnknownValue))
  const numbers = new Set(lines.map((line) => line.returnOrderLineNumber))
  if (numbers.size !== lines.length) throw new RecordFault('returnOrderLines: a returnOrderLineNumber appears twice')
  const returnType = textOf(wire.returnType)
  if (returnType !== null && !returnTypes.has(returnType))
    onUnknownValue({ resource: 'return', field: 'returnType', value: returnType })
  return {
    returnOrderId: String(wire.returnOrderId),
    customerOrderId: textOf(wire.customerOrderId),
    returnType,
    refundMode: textOf(wire.refundMode),
    returnOrderDate: momentOf(wire.returnOrderDate, { resource: 'return', field: 'returnOrderDate' }, onUnknownValue),
    returnByDate: momentOf(wire.returnByDate, { resource: 'return', field: 'returnByDate' }, onUnknownValue),
    // Refunds come negative or positive (an official sample has them positive): either way so much was given back.
    totalRefundAmount: decimalText(wire.totalRefundAmount?.currencyAmount)?.replace(/^-/, '') ?? null,
    currency: textOf(wire.totalRefundAmount?.currencyUnit),
    lines,
    raw,
  }
}

/** How a return order is read. */
export const returnReader: RecordReader<WireReturn, ReturnOrder> = {
  resource: 'return',
  schema: wireReturn,
  keyField: 'returnOrderId',
  toDomain: returnOf,
}

/**
 * Reads one return order from its JSON text (exact) or from a parsed value; for replaying records in quarantine.
 * Never throws: a record that cannot be read comes back with the fault.
 */
export const parseReturn = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<ReturnOrder> =>
  readAny(returnReader, raw, onUnknownValue)
