import type { ColumnNames } from '../../../domain/inventory/reconciliation-report.ts'
import type { Calendar } from '../../../domain/values/calendar.ts'
import type { CallOptions } from '../../http/call-options.ts'
import type { Operations } from '../../http/endpoint.ts'
import { endpoint, type Host } from '../endpoint.ts'
import { queryString } from '../paging.ts'
import type { Profile } from '../profiles/profile.ts'
import { parseReportRow } from './report-csv.ts'
import { buildDownload, type ReportDownload } from './report-download.ts'
import { createReportRequests, type ReportDays, type ReportRequests, requestOperations } from './report-requests.ts'

/**
 * The requested report: a month (`YYYY-MM`) or days (`YYYY-MM-DD`, both included), by the marketplace's calendar. A single GTIN only in the current month.
 */
export type ReportQuery = ({ readonly month: string } | { readonly from: string; readonly to: string }) & {
  readonly gtin?: string
}

/** The inventory reconciliation report of one seller. */
export interface ReconciliationClient {
  /** The configured meanings of headers of the file. */
  readonly columnNames: ColumnNames
  /**
   * Requests a report; null if the marketplace has none.
   *
   * @throws MarketplaceFailure, also for JSON or HTML in place of the file; RangeError for a GTIN outside of the current month, and for days of several months if
   * reports are requested by month
   */
  download(query: ReportQuery, options: CallOptions): Promise<ReportDownload | null>
  /** Reports that are generated on request and downloaded later; null: {@link download} provides the report of a month. */
  readonly requests: ReportRequests | null
  /** The days of a month (`YYYY-MM`) that its report covers now. */
  listDays(month: string): ReportDays
}

/** "No more than once per hour is recommended" (Limits): for each month. The answer is a file. */
const operations = {
  report: { name: 'reconciliation.report', limit: { tokens: 1, perMs: 3_600_000 }, payloadKeys: [] },
  ...requestOperations,
} as const satisfies Operations

/** First and last day of a query. The last day of the current month is today, since there is no data of later days. */
const buildDays = (query: ReportQuery, calendar: Calendar, today: string): ReportDays => {
  if (!('month' in query)) return query
  const { from, to } = calendar.monthBounds(query.month)
  const last = calendar.formatDay(new Date(to.getTime() - 1))
  const first = calendar.formatDay(from)
  return { from: first, to: last > today && first <= today ? today : last }
}

const formatMonth = (query: ReportQuery): string => ('month' in query ? query.month : query.from.slice(0, 'YYYY-MM'.length))

const target = (query: ReportQuery, profile: Profile, now: Date): string => {
  const { calendar } = profile.vocabulary
  const { from, to } = buildDays(query, calendar, calendar.formatDay(now))
  const month = formatMonth(query)
  if (from > to) throw new RangeError(`a report from ${from} to ${to} ends before it begins`)
  if (query.gtin !== undefined && (month !== calendar.formatMonth(now) || !to.startsWith(month))) {
    throw new RangeError('a single GTIN can be requested only in the current month')
  }
  const { gtin } = query
  if (profile.reconciliationPeriod === 'dates') {
    return profile.reconciliationPath + queryString({ startDate: from, endDate: to, gtin })
  }
  if (!to.startsWith(month)) throw new RangeError(`a report by month cannot be from ${from} to ${to}`)
  const [year, number] = month.split('-')
  return profile.reconciliationPath + queryString({ monthYear: `${number}-${year}`, gtin })
}

/** The inventory reconciliation report of the specification, section 6, for one seller. */
const createReconciliationClient = (host: Host): ReconciliationClient => {
  const { caller, connection } = host
  const { profile, reportColumns: columnNames = {} } = connection
  return {
    columnNames,
    requests: createReportRequests(host),
    listDays: (month) => {
      const { calendar } = profile.vocabulary
      return buildDays({ month }, calendar, calendar.formatDay(caller.clock.now()))
    },
    async download(query, options) {
      const call = {
        operation: operations.report,
        method: 'GET',
        target: target(query, profile, caller.clock.now()),
        body: null,
        recordsAt: [],
        isFile: true,
        ...(profile.reconciliationLimit === 'each month' ? { budgetScope: formatMonth(query) } : {}),
      } as const
      const answer = await caller.download(call, options)
      return answer === null ? null : buildDownload(answer, caller.clock)
    },
  }
}

/** The inventory reconciliation report (specification, section 6). */
export const reconciliationEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: parseReportRow,
  create: createReconciliationClient,
})
