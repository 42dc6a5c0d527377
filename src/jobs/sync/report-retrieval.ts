import type { CallOptions } from '../../clients/call-options.ts'
import { MarketplaceFailure, Refused, Throttled } from '../../clients/errors.ts'
import { reconciliationEndpoint } from '../../clients/marketplace/reconciliation-report.ts'
import { type ReportMonth, reportSchedule, retrievalPauseEnd } from '../../domain/report-schedule.ts'
import {
  beginReport,
  claimTry,
  completeReport,
  failuresToTell,
  findReport,
  hasImportedReport,
  releaseTry,
  removeReport,
  type SellerMonth,
  type StoredReport,
  settleTry,
} from '../../store/reconciliation-reports.ts'
import { writeReportFile } from '../../store/report-files.ts'
import { NotEnrolled } from './faults.ts'
import type { StreamContext } from './stream.ts'

const isAborted = ({ signal }: CallOptions): boolean => signal.aborted

/** Downloads a report into the database; null when the marketplace says that there is none. */
const download = async (context: StreamContext, key: SellerMonth, options: CallOptions): Promise<StoredReport | null> => {
  const { client, database } = context
  const answer = await client.of(reconciliationEndpoint).download({ month: key.month }, options)
  if (answer === null) return null
  const { fileName, answeredAt, observedAt, correlationId, body } = answer
  // A file from the future was dated by another clock.
  const generatedAt = answer.generatedAt !== null && answer.generatedAt < answeredAt ? answer.generatedAt : answeredAt
  try {
    const id = await beginReport(database, { ...key, fileName, generatedAt, retrievedAt: observedAt, correlationId })
    try {
      await completeReport(database, id, await writeReportFile(database, id, body))
    } catch (error) {
      // Whatever else went wrong: the next download throws the rest of this one away.
      if (error instanceof MarketplaceFailure) await removeReport(database, id)
      throw error
    }
    return await findReport(database, id)
  } finally {
    await body.return()
  }
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

/** What asking for the report of a month has led to: `null` when there is none, `waitUntil` when it may not be asked for before. */
export type Obtained = StoredReport | null | 'not asked' | { readonly waitUntil: Date }

/** How the report of a month is asked for, where none is here already. */
export type Obtain = (context: StreamContext, key: SellerMonth, known: ReportMonth, options: CallOptions) => Promise<Obtained>

/** Asks for a report that can be there now; one that is not says that the seller is not enrolled, unless there were others. */
export const obtainDue: Obtain = async (context, key, known, options) => {
  const { client, database } = context
  const now = client.clock().now()
  const { isDue } = reportSchedule(client.vocabulary.calendar)
  if (!isDue(known, now) || !(await claimTry(database, key, now, known.triedAt))) return 'not asked'
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

/** Asks for a report that somebody wants, whether or not it can have changed. */
export const obtainAsked: Obtain = async (context, key, known, options) => {
  const { client, database } = context
  const now = client.clock().now()
  if (!reportSchedule(client.vocabulary.calendar).isReported(key.month, now)) return 'not asked'
  const pauseEnd = retrievalPauseEnd(known.triedAt, now)
  // A month is asked for once an hour.
  if (pauseEnd !== null) return { waitUntil: pauseEnd }
  if (!(await claimTry(database, key, now, known.triedAt))) return 'not asked'
  const { report, error, failures } = await tryDownload(context, key, known.triedAt, options)
  if (error === null) return report
  // One month that cannot be had must not keep the others back, nor does one without a report mean that there are none.
  if (failures >= failuresToTell) return null
  if (isBare404(error) && (await hasImportedReport(database, key.sellerId))) return null
  throw error
}
