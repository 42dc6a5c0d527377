import { taxonomiesEndpoint } from '../../clients/display/taxonomies.ts'
import { taxonomyStore } from '../../store/taxonomies.ts'
import { listing } from './listings.ts'
import { resource } from './resource.ts'
import { dayMs } from './settings.ts'

const levels = ['1', '2', '3'] as const

const levelOf = (part: string | null): 1 | 2 | 3 => (part === '1' ? 1 : part === '2' ? 2 : 3)

const all = listing({
  endpoint: taxonomiesEndpoint,
  operation: taxonomiesEndpoint.operations.list,
  parts: levels,
  list: (taxonomies, part, range, options) => taxonomies.list({ level: levelOf(part), ...range }, options),
})

/** The advertising taxonomy (specification, section 1), level by level, since only the nodes of the level asked for carry counts. */
export const taxonomies = resource({
  name: 'taxonomies',
  endpoint: taxonomiesEndpoint,
  poll: { variable: 'POLL_TAXONOMIES', ordinaryMs: dayMs, demonstrationMs: 300_000 },
  streams: { all },
  table: taxonomyStore,
})
