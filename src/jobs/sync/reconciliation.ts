import type { Endpoint } from '../../clients/endpoint.ts'
import { type ReconciliationClient, reconciliationEndpoint } from '../../clients/marketplace/reconciliation-report.ts'
import { ReportFault, readLines } from '../../clients/marketplace/report-csv.ts'
import type { ParsedRecord } from '../../clients/record.ts'
import type { Calendar } from '../../domain/calendar.ts'
import { gtin14, rowKey } from '../../domain/reconciliation-report.ts'
import { reportSchedule, unknownMonth } from '../../domain/report-schedule.ts'
import type { TimeWindow } from '../../domain/windows.ts'
import { reviewDiscrepancies } from '../../store/discrepancies.ts'
import {
  findReport,
  finishReport,
  importedBefore,
  knownReportMonths,
  type StoredReport,
  setFaulty,
  setOutdated,
  waitingReport,
} from '../../store/reconciliation-reports.ts'
import {
  findDifferingRows,
  hasUnreadSkus,
  noteGoneRows,
  noteUnreadSkus,
  type ReportedRow,
  removeRenamedRows,
  renameKnownRows,
  skusOfMonth,
  storeDifferingRows,
  unlistedSkus,
} from '../../store/reconciliation-rows.ts'
import { readReportFile } from '../../store/report-files.ts'
import { type Begun, type Imported, imports } from './imports.ts'
import { type Inspection, inspectionOf, recordOf } from './report-inspection.ts'
import { type Obtain, obtainAsked, obtainDue } from './report-retrieval.ts'
import { resource } from './resource.ts'
import type { ImportStream, StreamContext } from './stream.ts'

// A report goes through three stages, each on its own after a crash: its file is downloaded into the database (so that the marketplace is not
// asked again within the hour), its rows are read from there page by page, and once all are stored it is finished: rows that it is
// without are marked, what is judged by how far the report counts is judged again, and so is what it has no row of.

const rowsPerPage = 1_000
const skusPerLook = 10_000

/** `rows` from a byte of the file, stored rows that are `gone` after a SKU, `review` after a SKU, `unlisted` SKUs after one. */
type Step = 'rows' | 'gone' | 'review' | 'unlisted'

type ImportedRows = Imported<ReportedRow, Step>

/** Rows from a byte of the file on. */
const rowsFrom = async (context: StreamContext, report: StoredReport, after: string): Promise<ImportedRows> => {
  const from = Number(after)
  const inspection = await inspectionOf(context, report)
  const records: ParsedRecord<ReportedRow>[] = []
  let end = from
  for await (const line of readLines(readReportFile(context.database, report, from), inspection.columns)) {
    if (from + line.end > inspection.rowsEnd) break
    end = from + line.end
    records.push(recordOf(report, inspection, line.cells, end))
    if (records.length === rowsPerPage) break
  }
  const last = records.length < rowsPerPage
  return { records, next: last ? { step: 'gone', after: '' } : { step: 'rows', after: String(end) } }
}

/** What of the stored rows the report is without. */
interface Absent {
  readonly missing: readonly string[]
  readonly renamed: readonly string[]
  /** Nobody knows whether it is without them. */
  readonly unknown: readonly string[]
}

/** The last step of the import; what is judged by how far the report counts comes after it. */
const finish = async (
  context: StreamContext,
  report: StoredReport,
  { missing, renamed, unknown }: Absent,
  { rowCount, footerCount, namelessCount, unread, contradictory, skuOfGtin }: Inspection,
): Promise<ImportedRows> => {
  const { sellerId, month } = report
  const before = await importedBefore(context.database, report)
  // Rows that the report has not changed were judged up to where its predecessor counted, or not at all where that could not be read.
  const countsFurther = before !== null && before.coveredUntil.getTime() !== report.coveredUntil.getTime()
  const reviewsAll = countsFurther || (await hasUnreadSkus(context.database, sellerId, month))
  return {
    keys: { missing },
    next: { step: reviewsAll ? 'review' : 'unlisted', after: '' },
    alongside: async (tx) => {
      if (renamed.length > 0) await removeRenamedRows(tx, sellerId, month, renamed)
      await noteUnreadSkus(tx, report, [...new Set([...unread, ...contradictory, ...unknown])])
      await finishReport(tx, report, { rowCount, footerCount, namelessCount, byGtin: skuOfGtin !== null })
      if (skuOfGtin !== null) await renameKnownRows(tx, sellerId)
    },
  }
}

/** Rows that are stored and that the file does not name. */
const rowsNotNamed = async (context: StreamContext, report: StoredReport, { keys }: Inspection): Promise<readonly string[]> => {
  const absent: string[] = []
  for (let last = ''; ; ) {
    const skus = await skusOfMonth(context.database, report.sellerId, report.month, last, skusPerLook)
    absent.push(...skus.filter((sku) => !keys.has(sku)))
    if (skus.length < skusPerLook) return absent
    last = skus.at(-1) ?? last
  }
}

/** Marks stored rows that the report is without. */
const goneAfter = async (context: StreamContext, report: StoredReport, after: string): Promise<ImportedRows> => {
  const { database } = context
  const { sellerId, month } = report
  const inspection = await inspectionOf(context, report)
  if (inspection.namelessCount > 0) {
    const unknown = await rowsNotNamed(context, report, inspection)
    return finish(context, report, { missing: [], renamed: [], unknown }, inspection)
  }
  const missing: string[] = []
  const renamed: string[] = []
  for (let last = after; ; ) {
    const skus = await skusOfMonth(database, sellerId, month, last, skusPerLook)
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
          alongside: (tx) => removeRenamedRows(tx, sellerId, month, renamed),
        }
      }
    }
    if (skus.length < skusPerLook) return finish(context, report, { missing, renamed, unknown: [] }, inspection)
  }
}

/** Judges rows of the month again by how far the report counts. */
const reviewAfter = async (
  { database }: StreamContext,
  { sellerId, month }: StoredReport,
  after: string,
): Promise<ImportedRows> => {
  const skus = await skusOfMonth(database, sellerId, month, after, rowsPerPage)
  const last = skus.at(-1)
  const pairs = skus.map((sku) => ({ sku, month }))
  return {
    next: last === undefined || skus.length < rowsPerPage ? { step: 'unlisted', after: '' } : { step: 'review', after: last },
    alongside: async (tx) => void (await reviewDiscrepancies(tx, sellerId, pairs)),
  }
}

/** What the report is without is part of what it says: that nothing of such SKUs moved, and that they kept their stock. */
const unlistedAfter = async (
  { database }: StreamContext,
  { sellerId, month }: StoredReport,
  after: string,
): Promise<ImportedRows> => {
  const { skus, next } = await unlistedSkus(database, sellerId, month, after)
  const pairs = skus.map((sku) => ({ sku, month }))
  return {
    next: next === null ? null : { step: 'unlisted', after: next },
    alongside: async (tx) => void (await reviewDiscrepancies(tx, sellerId, pairs)),
  }
}

/** Begins the import of a report that is here, unless it cannot be read or has nothing new. */
const begin = async (context: StreamContext, report: StoredReport): Promise<Begun<StoredReport, Step>> => {
  const { database } = context
  const { sellerId, month } = report
  const before = await importedBefore(database, report)
  if (before !== null && before.generatedAt > report.generatedAt) {
    return { nothing: 'answered', alongside: (tx) => setOutdated(tx, report) }
  }
  const faulty = (fault: string): Begun<StoredReport, Step> => ({
    nothing: 'answered',
    alongside: (tx) => setFaulty(tx, report, fault),
  })
  try {
    const { rowCount, firstRow, unreadCount, firstFault } = await inspectionOf(context, report)
    // A whole month does not vanish: rather the file is at fault.
    if (rowCount === 0 && (await skusOfMonth(database, sellerId, month, '', 1)).length > 0) {
      return faulty('it has no rows, where earlier ones had some')
    }
    // Rather it is written in a way that nobody knows.
    if (unreadCount * 2 > rowCount)
      return faulty(`${unreadCount} of its ${rowCount} rows cannot be read, the first for: ${firstFault}`)
    return { subject: report, from: { step: 'rows', after: String(firstRow) } }
  } catch (error) {
    if (error instanceof ReportFault) return faulty(error.message)
    throw error
  }
}

/** How the reports of months are imported; they differ in what is planned, and in how a month is asked for. */
const importOf = (
  obtain: Obtain,
  { plan, reach }: Pick<ImportStream<ReportedRow>, 'plan'> & Partial<Pick<ImportStream<ReportedRow>, 'reach'>>,
): ImportStream<ReportedRow> =>
  imports({
    operation: reconciliationEndpoint.operations.report,
    plan,
    ...(reach === undefined ? {} : { reach }),
    begin: async (context, { from }, options) => {
      const { client, database } = context
      const key = { sellerId: client.sellerId, month: client.vocabulary.calendar.monthOf(from) }
      const waiting = await waitingReport(database, key)
      if (waiting !== null) return begin(context, waiting)
      const [known = unknownMonth(key.month)] = await knownReportMonths(database, key.sellerId, key.month)
      const report = await obtain(context, key, known, options)
      if (report === null) return { nothing: 'answered' }
      // Somebody else does it, or it is not due any more.
      if (report === 'not asked') return { nothing: 'not asked' }
      return 'waitUntil' in report ? report : begin(context, report)
    },
    identify: ({ reportId, retrievedAt }) => ({ id: String(reportId), observedAt: retrievedAt }),
    find: async ({ database }, id, step) => {
      const report = await findReport(database, BigInt(id))
      // Somebody else has brought it to its end.
      if (report?.imported === true && (step === 'rows' || step === 'gone')) return null
      return report
    },
    // Rows are read from the file.
    ahead: ['rows'],
    steps: { rows: rowsFrom, gone: goneAfter, review: reviewAfter, unlisted: unlistedAfter },
  })

const windowsOf = (months: readonly string[], { monthBounds }: Calendar): readonly TimeWindow[] =>
  months.map((month) => monthBounds(month))

/** The report of each month for which a new one can be there (see domain/report-schedule). */
const reports = importOf(obtainDue, {
  plan: async ({ client, database }) => {
    const known = await knownReportMonths(database, client.sellerId)
    const { calendar } = client.vocabulary
    const due = reportSchedule(calendar).dueMonths(known, client.clock().now())
    return windowsOf(due, calendar).map((window) => ({ ...window, part: null }))
  },
})

/** The report of each month of a range that someone asked for, whether or not it can have changed. */
const asked = importOf(obtainAsked, {
  plan: () => [],
  reach: ({ client }, window) => (reportSchedule(client.vocabulary.calendar).rangeBeforeReports(window) === null ? window : null),
})

/** A row that is read by itself, from quarantine, is of no report. */
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
  poll: { variable: 'POLL_RECONCILIATION', ordinaryMs: 900_000, demonstrationMs: 60_000 },
  enrolment: 'needed',
  streams: { reports },
  past: {
    stream: asked,
    // What lies before the first report is a window too, so that it is reported as out of reach.
    windows: (range, { calendar }) => {
      const { rangeBeforeReports, reportMonths } = reportSchedule(calendar)
      const before = rangeBeforeReports(range)
      const months = windowsOf(reportMonths(range), calendar)
      return before === null ? months : [before, ...months]
    },
  },
  table: {
    findDiffering: findDifferingRows,
    store: storeDifferingRows,
    noteMissing: noteGoneRows,
  },
})
