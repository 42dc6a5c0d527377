import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/** How long after it was signed a notification is accepted, and how far its time may be ahead. */
const maxSkewMs = 300_000
/** How long a token is valid. */
export const tokenLifetimeSeconds = 900
/** Numbers from this one on are milliseconds: as seconds they would be a time in the far future. */
const firstMilliseconds = 100_000_000_000

const signatureHeader = 'wm_sec.signature'
const timestampHeader = 'wm_sec.timestamp'

/** A notification as received. */
export interface ReceivedNotification {
  readonly method: string
  /** Path and query, as sent. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
}

/** Compares in constant time, without revealing the length. */
const isSame = (one: string | Buffer, other: string | Buffer): boolean => {
  const digest = (value: string | Buffer): Buffer => createHash('sha256').update(value).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/** Whether a text is this signature in Base64 (either alphabet, padded or not) or hexadecimal. */
const isSignature = (text: string, expected: Buffer): boolean =>
  /^[0-9a-f]{64}$/i.test(text)
    ? isSame(Buffer.from(text, 'hex'), expected)
    : /^[\w+/-]{43}=?$/.test(text) && isSame(Buffer.from(text, 'base64'), expected)

const sign = (secret: string, ...parts: readonly (string | Uint8Array)[]): Buffer => {
  const hmac = createHmac('sha256', secret)
  for (const part of parts) hmac.update(part)
  return hmac.digest()
}

const headerText = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : null
}

/** `user:password` of an Authorization header of the scheme Basic; null: it is another one. */
const readBasic = (authorization: string | null): string | null => {
  const encoded = /^basic +([\w+/=-]+)$/i.exec(authorization ?? '')?.[1]
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString('utf8')
}

const hasUser = (secret: string): boolean => secret.includes(':')

// Another key than that of the body's signature, so that a token never is the signature of a body.
const signToken = (secret: string, sellerId: string, expiresAt: string): Buffer =>
  sign(secret, `tallyman notification token\n${sellerId}\n${expiresAt}`)

/** A token that proves notifications about a seller; nothing of it is stored. */
export const issueToken = (secret: string, sellerId: string, nowMs: number): string => {
  const expiresAt = String(Math.floor(nowMs / 1_000) + tokenLifetimeSeconds)
  return `${expiresAt}.${signToken(secret, sellerId, expiresAt).toString('base64url')}`
}

const isToken = (token: string, secret: string, sellerId: string, nowMs: number): boolean => {
  const [, expiresAt, signature] = /^(\d{1,12})\.([\w-]{43})$/.exec(token) ?? []
  if (expiresAt === undefined || signature === undefined || Number(expiresAt) * 1_000 <= nowMs) return false
  return isSame(Buffer.from(signature, 'base64url'), signToken(secret, sellerId, expiresAt))
}

/** Whether client credentials, in a Basic header or a form, are the secret `user:password`. */
export const areClientCredentials = (
  secret: string,
  authorization: string | undefined,
  form: { readonly clientId: string | null; readonly clientSecret: string | null },
): boolean => {
  if (!hasUser(secret)) return false
  const given = readBasic(authorization ?? null) ?? `${form.clientId ?? ''}:${form.clientSecret ?? ''}`
  return isSame(given, secret)
}

/** The signature over the method, the target, the time and the hash of the body; false also when it is too old. */
const isSignedWithTime = ({ method, target, headers, body }: ReceivedNotification, secret: string, nowMs: number): boolean => {
  const [signature, timestamp] = [headerText(headers, signatureHeader), headerText(headers, timestampHeader)]
  if (signature === null || timestamp === null || !/^\d{1,15}$/.test(timestamp)) return false
  const at = Number(timestamp)
  if (Math.abs((at < firstMilliseconds ? at * 1_000 : at) - nowMs) > maxSkewMs) return false
  const bodyHash = createHash('sha256').update(body).digest('hex')
  return isSignature(signature, sign(secret, `${method}\n${target}\n${timestamp}\n${bodyHash}`))
}

/**
 * Whether a notification is proven to be of the sender that has the secret (public facts, section 15): by HTTP Basic, by a token of {@link issueToken}, by
 * the HMAC-SHA256 of its body in the Authorization header, or by the signature with a time. Comparisons take constant time.
 */
export const isProven = (received: ReceivedNotification, sellerId: string, secret: string, nowMs: number): boolean => {
  if (isSignedWithTime(received, secret, nowMs)) return true
  const authorization = headerText(received.headers, 'authorization')
  if (authorization === null) return false
  const basic = readBasic(authorization)
  if (basic !== null) return hasUser(secret) && isSame(basic, secret)
  // The published texts name only the Base64 of user and password, without the word before it.
  if (hasUser(secret) && isSame(authorization, Buffer.from(secret).toString('base64'))) return true
  const token = /^bearer +(\S+)$/i.exec(authorization)?.[1]
  if (token !== undefined) return isToken(token, secret, sellerId, nowMs)
  return isSignature(authorization.replace(/^(hmac(-sha256)?|sha256)[ =]\s*/i, ''), sign(secret, received.body))
}
