import type { IncomingHttpHeaders } from 'node:http'
import { gatewayRefusal, Refusal } from '../core/errors.ts'
import { findHeader } from '../http/headers.ts'
import type { World } from '../world.ts'

/** Stated lifetime of a token (public facts, section 1.1). */
const tokenLifeMs = 900_000

export interface TokenAnswer {
  readonly access_token: string
  readonly token_type: 'Bearer'
  readonly expires_in: number
  /** Replaces the refresh token of the request. */
  readonly refresh_token?: string
}

/** Client id and secret of the Basic authorization. */
interface Client {
  readonly id: string
  readonly secret: string
}

const readClient = (authorization: string | undefined): Client => {
  const encoded = /^Basic\s+([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '')?.[1]
  if (encoded === undefined) throw refused('Authorization header with Basic credentials is required')
  const decoded = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = decoded.indexOf(':')
  if (colon === -1) throw refused('Client authentication failed')
  return { id: decoded.slice(0, colon), secret: decoded.slice(colon + 1) }
}

/** The seller whose own client id and secret these are. */
const sellerOfClient = (world: World, { id, secret }: Client): string => {
  const seller = world.sellers.byClientId(id)
  if (seller === null || seller.revoked || seller.clientSecret !== secret) throw refused('Client authentication failed')
  return seller.sellerId
}

const partnerHeader = ({ settings }: World): string => `${settings.dialect.headerPrefix}_PARTNER.ID`

/**
 * The seller that has authorised this app, by the refresh token and the partner header (public facts, section 15). A token that is used again after it was
 * replaced revokes the connection, as RFC 9700, section 4.14.2, recommends.
 */
const sellerOfRefreshToken = (
  world: World,
  client: Client,
  refreshToken: string,
  headers: IncomingHttpHeaders,
): { readonly sellerId: string; readonly replacement: string | null } => {
  const { connections, sellers } = world
  if (connections.findSecret(client.id) !== client.secret) throw refused('Client authentication failed')
  const partnerId = findHeader(headers, partnerHeader(world))
  if (partnerId === null) throw refused(`Required header ${partnerHeader(world)} is missing`, 'invalid_request')
  const connection = connections.find(refreshToken)
  if (connection === null || connection.clientId !== client.id || connection.sellerId !== partnerId)
    throw refused('The refresh token is not valid for this app and partner', 'invalid_grant')
  const { clientId, sellerId, state, rotates } = connection
  if (state === 'replaced') {
    connections.revoke(clientId, sellerId)
    sellers.dropTokens(sellerId)
  }
  if (state !== 'active' || sellers.find(sellerId)?.revoked !== false)
    throw refused(`The refresh token is ${state === 'active' ? 'revoked' : state}`, 'invalid_grant')
  return { sellerId, replacement: rotates ? connections.issue({ clientId, sellerId, rotates }).refreshToken : null }
}

/**
 * `POST /v3/token`, client credentials by Basic authorization, or the refresh token of a seller that has authorised an app. Wrong or revoked credentials get
 * 400, as was seen on the live service (public facts, section 1.1). `diesAfterMs` cuts the life of the token short without saying so.
 */
export const issueToken = (
  world: World,
  headers: IncomingHttpHeaders,
  form: string,
  now: number,
  diesAfterMs: number | null,
): TokenAnswer => {
  const fields = new URLSearchParams(form)
  const grant = fields.get('grant_type')
  if (grant !== 'client_credentials' && grant !== 'refresh_token')
    throw refused('grant_type must be client_credentials or refresh_token', 'unsupported_grant_type')
  const client = readClient(headers.authorization)
  const { sellerId, replacement } =
    grant === 'refresh_token'
      ? sellerOfRefreshToken(world, client, fields.get('refresh_token') ?? '', headers)
      : { sellerId: sellerOfClient(world, client), replacement: null }
  const token = world.sellers.issueToken(sellerId, now + (diesAfterMs ?? tokenLifeMs), now)
  return {
    access_token: token,
    token_type: 'Bearer',
    expires_in: tokenLifeMs / 1_000,
    ...(replacement === null ? {} : { refresh_token: replacement }),
  }
}

/** `GET /v3/token/detail`, on the live service only: what a token is good for, and how long (public facts, section 1.1). */
export const describeToken = (
  { settings, sellers }: World,
  sellerId: string,
  headers: IncomingHttpHeaders,
): Record<string, unknown> => {
  const { liveOperations, headerPrefix } = settings.dialect
  if (!liveOperations) throw gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
  const issuedAt = sellers.tokenIssuedAt(findHeader(headers, `${headerPrefix}_SEC.ACCESS_TOKEN`) ?? '')
  const delegated = sellers.find(sellerId)?.delegated === true
  return {
    // As stated when the token was issued: a token that is invalidated early is not announced.
    expire_at: String(issuedAt + tokenLifeMs),
    issued_at: String(issuedAt),
    is_valid: true,
    is_channel_match: true,
    scopes: Object.fromEntries(scopes.map((scope) => [scope, delegated && withheld.has(scope) ? 'no_access' : 'full_access'])),
  }
}

/** Scopes without access of a key that a seller has delegated. */
const withheld: ReadonlySet<string> = new Set(['item', 'price'])
const scopes = ['reports', 'item', 'price', 'lagtime', 'feeds', 'returns', 'orders', 'inventory', 'content'] as const

/** The seller that asks for a token, for faults that strike one seller; `null` when the credentials say nothing. */
export const sellerOfCredentials = (world: World, headers: IncomingHttpHeaders): string | null => {
  const encoded = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  const clientId = Buffer.from(encoded, 'base64').toString('utf8').split(':')[0] ?? ''
  const own = world.sellers.byClientId(clientId)?.sellerId ?? null
  if (own !== null || world.connections.findSecret(clientId) === null) return own
  return world.sellers.find(findHeader(headers, partnerHeader(world)) ?? '')?.sellerId ?? null
}

const refused = (description: string, code = 'INVALID_REQUEST.GMP_GATEWAY_API'): Refusal => {
  const fault = { code, field: 'client', description, severity: 'ERROR', category: 'REQUEST' } as const
  return new Refusal(400, [fault], 'oauth')
}
