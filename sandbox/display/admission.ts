import { timingSafeEqual, verify } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../core/errors.ts'
import { findHeader } from '../http/headers.ts'
import type { World } from '../world.ts'

/** How far the timestamp may lie from the sandbox's clock, on either side (public facts, section 1.3). */
const timestampLifeMs = 180_000

/**
 * Checks the headers of display advertising (specification, Authentication) and gives the consumer id. Any error of the signature or of the
 * signer is a 401, because the specification shows no status; a body of another content type is a 400. Timestamps are epoch milliseconds
 * on the clock of the `Date` header; the signature is RSA-SHA256 (PKCS#1 v1.5), Base64, over the values of consumer id, timestamp
 * and key version, each followed by a newline (public facts, section 1.3).
 */
export const admitDisplay = (world: World, headers: IncomingHttpHeaders, now: number): string => {
  const { settings } = world
  const display = world.display.identity
  const prefix = settings.dialect.headerPrefix
  const needed = (name: string): string => {
    const value = findHeader(headers, name)
    if (value === null) throw unauthenticated(`Required header ${name} is missing`)
    return value
  }
  const authorization = needed('Authorization')
  const consumerId = needed(`${prefix}_CONSUMER.ID`)
  const signature = needed(`${prefix}_SEC.AUTH_SIGNATURE`)
  const keyVersion = needed(`${prefix}_SEC.KEY_VERSION`)
  const timestamp = needed(`${prefix}_CONSUMER.intimestamp`)
  if (!equals(authorization, `Bearer ${display.authToken}`)) throw unauthenticated('Authorization: invalid bearer token')
  if (!equals(consumerId, display.consumerId)) throw unauthenticated(`${prefix}_CONSUMER.ID: unknown consumer id`)
  if (keyVersion !== display.keyVersion) throw unauthenticated(`${prefix}_SEC.KEY_VERSION: unknown key version`)
  checkTimestamp(timestamp, now)
  const signed = Buffer.from(`${consumerId}\n${timestamp}\n${keyVersion}\n`)
  if (!verify('sha256', signed, display.publicKey, Buffer.from(signature, 'base64')))
    throw unauthenticated(`${prefix}_SEC.AUTH_SIGNATURE: invalid signature`)
  if (!/^application\/json\b/i.test(findHeader(headers, 'content-type') ?? ''))
    throw displayRefusal(400, 'Content-Type must be application/json')
  return consumerId
}

/** A failure of display advertising; each text is one of its `details`. */
export const displayRefusal = (status: number, ...details: readonly string[]): Refusal => {
  const faults = details.map((description) => {
    return { code: 'failure', field: 'data', description, severity: 'ERROR', category: 'REQUEST' } as const
  })
  return new Refusal(status, faults, 'display')
}

const unauthenticated = (details: string): Refusal => displayRefusal(401, details)

const checkTimestamp = (timestamp: string, now: number): void => {
  if (!/^\d{1,15}$/.test(timestamp)) throw unauthenticated('invalid timestamp: epoch milliseconds are expected')
  if (Number(timestamp) < now - timestampLifeMs) throw unauthenticated('timestamp expired')
  if (Number(timestamp) > now + timestampLifeMs) throw unauthenticated('invalid timestamp: it is in the future')
}

const equals = (given: string, expected: string): boolean => {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}
