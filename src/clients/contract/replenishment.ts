import { z } from 'zod'
import { identifier, lenient, numberLike, text } from './lenient.ts'
import { describePublished } from './published.ts'

/** A recommendation on the wire (specification, section 5 and "Replenishment item"). Loose: unknown fields are kept; units are not lenient. */
export const wireReplenishment = z.looseObject({
  itemId: lenient(text),
  gtin: lenient(text),
  upc: lenient(text),
  vendorSku: identifier,
  suggestedQty: numberLike.nullish(),
  maxQty: numberLike.nullish(),
})

/** The envelope of the recommendations, its records cut out (a page that still contains some is unreadable). */
export const wireReplenishmentPage = z.looseObject({
  status: z.string().nullish(),
  payload: z.looseObject({ replenishments: z.array(z.unknown()).max(0).nullish() }).nullable(),
})

/** A recommendation on the wire. */
export type WireReplenishment = z.infer<typeof wireReplenishment>

/** What is published about a recommendation (specification; public facts, section 7.3). */
export const publishedReplenishment = describePublished(wireReplenishment, { also: { '': ['customerFavorite'] } })
