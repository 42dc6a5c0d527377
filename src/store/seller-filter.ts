/** Whose rows to read: those of one seller, of several, or (null) of all. */
export type SellerFilter = string | readonly string[] | null

/** Whether it names one seller: a removed one is shown then, where it would be left out of several. */
export const namesOne = (filter: SellerFilter): boolean => typeof filter === 'string'

/** As a parameter for `$n::text[] IS NULL OR seller_id = ANY ($n::text[])`. */
export const sellersIn = (filter: SellerFilter): readonly string[] | null => (typeof filter === 'string' ? [filter] : filter)

/** As a condition of a typed query on the column. */
export const ofSellers = (filter: SellerFilter): { readonly equals?: string; readonly in?: string[] } => {
  if (filter === null) return {}
  return typeof filter === 'string' ? { equals: filter } : { in: [...filter] }
}
