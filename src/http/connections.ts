import type { Socket } from 'node:net'
import type { App } from './app.ts'
import { Problem } from './problems.ts'

/** Connections beyond the limit that are accepted and answered with 503: clients without an answer would reconnect immediately. */
const maxRejectedConnections = 100
/** Time after which a silent connection beyond the limit is closed, in milliseconds. */
const rejectedTimeoutMs = 5_000

/** Limits the connections of a server that does not listen yet. Requests beyond the limit get 503, except those of open routes. */
export const limitConnections = (app: App, max: number): void => {
  const rejected = new WeakSet<Socket>()
  let open = 0
  app.server.maxConnections = max + maxRejectedConnections
  app.server.on('connection', (socket: Socket) => {
    open += 1
    socket.once('close', () => {
      open -= 1
    })
    if (open <= max) return
    rejected.add(socket)
    socket.setTimeout(rejectedTimeoutMs, () => socket.destroy())
  })
  app.addHook('onRequest', async (request, reply) => {
    if (!rejected.has(request.raw.socket)) return
    reply.header('connection', 'close')
    // Supervisors depend on health: a high number of clients must not make them end the daemon.
    if (request.routeOptions.config.access === 'open') return
    throw new Problem('unavailable', {
      detail: `More than ${max} connections are open (MAX_CONNECTIONS). Retry later.`,
      headers: { 'retry-after': '1' },
    })
  })
}
