import type { Cell } from './model.ts'

/** The ways in which report and log, or a report in itself, can disagree. */
export const discrepancyKinds = [
  'report-without-log',
  'log-entry-missing',
  'extra-log-entry',
  'duplicate-log-entry',
  'ending-off',
  'carry-over-break',
] as const
export type DiscrepancyKind = (typeof discrepancyKinds)[number]

/** A discrepancy that was put in. */
export interface Discrepancy {
  readonly id: number
  readonly itemId: number
  /** `YYYY-MM`. */
  readonly month: string
  readonly kind: DiscrepancyKind
  /** The report's column that it concerns; `null` where it is the ending or the beginning. */
  readonly cell: Cell | null
  /** Units by which the two sides differ, never negative but for the two that shift a balance. */
  readonly units: number
  readonly movementId: number
  /** The log entry that was hidden or added. */
  readonly entryId: string | null
  /** As text. */
  readonly done: string
}
