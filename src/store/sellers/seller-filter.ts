/** The sellers whose rows to read: one, several, or (null) all. */
export type SellerFilter = string | readonly string[] | null

/** Whether the filter names one seller. Then a removed seller is included; otherwise it is excluded. */
export const isSingleSeller = (filter: SellerFilter): boolean => typeof filter === 'string'

/** The filter as a parameter of `$n::text[] IS NULL OR seller_id = ANY ($n::text[])`. */
export const toSellerIds = (filter: SellerFilter): readonly string[] | null => (typeof filter === 'string' ? [filter] : filter)

/** The filter as a condition of a typed query. */
export const sellerCondition = (filter: SellerFilter): { readonly equals?: string; readonly in?: string[] } => {
  if (filter === null) return {}
  return typeof filter === 'string' ? { equals: filter } : { in: [...filter] }
}
