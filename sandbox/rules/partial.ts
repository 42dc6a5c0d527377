import type { z } from 'zod'
import { computeShare, decimalText, parseCents } from '../core/money.ts'
import type { Random } from '../core/random.ts'
import type { FaultDetails } from '../faults/schema.ts'
import type { QuantityField } from '../settings.ts'
import { cancellationBody, readBody, refundBody, shipmentBody } from './bodies.ts'
import type { Line, Order } from './model.ts'
import { readQuantity } from './quantity.ts'
import { countRemaining } from './refund.ts'
import { unitsIn } from './units.ts'

/** How many units of a line a write may move; `Infinity` for as many as it asks for. */
export type Allowance = (lineNumber: string) => number

/** The requested units of each line of a write. A line without units counts as one. */
export type Asked = ReadonlyMap<string, number>

type PartialWrite = 'orders.acknowledge' | 'orders.ship' | 'orders.cancel' | 'orders.refund'

/** The part of a write that is done, or shown: as the fault says, and where it says nothing a drawn one that leaves something out. */
export const buildAllowance = ({ lines, units, amount }: FaultDetails, asked: Asked, random: Random): Allowance => {
  if (lines !== undefined || units !== undefined)
    return (lineNumber) => (lines === undefined || lines.includes(lineNumber) ? (units ?? Number.POSITIVE_INFINITY) : 0)
  if (amount !== undefined) return () => Number.POSITIVE_INFINITY
  const numbers = [...asked.keys()]
  if (numbers.length === 1) {
    const wanted = asked.get(numbers[0] ?? '') ?? 1
    const some = wanted > 1 ? random.whole(1, wanted - 1) : 0
    return () => some
  }
  const first = random.whole(0, numbers.length - 1)
  const count = random.whole(1, numbers.length - 1)
  const kept = new Set(Array.from({ length: count }, (_, index) => numbers[(first + index) % numbers.length]))
  return (lineNumber) => (kept.has(lineNumber) ? Number.POSITIVE_INFINITY : 0)
}

interface Entry {
  readonly [name: string]: unknown
}

/** The entries as far as `most` units go, and how many units that are. */
const fewer = <T extends Entry>(entries: readonly T[], field: QuantityField, lineNumber: string, most: number): T[] => {
  let left = most
  return entries.flatMap((entry) => {
    const quantity = Math.min(left, readQuantity(entry, field, lineNumber))
    left -= quantity
    const given = entry[field]
    const kept = typeof given === 'object' && given !== null ? given : {}
    return quantity === 0 ? [] : [{ ...entry, [field]: { ...kept, amount: String(quantity) } }]
  })
}

const sumUnits = (entries: readonly Entry[], field: QuantityField, lineNumber: string): number =>
  entries.reduce((sum, entry) => sum + readQuantity(entry, field, lineNumber), 0)

type RefundLine = z.infer<typeof refundBody>['orderRefund']['orderLines']['orderLine'][number]

const listStatuses = (line: RefundLine): readonly Entry[] => line.orderLineStatuses?.orderLineStatus ?? []

/** What a request asks for; the request must be one that the rules accept. */
export const parseAsked = (operation: PartialWrite, order: Order, body: unknown, field: QuantityField): Asked => {
  const asked = new Map<string, number>()
  const add = (lineNumber: string, units: number): void => {
    asked.set(lineNumber, (asked.get(lineNumber) ?? 0) + units)
  }
  switch (operation) {
    case 'orders.acknowledge':
      for (const line of order.lines) if (unitsIn(line, 'Created') > 0) add(line.lineNumber, unitsIn(line, 'Created'))
      break
    case 'orders.ship': {
      const { orderShipment } = readBody(shipmentBody, body)
      const onlyTracking = orderShipment.processMode === 'PARTIAL_UPDATE'
      for (const { lineNumber, orderLineStatuses } of orderShipment.orderLines.orderLine)
        add(lineNumber, onlyTracking ? 1 : sumUnits(orderLineStatuses.orderLineStatus, field, lineNumber))
      break
    }
    case 'orders.cancel':
      for (const { lineNumber, orderLineStatuses } of readBody(cancellationBody, body).orderCancellation.orderLines.orderLine)
        add(lineNumber, sumUnits(orderLineStatuses.orderLineStatus, field, lineNumber))
      break
    case 'orders.refund':
      for (const line of readBody(refundBody, body).orderRefund.orderLines.orderLine)
        add(line.lineNumber, listStatuses(line).length === 0 ? 1 : sumUnits(listStatuses(line), field, line.lineNumber))
  }
  return asked
}

/** The request with only the part that is allowed; `null` when nothing is left of it. An acknowledgement has no body to reduce. */
export const reduced = (
  operation: Exclude<PartialWrite, 'orders.acknowledge'>,
  order: Order,
  body: unknown,
  field: QuantityField,
  allowance: Allowance,
  amount: FaultDetails['amount'],
): unknown => {
  switch (operation) {
    case 'orders.ship': {
      const { orderShipment } = readBody(shipmentBody, body)
      const onlyTracking = orderShipment.processMode === 'PARTIAL_UPDATE'
      const orderLine = orderShipment.orderLines.orderLine.flatMap((line) => {
        const entries = line.orderLineStatuses.orderLineStatus
        const most = allowance(line.lineNumber)
        const kept = onlyTracking ? (most > 0 ? entries : []) : fewer(entries, field, line.lineNumber, most)
        return kept.length === 0 ? [] : [{ ...line, orderLineStatuses: { orderLineStatus: kept } }]
      })
      return orderLine.length === 0 ? null : { orderShipment: { ...orderShipment, orderLines: { orderLine } } }
    }
    case 'orders.cancel': {
      const orderLine = readBody(cancellationBody, body).orderCancellation.orderLines.orderLine.flatMap((line) => {
        const kept = fewer(line.orderLineStatuses.orderLineStatus, field, line.lineNumber, allowance(line.lineNumber))
        return kept.length === 0 ? [] : [{ ...line, orderLineStatuses: { orderLineStatus: kept } }]
      })
      return orderLine.length === 0 ? null : { orderCancellation: { orderLines: { orderLine } } }
    }
    case 'orders.refund': {
      const { orderRefund } = readBody(refundBody, body)
      const orderLine = orderRefund.orderLines.orderLine.flatMap((line) => {
        const most = allowance(line.lineNumber)
        const kept = fewer(listStatuses(line), field, line.lineNumber, most)
        if (most === 0 || (listStatuses(line).length > 0 && kept.length === 0)) return []
        const asked = sumUnits(listStatuses(line), field, line.lineNumber)
        const money = paidFor(line, sumUnits(kept, field, line.lineNumber), asked)
        const target = order.lines.find(({ lineNumber }) => lineNumber === line.lineNumber)
        const paid = amount === undefined || target === undefined ? money : paying(money, amount, target)
        return [kept.length === 0 ? paid : { ...paid, orderLineStatuses: { orderLineStatus: kept } }]
      })
      return orderLine.length === 0 ? null : { orderRefund: { ...orderRefund, orderLines: { orderLine } } }
    }
  }
}

type RequestCharge = NonNullable<RefundLine['refunds']>['refund'][number]['refundCharges']['refundCharge'][number]

/** The line with each of its charges changed. */
const withCharges = (line: RefundLine, change: (charge: RequestCharge, index: number) => RequestCharge): RefundLine => {
  if (line.refunds == null) return line
  const refund = line.refunds.refund.map((one) => {
    const refundCharge = one.refundCharges.refundCharge.map(change)
    return { ...one, refundCharges: { ...one.refundCharges, refundCharge } }
  })
  return { ...line, refunds: { ...line.refunds, refund } }
}

/** The money of fewer units. */
const paidFor = (line: RefundLine, units: number, asked: number): RefundLine => {
  if (units === asked) return line
  const part = <T extends { amount: number | string }>(money: T): T => {
    const cents = parseCents(money.amount) ?? 0
    // The least that can be given back is a cent.
    return { ...money, amount: decimalText(Math.min(cents === 0 ? 0 : -1, -computeShare(-cents, units, asked))) }
  }
  return withCharges(line, (one) => {
    const { charge } = one
    const tax = charge.tax == null ? {} : { tax: { ...charge.tax, taxAmount: part(charge.tax.taxAmount) } }
    const fees = charge.taxAndOtherFees
    const feesPart = fees == null ? {} : { taxAndOtherFees: { ...fees, taxAmount: part(fees.taxAmount) } }
    return { ...one, charge: { ...charge, chargeAmount: part(charge.chargeAmount), ...tax, ...feesPart } }
  })
}

/** The line with another amount for its first charge, as far as what was charged goes. */
const paying = (line: RefundLine, amount: number | string, target: Line): RefundLine =>
  withCharges(line, (one, index) => {
    if (index > 0) return one
    const { charge } = one
    const most = countRemaining(target, charge.chargeType, 'amount')
    const cents = Math.min(parseCents(amount) ?? most, most)
    return { ...one, charge: { ...charge, chargeAmount: { ...charge.chargeAmount, amount: decimalText(-cents) } } }
  })
