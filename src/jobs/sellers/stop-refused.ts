import type { Database } from '../../store/db/database.ts'
import { type ConfiguredSeller, type Stop, stopSeller } from '../../store/sellers/sellers.ts'
import type { SellerRegistry } from './registry.ts'

/** Why a seller is stopped, with advice. */
export const credentialsRefused = (sellerId: string, httpStatus: number | null, process: string): string =>
  `the marketplace repeatedly refuses the credentials of seller ${sellerId} (HTTP ${httpStatus ?? 'none'}), as the process ${process} has them, so nothing of this seller runs: correct them in the settings, then have these read again (\`tallyman sellers reload\`, POST /v1/sellers/reload, SIGHUP) or restart; if they are right, \`tallyman sellers resume ${sellerId}\` tries them at once, which happens by itself every 15 minutes`

/** How corrected settings take effect. */
const takeEffect = 'then have these read again (`tallyman sellers reload`, POST /v1/sellers/reload, SIGHUP) or restart'
const reconnect = `have the seller authorise the app again, exchange the code for a refresh token (docs/connecting-a-marketplace.md), and put it into the settings, ${takeEffect}`

/** Why a seller of a solution provider is stopped, and how it is connected again. `httpStatus` null: its stored refresh token cannot be decrypted. */
const refreshTokenRefused = (sellerId: string, httpStatus: number | null, process: string): string =>
  httpStatus === null
    ? `the refresh token of seller ${sellerId} that is stored in Postgres cannot be decrypted with the TOKEN_ENCRYPTION_KEY of the process ${process}, so nothing of this seller runs: set the key with which it was stored, and restart; or connect the seller again: ${reconnect}`
    : `the marketplace repeatedly refuses the refresh token of seller ${sellerId} (HTTP ${httpStatus}), as the process ${process} has it, so nothing of this seller runs: the seller has withdrawn its consent, the token has expired or was replaced, or the client id and secret are wrong; to connect the seller again, ${reconnect}; if everything is right, \`tallyman sellers resume ${sellerId}\` tries it at once, which happens by itself every 15 minutes`

/** Dependencies of a stop. */
export interface StopParts {
  readonly database: Database
  readonly sellers: Pick<SellerRegistry, 'has' | 'configured' | 'findSettings' | 'suspend'>
  /** The name of this process. */
  readonly owner: string
  /** Called when the seller was suspended in this process: it works for fewer sellers than before. */
  readonly onSuspended?: () => void
}

/** Result of stopping a seller, and its reason for logs and operators. */
export interface StopResult {
  readonly stop: Stop
  readonly reason: string
}

/**
 * The marketplace refuses the credentials with which a run began: the seller is stopped for all processes, or suspended here while another process
 * works with other credentials. Does nothing if the credentials were replaced meanwhile.
 */
export const stopRefused = async (
  { database, sellers, owner, onSuspended }: StopParts,
  seller: ConfiguredSeller,
  httpStatus: number | null,
): Promise<StopResult> => {
  const { sellerId, credentialsFingerprint } = seller
  if (!sellers.has(sellerId) || sellers.configured(sellerId).credentialsFingerprint !== credentialsFingerprint)
    return { stop: 'outdated', reason: `the credentials of seller ${sellerId} were refused, and are other ones by now` }
  const hasRefreshToken = typeof sellers.findSettings(sellerId)?.refreshToken === 'string'
  const reason = (hasRefreshToken ? refreshTokenRefused : credentialsRefused)(sellerId, httpStatus, owner)
  const stop = await stopSeller(database, seller, reason, owner)
  if (stop === 'stopped') return { stop, reason }
  if (stop === 'outdated')
    return { stop, reason: `the credentials of seller ${sellerId} were refused before it was resumed or paused` }
  sellers.suspend(seller, reason)
  onSuspended?.()
  return {
    stop,
    reason: `the marketplace refuses the credentials that the process ${owner} has for seller ${sellerId} (HTTP ${httpStatus ?? 'none'}) and accepts those of another process, so this one leaves the seller to it: correct its settings, then have them read again (\`tallyman sellers reload\`, SIGHUP) or restart it`,
  }
}
