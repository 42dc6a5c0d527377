import type { TaxonomyNode } from '../../domain/campaigns/taxonomy.ts'
import { wireTaxonomyPage } from '../contract/taxonomies.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Operations } from '../http/endpoint.ts'
import { perMinute } from '../http/operation.ts'
import type { Page } from '../http/record.ts'
import { type DisplayHost, endpoint } from '../marketplace/endpoint.ts'
import type { IndexRange } from './paging.ts'
import { fetchListing, listingCall, rangeMembers } from './paging.ts'
import { parseTaxonomyNode, readTaxonomyRow } from './taxonomy-record.ts'

/** Nodes that match all these names. Too many names are refused (specification, Errors). */
export interface TaxonomyFilters {
  readonly brandName?: readonly string[]
  readonly department?: readonly string[]
  readonly category?: readonly string[]
  readonly subCategory?: readonly string[]
}

/** Taxonomy nodes of one level; default: level 3. */
export interface TaxonomyQuery extends IndexRange {
  readonly level?: 1 | 2 | 3
  readonly filters?: TaxonomyFilters
}

/** Taxonomies of one advertiser. The `nextCursor` of a page is the `startIndex` of the next one. */
export interface TaxonomiesClient {
  /** @throws MarketplaceFailure; RangeError, before anything is sent, for an invalid query */
  list(query: TaxonomyQuery, options: CallOptions): Promise<Page<TaxonomyNode>>
}

/** Limits of display advertising are not published, only that a 429 lasts ten minutes (public facts, section 8.3). */
const operations = {
  list: { name: 'taxonomies.list', limit: perMinute(60), payloadKeys: ['data'] },
} as const satisfies Operations

const path = '/api/v1/taxonomies/list'
const filterNames = ['brandName', 'department', 'category', 'subCategory'] as const satisfies readonly (keyof TaxonomyFilters)[]

const envelope = (document: unknown) => {
  const { data } = wireTaxonomyPage.safeParse(document)
  if (data === undefined) return null
  return { hasRows: Array.isArray(data.data), totalResults: data.totalResults }
}

const buildBody = (advertiserId: number, query: TaxonomyQuery) => {
  const { level, filters = {} } = query
  if (level !== undefined && ![1, 2, 3].includes(level)) throw new RangeError('level must be 1, 2 or 3')
  const names = filterNames.flatMap((filter) => {
    const wanted = filters[filter] ?? []
    return wanted.length === 0 ? [] : [[`filter[${filter}]`, JSON.stringify(wanted)] as const]
  })
  const levels = level === undefined ? [] : [['filter[level]', String(level)] as const]
  return [['advertiserId', String(advertiserId)] as const, ...levels, ...names, ...rangeMembers(query)]
}

/** Taxonomy listing (specification, section 1) of one advertiser. */
const createTaxonomiesClient = ({ caller, display: { advertiserId }, onUnknownValue }: DisplayHost): TaxonomiesClient => ({
  list: async (query, options) =>
    fetchListing(caller, listingCall(operations.list, path, 'data', buildBody(advertiserId, query)), query, options, {
      read: (row) => readTaxonomyRow(row, onUnknownValue, caller.compareRecords(operations.list)),
      envelope,
    }),
})

/** Taxonomies of display advertising (specification, section 1). */
export const taxonomiesEndpoint = endpoint({
  host: 'display',
  operations,
  read: parseTaxonomyNode,
  create: createTaxonomiesClient,
})
