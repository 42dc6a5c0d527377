/** `shadow`: everything is read, stored, decided and reserved, and nothing can be written to the marketplace. */
export const sellerModes = ['live', 'shadow'] as const
/** See {@link sellerModes}. */
export type SellerMode = (typeof sellerModes)[number]
