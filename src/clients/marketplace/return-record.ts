import type { z } from 'zod'
import type { ReturnLine, ReturnOrder, ReturnRefundChannel, ReturnTrackingStatus } from '../../domain/orders/return.ts'
import type { WireReturn, WireReturnLine, wireReturnQuantity } from '../contract/returns.ts'
import { publishedReturn, wireRefundChannel, wireReturn, wireTrackingStatus } from '../contract/returns.ts'
import { decimalText, wholeNumber } from '../http/json.ts'
import type { OnUnknownValue, ParsedRecord, RecordReader } from '../http/record.ts'
import { parseRecord, parseSku, RecordFault, rawAt, rawUnder, toText } from '../http/record.ts'
import { parseTimestamp } from './timestamps.ts'

const parseUnits = (quantity: z.infer<typeof wireReturnQuantity> | null | undefined): number | null => {
  if (quantity === undefined || quantity === null) return null
  if (typeof quantity !== 'object') return wholeNumber(quantity)
  return wholeNumber(quantity.measurementValue ?? quantity.amount)
}

const toArray = (value: unknown): readonly unknown[] => {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

/** An entry is kept in any form: a record must not be dropped because of it (specification, section 9, rule 6). */
const parseTrackingStatus = (raw: unknown, onUnknownValue: OnUnknownValue): ReturnTrackingStatus => {
  const { data } = wireTrackingStatus.safeParse(raw)
  if (typeof data !== 'object') {
    return { status: toText(data), statusTime: null, currentRefundStatus: null, quantity: null, raw }
  }
  return {
    status: toText(data.status),
    statusTime: parseTimestamp(data.statusTime, { resource: 'return', field: 'statusTime' }, onUnknownValue),
    currentRefundStatus: toText(data.currentRefundStatus),
    quantity: parseUnits(data.quantity),
    raw,
  }
}

const parseRefundChannel = (raw: unknown): ReturnRefundChannel => {
  const { data } = wireRefundChannel.safeParse(raw)
  if (typeof data !== 'object') return { refundChannelName: toText(data), quantity: null, raw }
  return { refundChannelName: toText(data.refundChannelName), quantity: parseUnits(data.quantity), raw }
}

const parseLine = (wire: WireReturnLine, index: number, raw: unknown, onUnknownValue: OnUnknownValue): ReturnLine => {
  const where = `returnOrderLines.${index}`
  const number = wholeNumber(wire.returnOrderLineNumber)
  if (number === null) throw new RecordFault(`${where}.returnOrderLineNumber: not a whole number`)
  const trackingStatuses = toArray(wire.currentTrackingStatuses).map((one) => parseTrackingStatus(one, onUnknownValue))
  const stated = parseUnits(wire.quantity)
  if (stated === null && wire.quantity !== undefined && wire.quantity !== null) {
    throw new RecordFault(`${where}.quantity: not a whole number of units`)
  }
  // A line without a quantity has the units of its tracking entries.
  const tracked = trackingStatuses.map((status) => status.quantity)
  if (stated === null && (tracked.length === 0 || tracked.includes(null))) throw new RecordFault(`${where}.quantity: missing`)
  return {
    returnOrderLineNumber: number,
    purchaseOrderId: toText(wire.purchaseOrderId),
    purchaseOrderLineNumber: toText(wire.purchaseOrderLineNumber),
    salesOrderLineNumber: toText(wire.salesOrderLineNumber),
    sku: parseSku(wire.item?.sku),
    productName: toText(wire.item?.productName),
    quantity: stated ?? tracked.reduce<number>((sum, units) => sum + (units ?? 0), 0),
    unitOfMeasure: typeof wire.quantity === 'object' ? toText(wire.quantity?.unitOfMeasure) : null,
    refundedQuantity: wholeNumber(wire.refundedQty),
    refundCoveredBy: toText(wire.refundCoveredBy),
    returnReason: toText(wire.returnReason),
    exceptionItemType: toText(wire.exceptionItemType),
    status: toText(wire.status),
    trackingStatuses,
    refundChannels: toArray(wire.refundChannels).map(parseRefundChannel),
    raw,
  }
}

const returnTypes = new Set(['REFUND', 'REPLACEMENT', 'PREORDER'])

const parseReturnFields = (
  wire: WireReturn,
  raw: Readonly<Record<string, unknown>>,
  onUnknownValue: OnUnknownValue,
): ReturnOrder => {
  const rawLines = rawUnder(raw, 'returnOrderLines')
  const lines = wire.returnOrderLines.map((line, index) => parseLine(line, index, rawAt(rawLines, index), onUnknownValue))
  const numbers = new Set(lines.map((line) => line.returnOrderLineNumber))
  if (numbers.size !== lines.length) throw new RecordFault('returnOrderLines: a returnOrderLineNumber appears twice')
  const returnType = toText(wire.returnType)
  if (returnType !== null && !returnTypes.has(returnType))
    onUnknownValue({ resource: 'return', field: 'returnType', value: returnType })
  return {
    returnOrderId: String(wire.returnOrderId),
    customerOrderId: toText(wire.customerOrderId),
    returnType,
    refundMode: toText(wire.refundMode),
    returnOrderDate: parseTimestamp(wire.returnOrderDate, { resource: 'return', field: 'returnOrderDate' }, onUnknownValue),
    returnByDate: parseTimestamp(wire.returnByDate, { resource: 'return', field: 'returnByDate' }, onUnknownValue),
    // Refunds are negative or positive (an official sample is positive): the magnitude was refunded.
    totalRefundAmount: decimalText(wire.totalRefundAmount?.currencyAmount)?.replace(/^-/, '') ?? null,
    currency: toText(wire.totalRefundAmount?.currencyUnit),
    lines,
    raw,
  }
}

/** Parses a return order. */
export const returnReader: RecordReader<WireReturn, ReturnOrder> = {
  resource: 'return',
  schema: wireReturn,
  published: publishedReturn,
  keyField: 'returnOrderId',
  toDomain: parseReturnFields,
}

/**
 * Parses one return order from its JSON text (exact) or from a parsed value; for records in quarantine. Never throws: an unreadable record is returned with its
 * fault.
 */
export const parseReturn = (raw: unknown, onUnknownValue: OnUnknownValue = () => undefined): ParsedRecord<ReturnOrder> =>
  parseRecord(returnReader, raw, onUnknownValue)
