import type { LookupAddress } from 'node:dns'
import { lookup as lookUpAddresses } from 'node:dns/promises'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import type { AttemptOutcome } from '../../store/webhooks/webhook-deliveries.ts'
import { addressInUrl, isPublicAddress, refusalOfUrl } from './address.ts'
import { findRetryAfter } from './schedule.ts'

/** One request to a receiver. */
export interface WebhookRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
}

/** How one request ended, and what the receiver asks to wait. */
export interface WebhookAnswer extends AttemptOutcome {
  readonly retryAfterMs: number | null
}

/** Sends messages to receivers. */
export interface WebhookTransport {
  /** Time until the head of an answer, in milliseconds. */
  readonly timeoutMs: number
  /** One request: no retry, no redirect. Never throws for anything that the network or the receiver does. @throws the signal's reason when it is aborted */
  post(request: WebhookRequest): Promise<WebhookAnswer>
  /** Closes idle connections. */
  close(): void
}

/** Settings of a transport. */
export interface WebhookTransportOptions {
  /** Whether loopback, private and other special addresses may be reached, and plain HTTP used. */
  readonly privateAddresses: boolean
  /** Time until the head of the answer, with name lookup and connection, in milliseconds. */
  readonly timeoutMs?: number
  /** Addresses of a name; the resolver of the system by default. */
  readonly resolve?: (hostname: string) => Promise<readonly LookupAddress[]>
  /** Certificates that are trusted instead of the usual ones; PEM. */
  readonly ca?: string
}

/** Within the 15 to 30 seconds of Standard Webhooks. */
const defaultTimeoutMs = 20_000
/** The body of an answer is not used. It is read up to this size and time, to reuse the connection; then the connection is closed. */
const longestBody = 65_536
const drainMs = 2_000
const idleConnections = 16
const idleMs = 30_000

/** A name has no address that may be called. */
class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
  readonly code = 'address-refused'
}

/** The head of an answer did not come in time. */
class TooSlow extends Error {
  override readonly name = 'TooSlow'
  readonly code = 'timeout'
}

/** The code of an error; never its text, which may quote the receiver. */
const errorCode = (error: unknown): string => {
  const code: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, 'code') : undefined
  return typeof code === 'string' && /^[\w-]{1,60}$/.test(code) ? code : 'unknown'
}

/** Reads what is left of an answer, within bounds. */
const discard = (answer: IncomingMessage): void => {
  let bytes = 0
  const over = setTimeout(() => answer.destroy(), drainMs)
  answer.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > longestBody) answer.destroy()
  })
  answer.on('error', () => undefined)
  answer.on('close', () => clearTimeout(over))
}

/** Opens a transport; it connects with each request. */
export const createWebhookTransport = ({
  privateAddresses,
  timeoutMs = defaultTimeoutMs,
  resolve = (hostname) => lookUpAddresses(hostname, { all: true, verbatim: true }),
  ca,
}: WebhookTransportOptions): WebhookTransport => {
  const allowed = async (hostname: string): Promise<readonly LookupAddress[]> => {
    const found = await resolve(hostname)
    const reachable = privateAddresses ? found : found.filter(({ address }) => isPublicAddress(address))
    if (reachable.length === 0) throw new AddressRefused(`${hostname} has no public address`)
    return reachable
  }
  // The socket connects to what this answers and to nothing else: a name that is looked up again cannot have another address in between.
  const lookup: LookupFunction = (hostname, options, callback) => {
    allowed(hostname).then(
      (addresses) => {
        const wanted = addresses.filter(
          ({ family }) => options.family === undefined || options.family === 0 || family === options.family,
        )
        const [first] = wanted
        if (options.all === true) callback(null, [...wanted])
        else if (first !== undefined) callback(null, first.address, first.family)
        else callback(new AddressRefused(`${hostname} has no address of the family asked for`), '')
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error('the name cannot be looked up'), ''),
    )
  }
  const kept = { keepAlive: true, maxFreeSockets: idleConnections, timeout: idleMs, lookup }
  const agents = { http: new http.Agent(kept), https: new https.Agent({ ...kept, ...(ca === undefined ? {} : { ca }) }) }
  const fresh = { http: new http.Agent({ lookup }), https: new https.Agent({ lookup, ...(ca === undefined ? {} : { ca }) }) }

  const once = (
    { url, headers, body, signal }: WebhookRequest,
    with_: typeof agents,
  ): Promise<WebhookAnswer & { readonly stale: boolean }> =>
    new Promise((settle, reject) => {
      const startedMs = performance.now()
      const target = new URL(url)
      const secure = target.protocol === 'https:'
      const request = (secure ? https : http).request(target, {
        method: 'POST',
        agent: secure ? with_.https : with_.http,
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        signal,
      })
      const tooSlow = setTimeout(() => request.destroy(new TooSlow('no answer in time')), timeoutMs)
      const end = (outcome: Omit<WebhookAnswer, 'durationMs'>, stale = false): void => {
        clearTimeout(tooSlow)
        settle({ ...outcome, durationMs: performance.now() - startedMs, stale })
      }
      request.on('response', (answer) => {
        discard(answer)
        const retryAfterMs = findRetryAfter(answer.headers['retry-after'], Date.now())
        end({ httpStatus: answer.statusCode ?? null, error: null, retryAfterMs })
      })
      request.on('error', (error) => {
        if (signal.aborted) {
          clearTimeout(tooSlow)
          reject(signal.reason)
          return
        }
        const code = errorCode(error)
        end(
          { httpStatus: null, error: code, retryAfterMs: null },
          request.reusedSocket && (code === 'ECONNRESET' || code === 'EPIPE'),
        )
      })
      request.end(body)
    })

  return {
    timeoutMs,
    post: async (request) => {
      request.signal.throwIfAborted()
      const refused = { httpStatus: null, durationMs: 0, retryAfterMs: null }
      // An address in the URL is not looked up.
      const address = addressInUrl(new URL(request.url))
      if (!privateAddresses && address !== null && !isPublicAddress(address)) return { ...refused, error: 'address-refused' }
      if (refusalOfUrl(request.url, privateAddresses) !== null) return { ...refused, error: 'url-refused' }
      const { stale, ...answer } = await once(request, agents)
      if (!stale) return answer
      // A kept connection that the receiver had closed meanwhile: it has not looked at the message.
      const { stale: _again, ...second } = await once(request, fresh)
      return second
    },
    close: () => {
      for (const agent of [agents.http, agents.https, fresh.http, fresh.https]) agent.destroy()
    },
  }
}
