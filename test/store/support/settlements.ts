import { settlementsEndpoint } from '../../../src/clients/marketplace/reports/settlements.ts'
import type { Database } from '../../../src/store/db/database.ts'
import {
  endDueSearch,
  findPartEnd,
  noteDuePart,
  noteKnownSettlements,
  planDueSearch,
} from '../../../src/store/orders/settlement-orders.ts'
import { settlementStore } from '../../../src/store/orders/settlements.ts'
import { readable } from './records.ts'

/** The fields of a row as a report has them. */
export type ReportRow = Readonly<Record<string, string>>

/** Stores rows of a report (`YYYY-MM-DD`), from row `first` on. */
export const storeReportRows = async (
  database: Database,
  sellerId: string,
  reportDate: string,
  rows: readonly ReportRow[],
  first = 1,
): Promise<void> => {
  const records = rows.map((row, at) => {
    const text = JSON.stringify({ reportDate, row: first + at, currency: 'USD', reportData: [row] })
    return readable(settlementsEndpoint.read(text))
  })
  const differing = await settlementStore.findDiffering(database, sellerId, records)
  await database.transaction((tx) => settlementStore.store(tx, sellerId, new Date(), differing))
}

/** A row about a line of an order. */
export const reportRow = (
  order: string,
  sku: string,
  line: string,
  words: readonly [type: string, amountType: string],
  amount: string,
): ReportRow => ({
  'Transaction Type': words[0],
  'Amount Type': words[1],
  Amount: amount,
  'Ship Qty': '1',
  'Purchase Order #': order,
  'Purchase Order line #': line,
  'Partner Item Id': sku,
  'Transaction Key': `key-${order}-${line}`,
  'Transaction Posted Timestamp': '03/10/2026',
})

/** Notes the orders to compare, as a stream does that has read its reports, so many shipments at once. */
export const noteDueSettlements = async (database: Database, sellerId: string, shipments?: number): Promise<void> => {
  const due = await planDueSearch(database, sellerId, 'recent')
  let after: string | null = ''
  while (due !== null && after !== null) {
    const from: string = after
    const upTo: string | null = await findPartEnd(database, sellerId, due, from, shipments)
    await database.transaction((tx) => noteDuePart(tx, sellerId, due, from, upTo))
    after = upTo
  }
  await database.transaction(async (tx) => {
    if (due !== null) await endDueSearch(tx, sellerId, due)
    await noteKnownSettlements(tx, sellerId)
  })
}
