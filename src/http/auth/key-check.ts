import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { keyPrefix } from '../../domain/values/keys.ts'
import { Problem } from '../problems.ts'
import { apiKeyId, buildKeyCaller, type Caller, operatorCaller } from './caller.ts'
import type { FailedKeys } from './failed-keys.ts'
import { digest, type KeyRing } from './keys.ts'

/** Builds the problem of a refused key. */
export type RefuseKey = (detail: string) => Problem

/** The key of an Authorization header; null: there is none. `allowBasic`: also the password of HTTP Basic. */
export const parseCredential = (header: string | undefined, allowBasic: boolean): string | null => {
  const [, scheme, value] = /^(bearer|basic) +(\S+) *$/i.exec(header ?? '') ?? []
  if (scheme === undefined || value === undefined) return null
  if (scheme.toLowerCase() === 'bearer') return value
  if (!allowBasic) return null
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

/** Whether an Authorization header contains a named key in any form. */
const containsNamedKey = (header = ''): boolean => {
  const [, pair = ''] = /^basic +(\S+)/i.exec(header) ?? []
  return [header, Buffer.from(pair, 'base64').toString('utf8')].some((text) => text.includes(keyPrefix))
}

const buildTooManyAttempts = (waitMs: number): Problem =>
  new Problem('too-many-attempts', {
    detail: 'This address has sent too many wrong keys. Retry later, with the right one.',
    headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  })

/** Checks keys of requests: API_KEY and named keys. */
export class KeyCheck {
  readonly keys: Pick<KeyRing, 'find' | 'refreshAndFind' | 'noteUsed'>
  readonly failedKeys: FailedKeys
  readonly apiKey: string | null
  /** Digests have equal lengths, so the time of a comparison reveals nothing about the key. */
  readonly apiKeyDigest: Buffer | null

  constructor(parts: Pick<KeyCheck, 'keys' | 'failedKeys' | 'apiKey'>) {
    this.keys = parts.keys
    this.failedKeys = parts.failedKeys
    this.apiKey = parts.apiKey
    this.apiKeyDigest = parts.apiKey === null ? null : digest(parts.apiKey)
  }

  /** The caller with this key. @throws Problem when the key is wrong, or the address has sent too many wrong keys */
  async check(request: FastifyRequest, key: string, refuse: RefuseKey): Promise<Caller> {
    return this.#isNamed(key) ? this.#checkNamedKey(request, key, refuse) : this.#checkApiKey(request, key, refuse)
  }

  /**
   * The caller with the named key of a request; null: the request has no named key. A named key limits its caller also where no key is needed, so a
   * named key that cannot be parsed there is refused. @throws Problem
   */
  async checkSentNamedKey(request: FastifyRequest, allowBasic: boolean, refuse: RefuseKey): Promise<Caller | null> {
    const { authorization } = request.headers
    const key = parseCredential(authorization, allowBasic)
    if (key !== null && this.#isNamed(key)) return this.#checkNamedKey(request, key, refuse)
    if (this.apiKeyDigest === null && containsNamedKey(authorization)) {
      throw refuse('Send the key as: Authorization: Bearer <key>.')
    }
    return null
  }

  #isNamed(key: string): boolean {
    if (!key.startsWith(keyPrefix)) return false
    // API_KEY may be set to a text with the form of a named key.
    return !(this.apiKey?.startsWith(keyPrefix) === true && this.#isApiKey(key))
  }

  #isApiKey(key: string): boolean {
    return this.apiKeyDigest !== null && timingSafeEqual(digest(key), this.apiKeyDigest)
  }

  async #checkNamedKey(request: FastifyRequest, text: string, refuse: RefuseKey): Promise<Caller> {
    const known = await this.keys.find(text)
    const waitMs = known === null ? this.failedKeys.waitMs(request.ip) : null
    // A right key is never delayed: it has 256 random bits, so it was not guessed.
    if (waitMs !== null) throw buildTooManyAttempts(waitMs)
    // Another process may have added the key just now. Only addresses below their limit of wrong keys cost a statement.
    const key = known ?? (await this.keys.refreshAndFind(text))
    if (key === null) {
      this.failedKeys.add(request.ip, request.routeOptions.url ?? 'none')
      throw refuse('The key is wrong, or was revoked.')
    }
    await this.keys.noteUsed(key.id)
    return buildKeyCaller(key, async () => (await this.keys.find(text)) !== null)
  }

  #checkApiKey(request: FastifyRequest, key: string, refuse: RefuseKey): Caller {
    if (this.apiKeyDigest === null) throw refuse('There is no such key. API_KEY is not set: on this machine no key is needed.')
    // API_KEY is chosen by people: it is not compared while the address has to wait, so guessing is slow.
    const waitMs = this.failedKeys.waitMs(request.ip)
    if (waitMs !== null) throw buildTooManyAttempts(waitMs)
    if (this.#isApiKey(key)) return operatorCaller(apiKeyId)
    this.failedKeys.add(request.ip, request.routeOptions.url ?? 'none')
    throw refuse('The API key is wrong.')
  }
}
