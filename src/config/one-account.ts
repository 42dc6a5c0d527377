import type { SellerSettings } from './sellers.ts'

/** More ids are counted, not named. */
const namedSellers = 5

/**
 * Warnings about sellers that go to one marketplace with one client id, as after a copy or a renaming. Each would have a rate budget of its own for what the
 * marketplace counts together, and every order would be stored, and acknowledged, once for each of them.
 */
export const oneAccountWarnings = (
  sellers: readonly Pick<SellerSettings, 'sellerId' | 'clientId' | 'marketplaceUrl'>[],
): readonly string[] =>
  Map.groupBy(sellers, ({ clientId, marketplaceUrl }) => JSON.stringify([clientId, marketplaceUrl]))
    .values()
    .filter(({ length }) => length > 1)
    .map((same) => {
      const ids = same.slice(0, namedSellers).map(({ sellerId }) => sellerId)
      const more = same.length > ids.length ? ` and ${same.length - ids.length} more` : ''
      const names = `${ids.join(', ')}${more}`
      return `sellers ${names} have one client id at one marketplace: each order is stored and acted on once for each of them; keep one`
    })
    .toArray()
