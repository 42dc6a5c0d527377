import { MarketplaceFailure, Refused, Throttled } from '../../clients/errors.ts'
import type { CallOptions, ParsedRecord } from '../../clients/interface.ts'
import {
  isByGtin,
  lookAtRow,
  parseReportRow,
  type ReportColumns,
  ReportFault,
  readHeader,
  readLines,
  readRow,
  skuOf,
} from '../../clients/marketplace/report-csv.ts'
import { createRowSorter, type LookedAt } from '../../clients/marketplace/report-footer.ts'
import { monthBounds, pacificMonth } from '../../domain/pacific-time.ts'
import { gtin14, rowKey } from '../../domain/reconciliation-report.ts'
import {
  dueMonths,
  isDue,
  isReported,
  type ReportMonth,
  rangeBeforeReports,
  reportMonths,
  retrievalPauseEnd,
  unknownMonth,
} from '../../domain/report-schedule.ts'
import type { Transaction } from '../../store/database.ts'
import { reviewDiscrepancies } from '../../store/discrepancies.ts'
import { skusByGtin } from '../../store/inventory-skus.ts'
import {
  beginReport,
  claimTry,
  completeReport,
  failuresToTell,
  findReport,
  finishReport,
  hasImportedReport,
  importedBefore,
  knownReportMonths,
  releaseTry,
  removeReport,
  type SellerMonth,
  type StoredReport,
  setFaulty,
  setOutdated,
  settleTry,
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
import { readReportFile, writeReportFile } from '../../store/report-files.ts'
import { rawHash } from '../../store/versions.ts'
import {
  backfillPrefix,
  type FetchedPage,
  NotEnrolled,
  type StreamContext,
  type SyncDefinition,
  type SyncStream,
} from './definition.ts'
import { createReportKeys, type ReportKeys } from './report-keys.ts'

// A report goes through three steps, each on its own after a crash: its file is downloaded into the database (so that the marketplace is not
// asked again within the hour), its rows are read from there page by page, and once all are stored it is finished: rows that it is
// without are marked, what is judged by how far the report counts is judged anew, and so is what it has no row of.

const rowsPerPage = 1_000
const skusPerLook = 10_000

// ── cursors ──────────────────────────────────────────────────────────────────────────────────────────────

/** `rows` from a byte of the file, stored rows that are `gone` after a SKU, `review` after a SKU, `unlisted` SKUs after one. */
type Step = 'rows' | 'gone' | 'review' | 'unlisted'

const cursorTo = (step: Step, { reportId }: StoredReport, after: string | number): string => `${step}:${reportId}:${after}`

const readCursor = (cursor: string): { readonly step: string; readonly reportId: bigint; readonly after: string } => {
  const [, step = '', id = '', after = ''] = /^(\w+):(\d+):(.*)$/s.exec(cursor) ?? []
  return { step, reportId: BigInt(id), after }
}

// ── pages ────────────────────────────────────────────────────────────────────────────────────────────────

type ReportPage = FetchedPage<ReportedRow>

const pageOf = ({ client }: StreamContext, observedAt: Date, page: Partial<ReportPage>): ReportPage => ({
  records: [],
  totalCount: null,
  nextCursor: null,
  observedAt,
  marketplaceNow: client.clock().now(),
  correlationId: 'none',
  ...page,
})

/** Nothing was asked: somebody else does it, or it is not due any more. */
const nothing = (context: StreamContext): ReportPage => pageOf(context, context.client.clock().now(), { unasked: true })

/** What has to be known of all of a file before a row of it is stored. */
interface Inspection {
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
  const { columns, end: firstRow } = await readHeader(readReportFile(database, report), client.reconciliation.columnNames)
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

const inspectionOf = (context: StreamContext, report: StoredReport): Promise<Inspection> => {
  const known = inspections.get(context)
  if (known?.reportId === report.reportId) return known.inspection
  const inspection = inspect(context, report)
  inspections.set(context, { reportId: report.reportId, inspection })
  return inspection
}

const recordOf = (
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

const rowsFrom = async (context: StreamContext, report: StoredReport, from: number): Promise<ReportPage> => {
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
  return pageOf(context, report.retrievedAt, {
    records,
    totalCount: inspection.rowCount,
    nextCursor: last ? cursorTo('gone', report, '') : cursorTo('rows', report, end),
  })
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
): Promise<ReportPage> => {
  const { sellerId, month } = report
  const before = await importedBefore(context.database, report)
  // Rows that the report has not changed were judged up to where its predecessor counted, or not at all where that could not be read.
  const countsFurther = before !== null && before.coveredUntil.getTime() !== report.coveredUntil.getTime()
  const reviewsAll = countsFurther || (await hasUnreadSkus(context.database, sellerId, month))
  return pageOf(context, report.retrievedAt, {
    missing,
    nextCursor: cursorTo(reviewsAll ? 'review' : 'unlisted', report, ''),
    alongside: async (tx) => {
      if (renamed.length > 0) await removeRenamedRows(tx, sellerId, month, renamed)
      await noteUnreadSkus(tx, report, [...new Set([...unread, ...contradictory, ...unknown])])
      await finishReport(tx, report, { rowCount, footerCount, namelessCount, byGtin: skuOfGtin !== null })
      if (skuOfGtin !== null) await renameKnownRows(tx, sellerId)
    },
  })
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

const goneAfter = async (context: StreamContext, report: StoredReport, after: string): Promise<ReportPage> => {
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
        return pageOf(context, report.retrievedAt, {
          missing,
          nextCursor: cursorTo('gone', report, last),
          alongside: (tx) => removeRenamedRows(tx, sellerId, month, renamed),
        })
      }
    }
    if (skus.length < skusPerLook) return finish(context, report, { missing, renamed, unknown: [] }, inspection)
  }
}

const reviewAfter = async (context: StreamContext, report: StoredReport, after: string): Promise<ReportPage> => {
  const { sellerId, month } = report
  const skus = await skusOfMonth(context.database, sellerId, month, after, rowsPerPage)
  const last = skus.at(-1)
  return pageOf(context, report.retrievedAt, {
    nextCursor:
      last === undefined || skus.length < rowsPerPage ? cursorTo('unlisted', report, '') : cursorTo('review', report, last),
    alongside: async (tx: Transaction) => {
      const pairs = skus.map((sku) => ({ sku, month }))
      await reviewDiscrepancies(tx, sellerId, pairs)
    },
  })
}

/** What the report is without is part of what it says: that nothing of such SKUs moved, and that they kept their stock. */
const unlistedAfter = async (context: StreamContext, report: StoredReport, after: string): Promise<ReportPage> => {
  const { sellerId, month } = report
  const { next } = await unlistedSkus(context.database, sellerId, month, after)
  return pageOf(context, report.retrievedAt, {
    nextCursor: next === null ? null : cursorTo('unlisted', report, next),
    alongside: async (tx: Transaction) => {
      // Asked again: this page is fetched while the one before it is stored.
      const { skus } = await unlistedSkus(tx, sellerId, month, after)
      const pairs = skus.map((sku) => ({ sku, month }))
      await reviewDiscrepancies(tx, sellerId, pairs)
    },
  })
}

/** Begins the import of a report that is here, unless it cannot be read or has nothing to tell. */
const begin = async (context: StreamContext, report: StoredReport): Promise<ReportPage> => {
  const { database } = context
  const { sellerId, month } = report
  const before = await importedBefore(database, report)
  if (before !== null && before.generatedAt > report.generatedAt) {
    return pageOf(context, report.retrievedAt, { alongside: (tx) => setOutdated(tx, report) })
  }
  const faulty = (fault: string): ReportPage =>
    pageOf(context, report.retrievedAt, { alongside: (tx) => setFaulty(tx, report, fault) })
  try {
    const { rowCount, firstRow, unreadCount, firstFault } = await inspectionOf(context, report)
    // A whole month does not vanish: rather the file is at fault.
    if (rowCount === 0 && (await skusOfMonth(database, sellerId, month, '', 1)).length > 0) {
      return faulty('it has no rows, where earlier ones had some')
    }
    // Rather it is written in a way that nobody knows.
    if (unreadCount * 2 > rowCount)
      return faulty(`${unreadCount} of its ${rowCount} rows cannot be read, the first for: ${firstFault}`)
    return await rowsFrom(context, report, firstRow)
  } catch (error) {
    if (error instanceof ReportFault) return faulty(error.message)
    throw error
  }
}

// ── asking ───────────────────────────────────────────────────────────────────────────────────────────────

const isAborted = ({ signal }: CallOptions): boolean => signal.aborted

/** Downloads a report into the database; null when the marketplace says that there is none. */
const download = async (context: StreamContext, key: SellerMonth, options: CallOptions): Promise<StoredReport | null> => {
  const { client, database } = context
  const answer = await client.reconciliation.download({ month: key.month }, options)
  if (answer === null) return null
  const { fileName, answeredAt, observedAt, correlationId, body } = answer
  // A file from the future was dated by another clock.
  const generatedAt = answer.generatedAt !== null && answer.generatedAt < answeredAt ? answer.generatedAt : answeredAt
  const id = await beginReport(database, { ...key, fileName, generatedAt, retrievedAt: observedAt, correlationId })
  try {
    await completeReport(database, id, await writeReportFile(database, id, body))
  } catch (error) {
    // Whatever else went wrong: the next download throws the rest of this one away.
    if (error instanceof MarketplaceFailure) await removeReport(database, id)
    throw error
  }
  return findReport(database, id)
}

const throttledUntil = (context: StreamContext, at: Date): Throttled => {
  const { client } = context
  const waitMs = at.getTime() - client.clock().now().getTime()
  return new Throttled('reconciliation.report throttled: a month is asked for once an hour', {
    operation: 'reconciliation.report',
    sellerId: client.sellerId,
    correlationId: 'none',
    sent: 'never',
    httpStatus: null,
    faults: [],
    retryAt: new Date(Date.now() + Math.max(waitMs, 0)),
    credentialsDead: false,
    staleToken: false,
    contentNotFound: false,
    alreadyDone: false,
    networkCode: null,
  })
}

const isBare404 = (error: unknown): boolean => error instanceof Refused && error.httpStatus === 404

/** Asks for a report under a claim, and notes what came of it. */
const tryDownload = async (
  context: StreamContext,
  key: SellerMonth,
  previous: Date | null,
  options: CallOptions,
): Promise<{ readonly report: StoredReport | null; readonly failures: number; readonly error: unknown }> => {
  const { client, database } = context
  try {
    const report = await download(context, key, options)
    const failures = await settleTry(database, key, client.clock().now(), report === null ? 'none' : 'file')
    return { report, failures, error: null }
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    if (error.sent === 'never') await releaseTry(database, key, previous)
    else if (!isAborted(options) && !(error instanceof Throttled)) {
      const failures = await settleTry(database, key, client.clock().now(), isBare404(error) ? 'none' : { fault: error.message })
      return { report: null, failures, error }
    }
    return { report: null, failures: 0, error }
  }
}

/** The report of a month: one that is here already, otherwise a new one. Answers null when there is nothing to import. */
type Obtain = (
  context: StreamContext,
  key: SellerMonth,
  known: ReportMonth,
  options: CallOptions,
) => Promise<StoredReport | null | 'unasked'>

const obtainDue: Obtain = async (context, key, known, options) => {
  const { client, database } = context
  const now = client.clock().now()
  if (!isDue(known, now) || !(await claimTry(database, key, now, known.triedAt))) return 'unasked'
  const { report, error } = await tryDownload(context, key, known.triedAt, options)
  const isNone = report === null && (error === null || isBare404(error))
  // A seller who has had reports is enrolled: one month that is not there says nothing of the others, and is asked for again.
  if (isNone && (await hasImportedReport(database, key.sellerId))) return null
  if (error !== null) throw error
  if (report === null) {
    throw new NotEnrolled('the marketplace has no inventory reconciliation report of this seller')
  }
  return report
}

const obtainAsked: Obtain = async (context, key, known, options) => {
  const { client, database } = context
  const now = client.clock().now()
  if (!isReported(key.month, now)) return 'unasked'
  const pauseEnd = retrievalPauseEnd(known.triedAt, now)
  if (pauseEnd !== null) throw throttledUntil(context, pauseEnd)
  if (!(await claimTry(database, key, now, known.triedAt))) return 'unasked'
  const { report, error, failures } = await tryDownload(context, key, known.triedAt, options)
  if (error === null) return report
  // One month that cannot be had must not keep the others back, nor does one without a report mean that there are none.
  if (failures >= failuresToTell) return null
  if (isBare404(error) && (await hasImportedReport(database, key.sellerId))) return null
  throw error
}

// ── streams ──────────────────────────────────────────────────────────────────────────────────────────────

const windowOf = (month: string) => ({ ...monthBounds(month), part: null })

const readMonth =
  (obtain: Obtain): SyncStream<ReportedRow>['first'] =>
  async (context, { from }, options) => {
    const { client, database } = context
    const key = { sellerId: client.sellerId, month: pacificMonth(from) }
    const waiting = await waitingReport(database, key)
    if (waiting !== null) return begin(context, waiting)
    const [known = unknownMonth(key.month)] = await knownReportMonths(database, key.sellerId, key.month)
    const report = await obtain(context, key, known, options)
    if (report === 'unasked') return nothing(context)
    return report === null ? pageOf(context, client.clock().now(), {}) : begin(context, report)
  }

const readOn: SyncStream<ReportedRow>['next'] = async (context, _window, cursor) => {
  const { step, reportId, after } = readCursor(cursor)
  const report = await findReport(context.database, reportId)
  // This page is fetched while the one before it is stored, so the report may not be imported yet when its rows are to be judged.
  if (report !== null && step === 'review') return reviewAfter(context, report, after)
  if (report !== null && step === 'unlisted') return unlistedAfter(context, report, after)
  // Somebody else has brought it to its end.
  if (report === null || report.imported) return nothing(context)
  return step === 'rows' ? rowsFrom(context, report, Number(after)) : goneAfter(context, report, after)
}

const stream = {
  counted: false,
  checksCount: false,
  followsWatermark: false,
  next: readOn,
} as const

/** The report of each month for which a new one can be there (see domain/report-schedule). */
const reports: SyncStream<ReportedRow> = {
  ...stream,
  plan: async ({ client, database }) => {
    const known = await knownReportMonths(database, client.sellerId)
    return dueMonths(known, client.clock().now()).map(windowOf)
  },
  clamp: (_context, window) => window,
  first: readMonth(obtainDue),
}

/** The report of each month of a range that someone asked for, whether or not it can have changed. */
const backfill: SyncStream<ReportedRow> = {
  ...stream,
  plan: () => [],
  clamp: (_context, window) => (rangeBeforeReports(window) === null ? window : null),
  first: readMonth(obtainAsked),
}

/** The inventory reconciliation report: daily for months that may still change, by month for a range. */
export const reconciliationSync: SyncDefinition<ReportedRow> = {
  resource: 'reconciliation',
  streams: ['reports'],
  stream: (name) => (name.startsWith(backfillPrefix) ? backfill : name === 'reports' ? reports : null),
  needsEnrolment: true,
  backfillParts: [null],
  // What lies before the first report is a window too, so that it is told as out of reach.
  backfillWindows: (range) => {
    const before = rangeBeforeReports(range)
    const months = reportMonths(range).map((month) => monthBounds(month))
    return before === null ? months : [before, ...months]
  },
  parse: (rawText) => {
    const parsed = parseReportRow(rawText)
    return parsed.ok ? { ...parsed, value: { row: parsed.value, reportId: null } } : parsed
  },
  find: findDifferingRows,
  store: storeDifferingRows,
  noteMissing: noteGoneRows,
}
