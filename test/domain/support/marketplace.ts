import { Decimal } from 'decimal.js'
import type { DirectCommandContent } from '../../../src/domain/commands/command.ts'
import type { Charge, LineStatus, OrderLine, PurchaseOrder } from '../../../src/domain/orders/order.ts'
import { refundTotal } from '../../../src/domain/refunds/refunds.ts'
import { charge, orderLine, purchaseOrder } from '../../support/orders.ts'

/** A marketplace in memory that moves single units, so that a test knows what really happened to each. */
export interface Unit {
  state: 'Created' | 'Acknowledged' | 'Shipped' | 'Delivered' | 'Cancelled' | 'Refund'
  tracking: string | null
  reason: string | null
}

export interface Line {
  readonly lineNumber: string
  readonly sku: string
  readonly units: Unit[]
  readonly charges: readonly Charge[]
  refunded: Decimal
  readonly refundReasons: string[]
}

export interface Order {
  readonly purchaseOrderId: string
  shipNodeType: string
  readonly lines: Line[]
  /** Whether a refunded unit still shows the tracking number that it was shipped under. */
  readonly refundKeepsTracking: boolean
}

export const placeOrder = (
  lines: readonly { quantity: number; sku?: string; charges?: readonly Charge[] }[],
  refundKeepsTracking = true,
): Order => {
  return {
    purchaseOrderId: '1796277083022',
    shipNodeType: 'SellerFulfilled',
    refundKeepsTracking,
    lines: lines.map((line, index) => ({
      // Line numbers need not start at 1 (public facts 2.5).
      lineNumber: String(index + 3),
      sku: line.sku ?? `SKU-${index + 3}`,
      units: Array.from({ length: line.quantity }, (): Unit => ({ state: 'Created', tracking: null, reason: null })),
      charges: line.charges ?? [charge('30.00', '2.40')],
      refunded: new Decimal(0),
      refundReasons: [],
    })),
  }
}

const take = (line: Line | undefined, quantity: number, states: readonly Unit['state'][]): Unit[] | null => {
  const units = (line?.units ?? []).filter((unit) => states.includes(unit.state)).slice(0, quantity)
  return units.length === quantity ? units : null
}

export const findLine = (order: Order, lineNumber: string): Line | undefined =>
  order.lines.find((line) => line.lineNumber === lineNumber)

export const acknowledge = (order: Order): void => {
  for (const line of order.lines) for (const unit of line.units) if (unit.state === 'Created') unit.state = 'Acknowledged'
}

/** Each answers whether there were so many units to move; if not, nothing moved. */
export const ship = (line: Line | undefined, quantity: number, tracking: string | null): boolean => {
  const units = take(line, quantity, ['Acknowledged'])
  for (const unit of units ?? []) Object.assign(unit, { state: 'Shipped', tracking })
  return units !== null
}

/** Gives all units of a line that are on their way under a number another one. */
export const correct = (line: Line | undefined, from: string, to: string): boolean => {
  const units = (line?.units ?? []).filter(({ state, tracking }) => state === 'Shipped' && tracking === from)
  for (const unit of units) unit.tracking = to
  return units.length > 0
}

export const deliver = (line: Line | undefined, quantity: number): boolean => {
  const units = take(line, quantity, ['Shipped'])
  for (const unit of units ?? []) unit.state = 'Delivered'
  return units !== null
}

export const cancel = (line: Line | undefined, quantity: number, reason: string | null): boolean => {
  const units = take(line, quantity, ['Created', 'Acknowledged'])
  for (const unit of units ?? []) Object.assign(unit, { state: 'Cancelled', reason })
  return units !== null
}

export const refund = (
  order: Order,
  line: Line | undefined,
  quantity: number,
  reasons: readonly string[],
  money: Decimal,
): boolean => {
  const units = take(line, quantity, ['Shipped', 'Delivered'])
  if (line === undefined || units === null) return false
  for (const unit of units) Object.assign(unit, { state: 'Refund', tracking: order.refundKeepsTracking ? unit.tracking : null })
  line.refunded = line.refunded.plus(money)
  line.refundReasons.push(...reasons)
  return true
}

/** Applies a command wholly, or not at all and answers false. */
export const apply = (order: Order, command: DirectCommandContent): boolean => {
  const trial = structuredCloneOf(order)
  if (!applyTo(trial, command)) return false
  applyTo(order, command)
  return true
}

const structuredCloneOf = (order: Order): Order => ({
  ...order,
  lines: order.lines.map((line) => ({
    ...line,
    units: line.units.map((unit) => ({ ...unit })),
    refundReasons: [...line.refundReasons],
  })),
})

const applyTo = (order: Order, command: DirectCommandContent): boolean => {
  switch (command.kind) {
    case 'acknowledge':
      acknowledge(order)
      return true
    case 'ship':
      return command.payload.parcels.every((parcel) =>
        parcel.lines.every((line) => ship(findLine(order, line.lineNumber), line.quantity, parcel.trackingNumber)),
      )
    case 'cancel':
      return command.payload.lines.every((line) => cancel(findLine(order, line.lineNumber), line.quantity, line.reason))
    case 'refund':
      return command.payload.lines.every((line) =>
        refund(
          order,
          findLine(order, line.lineNumber),
          line.quantity,
          line.charges.map(() => line.reason),
          new Decimal(refundTotal(line.charges)),
        ),
      )
    case 'correct-shipment': {
      const { trackingNumber, replacement, lines } = command.payload
      return lines.every((line) => correct(findLine(order, line.lineNumber), trackingNumber, replacement.trackingNumber))
    }
  }
}

/** The order as the client would have read it. */
export const read = (order: Order): PurchaseOrder =>
  purchaseOrder(order.purchaseOrderId, order.lines.map(readLine), { shipNodeType: order.shipNodeType })

const readLine = (line: Line): OrderLine => {
  const groups = new Map<string, LineStatus>()
  for (const unit of line.units) {
    const key = JSON.stringify([unit.state, unit.tracking, unit.reason])
    groups.set(key, {
      status: unit.state,
      quantity: (groups.get(key)?.quantity ?? 0) + 1,
      cancellationReason: unit.reason,
      carrier: null,
      methodCode: null,
      trackingNumber: unit.tracking,
      trackingUrl: null,
      shippedAt: null,
      raw: {},
    })
  }
  const count = (...states: Unit['state'][]): number => line.units.filter((unit) => states.includes(unit.state)).length
  const units = {
    acknowledged: count('Acknowledged', 'Shipped', 'Delivered', 'Refund'),
    shipped: count('Shipped', 'Delivered', 'Refund'),
    cancelled: count('Cancelled'),
    refunded: count('Refund'),
  }
  return orderLine(line.lineNumber, line.sku, line.units.length, units, {
    statuses: [...groups.values()],
    charges: line.charges,
    refundedAmount: line.refunded.toFixed(),
    refundReasons: [...line.refundReasons],
    currency: line.charges[0]?.currency ?? null,
  })
}
