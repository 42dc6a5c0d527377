import { connect, createServer, type Socket } from 'node:net'

/** A line to a daemon that can be cut and repaired: an address of its own that leads there. */
export interface Line {
  readonly url: string
  /** How often a browser has asked for the stream of changes. */
  streams(): number
  /** Ends every connection; new ones are answered. */
  drop(): void
  /** Ends every connection and takes no new one, as a stopped daemon does. */
  cut(): Promise<void>
  /** Takes connections again, at the same address. */
  repair(): Promise<void>
  close(): Promise<void>
}

/** Opens a line to the daemon at this address. */
export const openLine = async (to: string): Promise<Line> => {
  const { hostname, port } = new URL(to)
  const sockets = new Set<Socket>()
  let streams = 0
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      // An end that is torn down ends the other one: that is what a cut is.
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
    near.on('data', (bytes) => {
      streams += bytes.toString('latin1').split('GET /v1/changes').length - 1
    })
    near.pipe(far)
    far.pipe(near)
  })
  const listen = (at: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(at, '127.0.0.1', () => {
        server.off('error', reject)
        resolve()
      })
    })
  await listen(0)
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the line has no port')
  const drop = (): void => {
    for (const socket of [...sockets]) socket.destroy()
  }
  const cut = (): Promise<void> => {
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    drop()
    return closed
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    streams: () => streams,
    drop,
    cut,
    repair: () => listen(address.port),
    close: async () => {
      if (server.listening) await cut()
    },
  }
}
