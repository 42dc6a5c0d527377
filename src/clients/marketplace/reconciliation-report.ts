import { monthBounds, pacificDay, pacificMonth } from '../../domain/pacific-time.ts'
import type { ColumnNames } from '../../domain/reconciliation-report.ts'
import type { Caller } from '../caller.ts'
import { headerText } from '../errors.ts'
import type { ReconciliationClient, ReportQuery } from '../interface.ts'
import type { Profile } from '../profiles/profile.ts'
import { asUtf8 } from '../text-encoding.ts'
import { attachmentName, stampOf } from './content-disposition.ts'
import { queryString } from './paging.ts'

/** First and last day of a query. The last day of the running month is today: there is nothing to tell of the days to come. */
function daysOf(query: ReportQuery, today: string): { readonly from: string; readonly to: string } {
  if (!('month' in query)) return query
  const { from, to } = monthBounds(query.month)
  const last = pacificDay(new Date(to.getTime() - 1))
  const first = pacificDay(from)
  return { from: first, to: last > today && first <= today ? today : last }
}

const monthOf = (query: ReportQuery): string => ('month' in query ? query.month : query.from.slice(0, 'YYYY-MM'.length))

function target(query: ReportQuery, profile: Profile, now: Date): string {
  const { from, to } = daysOf(query, pacificDay(now))
  const month = monthOf(query)
  if (from > to) throw new RangeError(`a report from ${from} to ${to} ends before it begins`)
  if (query.gtin !== undefined && (month !== pacificMonth(now) || !to.startsWith(month))) {
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
export function createReconciliationClient(caller: Caller, profile: Profile, columnNames: ColumnNames): ReconciliationClient {
  return {
    columnNames,
    async download(query, options) {
      const call = {
        operation: 'reconciliation.report',
        method: 'GET',
        target: target(query, profile, caller.clock.now()),
        body: null,
        write: false,
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
