import type { RefreshTokens } from '../clients/http/auth.ts'
import type { MarketplaceClient } from '../clients/http/client.ts'
import type { DisplayConnection } from '../clients/marketplace/connection.ts'
import { createMarketplaceClient } from '../clients/marketplace/marketplace.ts'
import { profiles } from '../clients/marketplace/profiles/index.ts'
import type { Profile } from '../clients/marketplace/profiles/profile.ts'
import { createInProcessBudget } from '../clients/rate-limit/shared-budget.ts'
import type { SellerSettings } from '../config/config.ts'

/** The profile of a seller. */
export const findProfile = ({ profile: name }: Pick<SellerSettings, 'profile'>): Profile => {
  const profile = profiles.get(name)
  if (profile === undefined) throw new Error(`there is no profile ${name}`)
  return profile
}

/**
 * A client of the marketplace for one seller, with a rate limit of its own. A seller with a refresh token needs `refreshTokens`: an answer could replace the
 * token, and the daemon would have the previous one. Close it.
 *
 * @throws TypeError for a seller with a refresh token without `refreshTokens`
 */
export const connectSeller = (
  seller: SellerSettings,
  {
    sandboxUrl,
    requestTimeoutMs,
    display = null,
    refreshTokens,
  }: {
    readonly sandboxUrl: string
    readonly requestTimeoutMs: number
    readonly display?: DisplayConnection | null
    readonly refreshTokens?: RefreshTokens | undefined
  },
): MarketplaceClient => {
  if (seller.refreshToken !== null && refreshTokens === undefined)
    throw new TypeError(`the refresh token of seller ${seller.sellerId} is used only with the stored ones`)
  const profile = findProfile(seller)
  return createMarketplaceClient(
    {
      sellerId: seller.sellerId,
      clientId: seller.clientId,
      clientSecret: seller.clientSecret,
      refreshToken: seller.refreshToken,
      partnerId: seller.partnerId,
      profile,
      marketplaceUrl: seller.marketplaceUrl ?? sandboxUrl,
      display,
      headerPrefix: seller.headerPrefix ?? profile.headerPrefix,
      quantityField: seller.quantityField ?? profile.quantityField,
      serviceName: seller.serviceName,
      tokenPath: seller.tokenPath ?? profile.tokenPath,
      requestTimeoutMs,
    },
    {
      budget: createInProcessBudget({ limits: { ...profile.rateLimits, ...seller.rateLimits } }),
      log: { debug: () => undefined, warn: () => undefined },
      ...(refreshTokens === undefined ? {} : { refreshTokens }),
    },
  )
}
