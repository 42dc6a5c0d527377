import { type Database, type Row, toInteger, toText } from '../core/database.ts'
import type { Cents } from '../core/money.ts'

/** The ways in which a settlement report can be wrong. */
export const settlementErrorKinds = [
  'paid-less',
  'paid-more',
  'paid-twice',
  'never-paid',
  'refund-without-return',
  'commission-off-rate',
  'unknown-fee',
] as const
/** One of {@link settlementErrorKinds}. */
export type SettlementErrorKind = (typeof settlementErrorKinds)[number]

/** An error that was planted in the rows of a line. */
export interface SettlementError {
  readonly kind: SettlementErrorKind
  readonly purchaseOrderId: string
  readonly lineNumber: string
  readonly sku: string
  /** The money that kinds with an amount of their own add or take; positive. */
  readonly amount: Cents
  /** By how much the rows pay more than they should; negative: less. */
  readonly difference: Cents
}

const parseError = (row: Row): SettlementError => {
  const kind = settlementErrorKinds.find((one) => one === toText(row, 'kind'))
  if (kind === undefined) throw new Error('a settlement error has no known kind')
  return {
    kind,
    purchaseOrderId: toText(row, 'purchase_order_id'),
    lineNumber: toText(row, 'line_number'),
    sku: toText(row, 'sku'),
    amount: toInteger(row, 'amount'),
    difference: toInteger(row, 'difference'),
  }
}

/** The planted errors of a seller. */
export const listSettlementErrors = (database: Database, sellerId: string): readonly SettlementError[] =>
  database
    .all('SELECT * FROM settlement_errors WHERE seller_id = ? ORDER BY purchase_order_id, line_number', sellerId)
    .map(parseError)

/** The error in the rows of a line; null: none. */
export const findSettlementError = (
  database: Database,
  sellerId: string,
  purchaseOrderId: string,
  lineNumber: string,
): SettlementError | null => {
  const row = database.get(
    'SELECT * FROM settlement_errors WHERE seller_id = ? AND purchase_order_id = ? AND line_number = ?',
    sellerId,
    purchaseOrderId,
    lineNumber,
  )
  return row === undefined ? null : parseError(row)
}
