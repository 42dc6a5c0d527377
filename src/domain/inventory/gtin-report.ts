import type { Difference } from './reconciliation.ts'
import type { ReconciliationRow } from './reconciliation-report.ts'

/** A row of a report of one GTIN, compared with itself and with the stored log. */
export interface GtinRow extends Omit<ReconciliationRow, 'raw' | 'month'> {
  /** The log has been read up to the end of the report; otherwise it is not compared. */
  readonly compared: boolean
  readonly differences: readonly Difference[]
}

/** The marketplace's report of one GTIN in the running month. */
export interface GtinReport {
  readonly sellerId: string
  readonly gtin: string
  /** `YYYY-MM`, by the marketplace's calendar. */
  readonly month: string
  /** Null if there is no report of it yet. */
  readonly generatedAt: Date | null
  readonly coveredUntil: Date | null
  readonly rows: readonly GtinRow[]
}
