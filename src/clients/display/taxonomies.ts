import type { Caller } from '../caller.ts'
import { wireTaxonomyPage } from '../contract/taxonomies.ts'
import type { DisplayConnection, TaxonomiesClient, TaxonomyFilters, TaxonomyQuery } from '../interface.ts'
import type { OnUnknownValue } from '../marketplace/record.ts'
import { fetchListing, listingCall, rangeMembers } from './paging.ts'
import { readTaxonomyRow } from './taxonomy-record.ts'

const PATH = '/api/v1/taxonomies/list'
const FILTERS = ['brandName', 'department', 'category', 'subCategory'] as const satisfies readonly (keyof TaxonomyFilters)[]

function envelope(document: unknown) {
  const { data } = wireTaxonomyPage.safeParse(document)
  if (data === undefined) return null
  return { hasRows: Array.isArray(data.data), totalResults: data.totalResults }
}

function bodyOf(advertiserId: number, query: TaxonomyQuery) {
  const { level, filters = {} } = query
  if (level !== undefined && ![1, 2, 3].includes(level)) throw new RangeError('level must be 1, 2 or 3')
  const names = FILTERS.flatMap((filter) => {
    const wanted = filters[filter] ?? []
    return wanted.length === 0 ? [] : [[`filter[${filter}]`, JSON.stringify(wanted)] as const]
  })
  const levels = level === undefined ? [] : [['filter[level]', String(level)] as const]
  return [['advertiserId', String(advertiserId)] as const, ...levels, ...names, ...rangeMembers(query)]
}

/** Taxonomy listing (specification, section 1) of one advertiser. */
export function createTaxonomiesClient(
  caller: Caller,
  { advertiserId }: DisplayConnection,
  onUnknownValue: OnUnknownValue,
): TaxonomiesClient {
  return {
    list: async (query, options) =>
      fetchListing(caller, listingCall('taxonomies.list', PATH, 'data', bodyOf(advertiserId, query)), query, options, {
        read: (row) => readTaxonomyRow(row, onUnknownValue),
        envelope,
      }),
  }
}
