import type { CallOptions } from '../../../clients/http/call-options.ts'
import { MarketplaceFailure, Refused, Throttled } from '../../../clients/http/errors.ts'
import { reconciliationEndpoint } from '../../../clients/marketplace/reports/reconciliation-report.ts'
import { type ReportMonth, reportSchedule, retrievalPauseEnd } from '../../../domain/inventory/report-schedule.ts'
import {
  claimTry,
  failuresToAlarm,
  hasImportedReport,
  releaseTry,
  type SellerMonth,
  type StoredReport,
  settleTry,
} from '../../../store/inventory/reconciliation-reports.ts'
import type { StreamContext } from '../engine/stream.ts'
import { NotEnrolled } from '../recovery/errors.ts'
import { storeDownload } from './report-download.ts'

/** Downloads a report into the database; null when the marketplace reports that there is none. */
const download = async (context: StreamContext, key: SellerMonth, options: CallOptions): Promise<StoredReport | null> => {
  const answer = await context.client.of(reconciliationEndpoint).download({ month: key.month }, options)
  if (answer === null) return null
  const { generatedAt, answeredAt } = answer
  // A time in the future comes from another clock.
  return storeDownload(context, key, answer, generatedAt !== null && generatedAt < answeredAt ? generatedAt : answeredAt)
}

/** The marketplace itself answers that there is none. */
export const isBare404 = (error: unknown): boolean => error instanceof Refused && error.httpStatus === 404

/** Ends a claim whose request has failed. Returns the number of tries in a row without a file; 0 if this failure does not count as one. */
export const settleFailure = async (
  { client, database }: StreamContext,
  key: SellerMonth,
  previous: Date | null,
  failure: MarketplaceFailure,
  options: CallOptions,
): Promise<number> => {
  if (failure.sent === 'never') await releaseTry(database, key, previous)
  else if (!options.signal.aborted && !(failure instanceof Throttled)) {
    const outcome = isBare404(failure) ? 'none' : { fault: failure.message }
    return await settleTry(database, key, client.clock().now(), outcome)
  }
  return 0
}

/** Requests a report under a claim, and stores the result. */
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
    return { report: null, failures: await settleFailure(context, key, previous, error, options), error }
  }
}

/** Result of retrieving the report of a month: `null` when there is none, `waitUntil` when it must not be requested before. */
export type Retrieved = StoredReport | null | 'not asked' | { readonly waitUntil: Date }

/** Retrieves the report of a month that is not downloaded yet. */
export type Retrieve = (context: StreamContext, key: SellerMonth, known: ReportMonth, options: CallOptions) => Promise<Retrieved>

/** Requests a report that may exist now. If it does not, the seller is not enrolled, unless earlier reports were imported. */
export const retrieveDue: Retrieve = async (context, key, known, options) => {
  const { client, database } = context
  const now = client.clock().now()
  const { isDue } = reportSchedule(client.vocabulary.calendar)
  if (!isDue(known, now) || !(await claimTry(database, key, now, known.triedAt))) return 'not asked'
  const { report, error } = await tryDownload(context, key, known.triedAt, options)
  const isNone = report === null && (error === null || isBare404(error))
  // A seller who has had reports is enrolled: a missing month proves nothing about the others, and is requested again.
  if (isNone && (await hasImportedReport(database, key.sellerId))) return null
  if (error !== null) throw error
  if (report === null) {
    throw new NotEnrolled('the marketplace has no inventory reconciliation report of this seller')
  }
  return report
}

/** Retrieves a report on request, even if it cannot have changed. */
export const retrieveRequested: Retrieve = async (context, key, known, options) => {
  const { client, database } = context
  const now = client.clock().now()
  if (!reportSchedule(client.vocabulary.calendar).isReported(key.month, now)) return 'not asked'
  const pauseEnd = retrievalPauseEnd(known.triedAt, now)
  // A month may be requested once per hour.
  if (pauseEnd !== null) return { waitUntil: pauseEnd }
  if (!(await claimTry(database, key, now, known.triedAt))) return 'not asked'
  const { report, error, failures } = await tryDownload(context, key, known.triedAt, options)
  if (error === null) return report
  // A month that always fails must not block the others, and a month without a report does not mean that there are none.
  if (failures >= failuresToAlarm) return null
  if (isBare404(error) && (await hasImportedReport(database, key.sellerId))) return null
  throw error
}
