import { checkAudienceChoice } from '../../domain/targeting.ts'
import type { Caller } from '../caller.ts'
import { wireTargetingPage } from '../contract/targeting.ts'
import type { BehavioralQuery, CallOptions, ContextualQuery, DisplayConnection, Page, TargetingClient } from '../interface.ts'
import type { OnUnknownValue, RecordReader } from '../marketplace/record.ts'
import { readRecord } from '../marketplace/record.ts'
import { fetchListing, listingCall, rangeMembers } from './paging.ts'
import { behavioralReader, contextualReader } from './target-record.ts'

const PATH = '/api/v2/targeting/list'

type Tactic = 'contextual' | 'behavioral'
type Members = (readonly [key: string, json: string])[]

/** Ids go into the body digit by digit: a double would harm a 64-bit integer. */
function idMembers(ids: readonly string[] | undefined): Members {
  if (ids === undefined || ids.length === 0) return []
  if (!ids.every((id) => /^(?:0|-?[1-9]\d{0,18})$/.test(id))) throw new RangeError('ids must be 64-bit integers in digits')
  return [['Filter[id]', `[${ids.join(',')}]`]]
}

function textMember(key: string, value: string | undefined): Members {
  return value === undefined ? [] : [[key, JSON.stringify(value)]]
}

/**
 * Target listing (specification, section 2) of one advertiser. Audience type and attribute go out in lower case, as requests
 * write them.
 */
export function createTargetingClient(
  caller: Caller,
  { advertiserId }: DisplayConnection,
  onUnknownValue: OnUnknownValue,
): TargetingClient {
  const list = async <Wire, T>(
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
    return await fetchListing(caller, listingCall('targeting.list', PATH, tactic, body), query, options, {
      read: (row) => [readRecord(reader, row, onUnknownValue)],
      envelope(document) {
        const { data } = wireTargetingPage.safeParse(document)
        return data === undefined ? null : { hasRows: Array.isArray(data[tactic]), totalResults: data.totalResults }
      },
    })
  }
  return {
    contextual: (query, options) => list('contextual', query, [], options, contextualReader),
    async behavioral(query: BehavioralQuery, options) {
      const { audienceType, attribute, ids, searchText } = query
      const isNamed = (ids !== undefined && ids.length > 0) || (searchText !== undefined && searchText !== '')
      checkAudienceChoice({ ...(audienceType && { audienceType }), ...(attribute && { attribute }), isNamed })
      const kind = [
        ...textMember('Filter[audienceType]', audienceType?.toLowerCase()),
        ...textMember('Filter[attribute]', attribute?.toLowerCase()),
      ]
      return await list('behavioral', query, kind, options, behavioralReader)
    },
  }
}
