import { Decimal } from 'decimal.js'
import type { RefundCharge } from '../commands/command.ts'
import type { Charge, ChargeTax, DecimalText } from '../orders/order.ts'
import { accounted, type LineLedger } from '../orders/units.ts'
import type { Vocabulary } from '../values/vocabulary.ts'

/**
 * Allocation of a line's money to its units.
 *
 * The marketplace states charges for a whole line. A line of n units is cut into n slots, 0 to n - 1, and slot i carries
 * round(total * (i + 1) / n) - round(total * i / n) of each charge, rounded half up to the minor unit of the currency. The taxes and fees
 * of a charge are cut in the same way over those slots that carry some of the charge itself: a refund charge of zero with a tax is refused
 * (public facts 3.4), so no slot may hold one. In every order and grouping of refunds, all slots together are
 * exactly the line.
 */

/** The parts of an order line that the arithmetic needs; {@link OrderLine} has them. */
export interface RefundableLine {
  readonly lineNumber: string
  readonly ordered: number
  readonly charges: readonly Charge[]
  readonly refundedAmount: DecimalText
}

/** The marketplace's word for the charge that is the price of the goods. */
export type RefundWords = Pick<Vocabulary, 'productCharge'>

/** The charges to refund, or a sentence with the reason why not. */
export type RefundResult =
  | { readonly ok: true; readonly charges: RefundCharge[] }
  | { readonly ok: false; readonly message: string }

// Money has few digits, but the product of an amount and a unit count must never be rounded.
const Exact = Decimal.clone({ precision: 60 })

/**
 * Digits after the decimal point of a currency, by ISO 4217 as the JavaScript runtime knows it: USD 2, JPY 0, KWD 3.
 *
 * @returns null when the text is no currency code.
 */
export const minorDigits = (currency: string): number | null => {
  if (!/^[A-Za-z]{3}$/.test(currency)) return null
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? null
}

/**
 * The slots that the next refund of so many units takes: the lowest that none of our refunds holds, those that carry money first. Refunds
 * that were not ours hold no particular slot; they count from the highest down.
 *
 * @returns null when fewer are free.
 */
export const freeSlots = (
  ledger: LineLedger,
  quantity: number,
  carriesMoney: (slot: number) => boolean = () => true,
): number[] | null => {
  const held = new Set(ledger.refundSlots)
  const free: number[] = []
  for (let slot = 0; slot < ledger.ordered; slot++) if (!held.has(slot)) free.push(slot)
  const foreign = Math.max(0, accounted(ledger, 'refund') - held.size)
  if (free.length - foreign < quantity) return null
  const ours = free.slice(0, free.length - foreign)
  const chosen = [...ours.filter(carriesMoney), ...ours.filter((slot) => !carriesMoney(slot))].slice(0, quantity)
  return chosen.sort((a, b) => a - b)
}

/** The slots of a line with refundable money; all of them if the charges cannot be processed. */
export const slotsWithMoney = (line: RefundableLine, words: RefundWords): ((slot: number) => boolean) => {
  const net = computeNet(line, words)
  if (!net.ok) return () => true
  return (slot) => net.parts.some((part) => computeShare(part.amount, slot, line.ordered) > 0n)
}

/**
 * The charges of exactly these slots, negative, for a refund request (public facts 3.4): of every type, with their taxes and fees.
 *
 * Tax and fees of a charge stand beside it, each in its own place: the request has the form of the order read, `taxAndOtherFees` too
 * (official OpenAPI of 2026, "Refund order lines"). A discount (a negative charge) lowers the charge it belongs to, since a refund may
 * carry only negative amounts and must not give back more than the buyer paid. What comes to zero is left out. No type of charge is
 * asked for more than was charged under it, tax by tax and fee by fee: the marketplace would refuse the whole request.
 */
export const refundOfSlots = (line: RefundableLine, slots: readonly number[], words: RefundWords): RefundResult => {
  const net = computeNet(line, words)
  if (!net.ok) return net
  const untyped = net.parts.find((part) => part.amount > 0n && part.charge.chargeType.trim() === '')
  if (untyped !== undefined) {
    const message = `line ${line.lineNumber} has a charge without a type, which cannot be given back by itself; name an amount`
    return { ok: false, message }
  }
  const charges: RefundCharge[] = []
  for (const part of net.parts) {
    const amount = computeShares(part.amount, slots, line.ordered)
    if (amount === 0n) continue
    const tax = computeSharesBeside(part, part.tax, slots, line.ordered)
    const fees = computeSharesBeside(part, part.fees, slots, line.ordered)
    charges.push(parseCharge(part, net.digits, { amount, tax, fees }))
  }
  return checked(line, charges, slots.length)
}

/**
 * A named sum for these slots, without tax, given back on their product charge; the marketplace works out the tax of it.
 *
 * Refused when it is not positive, finer than the currency, or above the product charge of these slots (an amount may not
 * exceed the original charge, public facts 3.4).
 */
export const refundOfAmount = (
  line: RefundableLine,
  slots: readonly number[],
  amount: DecimalText,
  words: RefundWords,
): RefundResult => {
  const net = computeNet(line, words)
  if (!net.ok) return net
  const finer = finerThanCurrency(amount, net.currency)
  if (finer !== null) return { ok: false, message: finer }
  const asked = toMinorUnits(amount, net.digits)
  if (asked <= 0n) return { ok: false, message: `the amount ${amount} must be above zero` }
  const charges: RefundCharge[] = []
  let left = asked
  for (const part of net.parts.filter(isProduct(words))) {
    const share = computeShares(part.amount, slots, line.ordered)
    const taken = smaller(share, left)
    left -= taken
    if (taken > 0n) charges.push(parseCharge(part, net.digits, { amount: taken }))
  }
  if (left > 0n) {
    const most = formatDecimal(asked - left, net.digits)
    const message = `the amount ${amount} is above the product charge of these ${slots.length} unit(s) of line ${line.lineNumber}, ${most} ${net.currency}`
    return { ok: false, message }
  }
  return checked(line, charges, slots.length)
}

/** A sentence that says that an amount has more digits than its currency; null when it has not, or when the currency is unknown. */
export const finerThanCurrency = (amount: DecimalText, currency: string): string | null => {
  const digits = minorDigits(currency)
  if (digits === null || new Exact(amount).eq(formatDecimal(toMinorUnits(amount, digits), digits))) return null
  return `the amount ${amount} is finer than ${currency} allows (${digits} digits after the point)`
}

/** The product charge, without tax, of these slots; null when the line's charges cannot be worked with. */
export const productShare = (line: RefundableLine, slots: readonly number[], words: RefundWords): DecimalText | null => {
  const net = computeNet(line, words)
  if (!net.ok) return null
  const total = net.parts
    .filter(isProduct(words))
    .reduce((sum, part) => sum + computeShares(part.amount, slots, line.ordered), 0n)
  return formatDecimal(total, net.digits)
}

/** Splits an amount by weights, each piece rounded so that the pieces sum to the amount and none is above its weight's share rounded up. */
export const splitByWeight = (amount: DecimalText, weights: readonly DecimalText[], digits: number): DecimalText[] => {
  const total = toMinorUnits(amount, digits)
  const minors = weights.map((weight) => toMinorUnits(weight, digits))
  const sum = minors.reduce((all, weight) => all + weight, 0n)
  let reached = 0n
  return minors.map((weight) => {
    const before = reached
    reached += weight
    return formatDecimal(sum === 0n ? 0n : roundedRatio(total * reached, sum) - roundedRatio(total * before, sum), digits)
  })
}

/** What these refund charges give back in all, tax and fees included, as a positive decimal. */
export const refundTotal = (charges: readonly RefundCharge[]): DecimalText =>
  sumAll(charges.flatMap((charge) => [charge, ...listTaxes(charge)]))
    .negated()
    .toFixed()

/**
 * What the marketplace gives back beyond these charges of one request, where it gives back everything of a line, tax and shipping too, as
 * soon as the whole product price is asked for (public facts 3.4). The price is that of all product charges, discounts among them.
 *
 * @returns null when it gives back what is asked, and no more; otherwise all that it would give back, as a positive decimal.
 */
export const fullPriceGivesBack = (
  line: RefundableLine,
  charges: readonly RefundCharge[],
  { productCharge }: RefundWords,
): DecimalText | null => {
  const typed = (type: string) => line.charges.filter(({ chargeType }) => chargeType.toUpperCase() === type)
  const price = sumAll(typed(productCharge))
  const asked = sumAll(charges.filter(({ chargeType }) => chargeType.toUpperCase() === productCharge)).negated()
  if (!price.gt(0) || asked.lt(price)) return null
  const types = new Set(line.charges.map(({ chargeType }) => chargeType.toUpperCase()))
  // What a discount of one type takes off another's charge stands nowhere: each type counts for itself, tax by tax and fee by fee.
  const charged = [...types].flatMap((type) => [
    sumAll(typed(type)),
    sumAll(typed(type).flatMap(({ tax }) => tax ?? [])),
    sumAll(typed(type).flatMap(({ taxAndOtherFees }) => taxAndOtherFees ?? [])),
  ])
  const all = charged.reduce((total, part) => total.plus(Decimal.max(0, part)), new Exact(0)).minus(line.refundedAmount)
  return all.gt(refundTotal(charges)) ? all.toFixed() : null
}

/** What a charge consists of; each part is refunded up to what it was. */
type PartName = 'amount' | 'tax' | 'fees'

interface NetPart extends Record<PartName, bigint> {
  readonly charge: Charge
  /** The amount before discounts of other charges. */
  readonly charged: bigint
  taxName: string
  feesName: string
}

/** Where more discount than there is goes: more off the charges than they are lowers the taxes, and the other way round. */
const overflow = [
  ['amount', ['tax', 'fees']],
  ['tax', ['fees', 'amount']],
  ['fees', ['tax', 'amount']],
] as const satisfies readonly (readonly [PartName, readonly PartName[]])[]

type Net =
  | { readonly ok: true; readonly parts: readonly NetPart[]; readonly digits: number; readonly currency: string }
  | { readonly ok: false; readonly message: string }

/** The charges in minor units, discounts taken off: first from charges of their own type, then from the price, then from the others. */
const computeNet = (line: RefundableLine, { productCharge }: RefundWords): Net => {
  const money = line.charges
    .flatMap((charge) => [charge, ...listTaxes(charge)])
    .filter(({ amount }) => !new Exact(amount).isZero())
  const currency = (money[0] ?? line.charges[0])?.currency
  if (currency === undefined) return { ok: false, message: `line ${line.lineNumber} has no charge to refund` }
  if (money.some((one) => !sameCurrency(one.currency, currency))) {
    return { ok: false, message: `the charges of line ${line.lineNumber} are in more than one currency` }
  }
  const digits = minorDigits(currency)
  if (digits === null) return { ok: false, message: `line ${line.lineNumber} is charged in an unknown currency, ${currency}` }
  const parts: NetPart[] = line.charges.map((charge) => ({
    charge,
    charged: toMinorUnits(charge.amount, digits),
    amount: toMinorUnits(charge.amount, digits),
    tax: toMinorUnits(charge.tax?.amount ?? '0', digits),
    fees: toMinorUnits(charge.taxAndOtherFees?.amount ?? '0', digits),
    taxName: charge.tax?.taxName ?? '',
    feesName: charge.taxAndOtherFees?.taxName ?? '',
  }))
  const over = {
    amount: takeOff(parts, 'amount', productCharge),
    tax: takeOff(parts, 'tax', productCharge),
    fees: takeOff(parts, 'fees', productCharge),
  }
  for (const [name, others] of overflow) {
    let left = over[name]
    for (const other of others) left = lower(byType(parts, productCharge), other, left)
  }
  joinTaxes(parts)
  keepCarriers(parts, BigInt(line.ordered))
  return { ok: true, parts, digits, currency }
}

/** Whether two currency codes name the same currency; their case does not matter. */
export const sameCurrency = (one: string, other: string): boolean => one.toUpperCase() === other.toUpperCase()

const sumAll = (money: readonly { readonly amount: DecimalText }[]): Decimal =>
  money.reduce((sum, { amount }) => sum.plus(amount), new Exact(0))

/** Taxes and fees of a charge, the tax first. */
const listTaxes = ({ tax, taxAndOtherFees }: Charge | RefundCharge): readonly ChargeTax[] =>
  [tax, taxAndOtherFees].flatMap((one) => one ?? [])

/** Taxes and fees of a charge that comes to zero join another charge of its type, by which the marketplace counts them: no form takes them alone. */
const joinTaxes = (parts: readonly NetPart[]): void => {
  for (const lone of parts) {
    if (!isLone(lone)) continue
    const own = parts.filter((part) => normalizeType(part) === normalizeType(lone))
    const host = own.find((part) => part.amount > 0n) ?? own.find(isLone) ?? lone
    if (host === lone) continue
    host.tax += lone.tax
    host.fees += lone.fees
    if (host.taxName === '') host.taxName = lone.taxName
    if (host.feesName === '') host.feesName = lone.feesName
    lone.tax = 0n
    lone.fees = 0n
  }
}

/**
 * Taxes and fees whose charge a discount of another type took wholly: the charge keeps a minor unit for each unit of the line, and the
 * discount takes as much off other charges instead. Under a discount of its own type the charge is nothing to the marketplace either, so
 * that no request can carry its tax: it is left out.
 */
const keepCarriers = (parts: readonly NetPart[], ordered: bigint): void => {
  const lone = parts.filter(isLone)
  for (const wanted of [1n, ordered]) {
    for (const part of lone) {
      const own = parts.filter((one) => normalizeType(one) === normalizeType(part))
      const room = own.reduce((sum, { charged, amount }) => sum + charged - amount, 0n)
      let need = smaller(wanted - part.amount, room)
      for (const giver of parts) {
        if (need <= 0n) break
        if (lone.includes(giver)) continue
        const given = smaller(need, giver.amount - (giver.tax + giver.fees > 0n ? 1n : 0n))
        if (given <= 0n) continue
        giver.amount -= given
        part.amount += given
        need -= given
      }
    }
  }
}

const isLone = ({ amount, tax, fees }: NetPart): boolean => amount === 0n && tax + fees > 0n

const normalizeType = ({ charge }: NetPart): string => charge.chargeType.toUpperCase()

/** Those of this type first. */
const byType = (parts: readonly NetPart[], type: string): NetPart[] =>
  [...parts].sort((a, b) => Number(normalizeType(b) === type) - Number(normalizeType(a) === type))

/** Takes discounts off the other parts, those of their own type first and then those of one type; answers what is left of them when those are used up. */
const takeOff = (parts: readonly NetPart[], name: PartName, then: string): bigint => {
  const inOrder = byType(parts, then)
  let over = 0n
  for (const discount of parts) {
    if (discount[name] >= 0n) continue
    over += lower(byType(inOrder, normalizeType(discount)), name, -discount[name])
    discount[name] = 0n
  }
  return over
}

/** Lowers the parts by so much in all, one after another, none below zero; answers what is left over. */
const lower = (parts: readonly NetPart[], name: PartName, by: bigint): bigint => {
  let left = by
  for (const part of parts) {
    if (part[name] <= 0n) continue
    const taken = smaller(part[name], left)
    part[name] -= taken
    left -= taken
  }
  return left
}

const isProduct =
  ({ productCharge }: RefundWords): ((part: NetPart) => boolean) =>
  (part) =>
    normalizeType(part) === productCharge

const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other)

const computeShare = (total: bigint, slot: number, count: number): bigint => {
  const slots = BigInt(count)
  return roundedRatio(total * BigInt(slot + 1), slots) - roundedRatio(total * BigInt(slot), slots)
}

const computeShares = (total: bigint, slots: readonly number[], ordered: number): bigint =>
  slots.reduce((sum, slot) => sum + computeShare(total, slot, ordered), 0n)

/** What of a charge's tax, or of its fees, belongs to these slots: cut over the slots that carry some of the charge. */
const computeSharesBeside = (part: NetPart, total: bigint, slots: readonly number[], ordered: number): bigint => {
  // With a minor unit or more for each slot none is left without.
  if (part.amount >= BigInt(ordered)) return computeShares(total, slots, ordered)
  const carrying: number[] = []
  for (let slot = 0; slot < ordered; slot++) if (computeShare(part.amount, slot, ordered) > 0n) carrying.push(slot)
  const places = new Map(carrying.map((slot, place) => [slot, place]))
  const asked = slots.flatMap((slot) => places.get(slot) ?? [])
  return computeShares(total, asked, carrying.length)
}

/** Half up; both arguments non-negative, the divisor above zero. */
const roundedRatio = (dividend: bigint, divisor: bigint): bigint => (2n * dividend + divisor) / (2n * divisor)

/** Cut, not rounded: what is finer than the currency cannot be paid, and rounding up would give back more than was charged. */
const toMinorUnits = (amount: DecimalText, digits: number): bigint =>
  BigInt(new Exact(amount).times(new Exact(10).pow(digits)).trunc().toFixed())

const formatDecimal = (minor: bigint, digits: number): DecimalText =>
  new Exact(minor.toString()).div(new Exact(10).pow(digits)).toFixed(digits)

const parseCharge = (part: NetPart, digits: number, money: { amount: bigint; tax?: bigint; fees?: bigint }): RefundCharge => {
  const { chargeType, chargeName, currency } = part.charge
  const beside = (taxName: string, minor = 0n): ChargeTax | null =>
    minor === 0n ? null : { taxName, amount: formatDecimal(-minor, digits), currency }
  const fees = beside(part.feesName, money.fees)
  return {
    chargeType,
    chargeName,
    amount: formatDecimal(-money.amount, digits),
    currency,
    tax: beside(part.taxName, money.tax),
    ...(fees === null ? {} : { taxAndOtherFees: fees }),
  }
}

/** The total paid, taxes, fees and discounts included. */
export const paidOn = (charges: readonly Charge[]): Decimal => sumAll(charges.flatMap((charge) => [charge, ...listTaxes(charge)]))

const checked = (line: RefundableLine, charges: RefundCharge[], quantity: number): RefundResult => {
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
