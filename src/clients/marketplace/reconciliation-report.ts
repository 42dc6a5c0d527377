import type { Calendar } from '../../domain/calendar.ts'
import type { ColumnNames } from '../../domain/reconciliation-report.ts'
import type { Body } from '../body.ts'
import type { CallOptions } from '../call-options.ts'
import type { Operations } from '../endpoint.ts'
import { headerText } from '../judge.ts'
import { asUtf8 } from '../text-encoding.ts'
import { attachmentName, stampOf } from './content-disposition.ts'
import { endpoint, type Host } from './endpoint.ts'
import { queryString } from './paging.ts'
import type { Profile } from './profiles/profile.ts'
import { parseReportRow } from './report-csv.ts'

/**
 * Which report is asked for: a month (`YYYY-MM`) or days (`YYYY-MM-DD`, both included), by the marketplace's calendar; of one GTIN in the current
 * month only.
 */
export type ReportQuery = ({ readonly month: string } | { readonly from: string; readonly to: string }) & {
  readonly gtin?: string
}

/** A report on its way. Times are on the marketplace's clock. */
export interface ReportDownload {
  readonly fileName: string | null
  /** When the report was made, as its file name says; null when that says nothing. */
  readonly generatedAt: Date | null
  /** When it was asked for. */
  readonly observedAt: Date
  readonly answeredAt: Date
  readonly correlationId: string
  /** The CSV file in pieces. It must be read to its end or given up: it throws a `MarketplaceFailure` when it does not come whole. */
  readonly body: Body
}

/** The inventory reconciliation report of one seller. */
export interface ReconciliationClient {
  /** What the seller has said about headers of the file. */
  readonly columnNames: ColumnNames
  /**
   * Asks for a report; null when the marketplace says that there is none.
   *
   * @throws MarketplaceFailure, also for JSON or HTML in place of the file; RangeError for a GTIN outside of the current month, and for days of
   * several months where reports are asked for by month
   */
  download(query: ReportQuery, options: CallOptions): Promise<ReportDownload | null>
}

/** "No more than once per hour is recommended" (Limits): for each month. The answer is a file. */
const operations = {
  report: { name: 'reconciliation.report', limit: { tokens: 1, perMs: 3_600_000 }, payloadKeys: [] },
} as const satisfies Operations

/** First and last day of a query. The last day of the running month is today: there is no data of later days. */
const daysOf = (query: ReportQuery, calendar: Calendar, today: string): { readonly from: string; readonly to: string } => {
  if (!('month' in query)) return query
  const { from, to } = calendar.monthBounds(query.month)
  const last = calendar.dayOf(new Date(to.getTime() - 1))
  const first = calendar.dayOf(from)
  return { from: first, to: last > today && first <= today ? today : last }
}

const monthOf = (query: ReportQuery): string => ('month' in query ? query.month : query.from.slice(0, 'YYYY-MM'.length))

const target = (query: ReportQuery, profile: Profile, now: Date): string => {
  const { calendar } = profile.vocabulary
  const { from, to } = daysOf(query, calendar, calendar.dayOf(now))
  const month = monthOf(query)
  if (from > to) throw new RangeError(`a report from ${from} to ${to} ends before it begins`)
  if (query.gtin !== undefined && (month !== calendar.monthOf(now) || !to.startsWith(month))) {
    throw new RangeError('a single GTIN can be asked for in the current month only')
  }
  const { gtin } = query
  if (profile.reconciliationPeriod === 'dates') {
    return profile.reconciliationPath + queryString({ startDate: from, endDate: to, gtin })
  }
  if (!to.startsWith(month)) throw new RangeError(`a report by month cannot run from ${from} to ${to}`)
  const [year, number] = month.split('-')
  return profile.reconciliationPath + queryString({ monthYear: `${number}-${year}`, gtin })
}

/** The inventory reconciliation report of the specification, section 6, for one seller. */
const createReconciliationClient = ({ caller, connection }: Host): ReconciliationClient => {
  const { profile, reportColumns: columnNames = {} } = connection
  return {
    columnNames,
    async download(query, options) {
      const call = {
        operation: operations.report,
        method: 'GET',
        target: target(query, profile, caller.clock.now()),
        body: null,
        recordsAt: [],
        isFile: true,
        ...(profile.reconciliationLimit === 'each month' ? { budgetScope: monthOf(query) } : {}),
      } as const
      const answer = await caller.download(call, options)
      if (answer === null) return null
      const fileName = attachmentName(headerText(answer.headers, 'content-disposition'))
      return {
        fileName,
        generatedAt: stampOf(fileName),
        observedAt: caller.clock.at(answer.sentMs),
        answeredAt: caller.clock.at(answer.answeredMs),
        correlationId: answer.correlationId,
        body: asUtf8(answer.body),
      }
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
