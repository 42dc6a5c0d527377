import type { Charge, DecimalText } from '../orders/order.ts'
import { Money } from './commission.ts'
import type { SettlementComponent, SettlementMovement } from './movement.ts'

/**
 * Explains the rows of settlement reports by orders, shipments, returns and refunds: what an order line is due, what was paid, and the differences.
 * For each line, `due` and the amounts of its differences add up to the paid amount.
 */

/**
 * Kinds of differences.
 *
 * - paid-less: a sale was paid with less than the buyer was charged, or for fewer units than were shipped.
 * - paid-more: a sale was paid with more than the buyer was charged, but not for more units.
 * - paid-twice: a sale was paid for more units than were sold.
 * - never-paid: no report has paid a shipped line.
 * - refund-without-return: a refund that neither a return nor a refund by the seller explains.
 * - commission-off-rate: the commission is not that of its rate.
 * - unknown-fee: money under a name that is not known.
 */
export const settlementDifferenceKinds = [
  'paid-less',
  'paid-more',
  'paid-twice',
  'never-paid',
  'refund-without-return',
  'commission-off-rate',
  'unknown-fee',
] as const
/** One of {@link settlementDifferenceKinds}. */
export type SettlementDifferenceKind = (typeof settlementDifferenceKinds)[number]

/** Why a difference is no longer open: later reports or records explain it, or its order is no longer stored. */
export const settlementResolutions = ['settled', 'withdrawn'] as const
/** One of {@link settlementResolutions}. */
export type SettlementResolution = (typeof settlementResolutions)[number]

/** A row of a settlement report that moves money. */
export interface PaymentRow {
  /** Identifies the row of a seller. */
  readonly lineKey: string
  readonly reportDate: string
  readonly transactionKey: string | null
  readonly movement: SettlementMovement
  readonly component: SettlementComponent
  /** The name of the money, as the report has it. */
  readonly amountType: string | null
  /** Negative: to the marketplace. */
  readonly amount: DecimalText
  readonly quantity: number | null
  readonly lineNumber: string | null
  readonly sku: string | null
  /** The rate of the commission that the row states, as a fraction. */
  readonly commissionRate: DecimalText | null
}

/** An order line, and what is known about it besides the reports. */
export interface PayableLine {
  readonly lineNumber: string
  readonly sku: string | null
  readonly ordered: number
  readonly cancelled: number
  /** Units whose payment is due: a report must have paid them by now. */
  readonly dueUnits: number
  readonly charges: readonly Pick<Charge, 'chargeType' | 'chargeName' | 'amount' | 'tax' | 'taxAndOtherFees'>[]
  /** Units of its returns, and of refunds by our commands. */
  readonly refundableUnits: number
}

/** A difference between what a line is due and what was paid. */
export interface SettlementDifference {
  readonly kind: SettlementDifferenceKind
  /** Null: the row names no order line. */
  readonly lineNumber: string | null
  readonly sku: string | null
  readonly expected: DecimalText
  readonly paid: DecimalText
  /** The rows that it comes from, sorted; empty if no report has paid. */
  readonly lineKeys: readonly string[]
}

/** An order line with its differences. */
export interface SettledLine {
  readonly lineNumber: string
  /** What reports should have paid in total by now. */
  readonly due: DecimalText
  readonly paid: DecimalText
  readonly differences: readonly SettlementDifference[]
}

/** The rules of the marketplace of an order. */
export interface SettlementRules {
  /** Type of the charge that is the price, in upper case. */
  readonly productCharge: string
  /** The usual rate of the commission of a SKU (lower case) as a fraction; null: it is not known. */
  readonly usualRate: (sku: string) => DecimalText | null
}

const zero = new Money(0)
const cent = new Money('0.01')

const sumAmounts = (rows: readonly PaymentRow[]): Money => rows.reduce((sum, { amount }) => sum.plus(amount), zero)
const toCents = (money: Money): Money => money.toDecimalPlaces(2)
const lowerCase = (text: string | null): string | null => text?.toLowerCase() ?? null

/** Charged money of all units of a line. */
interface Charged {
  readonly price: Money
  /** Other charges, such as shipping. */
  readonly others: Money
  readonly tax: Money
  /** Number of charges that reports state as a price each. */
  readonly prices: number
  /** Names and types of the other charges, in lower case. */
  readonly names: ReadonlySet<string>
}

const sumCharges = ({ charges }: PayableLine, productCharge: string): Charged => {
  const isPrice = ({ chargeType }: { readonly chargeType: string }): boolean => chargeType.toUpperCase() === productCharge
  const total = (some: PayableLine['charges']): Money => some.reduce((sum, { amount }) => sum.plus(amount), zero)
  const prices = charges.filter(isPrice)
  const others = charges.filter((charge) => !isPrice(charge))
  return {
    price: total(prices),
    others: total(others),
    tax: charges.reduce((sum, { tax, taxAndOtherFees }) => sum.plus(tax?.amount ?? 0).plus(taxAndOtherFees?.amount ?? 0), zero),
    prices: Math.max(1, prices.filter(({ amount }) => !new Money(amount).isZero()).length),
    names: new Set(others.flatMap(({ chargeName, chargeType }) => [chargeName.toLowerCase(), chargeType.toLowerCase()])),
  }
}

/** The price of some units, as rows of one payment. */
interface Payment {
  readonly units: number
  readonly rows: readonly PaymentRow[]
}

/** Rows with the same text belong to the same payments. */
const buildGroupKey = ({ reportDate, transactionKey, quantity }: PaymentRow): string =>
  JSON.stringify([reportDate, transactionKey, quantity])

/** Rows of prices as payments: those of a transaction and a number of units belong together, as many as the line has prices. */
const groupPayments = (rows: readonly PaymentRow[], prices: number, defaultUnits: number): readonly Payment[] => {
  const groups = Map.groupBy(rows, buildGroupKey)
  return [...groups.values()].flatMap((group) => {
    const payments: Payment[] = []
    for (let at = 0; at < group.length; at += prices) {
      const some = group.slice(at, at + prices)
      payments.push({ units: Math.abs(some[0]?.quantity ?? defaultUnits), rows: some })
    }
    return payments
  })
}

/** The first payments, up to a number of units, and the others. */
const divide = (
  payments: readonly Payment[],
  maxUnits: number,
): { readonly within: readonly Payment[]; readonly beyond: readonly Payment[]; readonly units: number } => {
  const [within, beyond]: [Payment[], Payment[]] = [[], []]
  let units = 0
  for (const payment of payments) {
    if (units + payment.units > maxUnits) beyond.push(payment)
    else {
      within.push(payment)
      units += payment.units
    }
  }
  return { within, beyond, units }
}

const listRows = (payments: readonly Payment[]): readonly PaymentRow[] => payments.flatMap(({ rows }) => rows)
const countUnits = (payments: readonly Payment[]): number => payments.reduce((sum, { units }) => sum + units, 0)

/**
 * The other rows of some payments, such as their commissions. Payments of a group that are not among `some` come before them, and each has as many rows of a
 * component.
 */
const listParts = (some: readonly Payment[], all: readonly Payment[], parts: readonly PaymentRow[]): readonly PaymentRow[] => {
  const countByGroup = (payments: readonly Payment[]): ReadonlyMap<string, number> =>
    new Map([...Map.groupBy(listRows(payments), buildGroupKey)].map(([key, rows]) => [key, rows.length]))
  const [ofSome, ofAll] = [countByGroup(some), countByGroup(all)]
  const groups = Map.groupBy(parts, (row) => JSON.stringify([buildGroupKey(row), row.component, row.amountType]))
  return [...groups.values()].flatMap((rows) => {
    const key = rows[0] === undefined ? '' : buildGroupKey(rows[0])
    const count = Math.round((rows.length * (ofSome.get(key) ?? 0)) / (ofAll.get(key) ?? 1))
    return count === 0 ? [] : rows.slice(-count)
  })
}

/** The share of some units. Several payments are rounded one by one: their total may differ by a cent for each. */
const share = (total: Money, units: number, ordered: number): Money => total.times(units).div(Math.max(1, ordered))
const offBy = (actual: Money, expected: Money, payments: number): Money => {
  const off = actual.minus(expected)
  if (off.abs().lt(cent)) return payments === 0 ? off : zero
  return off.abs().lte(cent.times(payments)) && payments > 1 ? zero : actual.minus(toCents(expected))
}

/**
 * Payments of sold units, and those of more units than were sold. Further payments that complete the price correct it.
 */
const divideSales = (payments: readonly Payment[], { ordered, cancelled }: PayableLine, { price }: Charged) => {
  const divided = divide(payments, ordered - cancelled)
  const total = sumAmounts(listRows(payments))
  const isCorrected = divided.beyond.length > 0 && offBy(total, share(price, divided.units, ordered), payments.length).isZero()
  return isCorrected && divided.units > 0 ? { ...divided, within: payments, beyond: [] } : divided
}

type Found = Omit<SettlementDifference, 'lineNumber' | 'sku'>

/** A difference: `off` is the paid amount less the expected one. */
const buildFound = (kind: SettlementDifferenceKind, paid: Money, off: Money, rows: readonly PaymentRow[]): Found => ({
  kind,
  expected: paid.minus(off).toFixed(),
  paid: paid.toFixed(),
  lineKeys: rows.map(({ lineKey }) => lineKey).sort(),
})

/** Rows of a line by what they are. */
const sortRows = (rows: readonly PaymentRow[], { names }: Charged) => {
  const isNamed = ({ component, amountType }: PaymentRow): boolean =>
    component === 'unknown' && amountType !== null && names.has(amountType.toLowerCase())
  // Adjustments correct sales.
  const isSale = ({ movement }: PaymentRow): boolean => movement === 'sale' || movement === 'other'
  const isRefund = ({ movement }: PaymentRow): boolean => movement === 'refund'
  const isRefunded = (row: PaymentRow): boolean => isRefund(row) || row.movement === 'seller-refund'
  const has = (...components: readonly SettlementComponent[]) => {
    const set = new Set(components)
    return ({ component }: PaymentRow): boolean => set.has(component)
  }
  const [isPrice, isShipping, isTax] = [has('price'), has('shipping'), has('tax', 'tax-withheld')]
  return {
    sales: rows.filter((row) => isSale(row) && isPrice(row)),
    others: rows.filter((row) => isSale(row) && (isShipping(row) || isNamed(row))),
    taxes: rows.filter((row) => isSale(row) && isTax(row)),
    refunds: rows.filter((row) => isRefund(row) && isPrice(row)),
    /** Shipping and taxes of refunds. */
    refundParts: rows.filter((row) => isRefund(row) && (isShipping(row) || isTax(row) || isNamed(row))),
    commissions: rows.filter(has('commission')),
    /** Prices that have a commission. */
    priced: rows.filter((row) => isPrice(row) && (isSale(row) || isRefunded(row))),
    unknown: rows.filter((row) => row.component === 'unknown' && !((isSale(row) || isRefunded(row)) && isNamed(row))),
  }
}

type SortedRows = ReturnType<typeof sortRows>

/** The rate of the commission: as all rows state it, otherwise the usual one of the SKU. */
const findRate = ({ commissions }: SortedRows, sku: string | null, { usualRate }: SettlementRules): Money | null => {
  const stated = new Set(commissions.flatMap(({ commissionRate }) => commissionRate ?? []))
  const [rate, other] = stated
  if (rate !== undefined && other === undefined) return new Money(rate)
  const usual = sku === null || rate !== undefined ? null : usualRate(sku.toLowerCase())
  return usual === null ? null : new Money(usual)
}

/** What was paid for sales, without commissions. */
const checkSales = (line: PayableLine, rows: SortedRows, charged: Charged, rate: Money | null): readonly Found[] => {
  const { ordered, dueUnits } = line
  const payments = groupPayments(rows.sales, charged.prices, ordered)
  const { within, beyond, units } = divideSales(payments, line, charged)
  const isWithheld = rows.taxes.some(({ component }) => component === 'tax-withheld')
  // The marketplace withholds the tax that it collects. Otherwise the seller receives it as a charge.
  const othersCharged = isWithheld || rows.taxes.length === 0 ? charged.others : charged.others.plus(charged.tax)
  const othersRows = isWithheld ? rows.others : [...rows.others, ...rows.taxes]
  const othersPaid = sumAmounts(othersRows)
  const expectedOthers = share(othersCharged, units, ordered)
  const beyondUnits = countUnits(beyond)
  const rowsOfParts = Math.max(within.length, 1)
  const found: Found[] = []
  let othersBeyond = zero
  if (beyond.length > 0) {
    const excess = othersPaid.minus(expectedOthers)
    const expected = share(othersCharged, beyondUnits, ordered)
    const isPaidToo = excess.minus(expected).abs().lte(cent.times(payments.length))
    othersBeyond = toCents(isPaidToo ? excess : Money.max(zero, Money.min(excess, expected)))
    const price = sumAmounts(listRows(beyond))
    const commission = rate === null ? zero : toCents(rate.neg().times(price))
    const paid = price.plus(othersBeyond).plus(commission)
    const parts = [
      ...(othersBeyond.isZero() ? [] : othersRows),
      ...(rate === null ? [] : rows.commissions.filter(({ movement }) => movement === 'sale' || movement === 'other')),
    ]
    const from = [...listRows(beyond), ...listParts(beyond, payments, parts)]
    if (!paid.isZero()) found.push(buildFound('paid-twice', paid, paid, from))
  }
  const paidPrice = sumAmounts(listRows(within))
  const offPrice = offBy(paidPrice, share(charged.price, units, ordered), within.length)
  const offOthers = offBy(othersPaid.minus(othersBeyond), expectedOthers, rowsOfParts + beyond.length)
  const offTax = isWithheld ? sumAmounts(rows.taxes) : zero
  const missing = Math.max(0, dueUnits - units)
  // Each part is rounded, as reports do.
  const gross = toCents(share(charged.price, missing, ordered))
  const commission = rate === null ? zero : toCents(rate.times(gross))
  const offUnits = commission.minus(gross).minus(toCents(share(charged.others, missing, ordered)))
  const saleRows = [...listRows(within), ...rows.others, ...rows.taxes]
  if (saleRows.length === 0 && rows.sales.length === 0) {
    if (!offUnits.isZero()) found.push(buildFound('never-paid', zero, offUnits, []))
    return found
  }
  const off = offPrice.plus(offOthers).plus(offTax).plus(offUnits)
  const paid = paidPrice.plus(othersPaid).minus(othersBeyond).plus(offTax)
  const evidence = saleRows.filter(({ component }) => component !== 'tax' && component !== 'tax-withheld')
  if (!off.isZero())
    found.push(buildFound(off.lt(0) ? 'paid-less' : 'paid-more', paid, off, offTax.isZero() ? evidence : saleRows))
  return found
}

/** Refunds that neither returns nor our refunds explain. */
const checkRefunds = (line: PayableLine, rows: SortedRows, charged: Charged, rate: Money | null): readonly Found[] => {
  const payments = groupPayments(rows.refunds, charged.prices, 0)
  const withUnits = payments.filter(({ units }) => units > 0)
  // Money without units belongs to the units that are explained, if there are any.
  const onlyMoney = payments.filter(({ units }) => units === 0)
  const { within, beyond } = divide(withUnits, line.refundableUnits)
  const unexplained = line.refundableUnits > 0 ? beyond : [...beyond, ...onlyMoney]
  const explained = line.refundableUnits > 0 ? [...within, ...onlyMoney] : within
  const price = sumAmounts(listRows(unexplained))
  const commission = rate === null ? zero : toCents(rate.neg().times(price))
  const parts = unexplained.length > 0 && explained.length === 0 ? rows.refundParts : []
  // More than the buyer has paid cannot be refunded.
  const most = charged.price.plus(charged.others).plus(charged.tax)
  const given = sumAmounts([...listRows(explained), ...(parts.length > 0 ? [] : rows.refundParts)]).neg()
  const excess = Money.max(zero, given.minus(most))
  const excessCommission = rate === null ? zero : toCents(rate.times(excess))
  const paid = price.plus(commission).plus(sumAmounts(parts)).minus(excess).plus(excessCommission)
  if (paid.isZero()) return []
  const refunded = excess.isZero() ? unexplained : payments
  const commissions = rate === null ? [] : rows.commissions.filter(({ movement }) => movement === 'refund')
  const from = [...listRows(refunded), ...listParts(refunded, payments, commissions), ...parts]
  return [buildFound('refund-without-return', paid, paid, from)]
}

const checkCommission = ({ commissions, priced }: SortedRows, rate: Money | null): readonly Found[] => {
  if (rate === null) return []
  const paid = sumAmounts(commissions)
  const expected = rate.neg().times(sumAmounts(priced))
  const off = paid.minus(expected)
  const rounded = Math.max(1, priced.length)
  if (off.abs().lt(cent) || (rounded > 1 && off.abs().lte(cent.times(rounded)))) return []
  return [buildFound('commission-off-rate', paid, paid.minus(toCents(expected)), commissions)]
}

const findUnknown = (rows: readonly PaymentRow[]): readonly Found[] =>
  rows
    .map((row) => ({ row, paid: new Money(row.amount) }))
    .filter(({ paid }) => !paid.isZero())
    .map(({ row, paid }) => buildFound('unknown-fee', paid, paid, [row]))

const settleLine = (line: PayableLine, rows: readonly PaymentRow[], rules: SettlementRules): SettledLine => {
  const charged = sumCharges(line, rules.productCharge)
  const sorted = sortRows(rows, charged)
  const rate = findRate(sorted, line.sku, rules)
  const differences = [
    ...checkSales(line, sorted, charged, rate),
    ...checkRefunds(line, sorted, charged, rate),
    ...checkCommission(sorted, rate),
    ...findUnknown(sorted.unknown),
  ].map((found) => ({ ...found, lineNumber: line.lineNumber, sku: line.sku }))
  const paid = sumAmounts(rows)
  const off = differences.reduce((sum, one) => sum.plus(one.paid).minus(one.expected), zero)
  return { lineNumber: line.lineNumber, due: paid.minus(off).toFixed(), paid: paid.toFixed(), differences }
}

/** The line that a record is about: that of its number if it has the record's SKU, otherwise the first one with its SKU. */
export const findLine = (lines: readonly PayableLine[], row: Pick<PaymentRow, 'sku' | 'lineNumber'>): PayableLine | undefined => {
  const sku = lowerCase(row.sku)
  const same = lines.filter((line) => sku === null || line.sku === null || lowerCase(line.sku) === sku)
  return same.find(({ lineNumber }) => lineNumber === row.lineNumber) ?? same[0] ?? lines[0]
}

/**
 * Compares the rows of an order, of all reports, with its lines. Rows are in the order of reports; without summaries.
 *
 * @param lines those of the order, in its order; not empty
 */
export const settleOrder = (
  lines: readonly PayableLine[],
  rows: readonly PaymentRow[],
  rules: SettlementRules,
): readonly SettledLine[] => {
  const byLine = Map.groupBy(rows, (row) => findLine(lines, row)?.lineNumber)
  return lines.map((line) => settleLine(line, byLine.get(line.lineNumber) ?? [], rules))
}

/** Differences of rows that name no order: each with an unknown name. */
export const settleUnordered = (rows: readonly PaymentRow[]): readonly SettlementDifference[] =>
  findUnknown(rows.filter(({ component }) => component === 'unknown')).map((found) => ({ ...found, lineNumber: null, sku: null }))
