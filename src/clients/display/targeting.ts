import { type BehavioralAudience, type ContextualTarget, checkAudienceChoice } from '../../domain/campaigns/targeting.ts'
import { wireTargetingPage } from '../contract/targeting.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { perMinute } from '../http/operation.ts'
import type { Page, RecordReader } from '../http/record.ts'
import { readRecord } from '../http/record.ts'
import { type DisplayHost, endpoint } from '../marketplace/endpoint.ts'
import { fetchListing, type IndexRange, listingCall, rangeMembers } from './paging.ts'
import { behavioralReader, contextualReader, parseBehavioralAudience, parseContextualTarget } from './target-record.ts'

/** Contextual targets: all, or those with these ids or this text. */
export interface ContextualQuery extends IndexRange {
  readonly ids?: readonly string[]
  readonly searchText?: string
}

/** Behavioral audiences of a type and attribute, in upper or lower case. Neither is required with ids or text; `CUSTOM` has no attribute. */
export interface BehavioralQuery extends ContextualQuery {
  readonly audienceType?: string
  readonly attribute?: string
}

/** Targets of one kind. The `nextCursor` of a page is the `startIndex` of the next one. */
export interface TargetsClient<Query, Target> {
  /** @throws MarketplaceFailure; RangeError, before anything is sent, for an invalid query, such as an invalid pair of type and attribute */
  list(query: Query, options: CallOptions): Promise<Page<Target>>
}

/** Limits of display advertising are not published, only that a 429 lasts ten minutes (public facts, section 8.3). */
const operations = {
  list: { name: 'targeting.list', limit: perMinute(60), payloadKeys: ['contextual', 'behavioral'] },
} as const satisfies Operations

const path = '/api/v2/targeting/list'

type Tactic = 'contextual' | 'behavioral'
type Members = (readonly [key: string, json: string])[]

/** Ids are written as digits: a double cannot hold every 64-bit integer. */
const idMembers = (ids: readonly string[] | undefined): Members => {
  if (ids === undefined || ids.length === 0) return []
  if (!ids.every((id) => /^(?:0|-?[1-9]\d{0,18})$/.test(id))) throw new RangeError('ids must be 64-bit integers in digits')
  return [['Filter[id]', `[${ids.join(',')}]`]]
}

const textMember = (key: string, value: string | undefined): Members =>
  value === undefined ? [] : [[key, JSON.stringify(value)]]

/** Target listing (specification, section 2) of one advertiser, by one tactic. */
const listTargets = async <Wire, T>(
  { caller, display: { advertiserId }, onUnknownValue }: DisplayHost,
  tactic: Tactic,
  query: ContextualQuery,
  more: Members,
  options: CallOptions,
  reader: RecordReader<Wire, T>,
): Promise<Page<T>> => {
  const body: Members = [
    ['advertiserId', String(advertiserId)],
    ['Filter[tactic]', JSON.stringify(tactic)],
    ...idMembers(query.ids),
    ...more,
    ...textMember('searchText', query.searchText),
    ...rangeMembers(query),
  ]
  const compare = caller.compareRecords(operations.list)
  return await fetchListing(caller, listingCall(operations.list, path, tactic, body), query, options, {
    read: (row) => [readRecord(reader, row, onUnknownValue, compare)],
    envelope(document) {
      const { data } = wireTargetingPage.safeParse(document)
      return data === undefined ? null : { hasRows: Array.isArray(data[tactic]), totalResults: data.totalResults }
    },
  })
}

/** Contextual targets (specification, section 2). */
export const contextualTargetsEndpoint = endpoint({
  host: 'display',
  operations,
  read: parseContextualTarget,
  create: (host): TargetsClient<ContextualQuery, ContextualTarget> => ({
    list: (query, options) => listTargets(host, 'contextual', query, [], options, contextualReader),
  }),
})

/** Behavioral audiences (specification, section 2). Requests have the audience type and attribute in lower case. */
export const behavioralAudiencesEndpoint = endpoint({
  host: 'display',
  operations,
  read: parseBehavioralAudience,
  create: (host): TargetsClient<BehavioralQuery, BehavioralAudience> => ({
    async list(query, options) {
      const { audienceType, attribute, ids, searchText } = query
      const isNamed = (ids !== undefined && ids.length > 0) || (searchText !== undefined && searchText !== '')
      checkAudienceChoice({ ...(audienceType && { audienceType }), ...(attribute && { attribute }), isNamed })
      const kind = [
        ...textMember('Filter[audienceType]', audienceType?.toLowerCase()),
        ...textMember('Filter[attribute]', attribute?.toLowerCase()),
      ]
      return await listTargets(host, 'behavioral', query, kind, options, behavioralReader)
    },
  }),
})
