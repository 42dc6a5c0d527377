import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from './problems.ts'

/** Who may use a route without the API key. */
export type Access =
  /** Anybody: health, and the console's page, which contains no data. */
  | 'open'
  /** Senders that can sign: events. Without signatures as `key`. */
  | 'signed'
  /** Holders of the key. */
  | 'key'
  /** As `key`; a browser may also send it as the password of HTTP Basic, since its pages cannot set a header. */
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
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const credential = (header: string | undefined, basicToo: boolean): string | null => {
  const [, scheme, value] = /^(bearer|basic) +(\S+) *$/i.exec(header ?? '') ?? []
  if (scheme === undefined || value === undefined) return null
  if (scheme.toLowerCase() === 'bearer') return value
  if (!basicToo) return null
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return pair.slice(pair.indexOf(':') + 1)
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

/** Admits a request or throws the problem. Runs before the body is read. */
export const createGuard = ({ apiKey, signed }: GuardOptions) => {
  const expected = apiKey === null ? null : digest(apiKey)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const access = request.routeOptions.config.access ?? 'key'
    if (!reads.has(request.method) && isForeign(request)) {
      throw new Problem('origin-refused', { detail: 'The request comes from a page of another origin.' })
    }
    if (expected === null) {
      // Without a key the server listens on the loopback interface only; this detects foreign names that resolve to it (DNS rebinding).
      if (access !== 'open' && !isLoopback(hostName(request.headers.host ?? ''))) {
        throw new Problem('host-refused', {
          detail: 'Without API_KEY the server answers only when it is addressed as localhost, 127.0.0.1 or [::1].',
        })
      }
      return
    }
    if (access === 'open' || (access === 'signed' && signed)) return
    const given = credential(request.headers.authorization, access === 'browser')
    // Digests have equal lengths, so that the time of the comparison reveals nothing about the key.
    if (given !== null && timingSafeEqual(digest(given), expected)) return
    reply.header('www-authenticate', access === 'browser' ? 'Basic realm="tallyman", charset="UTF-8"' : 'Bearer realm="tallyman"')
    throw new Problem('unauthenticated', {
      detail: given === null ? 'Send the API key: Authorization: Bearer <key>.' : 'The API key is wrong.',
    })
  }
}
