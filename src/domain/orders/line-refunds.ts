import { Decimal } from 'decimal.js'
import { splitByWeight } from '../refunds/refunds.ts'
import type { DecimalText, LineRefund } from './order.ts'

/** Refunded money of one charge, as a record shows it; never negative. */
export interface RefundedMoney {
  readonly refundId: string | null
  readonly reason: string | null
  /** Without taxes and fees. */
  readonly amount: DecimalText
  /** Taxes and fees. */
  readonly tax: DecimalText
}

const Exact = Decimal.clone({ precision: 60 })

const sum = (amounts: readonly Decimal.Value[]): Decimal =>
  amounts.reduce<Decimal>((total, amount) => total.plus(amount), new Exact(0))
const moneyIn = ({ amount, tax }: Pick<LineRefund, 'amount' | 'tax'>): Decimal => sum([amount, tax])
const unitsIn = (refunds: readonly LineRefund[]): number => refunds.reduce((total, { units }) => total + units, 0)

/** Gives each refund its share of the units, by its money: the marketplace does not show which units a reason is about. */
const allotUnits = (refunds: readonly LineRefund[], units: number): readonly LineRefund[] => {
  // Weights without fractions: those are cut off.
  const weights = refunds.map((refund) => moneyIn(refund).times(1_000_000).toFixed(0))
  const shares = splitByWeight(String(units), weights, 0)
  return refunds.map((refund, index) => ({ ...refund, units: Number(shares[index] ?? 0) }))
}

/** The refunds that a record of a line shows, one for each reason. */
export const shownRefunds = (money: readonly RefundedMoney[], units: number, refundedAt: Date | null): readonly LineRefund[] => {
  const byReason = Map.groupBy(money, ({ reason }) => reason)
  const refunds = [...byReason].map(
    ([reason, parts]): LineRefund => ({
      refundId: parts.findLast(({ refundId }) => refundId !== null)?.refundId ?? null,
      reason,
      units: 0,
      amount: sum(parts.map(({ amount }) => amount)).toFixed(),
      tax: sum(parts.map(({ tax }) => tax)).toFixed(),
      refundedAt,
    }),
  )
  const paid = refunds.filter((refund) => moneyIn(refund).gt(0))
  if (paid.length > 0) return allotUnits(paid, units)
  return units === 0 ? [] : [{ refundId: null, reason: null, units, amount: '0', tax: '0', refundedAt }]
}

/** A line of an order, as far as the time of its refunds depends on it. */
interface DatedLine {
  readonly statusDate: Date | null
  readonly refunds: readonly LineRefund[]
}

/** When a change that the new version of a line shows happened: the date of its status if that is new, otherwise when it was observed. */
export const findChangeTime = (
  before: Pick<DatedLine, 'statusDate'>,
  now: Pick<DatedLine, 'statusDate'>,
  observedAt: Date | null,
): Date | null =>
  now.statusDate !== null && now.statusDate.getTime() !== before.statusDate?.getTime() ? now.statusDate : observedAt

/**
 * The refunds of a line, with those that the new version adds. Money that comes after its units completes them. A version that shows less of a reason
 * replaces all of them: then the marketplace has corrected its refunds.
 */
export const keepRefunds = (before: DatedLine, now: DatedLine, observedAt: Date | null): readonly LineRefund[] => {
  const kept = before.refunds
  const added: LineRefund[] = []
  for (const reason of new Set([...kept, ...now.refunds].map((refund) => refund.reason))) {
    const known = kept.filter((refund) => refund.reason === reason)
    const shown = now.refunds.find((refund) => refund.reason === reason)
    const amount = sum([shown?.amount ?? '0', ...known.map((refund) => `-${refund.amount}`)])
    const tax = sum([shown?.tax ?? '0', ...known.map((refund) => `-${refund.tax}`)])
    if (amount.lt(0) || tax.lt(0)) return now.refunds
    if (shown === undefined || amount.plus(tax).isZero()) continue
    const refundedAt = findChangeTime(before, now, observedAt)
    added.push({ ...shown, units: 0, amount: amount.toFixed(), tax: tax.toFixed(), refundedAt })
  }
  const moreUnits = unitsIn(now.refunds) - unitsIn(kept)
  if (moreUnits < 0) return now.refunds
  if (added.length === 0) return moreUnits === 0 ? kept : addUnits(kept, moreUnits, findChangeTime(before, now, observedAt))
  const withoutMoney = kept.filter((refund) => moneyIn(refund).isZero())
  const completed = added.map((refund) => ({ ...refund, refundedAt: withoutMoney[0]?.refundedAt ?? refund.refundedAt }))
  return [...kept.filter((refund) => !withoutMoney.includes(refund)), ...allotUnits(completed, moreUnits + unitsIn(withoutMoney))]
}

/** Units without new money belong to the newest money that was refunded without units; otherwise their money is still to come. */
const addUnits = (kept: readonly LineRefund[], units: number, refundedAt: Date | null): readonly LineRefund[] => {
  const paid = kept.findLastIndex((refund) => refund.units === 0)
  if (paid >= 0) return kept.map((refund, index) => (index === paid ? { ...refund, units } : refund))
  return [...kept, { refundId: null, reason: null, units, amount: '0', tax: '0', refundedAt }]
}
