import type { SellerSettings } from './sellers.ts'

/** Maximum number of ids in a warning. */
const maxNamedSellers = 5

/**
 * Warnings about sellers with the same client id at the same marketplace, for example after a copy or a renaming. Each would have its own rate limit although the
 * marketplace counts their requests together, and every order would be stored and acknowledged once for each of them.
 */
export const listSharedAccountWarnings = (
  sellers: readonly Pick<SellerSettings, 'sellerId' | 'clientId' | 'marketplaceUrl' | 'refreshToken' | 'partnerId'>[],
): readonly string[] =>
  Map.groupBy(sellers, ({ sellerId, clientId, marketplaceUrl, refreshToken, partnerId }) =>
    // The sellers of a solution provider have its client id, each with its own partner id.
    JSON.stringify([clientId, marketplaceUrl, refreshToken === null ? null : (partnerId ?? sellerId)]),
  )
    .values()
    .filter(({ length }) => length > 1)
    .map((same) => {
      const ids = same.slice(0, maxNamedSellers).map(({ sellerId }) => sellerId)
      const more = same.length > ids.length ? ` and ${same.length - ids.length} more` : ''
      const names = `${ids.join(', ')}${more}`
      return `sellers ${names} have the same client id at the same marketplace: each order is stored and processed once for each of them; keep one`
    })
    .toArray()
