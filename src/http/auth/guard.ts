import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../problems.ts'
import { anonymousCaller, apiKeyId, type Caller, operatorCaller, signingCaller } from './caller.ts'
import type { FailedKeys } from './failed-keys.ts'
import { KeyCheck, parseCredential } from './key-check.ts'
import type { KeyRing } from './keys.ts'
import { readParameter } from './needs.ts'
import { isCrossOrigin, isLoopbackHost, isPageNavigation, isRead, isSecure, namesOrigin } from './request-origin.ts'
import { type Sessions, sessionCookie, sessionToken } from './sessions.ts'

/** Which callers a route admits. */
export type Access =
  /** All callers: health, and the console's page, which contains no data. */
  | 'open'
  /** Callers that sign the body, or that have a named key: events. If events need no signature: as `key`. */
  | 'signed'
  /** Callers that prove with the secret of the seller `:sellerId` to be its marketplace, which the route verifies. If it has no secret: as `key`. */
  | 'proven'
  /** Callers with a key, or with a session that was opened with one. */
  | 'key'
  /** As `key`; the key may be the password of HTTP Basic. A browser that opens a page without either is redirected to the sign-in. */
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
  /** Whether the notifications about a seller must be proven. */
  readonly provesNotifications: (sellerId: string) => boolean
  readonly keys: Pick<KeyRing, 'find' | 'refreshAndFind' | 'noteUsed'>
  readonly sessions: Pick<Sessions, 'find'>
  readonly failedKeys: FailedKeys
}

/** A caller, and when its session ends; null: it has no session. */
export interface Identity {
  readonly caller: Caller
  readonly expiresAt: Date | null
}

/** Authenticates requests. */
export interface Guard {
  /**
   * Admits a request and sets its caller; redirects a browser without a session to the sign-in. Runs before the body is read.
   * @throws Problem when the route does not admit the request
   */
  admit(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined>
  /** The caller with a key that is used to sign in. @throws Problem when the key is wrong */
  checkKey(request: FastifyRequest, key: string): Promise<Caller>
  /** The caller by its key or its cookie, or if no key is needed; null: a key is needed. @throws Problem when the sent key is wrong */
  identify(request: FastifyRequest): Promise<Identity | null>
}

/** The guard of a server. */
export const createGuard = ({ apiKey, signed, provesNotifications, keys, sessions, failedKeys }: GuardOptions): Guard => {
  const keyCheck = new KeyCheck({ apiKey, keys, failedKeys })

  const requireLoopback = (request: FastifyRequest): void => {
    if (apiKey !== null || isLoopbackHost(request)) return
    // Without a key the server listens on the loopback interface only; this detects foreign names that resolve to it (DNS rebinding).
    throw new Problem('host-refused', {
      detail: 'Without API_KEY the server answers only when it is addressed as localhost, 127.0.0.1 or [::1].',
    })
  }

  /** The session of a request's cookie; null: none, or it has ended. @throws Problem */
  const findSession = async (request: FastifyRequest): Promise<Identity | null> => {
    if (request.headers.authorization !== undefined) return null
    const token = sessionToken(request.headers.cookie)
    if (token === null) return null
    // Wrong keys of the address do not delay its sessions: tokens have 256 random bits and cannot be guessed.
    const session = await sessions.find(token)
    if (session === null) return null
    // Only browsers have cookies, and they name the origin of every request that writes.
    if (!isRead(request) && !namesOrigin(request)) {
      throw new Problem('origin-refused', {
        detail: 'The request has a cookie, but neither an Origin nor a Sec-Fetch-Site header.',
      })
    }
    if (session.caller.keyId !== apiKeyId && session.caller.keyId !== null) await keys.noteUsed(session.caller.keyId)
    return session
  }

  /** The caller of a request; null: redirect the browser to the sign-in. @throws Problem */
  const findCaller = async (request: FastifyRequest, reply: FastifyReply): Promise<Caller | null> => {
    const { access = 'key' } = request.routeOptions.config
    if (access === 'open') return anonymousCaller
    // The Authorization header contains the proof, and no key.
    if (access === 'proven' && provesNotifications(readParameter(request, 'sellerId'))) return signingCaller
    requireLoopback(request)
    const isBrowserRoute = access === 'browser'
    const refuse = (detail: string): Problem => {
      reply.header('www-authenticate', isBrowserRoute ? 'Basic realm="tallyman", charset="UTF-8"' : 'Bearer realm="tallyman"')
      return new Problem('unauthenticated', { detail })
    }
    const keyCaller = await keyCheck.checkSentNamedKey(request, isBrowserRoute, refuse)
    if (keyCaller !== null) return keyCaller
    const session = await findSession(request)
    if (session !== null) return session.caller
    if (access === 'signed' && signed) return signingCaller
    if (apiKey === null) return operatorCaller(null)
    const key = parseCredential(request.headers.authorization, isBrowserRoute)
    if (key !== null) return keyCheck.check(request, key, refuse)
    if (sessionToken(request.headers.cookie) !== null) reply.header('set-cookie', sessionCookie(null, isSecure(request)))
    if (isBrowserRoute && isPageNavigation(request)) return null
    throw refuse('Send the API key: Authorization: Bearer <key>.')
  }

  const refuseWithoutChallenge = (detail: string): Problem => new Problem('unauthenticated', { detail })

  return {
    admit: async (request, reply) => {
      if (!isRead(request) && isCrossOrigin(request)) {
        throw new Problem('origin-refused', { detail: 'A page of another origin sent the request.' })
      }
      const caller = await findCaller(request, reply)
      if (caller === null) return reply.redirect(`/console/sign-in?to=${encodeURIComponent(request.url)}`, 303)
      request.caller = caller
      return undefined
    },
    checkKey: async (request, key) => {
      requireLoopback(request)
      return keyCheck.check(request, key, refuseWithoutChallenge)
    },
    identify: async (request) => {
      requireLoopback(request)
      const caller = await keyCheck.checkSentNamedKey(request, false, refuseWithoutChallenge)
      if (caller !== null) return { caller, expiresAt: null }
      const session = await findSession(request)
      if (session !== null) return session
      return apiKey === null ? { caller: operatorCaller(null), expiresAt: null } : null
    },
  }
}
