import { randomUUID } from 'node:crypto'
import type { CredentialsClient } from '../auth.ts'
import { createTokenSource, type TokenAnswer } from '../auth.ts'
import type { Authorisation, BareCaller, Call } from '../caller.ts'
import { noAnswer } from '../caller.ts'
import { wireToken } from '../contract/token.ts'
import { MarketplaceFailure } from '../errors.ts'
import { decimalText } from '../json.ts'
import { toFailure, type Verdict } from '../judge.ts'
import type { Operation } from '../operation.ts'
import type { SellerConnection } from './connection.ts'

/** Lifetime of a token that names none (public facts, section 1.1). */
const defaultTokenLifetimeMs = 900_000
const maxTokenLifetimeMs = 86_400_000

/** Asks for an access token. */
export const tokenOperation: Operation = {
  name: 'token',
  // Not published anywhere. One token lives 15 minutes; the rest is for tokens that die early and for requests that fail, since nothing
  // of a seller works while it has no token.
  limit: { tokens: 20, perMs: 300_000 },
  // A second token harms nobody: it is no write, and may be repeated like a read.
  payloadKeys: ['access_token'],
  speaksOAuth: true,
  isShared: true,
  isOfCredentials: true,
  // A fleet could not start if its processes had to share a guess.
  ofEachProcess: true,
}

type Failed = Verdict & { readonly ok: false }

/** Statuses of the token operation that speak of the credentials (public facts, section 1.1). */
const refusingStatuses: readonly (number | null)[] = [400, 401, 403]

/** Whether the marketplace itself says that it does not accept the credentials; HTML, an uncoded body and any other status are an outage. */
const refusesCredentials = ({ kind, httpStatus, ownWord, renewToken }: Failed): boolean =>
  ownWord && refusingStatuses.includes(httpStatus) && (kind === 'refused' || renewToken)

/** The header that carries the access token, by the company abbreviation in header names (specification, Authentication). */
export const accessTokenHeader = (headerPrefix: string): string => `${headerPrefix}_SEC.ACCESS_TOKEN`

/**
 * Marketplace-side requests: an access token by client credentials, shared by all calls of the seller (specification,
 * Authentication; public facts, section 1.1). A 401 means that the token died early, so the next request gets a new one.
 */
export const createTokenAuthorisation = (
  connection: SellerConnection,
  now: () => number,
  bare: BareCaller,
): Authorisation & CredentialsClient => {
  const { sellerId, headerPrefix } = connection
  const basic = `Basic ${Buffer.from(`${connection.clientId}:${connection.clientSecret}`).toString('base64')}`
  const secrets = [connection.clientSecret, basic, basic.slice('Basic '.length)]
  const serviceName = { [`${headerPrefix}_SVC.NAME`]: connection.serviceName }
  const call: Call = {
    operation: tokenOperation,
    method: 'POST',
    target: connection.tokenPath,
    body: 'grant_type=client_credentials',
    recordsAt: [],
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }

  /** Whatever became of the token request, the call that needed it never left. Nothing but dead credentials is final. */
  const failureOf = (
    verdict: Failed,
    correlationId: string,
    judged: { readonly credentialsDead: boolean; readonly credentialsDoubted?: boolean; readonly retryAt?: Date | null },
  ): MarketplaceFailure => {
    const { credentialsDead, credentialsDoubted = false, retryAt = verdict.retryAt } = judged
    const kind = credentialsDead ? 'refused' : verdict.kind === 'throttled' ? 'throttled' : 'unavailable'
    const told: Failed = { ...verdict, contentNotFound: false, staleToken: false, sent: 'never', kind, retryAt }
    return toFailure(told, {
      operation: tokenOperation.name,
      sellerId,
      correlationId,
      credentialsDead,
      credentialsDoubted,
      ofCredentials: true,
    })
  }

  const unavailable = (details: { networkCode?: string; httpStatus?: number | null }): Failed => ({
    ...noAnswer,
    kind: 'unavailable',
    sent: 'never',
    ...details,
  })

  const fetchToken = async (): Promise<TokenAnswer> => {
    const correlationId = randomUUID()
    const outage = (verdict: Failed): TokenAnswer => ({
      kind: 'outage',
      heard: verdict.httpStatus !== null && verdict.kind !== 'throttled',
      failure: failureOf(verdict, correlationId, { credentialsDead: false }),
    })
    try {
      const { verdict, outcome } = await bare.send(
        call,
        { headers: { authorization: basic, ...serviceName }, secrets },
        correlationId,
      )
      if (!verdict.ok) {
        if (!refusesCredentials(verdict)) return outage(verdict)
        const failure = (judged: { readonly dead: boolean; readonly retryAt?: Date }): MarketplaceFailure =>
          failureOf(verdict, correlationId, {
            credentialsDead: judged.dead,
            credentialsDoubted: !judged.dead,
            retryAt: judged.retryAt ?? null,
          })
        return { kind: 'refused', failure }
      }
      const parsed = wireToken.safeParse(verdict.body)
      if (!parsed.success) return outage(unavailable({ httpStatus: outcome.status }))
      const seconds = Number(decimalText(parsed.data.expires_in) ?? Number.NaN)
      const lifetimeMs = seconds > 0 ? Math.min(seconds * 1000, maxTokenLifetimeMs) : defaultTokenLifetimeMs
      return { kind: 'token', value: parsed.data.access_token, lifetimeMs }
    } catch (error) {
      // No budget for it now.
      if (error instanceof MarketplaceFailure) return { kind: 'outage', heard: false, failure: error }
      throw error
    }
  }

  const aborted = (): MarketplaceFailure =>
    failureOf(unavailable({ networkCode: 'ABORTED' }), randomUUID(), { credentialsDead: false })

  const tokens = createTokenSource({ now, aborted, fetchToken })

  return {
    async credentials(signal) {
      const token = await tokens.token(signal)
      return {
        headers: { [accessTokenHeader(headerPrefix)]: token.value, ...serviceName },
        secrets: [token.value, ...secrets],
        reject() {
          tokens.reject(token)
          return true
        },
      }
    },
    async ask(signal) {
      const outcome = await tokens.ask(signal)
      if (outcome.kind === 'token') return { accepted: true }
      return { accepted: false, refused: outcome.kind === 'refused', failure: outcome.failure }
    },
    forgive: () => tokens.forgive(),
    accepted: () => tokens.accepted(),
  }
}
