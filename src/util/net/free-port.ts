import { once } from 'node:events'
import { createServer } from 'node:net'

/** A free port of the loopback interface. Another program may take it before the caller does. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

/** Whether no program listens on a port of the loopback interface. Another program may take it before the caller does. */
export const isPortFree = async (port: number): Promise<boolean> => {
  const server = createServer()
  try {
    server.listen({ host: '127.0.0.1', port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}

/** The listening address is not available. */
export class AddressUnavailable extends Error {
  override readonly name = 'AddressUnavailable'
}

const reasons: Readonly<Record<string, (name: string) => string>> = {
  EADDRINUSE: (name) => `is in use by another program; end that one, or set another ${name} (0 takes any free port)`,
  EACCES: (name) => `requires rights that this user does not have; set a ${name} above 1023`,
  EADDRNOTAVAIL: () => 'is not an address of this machine; set HOST to one of its addresses',
  ENOTFOUND: () => 'cannot be resolved; set HOST to an address of this machine',
}

/**
 * Verifies that an address is available before any other work begins. `name` is the setting of the port.
 * @throws AddressUnavailable with advice
 */
export const assertListenable = async ({
  host,
  port,
  name = 'PORT',
}: {
  readonly host: string
  readonly port: number
  readonly name?: string
}): Promise<void> => {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    throw new AddressUnavailable(`${host}:${port} ${reasons[code]?.(name) ?? `cannot be listened on (${code})`}`, {
      cause: error,
    })
  }
  server.close()
  await once(server, 'close')
}
