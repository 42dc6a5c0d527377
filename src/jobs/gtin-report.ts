import type { CallOptions } from '../clients/call-options.ts'
import type { MarketplaceClient } from '../clients/client.ts'
import { reconciliationEndpoint } from '../clients/marketplace/reconciliation-report.ts'
import { lookAtRow, ReportFault, readHeader, readLines, readRow } from '../clients/marketplace/report-csv.ts'
import { createRowSorter, type LookedAt } from '../clients/marketplace/report-footer.ts'
import type { GtinReport, GtinRow } from '../domain/gtin-report.ts'
import { reconcile } from '../domain/reconciliation.ts'
import { gtin14 } from '../domain/reconciliation-report.ts'
import { reportSchedule } from '../domain/report-schedule.ts'
import type { Database } from '../store/database.ts'
import { readMovements } from '../store/discrepancy-sources.ts'
import { logReadUpTo, skusByGtin } from '../store/inventory-skus.ts'
import { readReasons } from '../store/log-reasons.ts'

/** Maximum size of a report of one GTIN; one row has about a hundred bytes. */
const mostBytes = 1_000_000

const whole = async (body: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > mostBytes) throw new RangeError(`a report of one GTIN is longer than ${mostBytes} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

const one = async function* (bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

/**
 * Asks the marketplace for the report of one GTIN of the running month, which alone can be asked for so (specification, section 6), and holds it
 * against the stored log. Stores nothing. It is one of the requests that the marketplace grants for the month within the hour.
 *
 * @throws MarketplaceFailure; ReportFault when the file cannot be read; RangeError when it is far too long
 */
export const readGtinReport = async (
  { client, database }: { readonly client: MarketplaceClient; readonly database: Database },
  gtin: string,
  options: CallOptions,
): Promise<GtinReport> => {
  const { sellerId } = client
  const { calendar } = client.vocabulary
  const month = calendar.monthOf(client.clock().now())
  const answer = await client.of(reconciliationEndpoint).download({ month, gtin }, options)
  if (answer === null) return { sellerId, gtin, month, generatedAt: null, coveredUntil: null, rows: [] }
  const file = await whole(answer.body)
  const generatedAt = answer.generatedAt ?? answer.answeredAt
  const until = reportSchedule(calendar).coveredUntil(month, generatedAt)
  const { columns, end } = await readHeader(one(file), client.of(reconciliationEndpoint).columnNames)
  const skuOf = await skusByGtin(database, sellerId)
  const reasons = await readReasons(database, sellerId)
  const rows: GtinRow[] = []
  const sorter = createRowSorter((cells) => lookAtRow(columns, cells))
  const lines: LookedAt[] = []
  for await (const line of readLines(one(file.subarray(end)), columns)) lines.push(...sorter.next(line))
  lines.push(...sorter.close().rows)
  for (const { line } of lines) {
    const parsed = readRow(month, columns, line.cells)
    if (!parsed.ok) throw new ReportFault(parsed.fault)
    const { raw: _raw, month: _month, ...row } = parsed.value
    const sku = skuOf.get(gtin14(row.sku)) ?? row.sku
    const readUpTo = await logReadUpTo(database, sellerId, sku)
    const compared = readUpTo !== null && readUpTo >= until
    const stretch = { sku, from: calendar.monthBounds(month).from, to: until }
    const [movements = []] = compared ? await readMovements(database, sellerId, [stretch]) : []
    const { differences } = reconcile({ report: row, endingBefore: null, movements: compared ? movements : null, reasons })
    rows.push({ ...row, sku, compared, differences })
  }
  return { sellerId, gtin, month, generatedAt, coveredUntil: until, rows }
}
