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

/** Downloads a report into the database. `file` null: another process has read a later one meanwhile; 'none': the marketplace reports that there is none. */
const download = async (
  context: StreamContext,
  key: SellerMonth,
  options: CallOptions,
): Promise<{ readonly file: StoredReport | null } | 'none'> => {
  const answer = await context.client.of(reconciliationEndpoint).download({ month: key.month }, options)
  if (answer === null) return 'none'
  const { generatedAt, answeredAt } = answer
  // A time in the future comes from another clock.
  const knownAt = generatedAt !== null && generatedAt < answeredAt ? generatedAt : answeredAt
  return { file: await storeDownload(context, key, answer, knownAt) }
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

/** Result of a try. `outcome`: a file, or why there is none. */
interface Try {
  readonly outcome: { readonly file: StoredReport | null } | 'none' | { readonly error: MarketplaceFailure }
  /** Tries in a row without a file. */
  readonly failures: number
}

/** Requests a report under a claim, and stores the result. */
const tryDownload = async (
  context: StreamContext,
  key: SellerMonth,
  previous: Date | null,
  options: CallOptions,
): Promise<Try> => {
  const { client, database } = context
  try {
    const outcome = await download(context, key, options)
    return { outcome, failures: await settleTry(database, key, client.clock().now(), outcome === 'none' ? 'none' : 'file') }
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    return { outcome: { error }, failures: await settleFailure(context, key, previous, error, options) }
  }
}

/** Result of retrieving the report of a month: `null` when there is none, or no newer one; `waitUntil` when it must not be requested before. */
export type Retrieved = StoredReport | null | 'not asked' | { readonly waitUntil: Date }

/** Retrieves the report of a month that is not downloaded yet. */
export type Retrieve = (context: StreamContext, key: SellerMonth, known: ReportMonth, options: CallOptions) => Promise<Retrieved>

/** Requests a report that may exist now. If it does not, the seller is not enrolled, unless earlier reports were imported. */
export const retrieveDue: Retrieve = async (context, key, known, options) => {
  const { client, database } = context
  const now = client.clock().now()
  const { isDue } = reportSchedule(client.vocabulary.calendar)
  if (!isDue(known, now) || !(await claimTry(database, key, now, known.triedAt))) return 'not asked'
  const { outcome } = await tryDownload(context, key, known.triedAt, options)
  if (outcome !== 'none' && 'file' in outcome) return outcome.file
  // A seller who has had reports is enrolled: a missing month proves nothing about the others, and is requested again.
  if ((outcome === 'none' || isBare404(outcome.error)) && (await hasImportedReport(database, key.sellerId))) return null
  if (outcome !== 'none') throw outcome.error
  throw new NotEnrolled('the marketplace has no inventory reconciliation report of this seller')
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
  const { outcome, failures } = await tryDownload(context, key, known.triedAt, options)
  if (outcome === 'none') return null
  if ('file' in outcome) return outcome.file
  // A month that always fails must not block the others, and a month without a report does not mean that there are none.
  if (failures >= failuresToAlarm) return null
  if (isBare404(outcome.error) && (await hasImportedReport(database, key.sellerId))) return null
  throw outcome.error
}
