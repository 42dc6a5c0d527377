import { type ReportMonth, reportSchedule } from '../domain/report-schedule.ts'
import { type AlarmKey, raiseAlarm, resolveAlarm } from './alarms.ts'
import type { Database, SqlRunner, Transaction } from './database.ts'
import type { ReconciliationReport } from './generated/client.ts'
import type { ReportFile } from './report-files.ts'
import { markTable } from './table-marks.ts'

markTable('warehouse.reconciliation_reports', {
  none: `id seller_id month state fault file_name generated_at covered_until retrieved_at imported_at byte_count row_count changed_count
      gone_count correlation_id nameless_count footer_count by_gtin`,
})

/** The report of one month (`YYYY-MM`, by the marketplace's calendar) of a seller. */
export interface SellerMonth {
  readonly sellerId: string
  readonly month: string
}

/** A report whose file is stored whole. Times are on the marketplace's clock. */
export interface StoredReport extends SellerMonth, ReportFile {
  readonly generatedAt: Date
  /** The midnight up to which it counts movements. */
  readonly coveredUntil: Date
  /** When it was asked for. */
  readonly retrievedAt: Date
}

/** After so many tries in a row without a file a person is alerted. */
export const failuresToTell = 3

const firstDay = (month: string): string => `${month}-01`
const dayOf = (month: string): Date => new Date(firstDay(month))
const monthOf = (day: Date): string => day.toISOString().slice(0, 7)

const alarmOf = ({ sellerId, month }: SellerMonth): AlarmKey => ({
  sellerId,
  kind: 'report-faulty',
  subject: `reconciliation/${month}`,
})

// ── when to ask ──────────────────────────────────────────────────────────────────────────────────────────

/** What is known of every month of a seller, or of one of them. */
export const knownReportMonths = async (
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
  }>(
    `SELECT to_char(month, 'YYYY-MM') AS month, t.tried_at, t.failures, r.generated_at, r.retrieved_at, r.waiting
     FROM (SELECT month, tried_at, failures FROM tallyman.report_tries WHERE seller_id = $1 AND ($2::date IS NULL OR month = $2::date)) t
     FULL JOIN (
       SELECT month, max(generated_at) AS generated_at, max(retrieved_at) AS retrieved_at, bool_or(state = 'downloaded') AS waiting
       FROM warehouse.reconciliation_reports
       WHERE seller_id = $1 AND state <> 'downloading' AND ($2::date IS NULL OR month = $2::date) GROUP BY month
     ) r USING (month)
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
    waiting: row.waiting ?? false,
    failures: row.failures ?? 0,
  }))
}

/** Notes that a report is about to be asked for; false when somebody else did since `previous`, the try that was known. */
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

/** Takes a claim back: nothing was asked. */
export const releaseTry = async (sql: SqlRunner, { sellerId, month }: SellerMonth, previous: Date | null): Promise<void> => {
  const where = { sellerId, month: dayOf(month) }
  if (previous === null) await sql.prisma.reportTry.deleteMany({ where })
  else await sql.prisma.reportTry.updateMany({ where, data: { triedAt: previous } })
}

/** How a try has ended: with a file, with the word that there is none, or with a failure. */
export type TryOutcome = 'file' | 'none' | { readonly fault: string }

/**
 * Notes how a try has ended, and when: the clock is known better after an answer. Returns how many in a row brought no file. Failures are
 * reported to a person when they go on; that there is no report may be true.
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
  if (typeof outcome !== 'string' && failures >= failuresToTell) {
    await raiseAlarm(
      tx,
      alarmOf(key),
      `the inventory report of ${key.month} could not be had ${failures} times in a row: ${outcome.fault}; it goes on being asked for, less often once the month is over, and a backfill gives it up`,
    )
  }
  return failures
}

// ── one report from its download to its import ───────────────────────────────────────────────────────────

/** A report of which nothing but the head of its answer is known. */
export interface ArrivingReport extends SellerMonth {
  readonly fileName: string | null
  readonly generatedAt: Date
  readonly retrievedAt: Date
  readonly correlationId: string
}

/** Begins a report and throws away what a download that broke off has left of the same month. Returns its id. */
export const beginReport = async (database: Database, report: ArrivingReport): Promise<bigint> =>
  database.transaction(async (tx) => {
    const { coveredUntil } = reportSchedule(tx.vocabularyOf(report.sellerId).calendar)
    const { sellerId, fileName, generatedAt, retrievedAt, correlationId } = report
    const month = dayOf(report.month)
    await tx.prisma.reconciliationReport.deleteMany({ where: { sellerId, month, state: 'downloading' } })
    const { id } = await tx.prisma.reconciliationReport.create({
      data: {
        ...{ sellerId, month, fileName, generatedAt, retrievedAt, correlationId },
        state: 'downloading',
        coveredUntil: coveredUntil(report.month, generatedAt),
      },
      select: { id: true },
    })
    return id
  })

/** The file of a report is stored whole: from now on it waits to be imported. */
export const completeReport = async (sql: SqlRunner, id: bigint, byteCount: number): Promise<void> => {
  const { count } = await sql.prisma.reconciliationReport.updateMany({
    where: { id, state: 'downloading' },
    data: { state: 'downloaded', byteCount },
  })
  if (count === 0) throw new Error(`report ${id} was thrown away while it was downloaded`)
}

/** Throws a report away that did not come whole, with what is stored of its file. */
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
    throw new Error(`report ${id} was not downloaded whole`)
  const times = { generatedAt, coveredUntil, retrievedAt }
  return { reportId: id, sellerId, month: monthOf(month), ...times, byteCount: Number(byteCount) }
}

/** The newest report of a month that waits to be imported. */
export const waitingReport = async (sql: SqlRunner, { sellerId, month }: SellerMonth): Promise<StoredReport | null> => {
  const found = await sql.prisma.reconciliationReport.findFirst({
    where: { sellerId, month: dayOf(month), state: 'downloaded' },
    orderBy: { id: 'desc' },
    select: storedColumns,
  })
  return found === null ? null : toStored(found)
}

/** A report by its id; null once it is put aside. `imported`: its rows are all stored, and its file is gone. */
export const findReport = async (sql: SqlRunner, id: bigint): Promise<(StoredReport & { readonly imported: boolean }) | null> => {
  const found = await sql.prisma.reconciliationReport.findFirst({
    where: { id, state: { in: ['downloaded', 'imported'] } },
    select: storedColumns,
  })
  return found === null ? null : { ...toStored(found), imported: found.state === 'imported' }
}

/** When the report of a month that was imported last was made, and up to when it counts, not counting this one. */
export const importedBefore = async (
  sql: SqlRunner,
  { sellerId, month, reportId }: StoredReport,
): Promise<Pick<StoredReport, 'generatedAt' | 'coveredUntil'> | null> => {
  const found = await sql.prisma.reconciliationReport.findFirst({
    where: { sellerId, month: dayOf(month), state: 'imported', id: { not: reportId } },
    orderBy: [{ generatedAt: 'desc' }, { id: 'desc' }],
    select: storedColumns,
  })
  if (found === null) return null
  const { generatedAt, coveredUntil } = toStored(found)
  return { generatedAt, coveredUntil }
}

/** Whether a report of any month was ever imported: the seller has such reports. */
export const hasImportedReport = async (sql: SqlRunner, sellerId: string): Promise<boolean> => {
  const where = { sellerId, state: 'imported' }
  return (await sql.prisma.reconciliationReport.findFirst({ where, select: { id: true } })) !== null
}

// A report makes every earlier one of its month superfluous, and what was kept of those.
const dropEarlier = async (tx: Transaction, { sellerId, month, reportId }: StoredReport): Promise<void> => {
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

/** How many lines of each kind a file has below its header. */
export interface LineCounts {
  readonly rowCount: number
  readonly footerCount: number
  readonly namelessCount: number
  /** The file names its rows by GTIN alone. */
  readonly byGtin: boolean
}

/**
 * All rows of a report are stored: counts what it brought, records that, and deletes its file. Rows that do not say what they are about are told to
 * a person. False when somebody else did so first.
 */
export const finishReport = async (tx: Transaction, report: StoredReport, counts: LineCounts): Promise<boolean> => {
  const { sellerId, month } = report
  const { rowCount, footerCount, namelessCount, byGtin } = counts
  const [row] = await tx.query<{ changed: number; gone: number; file_name: string | null }>(
    `UPDATE warehouse.reconciliation_reports r
     SET state = 'imported', imported_at = now(), row_count = $4::int, footer_count = $5::int, nameless_count = $6::int, by_gtin = $7::boolean,
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
    footerCount,
    namelessCount,
    byGtin,
  )
  if (row === undefined) return false
  await dropFile(tx, report)
  await dropEarlier(tx, report)
  if (namelessCount === 0) await resolveAlarm(tx, alarmOf(report))
  else {
    await raiseAlarm(
      tx,
      alarmOf(report),
      `${namelessCount} of the ${rowCount} rows of the inventory report of ${month} do not say what they are about (see the quarantine): nothing that it seems to be without can be judged as gone, until a report of the month names all of its rows`,
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
      rows: rowCount,
      changed: row.changed,
      gone: row.gone,
    },
  })
  return true
}

/** Puts a report aside that was made before one that is imported: it has nothing new. */
export const setOutdated = async (tx: Transaction, report: StoredReport): Promise<void> => {
  await tx.prisma.reconciliationReport.updateMany({
    where: { id: report.reportId, state: 'downloaded' },
    data: { state: 'outdated' },
  })
  await dropFile(tx, report)
}

/** Puts a report aside that cannot be read, keeps its file, and calls a person. */
export const setFaulty = async (tx: Transaction, report: StoredReport, fault: string): Promise<void> => {
  const { count } = await tx.prisma.reconciliationReport.updateMany({
    where: { id: report.reportId, state: 'downloaded' },
    data: { state: 'faulty', fault },
  })
  if (count === 0) return
  await dropEarlier(tx, report)
  await raiseAlarm(
    tx,
    alarmOf(report),
    `the inventory report of ${report.month} cannot be imported: ${fault}; its file is kept (tallyman.report_files, report ${report.reportId}), what was stored before stands, and the next report of the month, or a backfill of it, is read as usual`,
  )
}
