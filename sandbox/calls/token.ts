import type { IncomingHttpHeaders } from 'node:http'
import { gatewayRefusal, Refusal } from '../core/errors.ts'
import { headerOf } from '../http/headers.ts'
import type { World } from '../world.ts'

/** Stated lifetime of a token (public facts, section 1.1). */
const tokenLifeMs = 900_000

export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
}

/**
 * `POST /v3/token`, client credentials by Basic authorization. Wrong or revoked credentials get 400, as was seen on the
 * live service (public facts, section 1.1). `diesAfterMs` cuts the life of the token short without saying so.
 */
export const issueToken = (
  world: World,
  authorization: string | undefined,
  form: string,
  now: number,
  diesAfterMs: number | null,
): TokenAnswer => {
  if (new URLSearchParams(form).get('grant_type') !== 'client_credentials') {
    throw refused('grant_type must be client_credentials')
  }
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) throw refused('Authorization header with Basic credentials is required')
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  const seller = colon === -1 ? null : world.sellers.byClientId(decoded.slice(0, colon))
  if (seller === null || seller.revoked || seller.clientSecret !== decoded.slice(colon + 1))
    throw refused('Client authentication failed')
  const token = world.sellers.issueToken(seller.sellerId, now + (diesAfterMs ?? tokenLifeMs), now)
  return { access_token: token, token_type: 'Bearer', expires_in: tokenLifeMs / 1_000 }
}

/** `GET /v3/token/detail`, on the live service only: what a token is good for, and how long (public facts, section 1.1). */
export const describeToken = ({ settings, sellers }: World, headers: IncomingHttpHeaders): Record<string, unknown> => {
  const { liveOperations, headerPrefix } = settings.dialect
  if (!liveOperations) throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
  const issuedAt = sellers.tokenIssuedAt(headerOf(headers, `${headerPrefix}_SEC.ACCESS_TOKEN`) ?? '')
  return {
    // As stated when the token was issued: a token that is invalidated early is not announced.
    expire_at: String(issuedAt + tokenLifeMs),
    issued_at: String(issuedAt),
    is_valid: true,
    is_channel_match: true,
    scopes: Object.fromEntries(scopes.map((scope) => [scope, 'full_access'])),
  }
}

const scopes = ['reports', 'item', 'price', 'lagtime', 'feeds', 'returns', 'orders', 'inventory', 'content'] as const

/** The seller that asks for a token, for faults that strike one seller; `null` when the credentials say nothing. */
export const sellerOfCredentials = (world: World, authorization: string | undefined): string | null => {
  const encoded = /^Basic\s+(\S+)$/i.exec(authorization ?? '')?.[1] ?? ''
  const clientId = Buffer.from(encoded, 'base64').toString('utf8').split(':')[0] ?? ''
  return world.sellers.byClientId(clientId)?.sellerId ?? null
}

const refused = (description: string): Refusal => {
  const fault = {
    code: 'INVALID_REQUEST.GMP_GATEWAY_API',
    field: 'client',
    description,
    severity: 'ERROR',
    category: 'REQUEST',
  } as const
  return new Refusal(400, [fault], 'oauth')
}
