import { z } from 'zod'
import { identifier, lenient, text, timestampLike } from './lenient.ts'
import { describePublished } from './published.ts'

/** The return address of a sales channel (specification, "MCS sales channel"). */
export const wireReturnAddress = z.looseObject({
  line1: lenient(text),
  line2: lenient(text),
  line3: lenient(text),
  city: lenient(text),
  state: lenient(text),
  country: lenient(text),
  zip: lenient(text),
  addressType: lenient(text),
})

/**
 * A sales channel on the wire (specification, section 8). Loose: unknown fields are kept. The specification spells `shippping` with three letters p, the
 * reference of the live service with two (public facts, section 7.4).
 */
export const wireSalesChannel = z.looseObject({
  orderChannelId: identifier,
  orderChannelName: lenient(text),
  boxCatalogType: lenient(text),
  shippping: lenient(text),
  shipping: lenient(text),
  returnAddress: lenient(wireReturnAddress),
  active: lenient(z.union([text, z.boolean()])),
  sellerId: lenient(text),
  sellerName: lenient(text),
  createdDate: lenient(timestampLike),
  martId: lenient(text),
})

/** The envelope of the channels, its records cut out (a page that still contains some is unreadable). */
export const wireSalesChannelPage = z.looseObject({
  status: z.string().nullish(),
  payload: z.array(z.unknown()).max(0).nullable(),
})

/** A sales channel on the wire. */
export type WireSalesChannel = z.infer<typeof wireSalesChannel>

/** What is published about a sales channel (specification, section 8; public facts, section 7.4). */
export const publishedSalesChannel = describePublished(wireSalesChannel, {
  also: {
    '': ['modifiedDate', 'partialFulfillment', 'rapResponse'],
    returnAddress: ['firstName'],
  },
})
