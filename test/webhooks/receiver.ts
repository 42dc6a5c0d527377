import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { CloudEvent, HTTP, type Message } from 'cloudevents'
import { Webhook } from 'standardwebhooks'

/** A message as a receiver got it. */
export interface Received {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly path: string
}

/** How a receiver answers: with a status, with headers, or as it likes. */
export type Answer =
  | number
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  | { readonly raw: (response: ServerResponse) => void }

/** A receiver of webhooks over real HTTP. */
export interface Receiver {
  readonly url: string
  readonly port: number
  /** All that came, in order, whatever was answered. */
  readonly received: Received[]
  /** How it answers from now on; a function is asked for each message. */
  answer(how: Answer | ((message: Received) => Answer)): void
  close(): Promise<void>
}

/** Starts a receiver on a port of its own; with a certificate it speaks TLS. Takes everything until told otherwise. */
export const startReceiver = async (tls?: { readonly key: string; readonly cert: string }): Promise<Receiver> => {
  const received: Received[] = []
  let choose: (message: Received) => Answer = () => 204
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('error', () => undefined)
    request.on('end', () => {
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
      const message = { headers, body: Buffer.concat(pieces).toString('utf8'), path: request.url ?? '' }
      received.push(message)
      const how = choose(message)
      if (typeof how === 'number') response.writeHead(how).end()
      else if ('raw' in how) how.raw(response)
      else response.writeHead(how.status, how.headers).end()
    })
  }
  const server = tls === undefined ? http.createServer(handle) : https.createServer(tls, handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port')
  const { port } = address
  return {
    url: tls === undefined ? `http://127.0.0.1:${port}/hook` : `https://localhost:${port}/hook`,
    port,
    received,
    answer: (how) => {
      choose = typeof how === 'function' ? how : () => how
    },
    close: async () => {
      server.closeAllConnections()
      if (!server.listening) return
      server.close()
      await once(server, 'close')
    },
  }
}

/** The event of a message, verified by the official libraries. @throws when signature or event are wrong */
export const buildEvent = (secret: string, message: Received): CloudEvent<Record<string, unknown>> => {
  new Webhook(secret).verify(message.body, message.headers)
  const http: Message = { headers: message.headers, body: message.body }
  const event = HTTP.toEvent<Record<string, unknown>>(http)
  if (!(event instanceof CloudEvent)) throw new Error('more than one event in a message')
  event.validate()
  return event
}
