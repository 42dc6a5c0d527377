import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type CredentialsAnswer,
  type CredentialsClient,
  createTokenSource,
  type RefreshTokens,
  RefreshTokenUnreadable,
  type TokenAnswer,
  type TokenSource,
} from '../http/auth.ts'
import type { Authorisation, AuthorisationContext, Call, Credentials } from '../http/call.ts'
import { noAnswer } from '../http/call.ts'
import { toFailure, type Verdict } from '../http/classify.ts'
import type { ClientLog, ClientParts } from '../http/client-parts.ts'
import { type Fault, MarketplaceFailure } from '../http/errors.ts'
import { decimalText } from '../http/json.ts'
import type { Operation } from '../http/operation.ts'
import type { SellerConnection } from './connection.ts'

/** Lifetime of a token without one in its answer (public facts, section 1.1). */
const defaultTokenLifetimeMs = 900_000
const maxTokenLifetimeMs = 86_400_000

/** Requests an access token. */
export const tokenOperation: Operation = {
  name: 'token',
  // The limit is not published. One token lives 15 minutes; the rest is for tokens that expire early and for failed requests: a seller without a token is
  // completely stopped.
  limit: { tokens: 20, perMs: 300_000 },
  // A second token has no effect on the first: the operation is no write and may be repeated like a read.
  payloadKeys: ['access_token'],
  speaksOAuth: true,
  isShared: true,
  isOfCredentials: true,
  // The processes of a fleet could not start if they shared an assumed limit.
  ofEachProcess: true,
}

/**
 * Answer of the token operation (public facts, section 1.1). `expires_in` is in seconds. A `refresh_token` in the answer to a refresh token replaces it
 * (RFC 6749, section 6).
 */
const wireToken = z.looseObject({
  access_token: z.string().min(1),
  token_type: z.string().nullish(),
  expires_in: z.union([z.number(), z.string()]).nullish(),
  // An unreadable one must not cost the access token beside it.
  refresh_token: z.string().min(1).nullish().catch(null),
})

type Failed = Verdict & { readonly ok: false }

/** Statuses of the token operation that concern the credentials (public facts, section 1.1). */
const refusingStatuses: readonly (number | null)[] = [400, 401, 403]

/** Whether the marketplace itself rejects the credentials. HTML, a body without a code and any other status are an outage. */
const refusesCredentials = ({ kind, httpStatus, fromMarketplace, renewToken }: Failed): boolean =>
  fromMarketplace && refusingStatuses.includes(httpStatus) && (kind === 'refused' || renewToken)

/** The header of the access token, by the company abbreviation in header names (specification, Authentication). */
export const accessTokenHeader = (headerPrefix: string): string => `${headerPrefix}_SEC.ACCESS_TOKEN`

/** The header with the id of the seller, which the grant by refresh token requires (public facts, sections 1.1 and 15). */
const partnerHeader = (headerPrefix: string): string => `${headerPrefix}_PARTNER.ID`

/** Every request uses the configured refresh token. */
const onlyConfigured: RefreshTokens = { use: ({ refreshToken }, request) => request(refreshToken) }

/** Codes of the failures before a request: they are in the place of the codes of the marketplace. */
const refreshTokenUnreadable = 'REFRESH_TOKEN_UNREADABLE'
const refreshTokenUnavailable = 'REFRESH_TOKEN_UNAVAILABLE'

const buildFault = (code: string): Fault => ({ code, field: null, description: null })

/** One request of the token operation. */
interface TokenRequest {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Texts of the body that an answer may echo. */
  readonly secrets: readonly string[]
}

/** The answer, and the refresh token that replaces the used one; null: it remains valid. */
interface TokenExchange {
  readonly answer: TokenAnswer
  readonly replacement: string | null
}

const unavailable = (details: { networkCode?: string; httpStatus?: number | null }): Failed => ({
  ...noAnswer,
  kind: 'unavailable',
  sent: 'never',
  ...details,
})

class TokenAuthorisation implements Authorisation, CredentialsClient {
  readonly #connection: SellerConnection
  readonly #context: AuthorisationContext
  readonly #basic: string
  readonly #secrets: readonly string[]
  readonly #serviceName: Readonly<Record<string, string>>
  readonly #tokens: TokenSource
  readonly #refreshTokens: RefreshTokens
  readonly #log: ClientLog

  constructor(connection: SellerConnection, parts: ClientParts, context: AuthorisationContext) {
    const { now = Date.now, refreshTokens = onlyConfigured, log } = parts
    const { clientId, clientSecret, headerPrefix, serviceName } = connection
    const encoded = Buffer.from(`${clientId}:${clientSecret}`).toString('base64')
    this.#connection = connection
    this.#context = context
    this.#refreshTokens = refreshTokens
    this.#log = log
    this.#basic = `Basic ${encoded}`
    this.#secrets = [clientSecret, this.#basic, encoded]
    this.#serviceName = { [`${headerPrefix}_SVC.NAME`]: serviceName }
    this.#tokens = createTokenSource({
      now,
      fetchToken: () => this.#fetchToken(),
      aborted: () => this.#fail(unavailable({ networkCode: 'ABORTED' }), randomUUID(), { credentialsDead: false }),
    })
  }

  async credentials(signal: AbortSignal): Promise<Credentials> {
    const token = await this.#tokens.token(signal)
    return {
      headers: { [accessTokenHeader(this.#connection.headerPrefix)]: token.value, ...this.#serviceName },
      secrets: [token.value, ...this.#secrets],
      reject: () => {
        this.#tokens.reject(token)
        return true
      },
    }
  }

  async check(signal: AbortSignal): Promise<CredentialsAnswer> {
    const outcome = await this.#tokens.request(signal)
    if (outcome.kind === 'token') return { accepted: true }
    return { accepted: false, refused: outcome.kind === 'refused', failure: outcome.failure }
  }

  clearRefusals(): void {
    this.#tokens.clearRefusals()
  }

  areAccepted(): boolean {
    return this.#tokens.areAccepted()
  }

  async #fetchToken(): Promise<TokenAnswer> {
    const { sellerId, clientId, headerPrefix, refreshToken: configured, partnerId } = this.#connection
    if (typeof configured !== 'string') {
      const { answer } = await this.#exchange({ body: 'grant_type=client_credentials', headers: {}, secrets: [] })
      return answer
    }
    const headers = { [partnerHeader(headerPrefix)]: partnerId ?? sellerId }
    try {
      const { answer } = await this.#refreshTokens.use({ sellerId, clientId, refreshToken: configured }, (refreshToken) => {
        const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }).toString()
        const encoded = new URLSearchParams([['', refreshToken]]).toString().slice(1)
        return this.#exchange({ body, headers, secrets: [refreshToken, encoded] })
      })
      return answer
    } catch (error) {
      if (error instanceof RefreshTokenUnreadable) {
        const verdict: Failed = { ...noAnswer, kind: 'refused', sent: 'never', faults: [buildFault(refreshTokenUnreadable)] }
        return this.#refused(verdict, randomUUID())
      }
      this.#log.warn(
        { seller_id: sellerId, err: error },
        'the refresh token of a seller cannot be read or stored; its calls wait',
      )
      return this.#outage({ ...unavailable({}), faults: [buildFault(refreshTokenUnavailable)] }, randomUUID())
    }
  }

  async #exchange(request: TokenRequest): Promise<TokenExchange> {
    const correlationId = randomUUID()
    const call: Call = {
      operation: tokenOperation,
      method: 'POST',
      target: this.#connection.tokenPath,
      body: request.body,
      recordsAt: [],
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    }
    const headers = { authorization: this.#basic, ...this.#serviceName, ...request.headers }
    const secrets = [...this.#secrets, ...request.secrets]
    try {
      const { verdict, outcome } = await this.#context.send(call, { headers, secrets }, correlationId)
      return this.#readTokenAnswer(verdict, outcome.status, correlationId)
    } catch (error) {
      // The rate limit has no permit now.
      if (error instanceof MarketplaceFailure)
        return { answer: { kind: 'outage', isAnswered: false, failure: error }, replacement: null }
      throw error
    }
  }

  #readTokenAnswer(verdict: Verdict, httpStatus: number | null, correlationId: string): TokenExchange {
    if (!verdict.ok) return { answer: this.#readFailedAnswer(verdict, correlationId), replacement: null }
    const parsed = wireToken.safeParse(verdict.body)
    if (!parsed.success) return { answer: this.#outage(unavailable({ httpStatus }), correlationId), replacement: null }
    const seconds = Number(decimalText(parsed.data.expires_in) ?? Number.NaN)
    const lifetimeMs = seconds > 0 ? Math.min(seconds * 1000, maxTokenLifetimeMs) : defaultTokenLifetimeMs
    const answer = { kind: 'token', value: parsed.data.access_token, lifetimeMs } as const
    return { answer, replacement: parsed.data.refresh_token ?? null }
  }

  #readFailedAnswer(verdict: Failed, correlationId: string): TokenAnswer {
    return refusesCredentials(verdict) ? this.#refused(verdict, correlationId) : this.#outage(verdict, correlationId)
  }

  #refused(verdict: Failed, correlationId: string): TokenAnswer {
    return {
      kind: 'refused',
      failure: (refusal) =>
        this.#fail(verdict, correlationId, {
          credentialsDead: refusal.dead,
          credentialsDoubted: !refusal.dead,
          retryAt: refusal.dead ? null : refusal.retryAt,
        }),
    }
  }

  #outage(verdict: Failed, correlationId: string): TokenAnswer {
    return {
      kind: 'outage',
      isAnswered: verdict.httpStatus !== null && verdict.kind !== 'throttled',
      failure: this.#fail(verdict, correlationId, { credentialsDead: false }),
    }
  }

  /** The failure of a call that needed a token: it was never sent. Only dead credentials are final. */
  #fail(
    verdict: Failed,
    correlationId: string,
    credentials: { readonly credentialsDead: boolean; readonly credentialsDoubted?: boolean; readonly retryAt?: Date | null },
  ): MarketplaceFailure {
    const { credentialsDead, credentialsDoubted = false, retryAt = verdict.retryAt } = credentials
    const kind = credentialsDead ? 'refused' : verdict.kind === 'throttled' ? 'throttled' : 'unavailable'
    const unsent: Failed = { ...verdict, contentNotFound: false, staleToken: false, sent: 'never', kind, retryAt }
    return toFailure(unsent, {
      operation: tokenOperation.name,
      sellerId: this.#connection.sellerId,
      correlationId,
      credentialsDead,
      credentialsDoubted,
      ofCredentials: true,
    })
  }
}

/**
 * Authorises requests to the marketplace by an access token, shared by all calls of the seller (specification, Authentication; public facts, section 1.1). It is
 * obtained with the client id and secret, for a seller of a solution provider also with its refresh token. After a 401 the token has expired early, so the next
 * request gets a new one.
 */
export const createTokenAuthorisation = (
  connection: SellerConnection,
  parts: ClientParts,
  context: AuthorisationContext,
): Authorisation & CredentialsClient => new TokenAuthorisation(connection, parts, context)
