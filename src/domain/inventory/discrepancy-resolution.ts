import { type DiscrepancyKind, isMovementKind } from './reconciliation.ts'

/** Why a discrepancy stands no more: report and expectation agree, or there is nothing left that it could be judged by. */
export type Resolution = 'agrees' | 'withdrawn'

/** A discrepancy that is open, and was not found again. */
export interface OpenDiscrepancy {
  readonly kind: DiscrepancyKind
  readonly reportUnits: number
}

/** A month of a SKU, as far as its discrepancies hang on it. */
export interface ResolvingMonth {
  /** The month's report has a row of the SKU. */
  readonly listed: boolean
  /** The log holds everything that the report counts. */
  readonly logComplete: boolean
  /** Entries of the log that may be of the month cannot be read. */
  readonly logUnread: boolean
  /** The log knows movements since the month began. */
  readonly movesOn: boolean
  /** Whether what the stock was since the last month with a row is known; null when no month has one. */
  readonly before: { readonly whole: boolean } | null
}

/** Where the report has no row: what an earlier one stated stands for as long as the SKU moves, or may. */
const withoutRow = (open: OpenDiscrepancy, { logComplete, movesOn }: ResolvingMonth): Resolution | null => {
  if (!logComplete) return null
  if (isMovementKind(open.kind) && open.reportUnits === 0) return 'agrees'
  return open.kind !== 'row' && movesOn ? null : 'withdrawn'
}

/** What becomes of a discrepancy that is open but was not found again; null when it cannot be judged now, so that it stays. */
export const findResolution = (open: OpenDiscrepancy, month: ResolvingMonth): Resolution | null => {
  // It may be made up by the entry that cannot be read.
  if (isMovementKind(open.kind) && month.logUnread) return 'withdrawn'
  if (!month.listed) return withoutRow(open, month)
  if (isMovementKind(open.kind) && !month.logComplete) return null
  if (open.kind !== 'carry-over' || month.before?.whole === true) return 'agrees'
  return month.before === null ? 'withdrawn' : null
}
