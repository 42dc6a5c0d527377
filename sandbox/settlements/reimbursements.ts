import { type Database, nullableText, nullableWhole, type Row, toInteger, toText } from '../core/database.ts'
import type { Cents } from '../core/money.ts'

/** What a reimbursement is for. Found units are taken back. */
export const reimbursedKinds = ['lost', 'damaged', 'returned', 'found'] as const
/** One of {@link reimbursedKinds}. */
export type Reimbursed = (typeof reimbursedKinds)[number]

/** Their descriptions in reports. */
export const reimbursementDescriptions: Readonly<Record<Reimbursed, string>> = {
  lost: 'WFS LostInventory',
  damaged: 'WFS DamageInWarehouse',
  returned: 'WFS Refund',
  found: 'WFS FoundInventory',
}

/** A reimbursement of units at the fulfilment service. */
export interface Reimbursement {
  readonly id: number
  readonly at: number
  readonly reimburses: Reimbursed
  /** Null: the row names none. */
  readonly sku: string | null
  readonly units: number | null
  /** Negative: taken back. */
  readonly amount: Cents
}

const parseReimbursement = (row: Row): Reimbursement => {
  const reimburses = reimbursedKinds.find((kind) => kind === toText(row, 'reimburses'))
  if (reimburses === undefined) throw new Error('a reimbursement is of no known kind')
  return {
    id: toInteger(row, 'id'),
    at: toInteger(row, 'at'),
    reimburses,
    sku: nullableText(row, 'sku'),
    units: nullableWhole(row, 'units'),
    amount: toInteger(row, 'amount'),
  }
}

/** Plants a reimbursement. */
export const addReimbursement = (database: Database, sellerId: string, given: Omit<Reimbursement, 'id'>): void => {
  database.run(
    'INSERT INTO reimbursements (seller_id, at, reimburses, sku, units, amount) VALUES (?, ?, ?, ?, ?, ?)',
    ...[sellerId, given.at, given.reimburses, given.sku, given.units, given.amount],
  )
}

/** The reimbursements of a seller from a time to another one (exclusive), oldest first. */
export const listReimbursements = (
  database: Database,
  sellerId: string,
  from = 0,
  to = Number.MAX_SAFE_INTEGER,
): readonly Reimbursement[] =>
  database
    .all('SELECT * FROM reimbursements WHERE seller_id = ? AND at >= ? AND at < ? ORDER BY at, id', sellerId, from, to)
    .map(parseReimbursement)
