import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { BodyError } from './body.ts'
import { bodyTooLarge } from './errors.ts'

/** The time in which a request may be sent had passed when its connection was open. */
const tooLate = 'TOO_LATE'

/** The server of requests that have a connection of their own. */
export interface FreshTarget {
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
  /** The value of the header `host`. */
  readonly hostHeader: string
  /** Timeout of name resolution, connection and TLS handshake together. */
  readonly connectTimeoutMs: number
}

/** A request with a connection of its own. */
export interface FreshRequest {
  readonly method: string
  /** The path of the request line. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Called directly before the first byte is sent; false: nothing is sent, and the code is {@link tooLate}. If it throws, the request ends unsent. */
  readonly maySend: () => boolean
  /** Called directly before the first byte is sent. Must not throw. */
  readonly onSending: () => void
}

/** The request was aborted, for example by its timeout. */
export class RequestAborted extends Error {
  override readonly name = 'RequestAborted'
  readonly code: string

  constructor(code: string) {
    super(`the request was aborted: ${code}`)
    this.code = code
  }
}

/** A request in progress. */
export interface SentFresh {
  /** The answer, when its head has arrived; its body is still unread. Rejects with the network error, or with {@link RequestAborted}. */
  readonly answer: Promise<IncomingMessage>
  /** Rejects as soon as nothing more can arrive, of the body either: the answer may have ended before the caller could listen to it. */
  readonly ended: Promise<never>
  /** Ends the request and closes the connection. The answer, or the rest of its body, rejects with this code. */
  abort(code: string): void
  /** Closes the connection. */
  close(): void
}

const openSocket = ({ hostname, port, secure }: FreshTarget): Socket => {
  const address = { host: hostname, port, noDelay: true }
  return secure ? tlsConnect({ ...address, ...(isIP(hostname) === 0 ? { servername: hostname } : {}) }) : connect(address)
}

/**
 * Sends one request over a connection of its own, which is closed afterwards. Nothing is written or queued before the connection is open and `maySend` has
 * returned true: until then it is certain that nothing was sent. Writes therefore use Node's own client and no library: no code runs between `maySend` and the
 * first byte, and nothing repeats the request.
 */
export const sendFresh = (target: FreshTarget, { method, path, headers, body, maySend, onSending }: FreshRequest): SentFresh => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const ended = Promise.withResolvers<never>()
  // After a complete answer nobody awaits it.
  ended.promise.catch(() => undefined)
  let sending: ClientRequest | null = null
  let answer: IncomingMessage | null = null
  const socket = openSocket(target)
  const close = (): void => {
    clearTimeout(timer)
    sending?.destroy()
    socket.destroy()
  }
  const end = (error: Error): void => {
    reject(error)
    ended.reject(error)
    answer?.destroy(error)
    close()
  }
  const timer = setTimeout(() => end(new RequestAborted('ETIMEDOUT')), target.connectTimeoutMs)
  // Also for errors after the end, which have no other listener.
  socket.on('error', end)

  /** Creating the request writes nothing. It throws for a header that cannot be sent. */
  const prepare = (bytes: Buffer | null): ClientRequest => {
    const length = bytes === null ? (method === 'GET' ? {} : { 'content-length': '0' }) : { 'content-length': bytes.length }
    return http.request({
      createConnection: () => socket,
      method,
      path,
      headers: { ...headers, ...length, host: target.hostHeader },
      setHost: false,
    })
  }
  const send = (): void => {
    clearTimeout(timer)
    if (!maySend()) {
      end(new RequestAborted(tooLate))
      return
    }
    // As bytes: Node would send a text together with the head, and the head in the encoding of the text.
    const bytes = body === null ? null : Buffer.from(body)
    const prepared = prepare(bytes)
    sending = prepared
    prepared.once('response', (received) => {
      answer = received
      resolve(received)
    })
    // We never request a change of protocol.
    prepared.once('upgrade', () => end(new RequestAborted('ECONNRESET')))
    prepared.on('error', end)
    onSending()
    prepared.end(bytes ?? undefined)
  }
  socket.once(target.secure ? 'secureConnect' : 'connect', () => {
    try {
      send()
    } catch (error) {
      end(error instanceof Error ? error : new Error(String(error)))
    }
  })
  return { answer: promise, ended: ended.promise, abort: (code) => end(new RequestAborted(code)), close }
}

/**
 * The whole body of an answer.
 *
 * @throws BodyError if it is larger than `maxBytes` or its connection breaks
 */
export const readAnswer = (answer: IncomingMessage, maxBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let length = 0
    answer.on('data', (chunk: Uint8Array) => {
      length += chunk.length
      if (length > maxBytes) reject(new BodyError(bodyTooLarge))
      else chunks.push(chunk)
    })
    const onClose = (): void => reject(answer.errored ?? new BodyError('ECONNRESET'))
    answer.once('error', reject)
    answer.once('end', () => {
      // Each answer is closed after its end. Creating an error with its stack would cost as much as reading an answer.
      answer.off('close', onClose)
      resolve(Buffer.concat(chunks))
    })
    answer.once('close', onClose)
    // Its head and its error arrived together, before this listener.
    if (answer.destroyed) onClose()
  })
