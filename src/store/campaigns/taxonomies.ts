import type { TaxonomyNode } from '../../domain/campaigns/taxonomy.ts'
import { type ListedStore, listedStore } from '../versioned/listed-records.ts'

/** Nodes of the advertising taxonomy, in `warehouse.taxonomy_nodes`; changes are recorded as `taxonomy_node.…`. */
export const taxonomyStore: ListedStore<TaxonomyNode> = listedStore({
  name: 'taxonomy_nodes',
  personalData: {
    none: `seller_id node_key level path parent_path name item_count attributes raw_hash raw observed_at missing_since first_seen_at
      changed_at`,
  },
  resource: 'taxonomies',
  key: { column: 'node_key', type: 'text' },
  columns: ['level integer', 'path text[]', 'parent_path text[]', 'name text', 'item_count integer', 'attributes jsonb'],
  row: (node: TaxonomyNode) => ({
    level: node.level,
    path: node.path,
    parent_path: node.path.slice(0, -1),
    name: node.name,
    item_count: node.itemCount,
    attributes: node.attributes,
  }),
  part: 'level::text',
  identity: {
    of: ({ level, path }) => ({ level, path: [...path] }),
    sql: `jsonb_build_object('level', level, 'path', path)`,
  },
  state: {
    of: ({ itemCount, attributes }) => ({
      itemCount,
      attributes:
        attributes === null ? null : { type: attributes.type, values: attributes.values.map((value) => ({ ...value })) },
    }),
    sql: `jsonb_build_object('itemCount', item_count, 'attributes', attributes)`,
  },
  change: (what, data) => ({ type: `taxonomy_node.${what}`, data }),
  loaded: (data) => ({ type: 'taxonomy.loaded', data }),
})
