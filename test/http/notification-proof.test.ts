import { createHash, createHmac } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { areClientCredentials, isProven, issueToken } from '../../src/http/auth/notification-proof.ts'

const secret = 'marketplace:a-long-password'
const body = new TextEncoder().encode('{"source":{"eventType":"PO_CREATED"}}')
const target = '/v1/notifications/s-1'
const nowMs = Date.parse('2026-11-27T12:00:00Z')

const proves = (headers: Readonly<Record<string, string>>, key = secret, sent: Uint8Array = body) =>
  isProven({ method: 'POST', target, headers, body: sent }, 's-1', key, nowMs)

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const hmac = (text: string | Uint8Array, key = secret): Buffer => createHmac('sha256', key).update(text).digest()

const timed = (timestamp: string, { key = secret, path = target } = {}): Record<string, string> => {
  const bodyHash = createHash('sha256').update(body).digest('hex')
  return {
    'wm_sec.timestamp': timestamp,
    'wm_sec.signature': hmac(`POST\n${path}\n${timestamp}\n${bodyHash}`, key).toString('base64'),
  }
}
const seconds = (offset: number): string => String(nowMs / 1_000 + offset)

describe('a notification is proven', () => {
  test.each([
    ['Basic', { authorization: `Basic ${base64(secret)}` }],
    ['the Base64 of user and password alone', { authorization: base64(secret) }],
    ['the HMAC of its body in Base64', { authorization: hmac(body).toString('base64') }],
    ['the HMAC of its body in Base64 for URLs', { authorization: hmac(body).toString('base64url') }],
    ['the HMAC of its body in hexadecimal', { authorization: hmac(body).toString('hex') }],
    ['the HMAC of its body with a scheme', { authorization: `HMAC-SHA256 ${hmac(body).toString('hex').toUpperCase()}` }],
    ['the signature with a time in seconds', timed(seconds(-299))],
    ['the signature with a time ahead', timed(seconds(299))],
    ['the signature with a time in milliseconds', timed(String(nowMs - 1_000))],
    ['a token', { authorization: `Bearer ${issueToken(secret, 's-1', nowMs - 899_000)}` }],
  ])('by %s', (_name, headers) => {
    expect(proves(headers)).toBe(true)
    expect(proves(headers, 'marketplace:b-long-password')).toBe(false)
  })
})

describe('a notification is not proven', () => {
  test.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['an empty header', { authorization: '' }],
    ['the secret itself', { authorization: secret }],
    ['another password', { authorization: `Basic ${base64('marketplace:another')}` }],
    ['the Base64 of another password', { authorization: base64('marketplace:another') }],
    ['the HMAC of another body', { authorization: hmac('{}').toString('base64') }],
    ['a part of the HMAC', { authorization: hmac(body).toString('hex').slice(0, 62) }],
    ['the signature with an old time', timed(seconds(-301))],
    ['the signature with a time far ahead', timed(seconds(301))],
    ['the signature of another path', timed(seconds(0), { path: '/v1/notifications/s-2' })],
    ['a signature without its time', { 'wm_sec.signature': timed(seconds(0))['wm_sec.signature'] ?? '' }],
    ['a time that is no number', { ...timed(seconds(0)), 'wm_sec.timestamp': 'now' }],
    ['a token that has expired', { authorization: `Bearer ${issueToken(secret, 's-1', nowMs - 900_000)}` }],
    ['a token of another seller', { authorization: `Bearer ${issueToken(secret, 's-2', nowMs)}` }],
    ['a token with a longer time', { authorization: `Bearer ${issueToken(secret, 's-1', nowMs).replace(/^\d/, '9')}` }],
    ['the secret as a token', { authorization: `Bearer ${secret}` }],
  ])('by %s', (_name, headers) => {
    expect(proves(headers)).toBe(false)
  })

  test('by Basic if the secret has no user', () => {
    expect(proves({ authorization: `Basic ${base64('a-secret-without-user')}` }, 'a-secret-without-user')).toBe(false)
    expect(proves({ authorization: hmac(body, 'a-secret-without-user').toString('hex') }, 'a-secret-without-user')).toBe(true)
  })

  test('by a proof of another body', () => {
    expect(proves(timed(seconds(0)), secret, new TextEncoder().encode('{}'))).toBe(false)
  })
})

test('client credentials are those of a Basic header, or of a form', () => {
  const form = { clientId: 'marketplace', clientSecret: 'a-long-password' }
  const none = { clientId: null, clientSecret: null }
  expect(areClientCredentials(secret, undefined, form)).toBe(true)
  expect(areClientCredentials(secret, `Basic ${base64(secret)}`, none)).toBe(true)
  expect(areClientCredentials(secret, undefined, none)).toBe(false)
  expect(areClientCredentials(secret, `Basic ${base64('marketplace:x')}`, form)).toBe(false)
  expect(areClientCredentials('a-secret-without-user', undefined, { clientId: 'a-secret-without-user', clientSecret: '' })).toBe(
    false,
  )
})
