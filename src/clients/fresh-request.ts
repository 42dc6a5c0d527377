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
  /** Asked right before the first byte leaves; false: nothing is sent, and the code is {@link tooLate}. */
  readonly mayLeave: () => boolean
  /** Told right before the first byte leaves. */
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
    answer?.destroy(error)
    close()
  }
  const timer = setTimeout(() => end(new GivenUp('ETIMEDOUT')), target.connectTimeoutMs)
  // Also those that come when everything has ended, and that nobody else listens for.
  socket.on('error', end)
  socket.once(target.secure ? 'secureConnect' : 'connect', () => {
    clearTimeout(timer)
    if (!mayLeave()) {
      end(new GivenUp(tooLate))
      return
    }
    onSending()
    const length =
      body === null ? (method === 'GET' ? {} : { 'content-length': '0' }) : { 'content-length': Buffer.byteLength(body) }
    sending = http.request({
      createConnection: () => socket,
      method,
      path,
      headers: { ...headers, ...length, host: target.hostHeader },
      setHost: false,
    })
    sending.once('response', (came) => {
      answer = came
      resolve(came)
    })
    sending.on('error', end)
    sending.end(body ?? undefined)
  })
  return { answer: promise, giveUp: (code) => end(new GivenUp(code)), close }
}
