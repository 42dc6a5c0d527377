import type { ParsedRecord } from '../../../clients/http/record.ts'
import { reconciliationEndpoint } from '../../../clients/marketplace/reports/reconciliation-report.ts'
import {
  isByGtin,
  parseSku,
  previewRow,
  type ReportColumns,
  readHeader,
  readRow,
} from '../../../clients/marketplace/reports/report-csv.ts'
import { createRowSorter, type SortedLine } from '../../../clients/marketplace/reports/report-footer.ts'
import {
  createLineCounter,
  isBlank,
  ReportFault,
  type ReportLine,
  readLines,
} from '../../../clients/marketplace/reports/report-lines.ts'
import { gtin14, rowKey } from '../../../domain/inventory/reconciliation-report.ts'
import type { Database } from '../../../store/db/database.ts'
import { readSkusByGtin } from '../../../store/inventory/inventory-skus.ts'
import type { SkippedLines, StoredReport } from '../../../store/inventory/reconciliation-reports.ts'
import type { ReportedRow } from '../../../store/inventory/reconciliation-rows.ts'
import { readReportFile } from '../../../store/inventory/report-files.ts'
import { rawHash } from '../../../store/versioned/versions.ts'
import type { StreamContext } from '../engine/stream.ts'
import { createReportKeys, type ReportKeys } from './report-keys.ts'

/** Facts about the whole file, needed before a row of it is stored. */
export interface Inspection {
  readonly columns: ReportColumns
  /** Where the first row begins, in bytes. */
  readonly firstRow: number
  /** Line number of the first row. */
  readonly firstRowNumber: number
  readonly rowCount: number
  /** Where the last row ends, in bytes; the lines below it are no rows. */
  readonly rowsEnd: number
  /** Ends of the lines among and below the rows that are no rows, without blank lines. */
  readonly skipped: ReadonlySet<number>
  /** Number of all lines, and of the lines that are no row of their own, by reason. */
  readonly lineCount: number
  readonly skippedLines: SkippedLines
  readonly keys: ReportKeys
  /** SKUs with several different rows. */
  readonly contradictory: ReadonlySet<string>
  /** SKUs whose rows cannot be read. */
  readonly unread: ReadonlySet<string>
  /** Number of rows that cannot be read, with or without a SKU, and the error of the first one. */
  readonly unreadCount: number
  readonly firstFault: string | null
  /** The SKU of each GTIN, in a report whose rows are named by GTIN; null: they are named by SKU. */
  readonly skuOfGtin: ReadonlyMap<string, string> | null
  /** Number of rows without a name. If there are any, not all SKUs are known, and no stored row is marked as missing. */
  readonly namelessCount: number
  /** Number of readable rows of SKUs with several different rows. */
  readonly contradictoryCount: number
  /** Rows that can be parsed but are unreliable, by their end in bytes, with the reason. */
  readonly doubtful: ReadonlyMap<number, Pick<SortedLine, 'sku' | 'fault'>>
}

/** The SKU of a row by its name; for a GTIN without a known SKU the normalized GTIN. */
const findSku = ({ skuOfGtin }: Pick<Inspection, 'skuOfGtin'>, name: string): string =>
  skuOfGtin === null ? name : (skuOfGtin.get(gtin14(name)) ?? gtin14(name))

const inspect = async (context: StreamContext, report: StoredReport): Promise<Inspection> => {
  const { database, client } = context
  const header = await readHeader(readReportFile(database, report), client.of(reconciliationEndpoint).columnNames)
  const { columns, end: firstRow } = header
  const firstRowNumber = header.lines + 1
  const skuOfGtin = isByGtin(columns) ? await readSkusByGtin(database, report.sellerId) : null
  const keys = createReportKeys()
  const unread = new Set<string>()
  const doubtful = new Map<number, Pick<SortedLine, 'sku' | 'fault'>>()
  const skipped = new Set<number>()
  const skippedLines = { header: header.lines, blank: 0, total: 0, text: 0, continued: 0 }
  let found = { rowCount: 0, rowsEnd: firstRow, namelessCount: 0, unreadCount: 0 }
  let firstFault: string | null = null
  const note = ({ line, sku: name, fault, isDoubtful, skipped: reason }: SortedLine): void => {
    const end = firstRow + line.end
    skippedLines.continued += line.lines - 1
    if (reason !== null) {
      skippedLines[reason] += 1
      if (reason !== 'blank') skipped.add(end)
      return
    }
    const { rowCount, rowsEnd, namelessCount, unreadCount } = found
    if (isDoubtful) doubtful.set(end, { sku: name, fault })
    if (name !== null) {
      const sku = findSku({ skuOfGtin }, name)
      keys.add(sku)
      if (fault !== null) unread.add(sku)
    }
    firstFault ??= fault === null ? null : `${fault} (line ${line.number})`
    found = {
      rowCount: rowCount + 1,
      rowsEnd: Math.max(rowsEnd, end),
      namelessCount: namelessCount + (name === null ? 1 : 0),
      unreadCount: unreadCount + (fault === null ? 0 : 1),
    }
  }
  const sorter = createRowSorter((cells) => previewRow(columns, cells))
  const counter = createLineCounter()
  const bytes = counter.through(readReportFile(database, report, firstRow))
  for await (const line of readLines(bytes, columns, firstRowNumber)) sorter.next(line).forEach(note)
  sorter.close().forEach(note)
  const lineCount = header.lines + counter.count()
  const accounted = found.rowCount + Object.values(skippedLines).reduce((sum, count) => sum + count, 0)
  if (accounted !== lineCount) throw new ReportFault(`it has ${lineCount} lines, but ${accounted} were read or skipped`)
  const known = keys.close()
  const place = { columns, firstRow, keys: known, skuOfGtin, doubtful }
  const { contradictory, contradictoryCount } = known.anyRepeated
    ? await findContradictory(context, report, place)
    : { contradictory: new Set<string>(), contradictoryCount: 0 }
  return {
    ...{ columns, firstRow, firstRowNumber, ...found, skipped, lineCount, skippedLines },
    ...{ keys: known, contradictory, contradictoryCount, unread, firstFault, skuOfGtin, doubtful },
  }
}

/** Finds SKUs with different rows, which contradict each other. Identical rows are duplicates (as in lists: public facts, section 2.2). */
const findContradictory = async (
  { database }: StreamContext,
  report: StoredReport,
  { columns, firstRow, keys, skuOfGtin, doubtful }: Pick<Inspection, 'columns' | 'firstRow' | 'keys' | 'skuOfGtin' | 'doubtful'>,
): Promise<Pick<Inspection, 'contradictory' | 'contradictoryCount'>> => {
  const texts = new Map<string, { readonly hash: string; readable: number }>()
  const contradictory = new Set<string>()
  for await (const { cells, end } of readLines(readReportFile(database, report, firstRow), columns)) {
    const name = parseSku(columns, cells)
    const sku = name === null ? null : findSku({ skuOfGtin }, name)
    if (sku === null || !keys.isRepeated(sku)) continue
    const record = readRow(report.month, columns, cells)
    const hash = rawHash(record.rawText)
    const known = texts.get(sku) ?? { hash, readable: 0 }
    if (known.hash !== hash) contradictory.add(sku)
    if (record.ok && !doubtful.has(firstRow + end)) known.readable += 1
    texts.set(sku, known)
  }
  const contradictoryCount = [...contradictory].reduce((sum, sku) => sum + (texts.get(sku)?.readable ?? 0), 0)
  return { contradictory, contradictoryCount }
}

/** Reports whose inspections a process keeps between the runs of their imports: eight bytes for each SKU. */
const maxKept = 24

interface Kept {
  readonly reportId: bigint
  readonly inspection: Promise<Inspection>
}

const ofRuns = new WeakMap<StreamContext, Kept>()
// A run ends after its turn, and inspecting a large file takes longer than a turn on a busy machine: the next run uses the same inspection.
const betweenRuns = new WeakMap<Database, Map<bigint, Kept>>()

const keep = (database: Database, kept: Kept): void => {
  const reports = betweenRuns.get(database) ?? new Map<bigint, Kept>()
  betweenRuns.set(database, reports)
  reports.delete(kept.reportId)
  reports.set(kept.reportId, kept)
  const [oldest] = reports.keys()
  if (reports.size > maxKept && oldest !== undefined) reports.delete(oldest)
}

/** Removes the inspection of a report whose import ends. */
export const forgetInspection = ({ database }: StreamContext, { reportId }: StoredReport): void => {
  betweenRuns.get(database)?.delete(reportId)
}

/** Inspects a report, once for all runs of its import in this process. */
export const readInspection = async (context: StreamContext, report: StoredReport): Promise<Inspection> => {
  const { reportId } = report
  const known = ofRuns.get(context)
  if (known?.reportId === reportId) return known.inspection
  const kept = betweenRuns.get(context.database)?.get(reportId) ?? { reportId, inspection: inspect(context, report) }
  ofRuns.set(context, kept)
  keep(context.database, kept)
  try {
    return await kept.inspection
  } catch (error) {
    // The next run inspects it again.
    forgetInspection(context, report)
    throw error
  }
}

/** A row of a report as a record; null for a line that is no row. `end`: where it ends in the file, in bytes. */
export const findRecord = (
  report: StoredReport,
  inspection: Pick<Inspection, 'columns' | 'contradictory' | 'skuOfGtin' | 'doubtful' | 'skipped'>,
  { cells, number }: ReportLine,
  end: number,
): ParsedRecord<ReportedRow> | null => {
  if (isBlank(cells) || inspection.skipped.has(end)) return null
  const record = rowRecord(report, inspection, cells, end)
  return record.ok ? record : { ...record, fault: `${record.fault} (line ${number})` }
}

const rowRecord = (
  { month, reportId }: StoredReport,
  { columns, contradictory, skuOfGtin, doubtful }: Pick<Inspection, 'columns' | 'contradictory' | 'skuOfGtin' | 'doubtful'>,
  cells: readonly string[],
  end: number,
): ParsedRecord<ReportedRow> => {
  const parsed = readRow(month, columns, cells)
  const { rawText } = parsed
  const doubt = doubtful.get(end)
  if (doubt !== undefined) {
    const key = doubt.sku === null ? null : rowKey(month, findSku({ skuOfGtin }, doubt.sku))
    return { ok: false, key, fault: doubt.fault ?? '', rawText }
  }
  if (!parsed.ok) return parsed
  const sku = findSku({ skuOfGtin }, parsed.value.sku)
  const gtin = skuOfGtin === null || parsed.value.gtin === null ? parsed.value.gtin : gtin14(parsed.value.gtin)
  const value = { ...parsed.value, sku, gtin }
  const key = rowKey(month, sku)
  // It is unknown which row is right.
  if (contradictory.has(value.sku)) return { ok: false, key, fault: 'the report has different rows for this SKU', rawText }
  return { ok: true, key, rawText, value: { row: value, reportId } }
}
