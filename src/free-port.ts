import { once } from 'node:events'
import { createServer } from 'node:net'

/** The address that is to be listened on cannot be had. */
export class AddressUnavailable extends Error {
  override readonly name = 'AddressUnavailable'
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is taken by another program; end that one, or set PORT to another (0 takes any free one)',
  EACCES: 'needs rights that this user does not have; set PORT to one above 1023',
  EADDRNOTAVAIL: 'is no address of this machine; set HOST to one of its own',
  ENOTFOUND: 'is no name that leads to an address; set HOST to an address of this machine',
}

/**
 * Makes sure that an address can be listened on, before work begins that a daemon without it should not have done.
 * @throws AddressUnavailable saying what to do
 */
export const assertListenable = async ({ host, port }: { readonly host: string; readonly port: number }): Promise<void> => {
  const server = createServer()
  try {
    server.listen({ host, port, exclusive: true })
    await once(server, 'listening')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'an unknown fault'
    throw new AddressUnavailable(`${host}:${port} ${reasons[code] ?? `cannot be listened on (${code})`}`, { cause: error })
  }
  server.close()
  await once(server, 'close')
}
