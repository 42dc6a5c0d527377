import { randomUUID } from 'node:crypto'
import { createTokenSource } from '../auth.ts'
import type { Authorisation, BareCaller, Call } from '../caller.ts'
import { NO_ANSWER } from '../caller.ts'
import { wireToken } from '../contract/token.ts'
import type { MarketplaceFailure, Verdict } from '../errors.ts'
import { toFailure } from '../errors.ts'
import type { SellerConnection } from '../interface.ts'
import { decimalText } from '../json.ts'

/** Lifetime of a token that names none (public facts, section 1.1). */
const DEFAULT_TOKEN_LIFETIME_MS = 900_000
const MAX_TOKEN_LIFETIME_MS = 86_400_000

const OPERATION = 'token'

/**
 * Marketplace-side requests: an access token by client credentials, shared by all calls of the seller (specification,
 * Authentication; public facts, section 1.1). A 401 means that the token died early, so the call goes out once more with a new one.
 */
export function createTokenAuthorisation(connection: SellerConnection, now: () => number, bare: BareCaller): Authorisation {
  const { sellerId, headerPrefix } = connection
  const basic = `Basic ${Buffer.from(`${connection.clientId}:${connection.clientSecret}`).toString('base64')}`
  const secrets = [connection.clientSecret, basic, basic.slice('Basic '.length)]
  const serviceName = { [`${headerPrefix}_SVC.NAME`]: connection.serviceName }
  const call: Call = {
    operation: OPERATION,
    method: 'POST',
    target: connection.tokenPath,
    body: 'grant_type=client_credentials',
    // A second token harms nobody: this POST may be repeated like a read.
    write: false,
    recordsAt: [],
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }

  /** Nothing but dead credentials is final here, and whatever became of the token request, the call that needed it never left. */
  function failureOf(verdict: Verdict & { readonly ok: false }, correlationId: string): MarketplaceFailure {
    const { httpStatus, kind } = verdict
    const credentialsDead = kind !== 'throttled' && (httpStatus === 400 || httpStatus === 401 || httpStatus === 403)
    const judged = {
      ...verdict,
      contentNotFound: false,
      sent: 'never',
      kind: credentialsDead ? 'refused' : kind === 'throttled' ? kind : 'unavailable',
    } as const
    return toFailure(judged, { operation: OPERATION, sellerId, correlationId, credentialsDead })
  }

  const unavailable = (
    correlationId: string,
    details: { networkCode?: string; httpStatus?: number | null },
  ): MarketplaceFailure =>
    toFailure({ ...NO_ANSWER, kind: 'unavailable', sent: 'never', ...details }, { operation: OPERATION, sellerId, correlationId })

  const tokens = createTokenSource({
    now,
    aborted: () => unavailable(randomUUID(), { networkCode: 'ABORTED' }),
    async fetchToken() {
      const correlationId = randomUUID()
      const { verdict, outcome } = await bare.send(
        call,
        { headers: { authorization: basic, ...serviceName }, secrets },
        correlationId,
      )
      if (!verdict.ok) throw failureOf(verdict, correlationId)
      const parsed = wireToken.safeParse(verdict.body)
      if (!parsed.success) throw unavailable(correlationId, { httpStatus: outcome.status })
      const seconds = Number(decimalText(parsed.data.expires_in) ?? Number.NaN)
      const lifetimeMs = seconds > 0 ? Math.min(seconds * 1000, MAX_TOKEN_LIFETIME_MS) : DEFAULT_TOKEN_LIFETIME_MS
      return { value: parsed.data.access_token, lifetimeMs }
    },
  })

  return {
    async credentials(signal) {
      const token = await tokens.token(signal)
      return {
        headers: { [`${headerPrefix}_SEC.ACCESS_TOKEN`]: token.value, ...serviceName },
        secrets: [token.value, ...secrets],
        reject() {
          tokens.reject(token)
          return true
        },
      }
    },
  }
}
