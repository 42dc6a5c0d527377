/** A count of items by a value of some attribute of a taxonomy node. */
export interface TaxonomyAttributeValue {
  readonly value: string
  readonly count: number
}

/** A node of the advertising taxonomy (specification, "Taxonomy node"), flattened: the path says where it hangs. */
export interface TaxonomyNode {
  /** 1 department, 2 category, 3 subcategory. */
  readonly level: number
  /** Names from the department down to the node itself. */
  readonly path: readonly string[]
  readonly name: string
  readonly itemCount: number | null
  readonly attributes: { readonly type: string | null; readonly values: readonly TaxonomyAttributeValue[] } | null
  readonly raw: unknown
}
