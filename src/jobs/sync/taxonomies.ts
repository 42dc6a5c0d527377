import { parseTaxonomyNode } from '../../clients/client.ts'
import type { TaxonomyNode } from '../../domain/taxonomy.ts'
import { taxonomyStore } from '../../store/taxonomies.ts'
import type { SyncDefinition } from './definition.ts'
import { listingStream } from './listings.ts'

const levels = ['1', '2', '3'] as const

const levelOf = (part: string | null): 1 | 2 | 3 => (part === '1' ? 1 : part === '2' ? 2 : 3)

const all = listingStream<TaxonomyNode>({
  parts: levels,
  list: (display, part, range, options) => display.taxonomies.list({ level: levelOf(part), ...range }, options),
})

/** The advertising taxonomy (specification, section 1), level by level, since only the nodes of the level asked for carry counts. */
export const taxonomiesSync: SyncDefinition<TaxonomyNode> = {
  resource: 'taxonomies',
  streams: ['all'],
  stream: (name) => (name === 'all' ? all : null),
  backfillParts: [],
  parse: (rawText) => parseTaxonomyNode(rawText),
  find: taxonomyStore.findDiffering,
  store: taxonomyStore.store,
  noteMissing: taxonomyStore.noteMissing,
  findGone: (sql, sellerId, part, keys) => taxonomyStore.findGone(sql, sellerId, keys, 'level = $3::int', levelOf(part)),
}
