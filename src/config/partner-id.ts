import { headerText } from './parsers.ts'

/** Why the partner header of a seller with a refresh token cannot be built; null: it can, or there is no refresh token. */
export const partnerIdFault = (seller: {
  readonly sellerId: string
  readonly partnerId?: string | null | undefined
  readonly refreshToken: string | null
}): string | null => {
  const { sellerId, partnerId, refreshToken } = seller
  if (refreshToken === null || typeof partnerId === 'string' || headerText.safeParse(sellerId).success) return null
  return 'is missing while the id of the seller cannot be the value of a header; accepted: its id at the marketplace'
}
