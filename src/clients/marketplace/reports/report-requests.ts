import { wireReportFile, wireReportRequest } from '../../contract/report-requests.ts'
import type { Answer, Call } from '../../http/call.ts'
import type { CallOptions } from '../../http/call-options.ts'
import type { Operations } from '../../http/endpoint.ts'
import type { OnUnknownValue } from '../../http/record.ts'
import type { Host } from '../endpoint.ts'
import { buildListCall, queryString } from '../paging.ts'
import { buildDownload, type ReportDownload } from './report-download.ts'

/** Progress of a request: it waits or runs, its file is ready, or the marketplace has given it up. */
export type RequestProgress = 'pending' | 'ready' | 'failed'

/** First and last day of a report (`YYYY-MM-DD`, both included), by the marketplace's calendar. */
export interface ReportDays {
  readonly from: string
  readonly to: string
}

/** Reports that the marketplace generates on request (public facts, sections 7.2, 13 and 15). */
export interface ReportRequests {
  /**
   * Requests a report; the id of the request, or null if the marketplace has no such report of this seller. It changes nothing for the seller: a request that is made twice costs one of the requests per hour.
   *
   * @throws MarketplaceFailure
   */
  submit(days: ReportDays, options: CallOptions): Promise<string | null>
  /**
   * The progress of a request; null if the marketplace does not know it, or no longer.
   *
   * @throws MarketplaceFailure
   */
  readProgress(requestId: string, options: CallOptions): Promise<RequestProgress | null>
  /**
   * The file of a request that is ready; null if the marketplace no longer keeps it. Its address is requested first, because it expires.
   *
   * @throws MarketplaceFailure
   */
  download(requestId: string, options: CallOptions): Promise<ReportDownload | null>
}

const hourMs = 3_600_000

/**
 * Status and download 20 an hour (public facts, section 5.1). For requests no number is published; clients of the live service report one an hour for each type
 * of report, as for the report itself.
 */
export const requestOperations = {
  request: { name: 'reconciliation.request', limit: { tokens: 1, perMs: hourMs }, payloadKeys: ['requestId'] },
  status: { name: 'reconciliation.status', limit: { tokens: 20, perMs: hourMs }, payloadKeys: ['requestStatus'] },
  download: { name: 'reconciliation.download', limit: { tokens: 20, perMs: hourMs }, payloadKeys: ['downloadURL'] },
} as const satisfies Operations

const path = '/v3/reports/reportRequests'

/** The published states (public facts, section 7.2), without separators. */
const progressByState: ReadonlyMap<string, RequestProgress> = new Map([
  ['RECEIVED', 'pending'],
  ['INPROGRESS', 'pending'],
  ['READY', 'ready'],
  ['ERROR', 'failed'],
])

/** An unknown state is no end: the caller waits until its own time for a request is over. */
export const parseProgress = (status: string, onUnknownValue: OnUnknownValue): RequestProgress => {
  const known = progressByState.get(status.toUpperCase().replaceAll(/[\s_-]/g, ''))
  if (known === undefined) onUnknownValue({ resource: 'report request', field: 'requestStatus', value: status })
  return known ?? 'pending'
}

/** The address of a file: on any host with TLS, or below the marketplace's own address. Null: not acceptable. */
export const parseFileAddress = (text: string, marketplaceUrl: string): URL | null => {
  const address = URL.canParse(text, marketplaceUrl) ? new URL(text, marketplaceUrl) : null
  if (address === null || address.username !== '' || address.password !== '') return null
  return address.protocol === 'https:' || address.origin === new URL(marketplaceUrl).origin ? address : null
}

/** The requests of a seller; null where the profile requests reports as files. */
export const createReportRequests = ({ caller, connection, onUnknownValue }: Host): ReportRequests | null => {
  const { reconciliationRequests } = connection.profile
  if (reconciliationRequests === null) return null
  const { reportType, reportVersion } = reconciliationRequests
  /** The request in an answer: a new one, or the one that was asked for. */
  const findRequest = (call: Call, answer: Answer, expectedId: string | null) => {
    const { data } = wireReportRequest.safeParse(answer.envelope)
    const requestId = data === undefined ? null : String(data.requestId)
    if (data === undefined || requestId === null || (expectedId !== null && requestId !== expectedId))
      throw caller.unexpectedAnswer(call, answer)
    return { requestId, status: data.requestStatus }
  }
  return {
    async submit({ from, to }, options) {
      // Unlike other dates, these need milliseconds.
      const body = { dataStartTime: `${from}T00:00:00.000Z`, dataEndTime: `${to}T23:59:59.999Z` }
      const call: Call = {
        operation: requestOperations.request,
        method: 'POST',
        target: path + queryString({ reportType, reportVersion }),
        body: JSON.stringify(body),
        recordsAt: [],
      }
      const answer = await caller.call(call, options)
      return answer.found ? findRequest(call, answer, null).requestId : null
    },
    async readProgress(requestId, options) {
      const call = buildListCall(requestOperations.status, `${path}/${encodeURIComponent(requestId)}`, [])
      const answer = await caller.call(call, options)
      return answer.found ? parseProgress(findRequest(call, answer, requestId).status, onUnknownValue) : null
    },
    async download(requestId, options) {
      const call = buildListCall(requestOperations.download, `/v3/reports/downloadReport${queryString({ requestId })}`, [])
      const answer = await caller.call(call, options)
      if (!answer.found) return null
      const { data } = wireReportFile.safeParse(answer.envelope)
      const address = data === undefined ? null : parseFileAddress(data.downloadURL, connection.marketplaceUrl)
      if (address === null) throw caller.unexpectedAnswer(call, answer)
      const file = await caller.downloadFrom(requestOperations.download, address, options)
      return buildDownload(file, caller.clock, address.pathname)
    },
  }
}
