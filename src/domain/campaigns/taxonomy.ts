/** A count of items by a value of some attribute of a taxonomy node. */
export interface TaxonomyAttributeValue {
  readonly value: string
  readonly count: number | null
}

/** A node of the advertising taxonomy (specification, "Taxonomy node"), flattened: the path is its position. */
export interface TaxonomyNode {
  /** 1 department, 2 category, 3 subcategory. */
  readonly level: number
  /** Names from the department down to the node itself; never empty. */
  readonly path: readonly string[]
  /** The last name of the path. */
  readonly name: string
  readonly itemCount: number | null
  readonly attributes: { readonly type: string | null; readonly values: readonly TaxonomyAttributeValue[] } | null
  readonly raw: unknown
}

/**
 * One text for a node: its level and its path, as `3 | Home | Kitchen | Pans`. Different nodes have different texts, since a
 * vertical bar within a name is escaped.
 */
export const taxonomyKey = (level: number, path: readonly string[]): string =>
  [String(level), ...path.map((name) => name.replaceAll('\\', '\\\\').replaceAll('|', '\\|'))].join(' | ')
