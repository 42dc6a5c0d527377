import { z } from 'zod'
import { identifier, lenient, momentLike, text } from './lenient.ts'

/** Where a sales channel takes goods back (specification, "MCS sales channel"). */
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
 * A sales channel on the wire (specification, section 8). Loose: unknown fields are kept. The shipping methods are spelled with three
 * letters p by the specification and with two by the reference of the live service (public facts, section 7.4).
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
  createdDate: lenient(momentLike),
  martId: lenient(text),
})

/** The envelope of the channels, its records cut out (one that still holds any was not understood). */
export const wireSalesChannelPage = z.looseObject({
  status: z.string().nullish(),
  payload: z.array(z.unknown()).max(0).nullable(),
})

/** A sales channel as it stands on the wire. */
export type WireSalesChannel = z.infer<typeof wireSalesChannel>
