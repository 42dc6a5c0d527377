import { wireApiStatuses } from '../../contract/api-status.ts'
import type { Call } from '../../http/call.ts'
import type { CallOptions } from '../../http/call-options.ts'
import type { Operations } from '../../http/endpoint.ts'
import { perMinute } from '../../http/operation.ts'
import { endpoint, type Host } from '../endpoint.ts'
import { parseTimestamp } from '../timestamps.ts'

/** The status of one group of operations. */
export interface ApiStatus {
  /** For example `Orders`. */
  readonly apiGroup: string
  /** `OPERATIONAL`, `SERVICE_DEGRADATION`, `SERVICE_OUTAGE` or another word. */
  readonly status: string
  /** Null: the marketplace names no time. */
  readonly updatedAt: Date | null
}

/** What the marketplace reports about its own operations. */
export interface ApiStatusClient {
  /**
   * Each group once; those without a readable name and status are left out.
   *
   * @throws MarketplaceFailure
   */
  list(options: CallOptions): Promise<readonly ApiStatus[]>
}

/** Limit: public facts, section 5.1. */
const operations = {
  list: { name: 'api-status.list', limit: perMinute(100), payloadKeys: ['apiStatuses'] },
} as const satisfies Operations

/** Names are shown in alarms: no other text is accepted in their place. */
const groupName = /^[A-Za-z][A-Za-z0-9 &/_-]{0,59}$/
const statusName = /^[A-Za-z_]{1,40}$/

const createApiStatusClient = ({ caller, connection, onUnknownValue }: Host): ApiStatusClient | null => {
  const { apiStatusPath } = connection.profile
  if (apiStatusPath === null) return null
  const call: Call = { operation: operations.list, method: 'GET', target: apiStatusPath, body: null, recordsAt: [] }
  return {
    async list(options) {
      const answer = await caller.call(call, options)
      const { data } = wireApiStatuses.safeParse(answer.envelope)
      if (data === undefined) throw caller.unexpectedAnswer(call, answer)
      const statuses = data.apiStatuses.flatMap(({ apiGroup, status, lastUpdatedTime }) => {
        const group = apiGroup?.trim() ?? ''
        const word = status?.trim().toUpperCase() ?? ''
        if (!groupName.test(group) || !statusName.test(word)) return []
        const where = { resource: 'api-status', field: 'lastUpdatedTime' }
        return [{ apiGroup: group, status: word, updatedAt: parseTimestamp(lastUpdatedTime, where, onUnknownValue) }]
      })
      return [...new Map(statuses.map((one) => [one.apiGroup, one])).values()]
    },
  }
}

/** The marketplace's own status (public facts, section 13); one whose profile names no path does not have it. It is no record. */
export const apiStatusEndpoint = endpoint({
  host: 'marketplace',
  operations,
  read: (rawText) => ({ ok: false, key: null, fault: 'a status of the marketplace is no record', rawText }),
  create: createApiStatusClient,
})
