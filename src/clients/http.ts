import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { Socket } from 'node:net'
import { PassThrough, pipeline, type Readable, type Transform } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { PlainResponse } from 'got'
import got, { RequestError } from 'got'
import { type Body, ownedBody } from './body.ts'
import type { SentState } from './errors.ts'
import { bodyTooLarge, bodyUnreadable } from './errors.ts'
import { type FreshTarget, sendFresh } from './fresh-request.ts'
import { headerText, type ResponseHeaders } from './judge.ts'

/** One HTTP request. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  /** Path and query below the base address, sent exactly as they stand. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly signal: AbortSignal
  /** Use a connection of its own. An idle one may be closed by the other side just as we write, which leaves open what happened. */
  readonly freshConnection: boolean
  /** Asked on a fresh connection right before the first byte leaves; false: nothing is sent, and the code is `TOO_LATE`. */
  readonly mayLeave?: () => boolean
}

/** How one HTTP request ended, whichever way. Times are epoch ms of our own clock. */
export interface HttpOutcome {
  readonly sent: SentState
  readonly status: number | null
  readonly headers: ResponseHeaders
  /** Null when the body did not come whole, is too large or cannot be unpacked. */
  readonly bodyText: string | null
  readonly networkCode: string | null
  readonly sentMs: number
  /** When the answer's head arrived; when the request failed, if it never did. */
  readonly answeredMs: number
  readonly endedMs: number
  /** A kept connection that the other side had closed meanwhile: the request was not looked at. */
  readonly staleConnection: boolean
}

/** One HTTP request whose answer has begun, or never will. */
export interface HttpOpening extends Omit<HttpOutcome, 'bodyText'> {
  /**
   * The body, unpacked, as it comes; null without an answer. It must be read or given up (`return()`), otherwise its connection stays
   * open. It throws a {@link BodyFault} when it does not come whole, when nothing comes for the time allowed, or when it cannot be unpacked.
   */
  readonly body: Body | null
}

/** A body that did not come whole. `code` says why, as `networkCode` of an outcome does. */
export class BodyFault extends Error {
  override readonly name = 'BodyFault'
  readonly code: string

  constructor(code: string) {
    super(`the body did not come whole: ${code}`)
    this.code = code
  }
}

/** Sends requests to one base address. */
export interface Transport {
  /** One request, no retry, no redirect. Never throws for anything the network or the other side does. */
  exchange(request: HttpRequest): Promise<HttpOutcome>
  /**
   * One request whose answer may be of any size: its body is read piece by piece, in constant memory. The time-out holds for the head of
   * the answer; from then on for each silence, however long the whole takes. Never throws for anything the network or the other side does.
   */
  open(request: HttpRequest): Promise<HttpOpening>
  /** Closes idle connections. */
  close(): void
}

/** Bounds of a transport. */
export interface TransportOptions {
  readonly baseUrl: string
  readonly requestTimeoutMs: number
  /** Bound of an answer in bytes, on the wire and unpacked. */
  readonly maxBodyBytes: number
  readonly now: () => number
}

const maxConnectTimeoutMs = 10_000
const idleConnections = 8
/** Whose request it is; gateways turn away those that do not say. */
const userAgent = 'Tallyman'

/** Bound of a body that is read piece by piece, unpacked: no report is as large as that. */
const maxStreamedBytes = 4 * 1024 ** 3

type Unpack = (packed: Uint8Array, bounds: { readonly maxOutputLength: number }) => Promise<Uint8Array>

const unpackers: ReadonlyMap<string, Unpack> = new Map<string, Unpack>([
  ['gzip', promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ['x-gzip', promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.gunzip)],
  ['deflate', promisify<Uint8Array, zlib.ZlibOptions, Buffer>(zlib.inflate)],
  ['br', promisify<Uint8Array, zlib.BrotliOptions, Buffer>(zlib.brotliDecompress)],
])

const unpackStream: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['', () => new PassThrough()],
  ['identity', () => new PassThrough()],
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => zlib.createInflate()],
  ['br', () => zlib.createBrotliDecompress()],
])

/** Characters that a request line cannot contain; everything else of a cursor goes out as it came. */
const notInRequestLine = /[^\x21-\x7e]/gu

/** Path and query as they go into the request line. */
export const requestPath = (basePath: string, target: string): string =>
  `${basePath}${target.toWellFormed()}`.replace(notInRequestLine, (character) => encodeURIComponent(character))

/** A body that ends before its announced length was broken off by the connection, whoever notices it. */
const networkCodeOf = (code: string): string => (code === 'ERR_HTTP_CONTENT_LENGTH_MISMATCH' ? 'ECONNRESET' : code)

const codeOf = (error: unknown): string => {
  if (error instanceof RequestError || error instanceof BodyFault) return networkCodeOf(error.code)
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return 'UNKNOWN_FAULT'
}

/** Follows one request until its bytes may be on the wire: connected, and for TLS shaken hands. */
const watchSending = (request: ClientRequest, onSending: () => void): void => {
  request.once('socket', (socket: Socket) => {
    if (!socket.connecting && !(socket instanceof TLSSocket && !request.reusedSocket)) onSending()
    else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', onSending)
  })
}

const unpack = async (packed: Uint8Array, encoding: string | undefined, maxBytes: number): Promise<string> => {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity' || packed.length === 0) return decode(packed)
  const unpacker = unpackers.get(name)
  if (unpacker === undefined) throw new BodyFault(bodyUnreadable)
  try {
    return decode(await unpacker(packed, { maxOutputLength: maxBytes }))
  } catch (error) {
    throw new BodyFault(codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? bodyTooLarge : bodyUnreadable)
  }
}

const utf8 = new TextDecoder('utf-8')

/** UTF-8 text without its byte order mark. */
const decode = (bytes: Uint8Array): string => utf8.decode(bytes)

/** The head of an answer. */
interface Head {
  readonly statusCode?: number | undefined
  readonly headers: ResponseHeaders
}

/** How a request stands. */
interface Progress {
  sent: SentState
  head: Head | null
  answeredMs: number
  /** What it was sent with, where that may be a connection that was used before. */
  native: ClientRequest | null
}

/** What is announced to have no body is packed in nothing, whatever it says. */
const isAnnouncedEmpty = ({ statusCode, headers }: Head): boolean =>
  statusCode === 204 || statusCode === 304 || headers['content-length'] === '0'

/** A transport with connections of its own. */
export const createTransport = (options: TransportOptions): Transport => {
  const { requestTimeoutMs, maxBodyBytes, now } = options
  const base = new URL(options.baseUrl)
  const basePath = base.pathname.replace(/\/+$/, '')
  const secure = base.protocol === 'https:'
  const keptAgent = secure
    ? new https.Agent({ keepAlive: true, maxFreeSockets: idleConnections })
    : new http.Agent({ keepAlive: true, maxFreeSockets: idleConnections })
  const connectTimeoutMs = Math.min(maxConnectTimeoutMs, requestTimeoutMs)
  const freshTarget: FreshTarget = {
    // An IPv6 address stands in brackets in a URL only.
    hostname: base.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: base.port === '' ? (secure ? 443 : 80) : Number(base.port),
    secure,
    hostHeader: base.host,
    connectTimeoutMs,
  }
  const client = got.extend({
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    // Unpacked here, where the size can be bounded: got would unpack a bomb to its end.
    decompress: false,
    timeout: { lookup: connectTimeoutMs, connect: connectTimeoutMs, secureConnect: connectTimeoutMs, request: requestTimeoutMs },
  })
  const headersOf = (request: HttpRequest) => ({ 'accept-encoding': 'gzip, br', 'user-agent': userAgent, ...request.headers })

  /** How a request stands, and its outcome whenever it ends. */
  const follow = () => {
    const sentMs = now()
    const progress: Progress = { sent: 'never', head: null, answeredMs: sentMs, native: null }
    const end = (bodyText: string | null, networkCode: string | null): HttpOutcome => ({
      sent: progress.head === null ? progress.sent : 'answered',
      status: progress.head?.statusCode ?? null,
      headers: progress.head?.headers ?? {},
      bodyText,
      networkCode,
      sentMs,
      answeredMs: progress.head === null ? now() : progress.answeredMs,
      endedMs: now(),
      staleConnection:
        progress.head === null &&
        (progress.native?.reusedSocket ?? false) &&
        (networkCode === 'ECONNRESET' || networkCode === 'EPIPE'),
    })
    const answered = (head: Head): void => {
      progress.head = head
      progress.answeredMs = now()
    }
    return { progress, answered, end }
  }

  /** A request over a connection of its own, given up when its signal says so, until `done`. */
  const startFresh = (request: HttpRequest, progress: Progress) => {
    const sent = sendFresh(freshTarget, {
      method: request.method,
      path: requestPath(basePath, request.target),
      headers: headersOf(request),
      body: request.body,
      mayLeave: request.mayLeave ?? (() => true),
      onSending: () => {
        progress.sent = 'maybe'
      },
    })
    const onAbort = (): void => sent.giveUp('ABORTED')
    request.signal.addEventListener('abort', onAbort)
    const timer = setTimeout(() => sent.giveUp('ETIMEDOUT'), requestTimeoutMs)
    return {
      ...sent,
      /** From now on it may take its time. */
      unbound: (): void => clearTimeout(timer),
      done: (): void => {
        clearTimeout(timer)
        request.signal.removeEventListener('abort', onAbort)
        sent.close()
      },
    }
  }

  const exchangeFresh = async (request: HttpRequest): Promise<HttpOutcome> => {
    const { progress, answered, end } = follow()
    if (request.signal.aborted) return end(null, 'ABORTED')
    const fresh = startFresh(request, progress)
    try {
      const answer = await fresh.answer
      answered(answer)
      const packed = await Promise.race([collect(answer, maxBodyBytes), fresh.ended])
      return end(await unpack(packed, answer.headers['content-encoding'], maxBodyBytes), null)
    } catch (error) {
      return end(null, request.signal.aborted ? 'ABORTED' : codeOf(error))
    } finally {
      fresh.done()
    }
  }

  const exchangeKept = async (request: HttpRequest): Promise<HttpOutcome> => {
    const { progress, answered, end } = follow()
    if (request.signal.aborted) return end(null, 'ABORTED')
    const path = requestPath(basePath, request.target)
    let broken: Error | null = null
    // The URL parser would rewrite parts of a cursor, so it sees the bare path only; the request line is set below.
    const stream = client.stream(new URL(`${basePath}/`, base), {
      method: request.method,
      headers: headersOf(request),
      // A POST without a body still needs an end to it: got would wait for somebody to write one.
      ...(request.method === 'GET' ? {} : { body: request.body ?? '' }),
      signal: request.signal,
      request: (url, native, callback) => {
        const send = secure ? https.request : http.request
        const sending = send(url, { ...native, path, agent: keptAgent }, callback)
        progress.native = sending
        sending.once('response', (came) => {
          sending.once('error', (error) => {
            // A reset ends a body without a length as its end would, and is told to nobody else then.
            if (!came.complete) broken = error
          })
        })
        // No protocol was asked for that could be changed to.
        sending.once('upgrade', (_came, socket) => {
          socket.destroy()
          stream.destroy(new BodyFault('ECONNRESET'))
        })
        watchSending(sending, () => {
          progress.sent = 'maybe'
        })
        return sending
      },
    })
    stream.once('response', (head: PlainResponse) => answered(head))
    try {
      const packed = await readBounded(stream, maxBodyBytes)
      if (broken !== null) throw broken
      return end(
        await unpack(packed, headerText(progress.head?.headers ?? {}, 'content-encoding') ?? undefined, maxBodyBytes),
        null,
      )
    } catch (error) {
      return end(null, request.signal.aborted ? 'ABORTED' : codeOf(error))
    } finally {
      stream.destroy()
    }
  }

  const open = async (request: HttpRequest): Promise<HttpOpening> => {
    const { progress, answered, end } = follow()
    if (request.signal.aborted) return { ...end(null, 'ABORTED'), body: null }
    const fresh = startFresh(request, progress)
    try {
      const answer = await fresh.answer
      answered(answer)
      fresh.unbound()
      const encoding = isAnnouncedEmpty(answer) ? '' : (answer.headers['content-encoding']?.trim().toLowerCase() ?? '')
      const unpacker = unpackStream.get(encoding)
      // An error on the way reaches whoever reads the last stream of the line.
      const source = pipeline(answer, unpacker?.() ?? new PassThrough(), () => undefined)
      const leave = (): void => {
        source.destroy()
        fresh.done()
      }
      return { ...end(null, null), body: ownedBody(readWhole(source, unpacker === undefined, request.signal, leave), leave) }
    } catch (error) {
      fresh.done()
      return { ...end(null, request.signal.aborted ? 'ABORTED' : codeOf(error)), body: null }
    }
  }

  /** Passes a body on, and throws where it breaks off. The time that its reader takes does not count as silence. */
  const readWhole = async function* (source: Readable, unreadable: boolean, signal: AbortSignal, leave: () => void): Body {
    let length = 0
    let timer: NodeJS.Timeout | undefined
    const wait = (): NodeJS.Timeout => setTimeout(() => source.destroy(new BodyFault('ETIMEDOUT')), requestTimeoutMs)
    try {
      if (unreadable) throw new BodyFault(bodyUnreadable)
      timer = wait()
      for await (const chunk of source) {
        clearTimeout(timer)
        if (!(chunk instanceof Uint8Array)) throw new BodyFault(bodyUnreadable)
        length += chunk.length
        if (length > maxStreamedBytes) throw new BodyFault(bodyTooLarge)
        yield chunk
        timer = wait()
      }
    } catch (error) {
      if (signal.aborted) throw new BodyFault('ABORTED')
      const code = codeOf(error)
      throw new BodyFault(/^(?:Z_|ERR_BROTLI|ERR__ERROR)/.test(code) ? bodyUnreadable : code)
    } finally {
      clearTimeout(timer)
      leave()
    }
  }

  return {
    exchange: (request) => (request.freshConnection ? exchangeFresh(request) : exchangeKept(request)),
    open,
    close() {
      keptAgent.destroy()
    },
  }
}

/** As {@link readBounded}, of an answer whose connection is its own. */
const collect = (answer: IncomingMessage, maxBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    answer.on('data', (chunk: Uint8Array) => {
      length += chunk.length
      if (length > maxBytes) reject(new BodyFault(bodyTooLarge))
      else chunks.push(chunk)
    })
    const broken = (): void => reject(answer.errored ?? new BodyFault('ECONNRESET'))
    answer.once('error', reject)
    answer.once('end', () => {
      // Every answer is closed after its end; a fault with its stack costs as much as reading one.
      answer.off('close', broken)
      resolve(Buffer.concat(chunks))
    })
    answer.once('close', broken)
    // Its head and its fault came together, before anybody could listen.
    if (answer.destroyed) broken()
  })

/**
 * All of a body.
 *
 * @throws BodyFault when it is larger than `maxBytes`
 */
export const readBounded = async (stream: AsyncIterable<unknown>, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) throw new BodyFault(bodyUnreadable)
    length += chunk.length
    if (length > maxBytes) throw new BodyFault(bodyTooLarge)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
