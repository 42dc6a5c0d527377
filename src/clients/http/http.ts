import http, { type ClientRequest } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Got, PlainResponse } from 'got'
import got from 'got'
import { type Body, BodyError, findErrorCode, readBounded } from './body.ts'
import type { ResponseHeaders } from './classify.ts'
import { type AnswerHead, decompressText } from './decompress.ts'
import type { SentState } from './errors.ts'
import { streamBody } from './files/streamed-body.ts'
import { type FreshTarget, readAnswer, type SentFresh, sendFresh } from './fresh-request.ts'

/** One HTTP request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path and query below the base address, sent unchanged. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
  /** Use a new connection. The server may close an idle one while we write, and the result would be unknown. */
  readonly freshConnection: boolean
  /** Called on a fresh connection directly before the first byte is sent; false: nothing is sent, and the code is `TOO_LATE`. */
  readonly maySend?: () => boolean
}

/** How one HTTP request ended. Times are epoch ms of our own clock. */
export interface HttpOutcome {
  readonly sent: SentState
  readonly status: number | null
  readonly headers: ResponseHeaders
  /** Null if the body did not arrive completely, is too large or cannot be decompressed. */
  readonly bodyText: string | null
  readonly networkCode: string | null
  readonly sentMs: number
  /** When the head of the answer arrived, or when the request failed without one. */
  readonly answeredMs: number
  readonly endedMs: number
  /** The server had closed a kept connection: it did not process the request. */
  readonly staleConnection: boolean
}

/** One HTTP request whose answer has begun, or that failed. */
export interface HttpOpening extends Omit<HttpOutcome, 'bodyText'> {
  /**
   * The body in chunks, decompressed and without an archive around it; null without an answer. Read it or cancel it (`return()`), otherwise its connection stays open. It throws a
   * {@link BodyError} if it does not arrive completely, after a timeout without data, or if it cannot be decompressed.
   */
  readonly body: Body | null
}

/** Sends requests to one base address. */
export interface Transport {
  /** One request, without retries and redirects. Never throws for errors of the network or the server. */
  exchange(request: HttpRequest): Promise<HttpOutcome>
  /**
   * One request whose answer may have any size: its body is read in chunks, in constant memory. The timeout applies to the head of the answer, and then to
   * each wait for data. Never throws for errors of the network or the server.
   */
  open(request: HttpRequest): Promise<HttpOpening>
  /** Closes idle connections. */
  close(): void
}

/** Limits of a transport. */
export interface TransportOptions {
  readonly baseUrl: string
  readonly requestTimeoutMs: number
  /** Limit of an answer in bytes, before and after decompression. */
  readonly maxBodyBytes: number
  readonly now: () => number
}

const maxConnectTimeoutMs = 10_000
const idleConnections = 8
/** Gateways reject requests without it. */
const userAgent = 'Tallyman'

/** Characters that a request line cannot contain; all others of a cursor are sent unchanged. */
const notInRequestLine = /[^\x21-\x7e]/gu

/** Path and query of the request line. */
export const requestPath = (basePath: string, target: string): string =>
  `${basePath}${target.toWellFormed()}`.replace(notInRequestLine, (character) => encodeURIComponent(character))

/** Calls `onSending` when bytes of a request may be on the wire: after the connection and, with TLS, the handshake. */
const watchSending = (request: ClientRequest, onSending: () => void): void => {
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting && !(socket instanceof TLSSocket && !request.reusedSocket)) onSending()
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', onSending)
  })
}

const buildHeaders = (request: HttpRequest): Readonly<Record<string, string>> => ({
  'accept-encoding': 'gzip, br',
  'user-agent': userAgent,
  ...request.headers,
})

/** The progress of one request. */
class RequestProgress {
  /** The native request, if it may use a connection that was used before. */
  native: ClientRequest | null = null
  head: AnswerHead | null = null
  readonly #now: () => number
  readonly #sentMs: number
  #sent: SentState = 'never'
  #answeredMs = 0

  constructor(now: () => number) {
    this.#now = now
    this.#sentMs = now()
  }

  onSending(): void {
    this.#sent = 'maybe'
  }

  onHead(head: AnswerHead): void {
    this.head = head
    this.#answeredMs = this.#now()
  }

  end(bodyText: string | null, networkCode: string | null): HttpOutcome {
    const { head, native } = this
    const endedMs = this.#now()
    const isBroken = networkCode === 'ECONNRESET' || networkCode === 'EPIPE'
    return {
      sent: head === null ? this.#sent : 'answered',
      status: head?.statusCode ?? null,
      headers: head?.headers ?? {},
      bodyText,
      networkCode,
      sentMs: this.#sentMs,
      answeredMs: head === null ? endedMs : this.#answeredMs,
      endedMs,
      staleConnection: head === null && (native?.reusedSocket ?? false) && isBroken,
    }
  }

  fail(error: unknown, signal: AbortSignal): HttpOutcome {
    return this.end(null, signal.aborted ? 'ABORTED' : findErrorCode(error))
  }
}

/** A request on a fresh connection, with its timeout. */
interface StartedFresh extends SentFresh {
  /** The timeout no longer applies. */
  stopTimer(): void
  finish(): void
}

class HttpTransport implements Transport {
  readonly #options: TransportOptions
  readonly #base: URL
  readonly #basePath: string
  readonly #isSecure: boolean
  readonly #keptAgent: http.Agent
  readonly #freshTarget: FreshTarget
  readonly #client: Got

  constructor(options: TransportOptions) {
    const { baseUrl, requestTimeoutMs } = options
    const base = new URL(baseUrl)
    const isSecure = base.protocol === 'https:'
    const connectTimeoutMs = Math.min(maxConnectTimeoutMs, requestTimeoutMs)
    this.#options = options
    this.#base = base
    this.#basePath = base.pathname.replace(/\/+$/, '')
    this.#isSecure = isSecure
    this.#keptAgent = new (isSecure ? https : http).Agent({ keepAlive: true, maxFreeSockets: idleConnections })
    this.#freshTarget = {
      // Only a URL has an IPv6 address in brackets.
      hostname: base.hostname.replace(/^\[(.*)\]$/, '$1'),
      port: base.port === '' ? (isSecure ? 443 : 80) : Number(base.port),
      secure: isSecure,
      hostHeader: base.host,
      connectTimeoutMs,
    }
    this.#client = got.extend({
      retry: { limit: 0 },
      followRedirect: false,
      throwHttpErrors: false,
      // `decompressText` limits the size; got would decompress a zip bomb completely.
      decompress: false,
      timeout: {
        lookup: connectTimeoutMs,
        connect: connectTimeoutMs,
        secureConnect: connectTimeoutMs,
        request: requestTimeoutMs,
      },
    })
  }

  async exchange(request: HttpRequest): Promise<HttpOutcome> {
    const progress = new RequestProgress(this.#options.now)
    if (request.signal.aborted) return progress.end(null, 'ABORTED')
    return await (request.freshConnection ? this.#exchangeFresh(request, progress) : this.#exchangeKept(request, progress))
  }

  async open(request: HttpRequest): Promise<HttpOpening> {
    const progress = new RequestProgress(this.#options.now)
    const { signal } = request
    if (signal.aborted) return { ...progress.end(null, 'ABORTED'), body: null }
    const fresh = this.#startFresh(request, progress)
    try {
      const answer = await fresh.answer
      progress.onHead(answer)
      fresh.stopTimer()
      const chunkTimeoutMs = this.#options.requestTimeoutMs
      const body = streamBody(answer, { signal, chunkTimeoutMs, release: () => fresh.finish() })
      return { ...progress.end(null, null), body }
    } catch (error) {
      fresh.finish()
      return { ...progress.fail(error, signal), body: null }
    }
  }

  close(): void {
    this.#keptAgent.destroy()
  }

  /** Starts a request over a fresh connection. Its signal and its timeout abort it until `finish`. */
  #startFresh(request: HttpRequest, progress: RequestProgress): StartedFresh {
    const sent = sendFresh(this.#freshTarget, {
      method: request.method,
      path: requestPath(this.#basePath, request.target),
      headers: buildHeaders(request),
      body: request.body,
      maySend: request.maySend ?? (() => true),
      onSending: () => progress.onSending(),
    })
    const onAbort = (): void => sent.abort('ABORTED')
    request.signal.addEventListener('abort', onAbort)
    const timer = setTimeout(() => sent.abort('ETIMEDOUT'), this.#options.requestTimeoutMs)
    return {
      ...sent,
      stopTimer: () => clearTimeout(timer),
      finish: () => {
        clearTimeout(timer)
        request.signal.removeEventListener('abort', onAbort)
        sent.close()
      },
    }
  }

  async #exchangeFresh(request: HttpRequest, progress: RequestProgress): Promise<HttpOutcome> {
    const { maxBodyBytes } = this.#options
    const fresh = this.#startFresh(request, progress)
    try {
      const answer = await fresh.answer
      progress.onHead(answer)
      const compressed = await Promise.race([readAnswer(answer, maxBodyBytes), fresh.ended])
      return progress.end(await decompressText(compressed, answer.headers, maxBodyBytes), null)
    } catch (error) {
      return progress.fail(error, request.signal)
    } finally {
      fresh.finish()
    }
  }

  async #exchangeKept(request: HttpRequest, progress: RequestProgress): Promise<HttpOutcome> {
    const { maxBodyBytes } = this.#options
    const path = requestPath(this.#basePath, request.target)
    let broken: Error | null = null
    // The URL parser would rewrite parts of a cursor, so it gets only the base path; the request line is set below.
    const stream = this.#client.stream(new URL(`${this.#basePath}/`, this.#base), {
      method: request.method,
      headers: { ...buildHeaders(request) },
      // got waits for a body unless a POST has one.
      ...(request.method === 'GET' ? {} : { body: request.body ?? '' }),
      signal: request.signal,
      request: (url, native, callback) => {
        const send = this.#isSecure ? https.request : http.request
        const sending = send(url, { ...native, path, agent: this.#keptAgent }, callback)
        progress.native = sending
        sending.once('response', (answer) => {
          sending.once('error', (error) => {
            // A reset ends a body without a length like a regular end, and no other listener gets the error.
            if (!answer.complete) broken = error
          })
        })
        // We never request a change of protocol.
        sending.once('upgrade', (_answer, socket) => {
          socket.destroy()
          stream.destroy(new BodyError('ECONNRESET'))
        })
        watchSending(sending, () => progress.onSending())
        return sending
      },
    })
    stream.once('response', (head: PlainResponse) => progress.onHead(head))
    try {
      const compressed = await readBounded(stream, maxBodyBytes)
      if (broken !== null) throw broken
      return progress.end(await decompressText(compressed, progress.head?.headers ?? {}, maxBodyBytes), null)
    } catch (error) {
      return progress.fail(error, request.signal)
    } finally {
      stream.destroy()
    }
  }
}

/** A transport with its own connections. */
export const createTransport = (options: TransportOptions): Transport => new HttpTransport(options)
