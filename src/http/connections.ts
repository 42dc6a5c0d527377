import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Further connections that are accepted beyond the limit and answered with 503: clients without an answer would reconnect at once. */
const toldConnections = 100
/** Time after which a silent connection beyond the limit is closed, in milliseconds. */
const patienceMs = 5_000

/** The connections of a server. */
export interface Connections {
  /** Whether the connection of a request is beyond the limit: it is answered and closed. */
  isExcess(request: IncomingMessage): boolean
}

/** Limits the connections of a server, before it listens. */
export const boundConnections = (server: Server, most: number): Connections => {
  const excess = new WeakSet<Socket>()
  let open = 0
  server.maxConnections = most + toldConnections
  server.on('connection', (socket: Socket) => {
    open += 1
    socket.once('close', () => {
      open -= 1
    })
    if (open <= most) return
    excess.add(socket)
    socket.setTimeout(patienceMs, () => socket.destroy())
  })
  return { isExcess: (request) => excess.has(request.socket) }
}
