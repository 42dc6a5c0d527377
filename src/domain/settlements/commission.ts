import { Decimal } from 'decimal.js'
import type { DecimalText } from '../orders/order.ts'

/** Exact arithmetic of money. */
export const Money = Decimal.clone({ precision: 60 })
/** An amount of money within a calculation. */
export type Money = Decimal

/** The price of a sale and the commission on it, both without their sign. */
export interface CommissionedSale {
  readonly price: DecimalText
  readonly commission: DecimalText
}

const cent = new Money('0.01')
/** Fewer sales do not show which rate is the usual one. */
const minSales = 3

/** Number of rates that are compared with all sales. */
const maxCandidates = 5

/** Whether a commission is that of the rate, but for rounding to a cent. */
const hasRate = ({ price, commission }: CommissionedSale, rate: Money): boolean =>
  rate.times(price).minus(commission).abs().lt(cent)

/**
 * The rate of the commission, as a fraction, at which more than half of these sales were charged; null: there is none, or there are fewer than three sales.
 * Rates are whole thousandths.
 */
export const findUsualRate = (sales: readonly CommissionedSale[]): DecimalText | null => {
  const priced = sales.filter(({ price }) => new Money(price).gt(0))
  if (priced.length < minSales) return null
  const rates = priced.map(({ price, commission }) => new Money(commission).div(price).toDecimalPlaces(3).toFixed())
  // More than half of the sales have the rate but for rounding, so it is among the most frequent ones.
  const frequent = [...Map.groupBy(rates, (rate) => rate).values()]
    .toSorted((a, b) => b.length - a.length)
    .slice(0, maxCandidates)
  let best: { readonly rate: string; readonly count: number } | null = null
  for (const [rate = '0'] of frequent) {
    const count = priced.filter((sale) => hasRate(sale, new Money(rate))).length
    if (best === null || count > best.count) best = { rate, count }
  }
  return best !== null && best.count * 2 > priced.length ? best.rate : null
}
