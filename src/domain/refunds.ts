import { Decimal } from 'decimal.js'
import type { RefundCharge } from './command.ts'
import type { Charge, DecimalText } from './order.ts'
import { accounted, type LineLedger } from './units.ts'

/**
 * How much money belongs to which units of a line.
 *
 * The marketplace states charges for a whole line. A line of n units is cut into n slots, 0 to n - 1, and slot i carries
 * round(total * (i + 1) / n) - round(total * i / n) of each charge and of each tax, rounded half up to the minor unit of
 * the currency. Whatever the order and grouping in which the slots are refunded, together they are exactly the line.
 */

/** Charge types that a refund of units gives back. Other types (fees of other services) are left to a person. */
export const refundableChargeTypes: readonly string[] = ['PRODUCT', 'SHIPPING']

/** What the arithmetic needs of an order line; {@link OrderLine} fits. */
export interface RefundableLine {
  readonly lineNumber: string
  readonly ordered: number
  readonly charges: readonly Charge[]
  readonly refundedAmount: DecimalText
}

/** The charges to give back, or a sentence for a person that says why not. */
export type RefundResult =
  | { readonly ok: true; readonly charges: RefundCharge[] }
  | { readonly ok: false; readonly message: string }

// Money has few digits, but a product of an amount and a unit count must never be rounded on the way.
const Exact = Decimal.clone({ precision: 60 })

/**
 * Digits after the decimal point of a currency, by ISO 4217 as the JavaScript runtime knows it: USD 2, JPY 0, KWD 3.
 *
 * @returns null when the text is no currency code.
 */
export function minorDigits(currency: string): number | null {
  if (!/^[A-Za-z]{3}$/.test(currency)) return null
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? null
}

/**
 * The slots that the next refund of so many units takes: the lowest that none of our refunds holds. Refunds that were not
 * ours hold no particular slot; they count from the highest down.
 *
 * @returns null when fewer are free.
 */
export function freeSlots(ledger: LineLedger, quantity: number): number[] | null {
  const held = new Set(ledger.refundSlots)
  const free: number[] = []
  for (let slot = 0; slot < ledger.ordered; slot++) if (!held.has(slot)) free.push(slot)
  const foreign = Math.max(0, accounted(ledger, 'refund') - held.size)
  if (free.length - foreign < quantity) return null
  return free.slice(0, quantity)
}

/**
 * The charges of exactly these slots, negative, for a refund request (public facts 3.4).
 *
 * PRODUCT and SHIPPING charges with their taxes. A discount (a negative charge) lowers the charge it belongs to, since a
 * refund may carry only negative amounts and must not give back more than the buyer paid. What comes to zero is left out.
 */
export function refundOfSlots(line: RefundableLine, slots: readonly number[]): RefundResult {
  const net = netOf(line)
  if (!net.ok) return net
  const charges: RefundCharge[] = []
  for (const part of net.parts) {
    const amount = sharesOf(part.amount, slots, line.ordered)
    const tax = sharesOf(part.tax, slots, line.ordered)
    if (amount === 0n && tax === 0n) continue
    charges.push(chargeOf(part, net.digits, amount, tax))
  }
  return checked(line, charges, slots.length)
}

/**
 * A named sum for these slots, without tax, given back on their PRODUCT charge; the marketplace works out the tax of it.
 *
 * Refused when it is not positive, finer than the currency, or above the product charge of these slots (an amount may not
 * exceed the original charge, public facts 3.4).
 */
export function refundOfAmount(line: RefundableLine, slots: readonly number[], amount: DecimalText): RefundResult {
  const net = netOf(line)
  if (!net.ok) return net
  const asked = minorOf(amount, net.digits)
  if (!new Exact(amount).eq(decimalOf(asked, net.digits))) {
    return {
      ok: false,
      message: `the amount ${amount} is finer than ${net.currency} allows (${net.digits} digits after the point)`,
    }
  }
  if (asked <= 0n) return { ok: false, message: `the amount ${amount} must be above zero` }
  const charges: RefundCharge[] = []
  let left = asked
  for (const part of net.parts.filter(isProduct)) {
    const share = sharesOf(part.amount, slots, line.ordered)
    const taken = share < left ? share : left
    left -= taken
    if (taken > 0n) charges.push(chargeOf(part, net.digits, taken, 0n))
  }
  if (left > 0n) {
    const most = decimalOf(asked - left, net.digits)
    const message = `the amount ${amount} is above the product charge of these ${slots.length} unit(s) of line ${line.lineNumber}, ${most} ${net.currency}`
    return { ok: false, message }
  }
  return checked(line, charges, slots.length)
}

/** The product charge, without tax, of these slots; null when the line's charges cannot be worked with. */
export function productShare(line: RefundableLine, slots: readonly number[]): DecimalText | null {
  const net = netOf(line)
  if (!net.ok) return null
  const total = net.parts.filter(isProduct).reduce((sum, part) => sum + sharesOf(part.amount, slots, line.ordered), 0n)
  return decimalOf(total, net.digits)
}

/** Splits an amount by weights, each piece rounded so that the pieces sum to the amount and none is above its weight's share rounded up. */
export function splitByWeight(amount: DecimalText, weights: readonly DecimalText[], digits: number): DecimalText[] {
  const total = minorOf(amount, digits)
  const minors = weights.map((weight) => minorOf(weight, digits))
  const sum = minors.reduce((all, weight) => all + weight, 0n)
  let reached = 0n
  return minors.map((weight) => {
    const before = reached
    reached += weight
    return decimalOf(sum === 0n ? 0n : roundedRatio(total * reached, sum) - roundedRatio(total * before, sum), digits)
  })
}

/** What these refund charges give back in all, tax included, as a positive decimal. */
export function refundTotal(charges: readonly RefundCharge[]): DecimalText {
  return charges.reduce((sum, charge) => sum.minus(charge.amount).minus(charge.tax?.amount ?? 0), new Exact(0)).toFixed()
}

interface NetPart {
  readonly charge: Charge
  amount: bigint
  tax: bigint
}

type Net =
  | { readonly ok: true; readonly parts: readonly NetPart[]; readonly digits: number; readonly currency: string }
  | { readonly ok: false; readonly message: string }

/** The refundable charges in minor units, discounts taken off: first from charges of their own type, then from the others. */
function netOf(line: RefundableLine): Net {
  const included = line.charges.filter((charge) => refundableChargeTypes.includes(charge.chargeType.toUpperCase()))
  const currency = included[0]?.currency
  if (currency === undefined) return { ok: false, message: `line ${line.lineNumber} has no product or shipping charge to refund` }
  if (included.some((charge) => charge.currency !== currency || (charge.tax !== null && charge.tax.currency !== currency))) {
    return { ok: false, message: `the charges of line ${line.lineNumber} are in more than one currency` }
  }
  const digits = minorDigits(currency)
  if (digits === null) return { ok: false, message: `line ${line.lineNumber} is charged in an unknown currency, ${currency}` }
  const parts: NetPart[] = included.map((charge) => ({
    charge,
    amount: minorOf(charge.amount, digits),
    tax: charge.tax === null ? 0n : minorOf(charge.tax.amount, digits),
  }))
  takeOff(parts, 'amount')
  takeOff(parts, 'tax')
  return { ok: true, parts, digits, currency }
}

function takeOff(parts: readonly NetPart[], field: 'amount' | 'tax'): void {
  for (const discount of parts) {
    if (discount[field] >= 0n) continue
    const type = discount.charge.chargeType.toUpperCase()
    const sameTypeFirst = [...parts].sort(
      (a, b) => Number(b.charge.chargeType.toUpperCase() === type) - Number(a.charge.chargeType.toUpperCase() === type),
    )
    let left = -discount[field]
    for (const part of sameTypeFirst) {
      if (part[field] <= 0n) continue
      const taken = part[field] < left ? part[field] : left
      part[field] -= taken
      left -= taken
    }
    discount[field] = 0n
  }
}

function isProduct(part: NetPart): boolean {
  return part.charge.chargeType.toUpperCase() === 'PRODUCT'
}

function sharesOf(total: bigint, slots: readonly number[], ordered: number): bigint {
  const units = BigInt(ordered)
  return slots.reduce(
    (sum, slot) => sum + roundedRatio(total * BigInt(slot + 1), units) - roundedRatio(total * BigInt(slot), units),
    0n,
  )
}

/** Half up; both arguments non-negative, the divisor above zero. */
function roundedRatio(dividend: bigint, divisor: bigint): bigint {
  return (2n * dividend + divisor) / (2n * divisor)
}

/** Cut, not rounded: what is finer than the currency cannot be paid, and rounding up would give back more than was charged. */
function minorOf(amount: DecimalText, digits: number): bigint {
  return BigInt(new Exact(amount).times(new Exact(10).pow(digits)).trunc().toFixed())
}

function decimalOf(minor: bigint, digits: number): DecimalText {
  return new Exact(minor.toString()).div(new Exact(10).pow(digits)).toFixed(digits)
}

function chargeOf(part: NetPart, digits: number, amount: bigint, tax: bigint): RefundCharge {
  const { chargeType, chargeName, currency } = part.charge
  const taxName = part.charge.tax?.taxName ?? ''
  return {
    chargeType,
    chargeName,
    amount: decimalOf(-amount, digits),
    currency,
    tax: tax === 0n ? null : { taxName, amount: decimalOf(-tax, digits), currency },
  }
}

function checked(line: RefundableLine, charges: RefundCharge[], quantity: number): RefundResult {
  if (charges.length === 0) {
    return { ok: false, message: `these ${quantity} unit(s) of line ${line.lineNumber} carry no money to give back` }
  }
  const paid = line.charges.reduce((sum, charge) => sum.plus(charge.amount).plus(charge.tax?.amount ?? 0), new Exact(0))
  const left = paid.minus(line.refundedAmount)
  const asked = refundTotal(charges)
  if (left.lt(asked)) {
    return {
      ok: false,
      message: `line ${line.lineNumber} has ${left.toFixed()} left to give back of ${paid.toFixed()}, ${asked} asked`,
    }
  }
  return { ok: true, charges }
}
