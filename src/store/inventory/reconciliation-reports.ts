import { type ReportMonth, reportSchedule } from '../../domain/inventory/report-schedule.ts'
import { type AlarmKey, raiseAlarm, resolveAlarm } from '../alarms/alarms.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import type { ReconciliationReport } from '../generated/client.ts'
import { markTable } from '../versioned/table-marks.ts'
import { type ReportFile, ReportFileRemoved } from './report-files.ts'

markTable('warehouse.reconciliation_reports', {
  none: `id seller_id month state fault file_name generated_at covered_until retrieved_at imported_at byte_count row_count changed_count
      gone_count correlation_id nameless_count footer_count by_gtin line_count unread_count skipped_lines
      headers`,
})

/** The report of one month (`YYYY-MM`, by the marketplace's calendar) of a seller. */
export interface SellerMonth {
  readonly sellerId: string
  readonly month: string
}

/** A report with a completely stored file. Times are on the marketplace's clock. */
export interface StoredReport extends SellerMonth, ReportFile {
  readonly generatedAt: Date
  /** The midnight up to which it counts movements. */
  readonly coveredUntil: Date
  /** When it was requested. */
  readonly retrievedAt: Date
}

/** An alarm is raised after this many tries in a row without a file. */
export const failuresToAlarm = 3

const firstDay = (month: string): string => `${month}-01`
/** The first day of a month, as Prisma expects a date. */
export const toFirstDay = (month: string): Date => new Date(firstDay(month))
const formatMonth = (day: Date): string => day.toISOString().slice(0, 7)

const alarmKey = ({ sellerId, month }: SellerMonth): AlarmKey => ({
  sellerId,
  kind: 'report-faulty',
  subject: `reconciliation/${month}`,
})

// ── tries ────────────────────────────────────────────────────────────────────────────────────────────────

/** The tries, requests and reports of every month of a seller, or of one month. */
export const readReportMonths = async (
  sql: SqlRunner,
  sellerId: string,
  month: string | null = null,
): Promise<readonly ReportMonth[]> => {
  const rows = await sql.query<{
    month: string
    tried_at: Date | null
    generated_at: Date | null
    retrieved_at: Date | null
    waiting: boolean | null
    failures: number | null
    request_id: string | null
    requested_at: Date | null
    checked_at: Date | null
    late_entry_at: Date | null
  }>(
    `SELECT to_char(month, 'YYYY-MM') AS month, t.tried_at, t.failures, r.generated_at, r.retrieved_at, r.waiting,
       q.request_id, q.requested_at, q.checked_at, l.late_entry_at
     FROM (SELECT month, tried_at, failures FROM tallyman.report_tries WHERE seller_id = $1 AND ($2::date IS NULL OR month = $2::date)) t
     FULL JOIN (
       SELECT month, max(generated_at) AS generated_at, max(retrieved_at) AS retrieved_at, bool_or(state = 'downloaded') AS waiting
       FROM warehouse.reconciliation_reports
       WHERE seller_id = $1 AND state <> 'downloading' AND ($2::date IS NULL OR month = $2::date) GROUP BY month
     ) r USING (month)
     FULL JOIN (
       SELECT month, request_id, requested_at, checked_at FROM tallyman.report_requests
       WHERE seller_id = $1 AND ($2::date IS NULL OR month = $2::date)
     ) q USING (month)
     LEFT JOIN (
       SELECT month, max(log_late_at) AS late_entry_at FROM warehouse.inventory_discrepancies
       WHERE seller_id = $1 AND state = 'open' AND log_late_at IS NOT NULL AND ($2::date IS NULL OR month = $2::date) GROUP BY month
     ) l USING (month)
     ORDER BY month`,
    sellerId,
    month === null ? null : firstDay(month),
  )
  return rows.map((row) => ({
    month: row.month,
    triedAt: row.tried_at,
    newest:
      row.generated_at === null || row.retrieved_at === null
        ? null
        : { generatedAt: row.generated_at, retrievedAt: row.retrieved_at },
    lateEntryAt: row.late_entry_at,
    waiting: row.waiting ?? false,
    failures: row.failures ?? 0,
    requested:
      row.request_id === null || row.requested_at === null
        ? null
        : { requestId: row.request_id, requestedAt: row.requested_at, checkedAt: row.checked_at },
  }))
}

/** Claims the next try to request a report; false: another process has made one since `previous`, the last known try. */
export const claimTry = async (
  sql: SqlRunner,
  { sellerId, month }: SellerMonth,
  at: Date,
  previous: Date | null,
): Promise<boolean> => {
  const claimed = await sql.execute(
    `INSERT INTO tallyman.report_tries AS t (seller_id, month, tried_at) VALUES ($1, $2::date, $3::timestamptz)
     ON CONFLICT (seller_id, month) DO UPDATE SET tried_at = excluded.tried_at WHERE t.tried_at = $4::timestamptz`,
    sellerId,
    firstDay(month),
    at.toISOString(),
    previous?.toISOString() ?? null,
  )
  return claimed > 0
}

/** Releases a claim whose request was not sent. */
export const releaseTry = async (sql: SqlRunner, { sellerId, month }: SellerMonth, previous: Date | null): Promise<void> => {
  const where = { sellerId, month: toFirstDay(month) }
  if (previous === null) await sql.prisma.reportTry.deleteMany({ where })
  else await sql.prisma.reportTry.updateMany({ where, data: { triedAt: previous } })
}

/** The outcome of a try: a file, no report, or a failure. */
export type TryOutcome = 'file' | 'none' | { readonly fault: string }

/**
 * Stores the outcome of a try and its time, which is more exact after a response of the marketplace. Returns the number of tries in a row without a file.
 * Repeated failures raise an alarm; a missing report does not, because it may be correct.
 */
export const settleTry = async (tx: SqlRunner, key: SellerMonth, at: Date, outcome: TryOutcome): Promise<number> => {
  const [row] = await tx.query<{ failures: number }>(
    `UPDATE tallyman.report_tries SET tried_at = $3::timestamptz, failures = CASE WHEN $4::boolean THEN 0 ELSE failures + 1 END
     WHERE seller_id = $1 AND month = $2::date RETURNING failures`,
    key.sellerId,
    firstDay(key.month),
    at.toISOString(),
    outcome === 'file',
  )
  const failures = row?.failures ?? 0
  if (typeof outcome !== 'string' && failures >= failuresToAlarm) {
    await raiseAlarm(
      tx,
      alarmKey(key),
      `the inventory report of ${key.month} could not be downloaded ${failures} times in a row: ${outcome.fault}; it is requested again, less often after the end of the month, and a backfill stops the requests`,
    )
  }
  return failures
}

// ── a report from its download to its import ─────────────────────────────────────────────────────────────

/** A report of which only the headers of the response were received. */
export interface NewReport extends SellerMonth {
  readonly fileName: string | null
  readonly generatedAt: Date
  readonly retrievedAt: Date
  readonly correlationId: string
}

/**
 * Begins a report. Returns its id. Other downloads of the month stay, because a process may be writing them; {@link finishReport} and {@link markFaulty}
 * delete the earlier ones.
 */
export const beginReport = async (sql: SqlRunner, report: NewReport): Promise<bigint> => {
  const { coveredUntil } = reportSchedule(sql.findVocabulary(report.sellerId).calendar)
  const { sellerId, month, fileName, generatedAt, retrievedAt, correlationId } = report
  const { id } = await sql.prisma.reconciliationReport.create({
    data: {
      ...{ sellerId, month: toFirstDay(month), fileName, generatedAt, retrievedAt, correlationId },
      state: 'downloading',
      coveredUntil: coveredUntil(month, generatedAt),
    },
    select: { id: true },
  })
  return id
}

/**
 * Marks a report as downloaded: its file is stored completely, and it waits for its import.
 * @throws ReportFileRemoved if it was deleted, because a later one of its month was read meanwhile
 */
export const completeReport = async (sql: SqlRunner, id: bigint, byteCount: number): Promise<void> => {
  const { count } = await sql.prisma.reconciliationReport.updateMany({
    where: { id, state: 'downloading' },
    data: { state: 'downloaded', byteCount },
  })
  if (count === 0) throw new ReportFileRemoved(id)
}

/** Deletes an incompletely downloaded report with its file. */
export const removeReport = async (sql: SqlRunner, id: bigint): Promise<void> => {
  await sql.prisma.reconciliationReport.deleteMany({ where: { id, state: 'downloading' } })
}

const storedColumns = {
  ...{ id: true, sellerId: true, month: true, state: true },
  ...{ generatedAt: true, coveredUntil: true, retrievedAt: true, byteCount: true },
} as const

type StoredColumns = Pick<ReconciliationReport, keyof typeof storedColumns>

const toStored = ({ id, sellerId, month, generatedAt, coveredUntil, retrievedAt, byteCount }: StoredColumns): StoredReport => {
  if (generatedAt === null || coveredUntil === null || byteCount === null)
    throw new Error(`report ${id} is not completely downloaded`)
  const times = { generatedAt, coveredUntil, retrievedAt }
  return { reportId: id, sellerId, month: formatMonth(month), ...times, byteCount: Number(byteCount) }
}

/** The newest report of a month that waits for its import. */
export const findWaitingReport = async (sql: SqlRunner, { sellerId, month }: SellerMonth): Promise<StoredReport | null> => {
  const found = await sql.prisma.reconciliationReport.findFirst({
    where: { sellerId, month: toFirstDay(month), state: 'downloaded' },
    orderBy: { id: 'desc' },
    select: storedColumns,
  })
  return found === null ? null : toStored(found)
}

/** A report by its id; null: it is outdated or faulty. `imported`: all of its rows are stored, and its file is deleted. */
export const findReport = async (sql: SqlRunner, id: bigint): Promise<(StoredReport & { readonly imported: boolean }) | null> => {
  const found = await sql.prisma.reconciliationReport.findFirst({
    where: { id, state: { in: ['downloaded', 'imported'] } },
    select: storedColumns,
  })
  return found === null ? null : { ...toStored(found), imported: found.state === 'imported' }
}

/** The newest other imported report of the month: when it was generated, and up to when it counts. */
export const findOtherImport = async (
  sql: SqlRunner,
  { sellerId, month, reportId }: StoredReport,
): Promise<Pick<StoredReport, 'generatedAt' | 'coveredUntil'> | null> => {
  const found = await sql.prisma.reconciliationReport.findFirst({
    where: { sellerId, month: toFirstDay(month), state: 'imported', id: { not: reportId } },
    orderBy: [{ generatedAt: 'desc' }, { id: 'desc' }],
    select: storedColumns,
  })
  if (found === null) return null
  const { generatedAt, coveredUntil } = toStored(found)
  return { generatedAt, coveredUntil }
}

/** Whether a report of any month was ever imported. */
export const hasImportedReport = async (sql: SqlRunner, sellerId: string): Promise<boolean> => {
  const where = { sellerId, state: 'imported' }
  return (await sql.prisma.reconciliationReport.findFirst({ where, select: { id: true } })) !== null
}

// A report replaces every earlier one of its month, and their files. A download is interrupted, or ends when its process finds its report deleted. It is
// deleted by a statement of its own, so that the next one sees whether it was completed meanwhile.
const dropEarlier = async (tx: Transaction, { sellerId, month, reportId }: StoredReport): Promise<void> => {
  const earlier = { sellerId, month: toFirstDay(month), id: { lt: reportId } }
  await tx.prisma.reconciliationReport.deleteMany({ where: { ...earlier, state: 'downloading' } })
  await tx.execute(
    `WITH earlier AS (
       UPDATE warehouse.reconciliation_reports SET state = 'outdated'
       WHERE seller_id = $1 AND month = $2::date AND id < $3::bigint AND state = 'downloaded'
     )
     DELETE FROM tallyman.report_files f USING warehouse.reconciliation_reports r
     WHERE f.report_id = r.id AND r.seller_id = $1 AND r.month = $2::date AND r.id < $3::bigint`,
    sellerId,
    firstDay(month),
    reportId,
  )
}

const dropFile = async (tx: Transaction, { reportId }: StoredReport): Promise<void> => {
  await tx.prisma.reportFile.deleteMany({ where: { reportId } })
}

/** Lines of a file that are not rows, by reason: up to the header, blank, totals, text below the rows, and continuations of a row. */
export type SkippedLines = Readonly<Record<'header' | 'blank' | 'total' | 'text' | 'continued', number>>

/** The number of lines of a file: rows and skipped lines are all of them. */
export interface LineCounts {
  readonly lineCount: number
  readonly rowCount: number
  /** Rows that went to quarantine. */
  readonly unreadCount: number
  readonly skippedLines: SkippedLines
  readonly namelessCount: number
  /** Headers of the columns of the file, in their order. */
  readonly headers: readonly string[]
  /** The file names its rows by GTIN alone. */
  readonly byGtin: boolean
}

/**
 * Completes the import of a report whose rows are all stored: counts and records its changes, and deletes its file. Raises an alarm for rows without a SKU.
 * False: another process has completed it.
 */
export const finishReport = async (tx: Transaction, report: StoredReport, counts: LineCounts): Promise<boolean> => {
  const { sellerId, month } = report
  const { lineCount, rowCount, unreadCount, skippedLines, namelessCount, headers, byGtin } = counts
  const skippedCount = Object.values(skippedLines).reduce((sum, lines) => sum + lines, 0)
  const [row] = await tx.query<{ changed: number; gone: number; file_name: string | null }>(
    `UPDATE warehouse.reconciliation_reports r
     SET state = 'imported', imported_at = now(), row_count = $4::int, footer_count = $5::int, nameless_count = $6::int, by_gtin = $7::boolean,
       line_count = $8::int, unread_count = $9::int, skipped_lines = $10::jsonb, headers = $11::text[],
       changed_count = c.changed, gone_count = c.gone
     FROM (
       SELECT count(*) FILTER (WHERE report_id = $3::bigint AND missing_since IS NULL)::int AS changed,
         count(*) FILTER (WHERE missing_since = (SELECT retrieved_at FROM warehouse.reconciliation_reports WHERE id = $3::bigint))::int AS gone
       FROM warehouse.reconciliation_rows WHERE seller_id = $1 AND month = $2::date
     ) c
     WHERE r.id = $3::bigint AND r.state = 'downloaded'
     RETURNING r.changed_count AS changed, r.gone_count AS gone, r.file_name`,
    sellerId,
    firstDay(month),
    report.reportId,
    rowCount,
    skippedLines.total + skippedLines.text,
    namelessCount,
    byGtin,
    lineCount,
    unreadCount,
    JSON.stringify(skippedLines),
    headers,
  )
  if (row === undefined) return false
  await dropFile(tx, report)
  await dropEarlier(tx, report)
  if (namelessCount === 0) await resolveAlarm(tx, alarmKey(report))
  else {
    await raiseAlarm(
      tx,
      alarmKey(report),
      `${namelessCount} of the ${rowCount} rows of the inventory report of ${month} have no SKU (see the quarantine): no SKU counts as missing from it until a report of the month names the SKUs of all rows`,
    )
  }
  tx.record({
    sellerId,
    type: 'reconciliation_report.imported',
    data: {
      reportId: String(report.reportId),
      month,
      generatedAt: report.generatedAt.toISOString(),
      coveredUntil: report.coveredUntil.toISOString(),
      lines: lineCount,
      rows: rowCount,
      quarantined: unreadCount,
      skipped: skippedCount,
      changed: row.changed,
      gone: row.gone,
    },
  })
  return true
}

/** Marks a report as outdated that was generated before an imported one. */
export const markOutdated = async (tx: Transaction, report: StoredReport): Promise<void> => {
  await tx.prisma.reconciliationReport.updateMany({
    where: { id: report.reportId, state: 'downloaded' },
    data: { state: 'outdated' },
  })
  await dropFile(tx, report)
}

/** Marks a report as faulty that cannot be read, keeps its file, and raises an alarm. */
export const markFaulty = async (tx: Transaction, report: StoredReport, fault: string): Promise<void> => {
  const { count } = await tx.prisma.reconciliationReport.updateMany({
    where: { id: report.reportId, state: 'downloaded' },
    data: { state: 'faulty', fault },
  })
  if (count === 0) return
  await dropEarlier(tx, report)
  await raiseAlarm(
    tx,
    alarmKey(report),
    `the inventory report of ${report.month} cannot be imported: ${fault}; its file is kept (tallyman.report_files, report ${report.reportId}), earlier rows stay stored, and the next report of the month, or a backfill of it, is read as usual`,
  )
}
