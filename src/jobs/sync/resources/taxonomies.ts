import { taxonomiesEndpoint } from '../../../clients/display/taxonomies.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { taxonomyStore } from '../../../store/campaigns/taxonomies.ts'
import { listing } from '../engine/listings.ts'
import { resource } from '../engine/resource.ts'

const levels = ['1', '2', '3'] as const

const parseLevel = (part: string | null): 1 | 2 | 3 => (part === '1' ? 1 : part === '2' ? 2 : 3)

const all = listing({
  endpoint: taxonomiesEndpoint,
  operation: taxonomiesEndpoint.operations.list,
  parts: levels,
  list: (taxonomies, part, range, options) => taxonomies.list({ level: parseLevel(part), ...range }, options),
})

/** The advertising taxonomy (specification, section 1), level by level, since only nodes of the requested level have counts. */
export const taxonomies = resource({
  name: 'taxonomies',
  endpoint: taxonomiesEndpoint,
  poll: pollIntervals.taxonomies,
  streams: { all },
  table: taxonomyStore,
})
