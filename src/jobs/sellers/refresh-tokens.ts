import { createHash, randomUUID } from 'node:crypto'
import { type ConfiguredRefreshToken, type RefreshTokens, RefreshTokenUnreadable } from '../../clients/http/auth.ts'
import type { Logger } from '../../observability/log.ts'
import { raiseAlarm, resolveAlarmsOfSellers } from '../../store/alarms/alarms.ts'
import type { Database, SqlRunner } from '../../store/db/database.ts'
import {
  leaseRefreshToken,
  type RefreshTokenKey,
  releaseRefreshToken,
  storeRefreshToken,
} from '../../store/sellers/refresh-tokens.ts'
import { decryptText, encryptText } from '../../util/encryption.ts'
import { pause } from '../../util/sleep.ts'

/** Another process that uses the refresh token of the seller has not released it in time. */
class RefreshTokenInUse extends Error {
  override readonly name = 'RefreshTokenInUse'
}

/** Dependencies of the refresh tokens of a process. */
export interface RefreshTokenParts {
  readonly database: Database
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Keys of 32 bytes; the first one encrypts, all of them decrypt. Empty: replaced tokens are not stored. */
  readonly encryptionKeys: readonly Uint8Array[]
  /** Timeout of one request to the marketplace, in milliseconds. */
  readonly requestTimeoutMs: number
  /** Ends waiting for another process. */
  readonly stop: AbortSignal
}

const alarm = { kind: 'refresh-token-replaced', subject: 'refresh-token' } as const

const notStored = (sellerId: string): string =>
  `the marketplace has replaced the refresh token of seller ${sellerId}, and the new one is not stored, since TOKEN_ENCRYPTION_KEY is unset: the configured one is used as long as it is accepted; set TOKEN_ENCRYPTION_KEY to the same 32 bytes in base64 in every process (\`openssl rand -base64 32\`), connect the seller again for a new refresh token, and restart`

/** Resolves the alarms about refresh tokens that were not stored, for sellers whose replaced ones are stored now, or that have none. */
export const resolveReplacedAlarms = (sql: SqlRunner, sellerIds: readonly string[]): Promise<void> =>
  resolveAlarmsOfSellers(sql, alarm, sellerIds)

/** A lease outlasts the request of its holder by this time, for its statements. */
const leaseMarginMs = 5_000
const leaseRetryMs = 100

const buildKey = ({ sellerId, clientId, refreshToken }: ConfiguredRefreshToken): RefreshTokenKey => {
  const configuredFingerprint = createHash('sha256')
    .update(JSON.stringify([clientId, refreshToken]))
    .digest('hex')
  return { sellerId, configuredFingerprint }
}
const buildContext = ({ sellerId, configuredFingerprint }: RefreshTokenKey): string =>
  JSON.stringify(['refresh-token', sellerId, configuredFingerprint])

/** The configured refresh tokens. A replacement is dropped, with an alarm. */
const useConfigured = ({ database, log }: RefreshTokenParts): RefreshTokens => ({
  use: async ({ sellerId, refreshToken }, request) => {
    const result = await request(refreshToken)
    if (result.replacement === null || result.replacement === refreshToken) return result
    const message = notStored(sellerId)
    log.warn({ seller_id: sellerId }, message)
    try {
      await raiseAlarm(database, { sellerId, ...alarm }, message)
    } catch (error) {
      log.error({ seller_id: sellerId, err: error }, 'the alarm about a replaced refresh token could not be raised')
    }
    return result
  },
})

/** The newest refresh tokens in Postgres, used under a lease: of two requests with one token the second could be refused, or end the access. */
const useStored = (parts: RefreshTokenParts): RefreshTokens => {
  const { database, log, encryptionKeys, requestTimeoutMs, stop } = parts
  const [encryptionKey] = encryptionKeys
  if (encryptionKey === undefined) throw new Error('there is no key that encrypts refresh tokens')
  const leaseMs = requestTimeoutMs + leaseMarginMs
  /** Replacements that could not be stored yet, by the fingerprint of the configured token. */
  const unstored = new Map<string, { readonly token: string; readonly replacedVersion: number }>()

  const lease = async (key: RefreshTokenKey, id: string) => {
    const deadlineMs = performance.now() + leaseMs
    for (;;) {
      const leased = await leaseRefreshToken(database, key, { id, leaseMs })
      if (leased !== null) return leased
      if (stop.aborted || performance.now() > deadlineMs)
        throw new RefreshTokenInUse(`another process uses the refresh token of seller ${key.sellerId}`)
      await pause(leaseRetryMs, stop)
    }
  }

  const store = async (key: RefreshTokenKey, replacement: { readonly token: string; readonly replacedVersion: number }) => {
    const { token, replacedVersion } = replacement
    unstored.set(key.configuredFingerprint, replacement)
    const encryptedToken = encryptText(token, encryptionKey, buildContext(key))
    const isStored = await storeRefreshToken(database, key, { encryptedToken, replacedVersion })
    unstored.delete(key.configuredFingerprint)
    if (isStored)
      log.info({ seller_id: key.sellerId }, 'the marketplace has replaced a refresh token; the new one is stored encrypted')
    else log.warn({ seller_id: key.sellerId }, 'another process has stored a newer refresh token, which is used from now on')
  }

  /** The newest token, and the version that it has. */
  const read = async (
    key: RefreshTokenKey,
    configured: string,
    leased: { readonly encryptedToken: Uint8Array | null; readonly version: number },
  ): Promise<{ readonly token: string; readonly version: number }> => {
    const waiting = unstored.get(key.configuredFingerprint)
    if (waiting !== undefined && waiting.replacedVersion === leased.version) {
      await store(key, waiting)
      return { token: waiting.token, version: waiting.replacedVersion + 1 }
    }
    unstored.delete(key.configuredFingerprint)
    const { encryptedToken, version } = leased
    if (encryptedToken === null) return { token: configured, version }
    const token = decryptText(encryptedToken, encryptionKeys, buildContext(key))
    if (token !== null) return { token, version }
    throw new RefreshTokenUnreadable(
      `the stored refresh token of seller ${key.sellerId} cannot be decrypted with TOKEN_ENCRYPTION_KEY`,
    )
  }

  return {
    use: async (configured, request) => {
      const key = buildKey(configured)
      const id = randomUUID()
      const leased = await lease(key, id)
      try {
        const { token, version } = await read(key, configured.refreshToken, leased)
        const result = await request(token)
        if (result.replacement === null || result.replacement === token) return result
        try {
          await store(key, { token: result.replacement, replacedVersion: version })
        } catch (error) {
          // The access token of the same answer is valid. The replacement is kept here, and stored before it is used.
          log.error(
            { seller_id: key.sellerId, err: error },
            'a replaced refresh token could not be stored; it is stored before the next access token is requested',
          )
        }
        return result
      } finally {
        await releaseRefreshToken(database, key, id).catch((error: unknown) => {
          log.warn(
            { seller_id: key.sellerId, err: error },
            'the lease of a refresh token ends by itself, as it could not be released',
          )
        })
      }
    },
  }
}

/**
 * The refresh tokens of the sellers of this process. With a key, replacements are stored encrypted, and every process that has the same configured token uses
 * the newest one. Without a key, the configured one is used, and an alarm reports that it was replaced.
 */
export const createRefreshTokens = (parts: RefreshTokenParts): RefreshTokens =>
  parts.encryptionKeys.length === 0 ? useConfigured(parts) : useStored(parts)
