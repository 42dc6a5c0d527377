import { timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { keyPrefix } from '../domain/keys.ts'
import { anybody, apiKeyId, type Caller, operatorCaller, signer } from './caller.ts'
import type { FailedKeys } from './failed-keys.ts'
import { callerOfKey, digest, type KeyRing } from './keys.ts'
import { Problem } from './problems.ts'
import { type Sessions, sessionCookie, sessionToken } from './sessions.ts'

/** Who may use a route without the API key. */
export type Access =
  /** Anybody: health, and the console's page, which contains no data. */
  | 'open'
  /** Senders that can sign, or that have a named key: events. Without signatures as `key`. */
  | 'signed'
  /** Holders of a key, or of a session that was opened with one. */
  | 'key'
  /** As `key`, and it may come as the password of HTTP Basic; a browser that opens a page without either is led to the sign-in. */
  | 'browser'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Default `key`. */
    access?: Access
  }
}

/** Settings of the guard. */
export interface GuardOptions {
  readonly apiKey: string | null
  /** Whether events must be signed. */
  readonly signed: boolean
  readonly keys: Pick<KeyRing, 'find' | 'findAnew' | 'noteUsed'>
  readonly sessions: Pick<Sessions, 'find'>
  readonly failedKeys: FailedKeys
}

/** Whom a request comes from. */
export interface Guard {
  /** Admits a request, and says who sends it, or throws the problem. Runs before the body is read. A page without a session is led to the sign-in. */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>
  /** The holder of a key that somebody signs in with. @throws Problem */
  holderOf(request: FastifyRequest, key: string): Promise<Caller>
  /** Who is signed in, by a key that is sent or by the cookie, or needs not be; null: a key is needed. @throws Problem */
  visitor(request: FastifyRequest): Promise<{ readonly caller: Caller; readonly expiresAt: Date | null } | null>
}

const credential = (header: string | undefined, basicToo: boolean): string | null => {
  const [, scheme, value] = /^(bearer|basic) +(\S+) *$/i.exec(header ?? '') ?? []
  if (scheme === undefined || value === undefined) return null
  if (scheme.toLowerCase() === 'bearer') return value
  if (!basicToo) return null
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
}

/** Whether a header has a named key in it, in whatever form. */
const hasNamedKey = (header = ''): boolean => {
  const [, pair = ''] = /^basic +(\S+)/i.exec(header) ?? []
  return [header, Buffer.from(pair, 'base64').toString('utf8')].some((text) => text.includes(keyPrefix))
}

/** Host part of a Host header, without its port and in lower case. */
const hostName = (host: string): string => host.toLowerCase().replace(/:\d*$/, '')

const isLoopback = (name: string): boolean =>
  name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127(\.\d{1,3}){3}$/.test(name)

const reads = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * A page of another origin must not make a browser send writing requests with the rights of the browser: no key is needed on the
 * loopback interface, and passwords are cached. Programs send neither of these headers.
 */
const isForeign = (request: FastifyRequest): boolean => {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers
  if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') return true
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase()
}

/** Whether a browser reaches us by TLS, by what it says of its own page or a proxy of its connection. */
export const isSecure = ({ headers }: FastifyRequest): boolean =>
  headers.origin?.startsWith('https:') === true || headers['x-forwarded-proto'] === 'https'

/** A browser that opens a page, and not a program or a script. */
const opensPage = ({ method, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && headers.accept?.includes('text/html') === true && headers.authorization === undefined

/** The guard of a server. */
export const createGuard = ({ apiKey, signed, keys, sessions, failedKeys }: GuardOptions): Guard => {
  const expected = apiKey === null ? null : digest(apiKey)
  // Digests have equal lengths, so that the time of the comparison reveals nothing about the key.
  const isApiKey = (given: string): boolean => expected !== null && timingSafeEqual(digest(given), expected)
  // Somebody may have set it to a key that was given out.
  const mayBeApiKey = apiKey?.startsWith(keyPrefix) === true
  const isNamed = (given: string): boolean => given.startsWith(keyPrefix) && !(mayBeApiKey && isApiKey(given))

  /** The holder of a named key. @throws Problem */
  const holderOfNamed = async (request: FastifyRequest, given: string, refuse: (detail: string) => Problem): Promise<Caller> => {
    const held = await keys.find(given)
    const waitMs = held === null ? failedKeys.waitMs(request.ip) : null
    // The right key is never held up: it has 256 random bits, so it was not guessed.
    if (waitMs !== null) throw tooMany(waitMs)
    // It may have been made by another process just now. Only addresses that may still fail cost a statement.
    const key = held ?? (await keys.findAnew(given))
    if (key === null) {
      failedKeys.failed(request.ip, request.routeOptions.url ?? 'none')
      throw refuse('The key is wrong, or was revoked.')
    }
    await keys.noteUsed(key.id)
    return callerOfKey(key, async () => (await keys.find(given)) !== null)
  }

  /** The holder of API_KEY. @throws Problem */
  const holderOfApiKey = (request: FastifyRequest, given: string, refuse: (detail: string) => Problem): Caller => {
    const waitMs = failedKeys.waitMs(request.ip)
    // API_KEY is chosen by people: it is not even compared now, so that guessing gets nowhere.
    if (waitMs !== null) throw tooMany(waitMs)
    if (isApiKey(given)) return operatorCaller(apiKeyId)
    failedKeys.failed(request.ip, request.routeOptions.url ?? 'none')
    throw refuse('The API key is wrong.')
  }

  /**
   * The holder of the key that a request comes with; null: it comes with none, or with one that is not needed. Whoever sends a named key is held to
   * it, also where none is needed: one that cannot be read there must not open more than it does. @throws Problem
   */
  const holderOfSent = async (
    request: FastifyRequest,
    basicToo: boolean,
    refuse: (detail: string) => Problem,
  ): Promise<Caller | null> => {
    const { authorization } = request.headers
    const given = credential(authorization, basicToo)
    if (given !== null && isNamed(given)) return holderOfNamed(request, given, refuse)
    if (expected === null && hasNamedKey(authorization)) throw refuse('Send the key as: Authorization: Bearer <key>.')
    return null
  }

  const requireLoopback = (request: FastifyRequest): void => {
    if (expected !== null || isLoopback(hostName(request.headers.host ?? ''))) return
    // Without a key the server listens on the loopback interface only; this detects foreign names that resolve to it (DNS rebinding).
    throw new Problem('host-refused', {
      detail: 'Without API_KEY the server answers only when it is addressed as localhost, 127.0.0.1 or [::1].',
    })
  }

  /** The session of a request's cookie; null: none, or it has ended. @throws Problem */
  const sessionOf = async (request: FastifyRequest): ReturnType<Sessions['find']> => {
    if (request.headers.authorization !== undefined) return null
    const token = sessionToken(request.headers.cookie)
    if (token === null) return null
    // Tokens have 256 random bits, so that none is guessed: whoever is signed in stays so while others at the same address send wrong keys.
    const session = await sessions.find(token)
    if (session === null) return null
    // Browsers say with every writing request where it comes from. One that does not say it is refused: nobody else has cookies.
    if (!reads.has(request.method) && request.headers.origin === undefined && request.headers['sec-fetch-site'] === undefined) {
      throw new Problem('origin-refused', { detail: 'The request has a cookie and does not say which page it comes from.' })
    }
    if (session.caller.keyId !== apiKeyId && session.caller.keyId !== null) await keys.noteUsed(session.caller.keyId)
    return session
  }

  const callerOf = async (request: FastifyRequest, reply: FastifyReply): Promise<Caller | null> => {
    const { access = 'key' } = request.routeOptions.config
    if (access === 'open') return anybody
    requireLoopback(request)
    const refuse = (detail: string): Problem => {
      reply.header(
        'www-authenticate',
        access === 'browser' ? 'Basic realm="tallyman", charset="UTF-8"' : 'Bearer realm="tallyman"',
      )
      return new Problem('unauthenticated', { detail })
    }
    const given = credential(request.headers.authorization, access === 'browser')
    const holder = await holderOfSent(request, access === 'browser', refuse)
    if (holder !== null) return holder
    const session = await sessionOf(request)
    if (session !== null) return session.caller
    if (access === 'signed' && signed) return signer
    if (expected === null) return operatorCaller(null)
    if (given !== null) return holderOfApiKey(request, given, refuse)
    if (sessionToken(request.headers.cookie) !== null) reply.header('set-cookie', sessionCookie(null, isSecure(request)))
    if (access === 'browser' && opensPage(request)) return null
    throw refuse('Send the API key: Authorization: Bearer <key>.')
  }

  return {
    admit: async (request, reply) => {
      if (!reads.has(request.method) && isForeign(request)) {
        throw new Problem('origin-refused', { detail: 'The request comes from a page of another origin.' })
      }
      const caller = await callerOf(request, reply)
      if (caller === null) return reply.redirect(`/console/sign-in?to=${encodeURIComponent(request.url)}`, 303)
      request.caller = caller
      return undefined
    },
    holderOf: async (request, key) => {
      requireLoopback(request)
      const refuse = (detail: string): Problem => new Problem('unauthenticated', { detail })
      if (isNamed(key)) return holderOfNamed(request, key, refuse)
      if (expected === null) throw refuse('There is no such key. API_KEY is not set, so that none is needed on this machine.')
      return holderOfApiKey(request, key, refuse)
    },
    visitor: async (request) => {
      requireLoopback(request)
      const holder = await holderOfSent(request, false, (detail) => new Problem('unauthenticated', { detail }))
      if (holder !== null) return { caller: holder, expiresAt: null }
      const session = await sessionOf(request)
      if (session !== null) return session
      return expected === null ? { caller: operatorCaller(null), expiresAt: null } : null
    },
  }
}

const tooMany = (waitMs: number): Problem =>
  new Problem('too-many-attempts', {
    detail: 'Too many wrong keys have come from this address. Retry later, with the right one.',
    headers: { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  })
