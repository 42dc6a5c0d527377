import type { LogMovement } from './log-reasons.ts'
import { stockChange } from './reconciliation.ts'

/**
 * Comparison of the stock on hand with the inventory log at one time: the log begins with the ending of a monthly report, because it does not reach
 * back to the first movement of a SKU (public facts, section 7.1).
 */

/** The stock on hand of a SKU at a time, and where its balance begins. Times are on the marketplace's clock. */
export interface StockCount {
  /** Units on hand, by the marketplace's list, at `asOf`. */
  readonly countedUnits: number
  readonly asOf: Date
  /** The ending of a monthly report, which counts movements before `openingAt`. */
  readonly openingUnits: number
  readonly openingAt: Date
}

/** A count with the balance at the same time. */
export interface StockBalance extends StockCount {
  /** The opening units, and the movements of sellable stock since. */
  readonly balanceUnits: number
  /** `countedUnits` minus `balanceUnits`. */
  readonly difference: number
}

/** Computes the balance of the log. `movements`: those from `openingAt` (inclusive) to `asOf` (exclusive). */
export const buildBalance = (count: StockCount, movements: readonly LogMovement[]): StockBalance => {
  const balanceUnits = count.openingUnits + stockChange(movements)
  return { ...count, balanceUnits, difference: count.countedUnits - balanceUnits }
}
