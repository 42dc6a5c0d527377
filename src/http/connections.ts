import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'

/** Beyond the bound so many more connections are taken, only to tell them so: whoever is cut off without a word tries again at once. */
const toldConnections = 100
/** A connection beyond the bound that says nothing for so long ends, in milliseconds. */
const patienceMs = 5_000

/** The connections of a server. */
export interface Connections {
  /** Whether the connection of a request is one too many: it is answered, and ends. */
  isExcess(request: IncomingMessage): boolean
}

/** Bounds the connections of a server, before it listens. */
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
