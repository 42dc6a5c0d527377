import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import { connect, isIP, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'

/** The time in which a request may leave had passed when its connection stood. */
const tooLate = 'TOO_LATE'

/** Where requests go that have a connection of their own. */
export interface FreshTarget {
  readonly hostname: string
  readonly port: number
  readonly secure: boolean
  /** The value of the header `host`. */
  readonly hostHeader: string
  /** For the name, the connection and the handshake of TLS together. */
  readonly connectTimeoutMs: number
}

/** A request for a connection of its own. */
export interface FreshRequest {
  readonly method: string
  /** As it goes into the request line. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  /** Asked right before the first byte leaves; false: nothing is sent, and the code is {@link tooLate}. What it throws ends the request unsent. */
  readonly mayLeave: () => boolean
  /** Told right before the first byte leaves. Must not throw. */
  readonly onSending: () => void
}

/** Why a request, or its answer, was not waited for to its end. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
  readonly code: string

  constructor(code: string) {
    super(`given up: ${code}`)
    this.code = code
  }
}

/** A request on its way. */
export interface SentFresh {
  /** The answer, once its head has come; its body is to be read. It rejects with what the network did, or as it was given up. */
  readonly answer: Promise<IncomingMessage>
  /** Rejects as soon as nothing more can come, also of the body: by then the answer may have ended before anybody could listen to it. */
  readonly ended: Promise<never>
  /** Ends it, wherever it is, and closes the connection. Whoever waits for the answer, or for more of its body, gets this code. */
  giveUp(code: string): void
  /** Closes the connection, when nothing more is waited for. */
  close(): void
}

const openSocket = ({ hostname, port, secure }: FreshTarget): Socket => {
  const address = { host: hostname, port, noDelay: true }
  return secure ? tlsConnect({ ...address, ...(isIP(hostname) === 0 ? { servername: hostname } : {}) }) : connect(address)
}

/**
 * Sends one request over a connection of its own, which is opened for it and closed behind it. Nothing is written, not even queued, before the
 * connection stands and it was asked whether the request may still leave: until then it is certain that nothing was sent. So a write goes through
 * Node's own client and not through a library: nothing stands between that question and the first byte, and nothing repeats it.
 */
export const sendFresh = (target: FreshTarget, { method, path, headers, body, mayLeave, onSending }: FreshRequest): SentFresh => {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const ended = Promise.withResolvers<never>()
  // Whoever has the whole answer does not ask for it any more.
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
  const timer = setTimeout(() => end(new GivenUp('ETIMEDOUT')), target.connectTimeoutMs)
  // Also those that come when everything has ended, and that nobody else listens for.
  socket.on('error', end)

  /** The request as it will leave: making it writes nothing, and throws for what cannot stand in a header. */
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
    if (!mayLeave()) {
      end(new GivenUp(tooLate))
      return
    }
    // As bytes: a text would leave together with the head, and the head in the encoding of the text.
    const bytes = body === null ? null : Buffer.from(body)
    const prepared = prepare(bytes)
    sending = prepared
    prepared.once('response', (came) => {
      answer = came
      resolve(came)
    })
    // No protocol was asked for that could be changed to.
    prepared.once('upgrade', () => end(new GivenUp('ECONNRESET')))
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
  return { answer: promise, ended: ended.promise, giveUp: (code) => end(new GivenUp(code)), close }
}
