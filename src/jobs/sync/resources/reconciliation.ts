import type { Endpoint } from '../../../clients/http/endpoint.ts'
import type { ParsedRecord } from '../../../clients/http/record.ts'
import { type ReconciliationClient, reconciliationEndpoint } from '../../../clients/marketplace/reports/reconciliation-report.ts'
import { ReportFault, readLines } from '../../../clients/marketplace/reports/report-lines.ts'
import type { ReportRequests } from '../../../clients/marketplace/reports/report-requests.ts'
import { gtin14, rowKey } from '../../../domain/inventory/reconciliation-report.ts'
import { type ReportMonth, reportSchedule, unknownMonth } from '../../../domain/inventory/report-schedule.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import type { TimeWindow } from '../../../domain/sync/windows.ts'
import type { Calendar } from '../../../domain/values/calendar.ts'
import { awaitsNewerReport } from '../../../store/inventory/claim-rows.ts'
import { reviewDiscrepancies } from '../../../store/inventory/discrepancies.ts'
import {
  findOtherImport,
  findReport,
  findWaitingReport,
  finishReport,
  markFaulty,
  markOutdated,
  readReportMonths,
  type StoredReport,
} from '../../../store/inventory/reconciliation-reports.ts'
import {
  findDifferingRows,
  findUnlistedSkus,
  hasUnreadSkus,
  listMonthSkus,
  markMissingRows,
  type ReportedRow,
  recordUnreadSkus,
  removeRenamedRows,
  renameKnownRows,
  storeDifferingRows,
} from '../../../store/inventory/reconciliation-rows.ts'
import { readReportFile } from '../../../store/inventory/report-files.ts'
import { type Begun, type Imported, imports } from '../engine/import-stream.ts'
import { resource } from '../engine/resource.ts'
import type { ImportStream, StreamContext } from '../engine/stream.ts'
import { findRecord, forgetInspection, type Inspection, readInspection } from './report-inspection.ts'
import { type Retrieve, retrieveDue, retrieveRequested } from './report-retrieval.ts'
import { advanceDue, advanceRequested } from './requested-report.ts'

// A report has three stages, each of which can be repeated after a crash. Its file is downloaded into the database, so that the marketplace is not asked
// again within the hour. Its rows are read from there page by page. Once all are stored it is finished: stored rows that it lacks are marked,
// discrepancies that depend on the time it covers are reviewed again, and so are SKUs without a row.

const rowsPerPage = 1_000
const skusPerQuery = 10_000

/** `rows` from a byte of the file; stored rows that are `gone`, rows to `review`, and `unlisted` SKUs, each after a SKU. */
type Step = 'rows' | 'gone' | 'review' | 'unlisted'

type ImportedRows = Imported<ReportedRow, Step>

/** Place of the import among the rows: the next byte and line, and the number of rows stored or quarantined before. */
interface RowPlace {
  readonly byte: number
  readonly line: number
  readonly rows: number
  readonly unread: number
}

const placeText = ({ byte, line, rows, unread }: RowPlace): string => [byte, line, rows, unread].join(' ')

/** Parses a place of {@link placeText}. A place of an earlier version, a byte only, restarts at the first row. */
const parseRowPlace = (text: string, { firstRow, firstRowNumber }: Inspection): RowPlace => {
  const [byte, line, rows, unread] = text.split(' ').map(Number)
  if (byte === undefined || line === undefined || rows === undefined || unread === undefined)
    return { byte: firstRow, line: firstRowNumber, rows: 0, unread: 0 }
  return { byte, line, rows, unread }
}

/** Reads rows from a place in the file. After the last one, the number of rows stored or quarantined must match the file. */
const rowsFrom = async (context: StreamContext, report: StoredReport, after: string): Promise<ImportedRows> => {
  const inspection = await readInspection(context, report)
  const from = parseRowPlace(after, inspection)
  const records: ParsedRecord<ReportedRow>[] = []
  let { byte, line: nextLine } = from
  for await (const line of readLines(readReportFile(context.database, report, from.byte), inspection.columns, from.line)) {
    const end = from.byte + line.end
    if (end > inspection.rowsEnd) break
    byte = end
    nextLine = line.number + line.lines
    const record = findRecord(report, inspection, line, end)
    if (record !== null) records.push(record)
    if (records.length === rowsPerPage) break
  }
  const rows = from.rows + records.length
  const unread = from.unread + records.filter(({ ok }) => !ok).length
  if (records.length === rowsPerPage)
    return { records, next: { step: 'rows', after: placeText({ byte, line: nextLine, rows, unread }) } }
  const { rowCount, unreadCount, contradictoryCount } = inspection
  if (rows === rowCount && unread === unreadCount + contradictoryCount) return { records, next: { step: 'gone', after: '' } }
  forgetInspection(context, report)
  const fault = `${rows} of its ${rowCount} rows were read, and ${unread} of them quarantined, but ${unreadCount + contradictoryCount} were expected in quarantine`
  return { records, next: null, inSameTransaction: (tx) => markFaulty(tx, report, fault) }
}

/** Stored rows that the report lacks. */
interface Absent {
  readonly missing: readonly string[]
  readonly renamed: readonly string[]
  /** It is unknown whether the report lacks them. */
  readonly unknown: readonly string[]
}

/** The last step of the import, before discrepancies are reviewed. */
const finish = async (
  context: StreamContext,
  report: StoredReport,
  { missing, renamed, unknown }: Absent,
  inspection: Inspection,
): Promise<ImportedRows> => {
  const { sellerId, month } = report
  const { rowCount, namelessCount, unread, contradictory, skuOfGtin, lineCount, skippedLines, columns } = inspection
  const unreadCount = inspection.unreadCount + inspection.contradictoryCount
  const before = await findOtherImport(context.database, report)
  // Unchanged rows were reviewed for the time that the previous report covers, or not at all if it could not be read.
  forgetInspection(context, report)
  const coversOtherTime = before !== null && before.coveredUntil.getTime() !== report.coveredUntil.getTime()
  const reviewsAll =
    coversOtherTime ||
    (await hasUnreadSkus(context.database, sellerId, month)) ||
    (await awaitsNewerReport(context.database, sellerId, month))
  return {
    keys: { missing },
    next: { step: reviewsAll ? 'review' : 'unlisted', after: '' },
    inSameTransaction: async (tx) => {
      if (renamed.length > 0) await removeRenamedRows(tx, sellerId, month, renamed)
      await recordUnreadSkus(tx, report, [...new Set([...unread, ...contradictory, ...unknown])])
      const counts = { rowCount, unreadCount, namelessCount, lineCount, skippedLines, headers: columns.headers }
      await finishReport(tx, report, { ...counts, byGtin: skuOfGtin !== null })
      if (skuOfGtin !== null) await renameKnownRows(tx, sellerId)
    },
  }
}

/** Finds stored rows that the file does not name. */
const findUnnamedRows = async (
  context: StreamContext,
  report: StoredReport,
  { keys }: Inspection,
): Promise<readonly string[]> => {
  const absent: string[] = []
  for (let last = ''; ; ) {
    const skus = await listMonthSkus(context.database, report.sellerId, report.month, last, skusPerQuery)
    absent.push(...skus.filter((sku) => !keys.has(sku)))
    if (skus.length < skusPerQuery) return absent
    last = skus.at(-1) ?? last
  }
}

/** Marks stored rows that the report lacks. */
const goneAfter = async (context: StreamContext, report: StoredReport, after: string): Promise<ImportedRows> => {
  const { database } = context
  const { sellerId, month } = report
  const inspection = await readInspection(context, report)
  if (inspection.namelessCount > 0) {
    const unknown = await findUnnamedRows(context, report, inspection)
    return finish(context, report, { missing: [], renamed: [], unknown }, inspection)
  }
  const missing: string[] = []
  const renamed: string[] = []
  for (let last = after; ; ) {
    const skus = await listMonthSkus(database, sellerId, month, last, skusPerQuery)
    for (const sku of skus) {
      last = sku
      if (inspection.keys.has(sku)) continue
      const { skuOfGtin } = inspection
      if (skuOfGtin !== null && (skuOfGtin.has(gtin14(sku)) || inspection.keys.has(gtin14(sku)))) renamed.push(sku)
      else missing.push(rowKey(month, sku))
      if (missing.length + renamed.length === rowsPerPage) {
        return {
          keys: { missing },
          next: { step: 'gone', after: last },
          inSameTransaction: (tx) => removeRenamedRows(tx, sellerId, month, renamed),
        }
      }
    }
    if (skus.length < skusPerQuery) return finish(context, report, { missing, renamed, unknown: [] }, inspection)
  }
}

/** Reviews rows of the month again for the time that the report covers. */
const reviewAfter = async (
  { database }: StreamContext,
  { sellerId, month }: StoredReport,
  after: string,
): Promise<ImportedRows> => {
  const skus = await listMonthSkus(database, sellerId, month, after, rowsPerPage)
  const last = skus.at(-1)
  const pairs = skus.map((sku) => ({ sku, month }))
  return {
    next: last === undefined || skus.length < rowsPerPage ? { step: 'unlisted', after: '' } : { step: 'review', after: last },
    inSameTransaction: async (tx) => void (await reviewDiscrepancies(tx, sellerId, pairs)),
  }
}

/** Reviews SKUs without a row: for the report their stock did not change. */
const unlistedAfter = async (
  { database }: StreamContext,
  { sellerId, month }: StoredReport,
  after: string,
): Promise<ImportedRows> => {
  const { skus, next } = await findUnlistedSkus(database, sellerId, month, after)
  const pairs = skus.map((sku) => ({ sku, month }))
  return {
    next: next === null ? null : { step: 'unlisted', after: next },
    inSameTransaction: async (tx) => void (await reviewDiscrepancies(tx, sellerId, pairs)),
  }
}

/** Begins the import of a downloaded report, unless it cannot be read or has nothing new. */
const begin = async (context: StreamContext, report: StoredReport): Promise<Begun<StoredReport, Step>> => {
  const { database } = context
  const { sellerId, month } = report
  const before = await findOtherImport(database, report)
  if (before !== null && before.generatedAt > report.generatedAt) {
    return { nothing: 'answered', inSameTransaction: (tx) => markOutdated(tx, report) }
  }
  const faulty = (fault: string): Begun<StoredReport, Step> => {
    forgetInspection(context, report)
    return { nothing: 'answered', inSameTransaction: (tx) => markFaulty(tx, report, fault) }
  }
  try {
    const { rowCount, firstRow, firstRowNumber, unreadCount, firstFault } = await readInspection(context, report)
    // A whole month does not disappear; more likely the file is faulty.
    if (rowCount === 0 && (await listMonthSkus(database, sellerId, month, '', 1)).length > 0) {
      return faulty('it has no rows, although earlier reports of the month had some')
    }
    // More likely its format is unknown.
    if (unreadCount * 2 > rowCount)
      return faulty(`${unreadCount} of its ${rowCount} rows cannot be read; the first error: ${firstFault}`)
    const start = placeText({ byte: firstRow, line: firstRowNumber, rows: 0, unread: 0 })
    return { subject: report, from: { step: 'rows', after: start } }
  } catch (error) {
    if (error instanceof ReportFault) return faulty(error.message)
    throw error
  }
}

/** The months of a seller. Requests count only where the profile still requests reports. */
const readMonths = async ({ client, database }: StreamContext, month: string | null = null): Promise<readonly ReportMonth[]> => {
  const months = await readReportMonths(database, client.sellerId, month)
  const { requests } = client.of(reconciliationEndpoint)
  return requests === null ? months.map((known) => ({ ...known, requested: null })) : months
}

/** Retrieves a report in the way of the profile: as a file, or on request. */
const retrieveBy =
  (direct: Retrieve, onRequest: (requests: ReportRequests) => Retrieve): Retrieve =>
  (context, ...rest) => {
    const { requests } = context.client.of(reconciliationEndpoint)
    return (requests === null ? direct : onRequest(requests))(context, ...rest)
  }

/** The import of monthly reports. Streams differ in their plan and in how a report is retrieved. */
const buildImport = (
  retrieve: Retrieve,
  { plan, reach }: Pick<ImportStream<ReportedRow>, 'plan'> & Partial<Pick<ImportStream<ReportedRow>, 'reach'>>,
): ImportStream<ReportedRow> =>
  imports({
    operation: reconciliationEndpoint.operations.report,
    plan,
    ...(reach === undefined ? {} : { reach }),
    begin: async (context, { from }, options) => {
      const { client, database } = context
      const key = { sellerId: client.sellerId, month: client.vocabulary.calendar.formatMonth(from) }
      // Read before the waiting report: one that another process completes in between is found, and is not requested again.
      const [known = unknownMonth(key.month)] = await readMonths(context, key.month)
      const waiting = await findWaitingReport(database, key)
      if (waiting !== null) return begin(context, waiting)
      const report = await retrieve(context, key, { ...known, waiting: false }, options)
      if (report === null) return { nothing: 'answered' }
      // Another process retrieves it, it is no longer due, or the marketplace has not generated it yet.
      if (report === 'not asked') return { nothing: 'not asked' }
      return 'waitUntil' in report ? report : begin(context, report)
    },
    identify: ({ reportId, retrievedAt }) => ({ id: String(reportId), observedAt: retrievedAt }),
    find: async ({ database }, id, step) => {
      const report = await findReport(database, BigInt(id))
      // Another process has finished it.
      if (report?.imported === true && (step === 'rows' || step === 'gone')) return null
      return report
    },
    // Rows are read from the file, and do not depend on stored rows.
    ahead: ['rows'],
    steps: { rows: rowsFrom, gone: goneAfter, review: reviewAfter, unlisted: unlistedAfter },
  })

const listWindows = (months: readonly string[], { monthBounds }: Calendar): readonly TimeWindow[] =>
  months.map((month) => monthBounds(month))

/** The report of each month that may have a new one (see domain/inventory/report-schedule.ts). */
const reports = buildImport(retrieveBy(retrieveDue, advanceDue), {
  plan: async (context) => {
    const { client } = context
    const known = await readMonths(context)
    const { calendar } = client.vocabulary
    const due = reportSchedule(calendar).dueMonths(known, client.clock().now())
    return listWindows(due, calendar).map((window) => ({ ...window, part: null }))
  },
})

/** The report of each month of a requested range, even if it cannot have changed. */
const requested = buildImport(retrieveBy(retrieveRequested, advanceRequested), {
  plan: () => [],
  reach: ({ client }, window) => (reportSchedule(client.vocabulary.calendar).rangeBeforeReports(window) === null ? window : null),
})

/** A row that is replayed from quarantine belongs to no report. */
const endpoint: Endpoint<ReconciliationClient, ReportedRow> = {
  ...reconciliationEndpoint,
  read: (rawText) => {
    const parsed = reconciliationEndpoint.read(rawText)
    return parsed.ok ? { ...parsed, value: { row: parsed.value, reportId: null } } : parsed
  },
}

/** The inventory reconciliation report: daily for months that may still change, by month for a range. */
export const reconciliation = resource({
  name: 'reconciliation',
  endpoint,
  poll: pollIntervals.reconciliation,
  enrolment: 'needed',
  streams: { reports },
  backfill: {
    stream: requested,
    // The time before the first report is a window too, so that it is reported as out of reach.
    windows: (range, { calendar }) => {
      const { rangeBeforeReports, reportMonths } = reportSchedule(calendar)
      const before = rangeBeforeReports(range)
      const months = listWindows(reportMonths(range), calendar)
      return before === null ? months : [before, ...months]
    },
  },
  table: {
    findDiffering: findDifferingRows,
    store: storeDifferingRows,
    noteMissing: markMissingRows,
  },
})
