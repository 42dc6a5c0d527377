import { Decimal } from 'decimal.js'
import type { RefundCharge } from './command.ts'
import type { Charge, ChargeTax, DecimalText } from './order.ts'
import { accounted, type LineLedger } from './units.ts'

/**
 * How much money belongs to which units of a line.
 *
 * The marketplace states charges for a whole line. A line of n units is cut into n slots, 0 to n - 1, and slot i carries
 * round(total * (i + 1) / n) - round(total * i / n) of each charge, rounded half up to the minor unit of the currency. The taxes and fees
 * of a charge are cut in the same way over those slots that carry some of the charge itself: a refund charge of zero with a tax is refused
 * (public facts 3.4), so no slot may hold one. Whatever the order and grouping in which the slots are refunded, together they are
 * exactly the line.
 */

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
 * The slots that the next refund of so many units takes: the lowest that none of our refunds holds, those that carry money first. Refunds
 * that were not ours hold no particular slot; they count from the highest down.
 *
 * @returns null when fewer are free.
 */
export function freeSlots(
  ledger: LineLedger,
  quantity: number,
  carriesMoney: (slot: number) => boolean = () => true,
): number[] | null {
  const held = new Set(ledger.refundSlots)
  const free: number[] = []
  for (let slot = 0; slot < ledger.ordered; slot++) if (!held.has(slot)) free.push(slot)
  const foreign = Math.max(0, accounted(ledger, 'refund') - held.size)
  if (free.length - foreign < quantity) return null
  const ours = free.slice(0, free.length - foreign)
  const chosen = [...ours.filter(carriesMoney), ...ours.filter((slot) => !carriesMoney(slot))].slice(0, quantity)
  return chosen.sort((a, b) => a - b)
}

/** Which slots of a line carry money that a refund can give back; all of them where the charges cannot be worked with. */
export function slotsWithMoney(line: RefundableLine): (slot: number) => boolean {
  const net = netOf(line)
  if (!net.ok) return () => true
  return (slot) => net.parts.some((part) => shareOf(part.amount, slot, line.ordered) > 0n)
}

/**
 * The charges of exactly these slots, negative, for a refund request (public facts 3.4): of every type, with their taxes and fees.
 *
 * The marketplace's form has one tax for each charge and no place for fees, so the fees of a charge travel in its tax, under the
 * tax's name, or under their own where there is no tax. A discount (a negative charge) lowers the charge it belongs to, since a
 * refund may carry only negative amounts and must not give back more than the buyer paid. What comes to zero is left out.
 */
export function refundOfSlots(line: RefundableLine, slots: readonly number[]): RefundResult {
  const net = netOf(line)
  if (!net.ok) return net
  const untyped = net.parts.find((part) => part.amount > 0n && part.charge.chargeType.trim() === '')
  if (untyped !== undefined) {
    const message = `line ${line.lineNumber} has a charge without a type, which cannot be given back by itself; name an amount`
    return { ok: false, message }
  }
  const charges: RefundCharge[] = []
  for (const part of net.parts) {
    const amount = sharesOf(part.amount, slots, line.ordered)
    if (amount > 0n) charges.push(chargeOf(part, net.digits, amount, taxSharesOf(part, slots, line.ordered)))
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
  const finer = finerThanCurrency(amount, net.currency)
  if (finer !== null) return { ok: false, message: finer }
  const asked = minorOf(amount, net.digits)
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

/** A sentence that says that an amount has more digits than its currency; null when it has not, or when the currency is unknown. */
export function finerThanCurrency(amount: DecimalText, currency: string): string | null {
  const digits = minorDigits(currency)
  if (digits === null || new Exact(amount).eq(decimalOf(minorOf(amount, digits), digits))) return null
  return `the amount ${amount} is finer than ${currency} allows (${digits} digits after the point)`
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
  /** Taxes and fees. */
  tax: bigint
  taxName: string
}

type Net =
  | { readonly ok: true; readonly parts: readonly NetPart[]; readonly digits: number; readonly currency: string }
  | { readonly ok: false; readonly message: string }

/** The charges in minor units, discounts taken off: first from charges of their own type, then from the others. */
function netOf(line: RefundableLine): Net {
  const money = line.charges.flatMap((charge) => [charge, ...taxesOf(charge)]).filter(({ amount }) => !new Exact(amount).isZero())
  const currency = (money[0] ?? line.charges[0])?.currency
  if (currency === undefined) return { ok: false, message: `line ${line.lineNumber} has no charge to refund` }
  if (money.some((one) => one.currency !== currency)) {
    return { ok: false, message: `the charges of line ${line.lineNumber} are in more than one currency` }
  }
  const digits = minorDigits(currency)
  if (digits === null) return { ok: false, message: `line ${line.lineNumber} is charged in an unknown currency, ${currency}` }
  const parts: NetPart[] = line.charges.map((charge) => ({
    charge,
    amount: minorOf(charge.amount, digits),
    tax: taxesOf(charge).reduce((sum, tax) => sum + minorOf(tax.amount, digits), 0n),
    taxName: taxesOf(charge)[0]?.taxName ?? '',
  }))
  // More discount than charges lowers the taxes, and the other way round: the buyer paid the sum.
  const [overAmount, overTax] = [takeOff(parts, 'amount'), takeOff(parts, 'tax')]
  lower(parts, 'tax', overAmount)
  lower(parts, 'amount', overTax)
  joinLoneTaxes(parts)
  return { ok: true, parts, digits, currency }
}

/** Taxes and fees of a charge, the tax first. */
function taxesOf(charge: Charge): readonly ChargeTax[] {
  return [charge.tax, charge.taxAndOtherFees].flatMap((tax) => tax ?? [])
}

/** A tax whose charge comes to zero (a discount took it all) joins one that does not, of its own type if there is one: no form takes it alone. */
function joinLoneTaxes(parts: readonly NetPart[]): void {
  for (const lone of parts) {
    if (lone.amount > 0n || lone.tax <= 0n) continue
    const [host] = ofTypeFirst(parts, lone).filter((part) => part.amount > 0n)
    if (host === undefined) continue
    host.tax += lone.tax
    if (host.taxName === '') host.taxName = lone.taxName
    lone.tax = 0n
  }
}

function ofTypeFirst(parts: readonly NetPart[], { charge }: NetPart): NetPart[] {
  const type = charge.chargeType.toUpperCase()
  const same = (part: NetPart): number => Number(part.charge.chargeType.toUpperCase() === type)
  return [...parts].sort((a, b) => same(b) - same(a))
}

/** Takes discounts off the other parts; answers what is left of them when those are used up. */
function takeOff(parts: readonly NetPart[], field: 'amount' | 'tax'): bigint {
  let over = 0n
  for (const discount of parts) {
    if (discount[field] >= 0n) continue
    over += lower(ofTypeFirst(parts, discount), field, -discount[field])
    discount[field] = 0n
  }
  return over
}

/** Lowers the parts by so much in all, one after another, none below zero; answers what is left over. */
function lower(parts: readonly NetPart[], field: 'amount' | 'tax', by: bigint): bigint {
  let left = by
  for (const part of parts) {
    if (part[field] <= 0n) continue
    const taken = part[field] < left ? part[field] : left
    part[field] -= taken
    left -= taken
  }
  return left
}

function isProduct(part: NetPart): boolean {
  return part.charge.chargeType.toUpperCase() === 'PRODUCT'
}

function shareOf(total: bigint, slot: number, count: number): bigint {
  const slots = BigInt(count)
  return roundedRatio(total * BigInt(slot + 1), slots) - roundedRatio(total * BigInt(slot), slots)
}

function sharesOf(total: bigint, slots: readonly number[], ordered: number): bigint {
  return slots.reduce((sum, slot) => sum + shareOf(total, slot, ordered), 0n)
}

/** The tax of these slots: cut over the slots that carry some of the charge. */
function taxSharesOf(part: NetPart, slots: readonly number[], ordered: number): bigint {
  // With a minor unit or more for each slot none is left without.
  if (part.amount >= BigInt(ordered)) return sharesOf(part.tax, slots, ordered)
  const carrying: number[] = []
  for (let slot = 0; slot < ordered; slot++) if (shareOf(part.amount, slot, ordered) > 0n) carrying.push(slot)
  const places = new Map(carrying.map((slot, place) => [slot, place]))
  const asked = slots.flatMap((slot) => places.get(slot) ?? [])
  return sharesOf(part.tax, asked, carrying.length)
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
  return {
    chargeType,
    chargeName,
    amount: decimalOf(-amount, digits),
    currency,
    tax: tax === 0n ? null : { taxName: part.taxName, amount: decimalOf(-tax, digits), currency },
  }
}

/** What was paid in all, taxes, fees and discounts included. */
export function paidOn(charges: readonly Charge[]): Decimal {
  return charges
    .flatMap((charge) => [charge.amount, ...taxesOf(charge).map((tax) => tax.amount)])
    .reduce((sum, amount) => sum.plus(amount), new Exact(0))
}

function checked(line: RefundableLine, charges: RefundCharge[], quantity: number): RefundResult {
  if (charges.length === 0) {
    return { ok: false, message: `these ${quantity} unit(s) of line ${line.lineNumber} carry no money to give back` }
  }
  const paid = paidOn(line.charges)
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
