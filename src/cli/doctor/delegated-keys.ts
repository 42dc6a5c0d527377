import type { ReadClient } from '../../clients/http/client.ts'
import { MarketplaceFailure } from '../../clients/http/errors.ts'
import { tokenDetailEndpoint } from '../../clients/marketplace/token-detail.ts'
import type { SellerSettings } from '../../config/config.ts'
import type { Finding } from './findings.ts'

/** What is known of the key of a seller that has no refresh token. */
export interface KeyInUse {
  readonly sellerId: string
  /** Last day of delegated keys, `YYYY-MM-DD`. */
  readonly endsOn: string
  /** Scopes without full access; null: unknown. */
  readonly restricted: Readonly<Record<string, string>> | null
  /** Whether other sellers of the settings are connected by refresh tokens: then these are the settings of a solution provider. */
  readonly isOfProvider: boolean
}

const maxNamedScopes = 4

/**
 * The warning about a key that a seller has delegated to a solution provider (public facts, section 15). Only such a key has restricted scopes. One with full
 * access cannot be distinguished from the seller's own, so it is named only in the settings of a solution provider. Null: no warning.
 */
export const findDelegatedKey = ({ sellerId, endsOn, restricted, isOfProvider }: KeyInUse): Finding | null => {
  const scopes = Object.entries(restricted ?? {}).map(([scope, access]) => `${scope}: ${access}`)
  const advice = `connect the seller by a refresh token before that day: docs/connecting-a-marketplace.md, Sellers of a solution provider`
  if (scopes.length > 0) {
    const more = scopes.length > maxNamedScopes ? ` and ${scopes.length - maxNamedScopes} more` : ''
    const named = `${scopes.slice(0, maxNamedScopes).join(', ')}${more}`
    const detail = `seller ${sellerId}: its key has no full access (${named}), as one that the seller has delegated to a solution provider; such keys end on ${endsOn}`
    return { check: 'credentials', state: 'warn', detail, advice }
  }
  if (!isOfProvider) return null
  const detail = `seller ${sellerId}: it has a key of its own, while other sellers are connected by refresh tokens; if the seller has delegated this key, it ends on ${endsOn}`
  return { check: 'credentials', state: 'warn', detail, advice: `if so, ${advice}` }
}

/** Checks whether the key of a seller is a delegated one, if its marketplace has announced their end. */
export const checkDelegatedKey = async (
  client: ReadClient,
  endsOn: string | null,
  sellers: readonly SellerSettings[],
  signal: AbortSignal,
): Promise<Finding[]> => {
  if (endsOn === null) return []
  const { sellerId } = client
  const isOfProvider = sellers.some(({ refreshToken }) => refreshToken !== null)
  try {
    const restricted = (await client.of(tokenDetailEndpoint)?.findRestrictedScopes({ signal })) ?? null
    const finding = findDelegatedKey({ sellerId, endsOn, restricted, isOfProvider })
    return finding === null ? [] : [finding]
  } catch (error) {
    if (!(error instanceof MarketplaceFailure)) throw error
    const detail = `seller ${sellerId}: whether a solution provider uses its key is not known: ${error.message}`
    return [{ check: 'credentials', state: 'ok', detail }]
  }
}
