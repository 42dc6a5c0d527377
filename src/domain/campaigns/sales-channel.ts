/** Where goods of a sales channel are sent back to (specification, "MCS sales channel"). */
export interface ReturnAddress {
  readonly line1: string | null
  readonly line2: string | null
  readonly line3: string | null
  readonly city: string | null
  readonly state: string | null
  readonly country: string | null
  readonly zip: string | null
  readonly addressType: string | null
}

/** A sales channel of multichannel fulfilment. */
export interface SalesChannel {
  readonly orderChannelId: string
  readonly orderChannelName: string | null
  readonly boxCatalogType: string | null
  /** Text on the shipping methods; the wire spells the field `shippping` or `shipping`. */
  readonly shippingMethods: string | null
  readonly returnAddress: ReturnAddress | null
  /** `Y` or `true` on the wire; null when it says something else. */
  readonly active: boolean | null
  readonly partnerId: string | null
  readonly partnerName: string | null
  readonly createdDate: Date | null
  readonly martId: string | null
  readonly raw: unknown
}
