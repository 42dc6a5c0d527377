import type { CallOptions } from '../../../clients/http/call-options.ts'
import type { ReadClient } from '../../../clients/http/client.ts'
import { reconciliationEndpoint } from '../../../clients/marketplace/reports/reconciliation-report.ts'
import { previewRow, readHeader, readRow } from '../../../clients/marketplace/reports/report-csv.ts'
import { createRowSorter, type SortedLine } from '../../../clients/marketplace/reports/report-footer.ts'
import { ReportFault, readLines } from '../../../clients/marketplace/reports/report-lines.ts'
import type { GtinReport, GtinRow } from '../../../domain/inventory/gtin-report.ts'
import { reconcile } from '../../../domain/inventory/reconciliation.ts'
import { gtin14 } from '../../../domain/inventory/reconciliation-report.ts'
import { reportSchedule } from '../../../domain/inventory/report-schedule.ts'
import type { Database } from '../../../store/db/database.ts'
import { readMovements } from '../../../store/inventory/discrepancy-sources.ts'
import { logReadUpTo, readSkusByGtin } from '../../../store/inventory/inventory-skus.ts'
import { readReasons } from '../../../store/inventory/log-reasons.ts'
import { hasUnreadEntries } from '../../../store/inventory/unread-log.ts'

/** Maximum size of a report of one GTIN; a row has about a hundred bytes. */
const maxBytes = 1_000_000

const readAll = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > maxBytes) throw new RangeError(`a report of one GTIN is longer than ${maxBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const toStream = async function* (bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

/**
 * Requests the report of one GTIN for the current month, the only month that allows it (specification, section 6), and compares it with the stored log.
 * Stores nothing. It counts as one of the requests per hour that the marketplace allows for the month.
 *
 * @throws MarketplaceFailure; ReportFault when the file cannot be read; RangeError when it is too long
 */
export const readGtinReport = async (
  { client, database }: { readonly client: ReadClient; readonly database: Database },
  gtin: string,
  options: CallOptions,
): Promise<GtinReport> => {
  const { sellerId } = client
  const { calendar } = client.vocabulary
  const month = calendar.formatMonth(client.clock().now())
  const answer = await client.of(reconciliationEndpoint).download({ month, gtin }, options)
  if (answer === null) return { sellerId, gtin, month, generatedAt: null, coveredUntil: null, rows: [] }
  const file = await readAll(answer.body)
  const generatedAt = answer.generatedAt ?? answer.answeredAt
  const until = reportSchedule(calendar).coveredUntil(month, generatedAt)
  const { columns, end, lines: headerLines } = await readHeader(toStream(file), client.of(reconciliationEndpoint).columnNames)
  const skuByGtin = await readSkusByGtin(database, sellerId)
  const reasons = await readReasons(database, sellerId)
  const rows: GtinRow[] = []
  const sorter = createRowSorter((cells) => previewRow(columns, cells))
  const lines: SortedLine[] = []
  for await (const line of readLines(toStream(file.subarray(end)), columns, headerLines + 1)) lines.push(...sorter.next(line))
  for (const { line, skipped } of lines) {
    if (skipped !== null) continue
    const parsed = readRow(month, columns, line.cells)
    if (!parsed.ok) throw new ReportFault(`line ${line.number}: ${parsed.fault}`)
    const { raw: _raw, month: _month, ...row } = parsed.value
    const sku = skuByGtin.get(gtin14(row.sku)) ?? row.sku
    const readUpTo = await logReadUpTo(database, sellerId, sku)
    const period = { sku, from: calendar.monthBounds(month).from, to: until }
    const isUnread = await hasUnreadEntries(database, sellerId, sku, calendar.monthBounds(month))
    const compared = readUpTo !== null && readUpTo >= until && !isUnread
    const [movements = []] = compared ? await readMovements(database, sellerId, [period]) : []
    const { differences } = reconcile({ report: row, endingBefore: null, movements: compared ? movements : null, reasons })
    rows.push({ ...row, sku, compared, differences })
  }
  return { sellerId, gtin, month, generatedAt, coveredUntil: until, rows }
}
