import { computeProgress } from '../sync/progress.ts'
import { sameJson } from '../values/values.ts'
import { findChangeTime, keepRefunds } from './line-refunds.ts'
import type { Charge, ChargeTax, PurchaseOrder } from './order.ts'
import { keepShipments } from './shipments.ts'

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
 * remove the base of a refund's computation; a charge, tax or fee that was zero or not there before is taken over.
 */
export const mergeCharges = (stored: readonly Charge[], reported: readonly Charge[]): readonly Charge[] => {
  if (sameJson(stored, reported)) return stored
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

/**
 * What to store of an order as reported now, given what is stored: good values are not overwritten by placeholders, parcels that are no
 * longer shown are kept, and new refunds and deliveries get their time. `observedAt`: null: it is not known.
 */
export const mergeOrder = (stored: PurchaseOrder, reported: PurchaseOrder, observedAt: Date | null): PurchaseOrder => {
  const storedLines = new Map(stored.lines.map((line) => [line.lineNumber, line]))
  return {
    ...reported,
    customerPhone: keepGood(worthKeeping.phone, stored.customerPhone, reported.customerPhone),
    customerEmail: keepGood(worthKeeping.email, stored.customerEmail, reported.customerEmail),
    lines: reported.lines.map((line) => {
      const before = storedLines.get(line.lineNumber)
      if (before === undefined) return line
      const shipments = keepShipments(before.shipments, line.shipments, findChangeTime(before, line, observedAt))
      const refunds = keepRefunds(before, line, observedAt)
      return { ...line, shipments, refunds, charges: mergeCharges(before.charges, line.charges) }
    }),
  }
}

/** Whether some unit is neither shipped nor cancelled: such an order is read again every day. */
export const isOpen = (order: PurchaseOrder): boolean =>
  order.lines.some((line) => line.ordered > line.units.shipped + line.units.cancelled)

/** A stored order, as far as {@link judgeView} looks at it. */
export interface StoredOrder {
  readonly order: PurchaseOrder
  readonly observedAt: Date
  /** For how long views that were behind have arrived, in ms; null: none. */
  readonly behindMs: number | null
}

/** A view that shows less than is stored is believed when no better one has arrived for this time. */
const behindBelievedAfterMs = 86_400_000

/**
 * What to do with a view that differs from the stored order, or finds it marked. What it shows decides before its time: units that were
 * shipped, cancelled or refunded stay so, therefore a view that shows fewer is late, and one that shows more is newer, even if the clocks of
 * the marketplace's nodes differ. `behind`: it is not stored, and that such views come is to be noted.
 */
export const judgeView = (stored: StoredOrder, seen: PurchaseOrder, observedAt: Date): 'write' | 'skip' | 'behind' => {
  const { order } = computeProgress(stored.order, seen)
  if (order === 'ahead') return 'write'
  if (stored.observedAt > observedAt) return 'skip'
  if (order === 'same') return 'write'
  if (stored.behindMs === null) return 'behind'
  return stored.behindMs >= behindBelievedAfterMs ? 'write' : 'skip'
}
