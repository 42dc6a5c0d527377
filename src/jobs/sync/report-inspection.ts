import { reconciliationEndpoint } from '../../clients/marketplace/reconciliation-report.ts'
import {
  isByGtin,
  lookAtRow,
  type ReportColumns,
  readHeader,
  readLines,
  readRow,
  skuOf,
} from '../../clients/marketplace/report-csv.ts'
import { createRowSorter, type LookedAt } from '../../clients/marketplace/report-footer.ts'
import type { ParsedRecord } from '../../clients/record.ts'
import { gtin14, rowKey } from '../../domain/reconciliation-report.ts'
import { skusByGtin } from '../../store/inventory-skus.ts'
import type { StoredReport } from '../../store/reconciliation-reports.ts'
import type { ReportedRow } from '../../store/reconciliation-rows.ts'
import { readReportFile } from '../../store/report-files.ts'
import { rawHash } from '../../store/versions.ts'
import { createReportKeys, type ReportKeys } from './report-keys.ts'
import type { StreamContext } from './stream.ts'

/** What has to be known of all of a file before a row of it is stored. */
export interface Inspection {
  readonly columns: ReportColumns
  /** Where the first row begins, in bytes. */
  readonly firstRow: number
  readonly rowCount: number
  /** Where the last row ends, in bytes; below it stand lines that are none. */
  readonly rowsEnd: number
  readonly footerCount: number
  readonly keys: ReportKeys
  /** SKUs of which the file says different things. */
  readonly contradictory: ReadonlySet<string>
  /** SKUs whose rows cannot be read. */
  readonly unread: ReadonlySet<string>
  /** How many rows cannot be read, whether or not they say what they are about, and why the first one cannot. */
  readonly unreadCount: number
  readonly firstFault: string | null
  /** SKUs of the GTINs that name the rows; null where SKUs do. */
  readonly skuOfGtin: ReadonlyMap<string, string> | null
  /** Rows that do not say what they are about: nobody knows all that came, so nothing counts as gone. */
  readonly namelessCount: number
  /** Ends of the rows that may be totals. */
  readonly doubtful: ReadonlySet<number>
}

/** The SKU of a row that a name stands for; a GTIN of which no SKU is known stands for itself, in the same spelling every day. */
const skuNamed = ({ skuOfGtin }: Pick<Inspection, 'skuOfGtin'>, name: string): string =>
  skuOfGtin === null ? name : (skuOfGtin.get(gtin14(name)) ?? gtin14(name))

const doubtfulFault = 'it looks like a total but is not the sum of the rows'

const inspect = async (context: StreamContext, report: StoredReport): Promise<Inspection> => {
  const { database, client } = context
  const { columns, end: firstRow } = await readHeader(
    readReportFile(database, report),
    client.of(reconciliationEndpoint).columnNames,
  )
  const skuOfGtin = isByGtin(columns) ? await skusByGtin(database, report.sellerId) : null
  const keys = createReportKeys()
  const unread = new Set<string>()
  const doubtful = new Set<number>()
  let found = { rowCount: 0, rowsEnd: firstRow, namelessCount: 0, unreadCount: 0 }
  let firstFault: string | null = null
  const note = ({ line, look, isDoubtful }: LookedAt): void => {
    const { rowCount, namelessCount, unreadCount } = found
    const rowsEnd = firstRow + line.end
    const fault = isDoubtful ? doubtfulFault : look.fault
    const name = isDoubtful ? null : look.sku
    if (isDoubtful) doubtful.add(rowsEnd)
    if (name !== null) {
      const sku = skuNamed({ skuOfGtin }, name)
      keys.add(sku)
      if (fault !== null) unread.add(sku)
    }
    firstFault ??= fault
    found = {
      rowCount: rowCount + 1,
      rowsEnd,
      namelessCount: namelessCount + (name === null ? 1 : 0),
      unreadCount: unreadCount + (fault === null ? 0 : 1),
    }
  }
  const sorter = createRowSorter((cells) => lookAtRow(columns, cells))
  for await (const line of readLines(readReportFile(database, report, firstRow), columns)) sorter.next(line).forEach(note)
  const { rows, footers: footerCount } = sorter.close()
  rows.forEach(note)
  const known = keys.close()
  const contradictory = known.anyRepeated
    ? await findContradictory(context, report, { columns, firstRow, keys: known, skuOfGtin })
    : new Set<string>()
  return { columns, firstRow, ...found, footerCount, keys: known, contradictory, unread, firstFault, skuOfGtin, doubtful }
}

/** The same row twice says nothing new (public facts, section 2.2, knows it of lists); two different ones of a SKU contradict each other. */
const findContradictory = async (
  { database }: StreamContext,
  report: StoredReport,
  { columns, firstRow, keys, skuOfGtin }: Pick<Inspection, 'columns' | 'firstRow' | 'keys' | 'skuOfGtin'>,
): Promise<ReadonlySet<string>> => {
  const textHashes = new Map<string, string>()
  const contradictory = new Set<string>()
  for await (const { cells } of readLines(readReportFile(database, report, firstRow), columns)) {
    const name = skuOf(columns, cells)
    const sku = name === null ? null : skuNamed({ skuOfGtin }, name)
    if (sku === null || !keys.isRepeated(sku)) continue
    const textHash = rawHash(readRow(report.month, columns, cells).rawText)
    if ((textHashes.get(sku) ?? textHash) !== textHash) contradictory.add(sku)
    textHashes.set(sku, textHash)
  }
  return contradictory
}

// One run reads one file at a time; a context lives as long as its run.
const inspections = new WeakMap<StreamContext, { readonly reportId: bigint; readonly inspection: Promise<Inspection> }>()

/** The inspection of a report, once for each run. */
export const inspectionOf = (context: StreamContext, report: StoredReport): Promise<Inspection> => {
  const known = inspections.get(context)
  if (known?.reportId === report.reportId) return known.inspection
  const inspection = inspect(context, report)
  inspections.set(context, { reportId: report.reportId, inspection })
  return inspection
}

/** A row of a report as a record. `end` is where it ends in the file. */
export const recordOf = (
  { month, reportId }: StoredReport,
  { columns, contradictory, skuOfGtin, doubtful }: Inspection,
  cells: readonly string[],
  end: number,
): ParsedRecord<ReportedRow> => {
  const parsed = readRow(month, columns, cells)
  if (doubtful.has(end)) return { ok: false, key: null, fault: doubtfulFault, rawText: parsed.rawText }
  if (!parsed.ok) return parsed
  const { rawText } = parsed
  const sku = skuNamed({ skuOfGtin }, parsed.value.sku)
  const gtin = skuOfGtin === null || parsed.value.gtin === null ? parsed.value.gtin : gtin14(parsed.value.gtin)
  const value = { ...parsed.value, sku, gtin }
  const key = rowKey(month, sku)
  // Which of them is true cannot be known.
  if (contradictory.has(value.sku)) return { ok: false, key, fault: 'the report says two different things of this SKU', rawText }
  return { ok: true, key, rawText, value: { row: value, reportId } }
}
