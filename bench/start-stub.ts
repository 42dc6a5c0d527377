import { type ChildProcess, fork } from 'node:child_process'
import path from 'node:path'
import { z } from 'zod'

const saidSchema = z.union([z.object({ port: z.number() }), z.object({ shipped: z.string(), atMs: z.number() })])

/**
 * Starts the stub of `marketplace-stub.ts` as a process of its own.
 * @param onShipped reported of each request to ship: its order, and when it had been received (epoch ms); left out: the stub does not tell
 */
export const startMarketplaceStub = async (
  onShipped?: (purchaseOrderId: string, atMs: number) => void,
): Promise<{ readonly child: ChildProcess; readonly url: string }> => {
  const child = fork(path.join(import.meta.dirname, 'marketplace-stub.ts'), onShipped === undefined ? [] : ['--tell'])
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.on('message', (message) => {
    const said = saidSchema.parse(message)
    if ('port' in said) resolve(said.port)
    else onShipped?.(said.shipped, said.atMs)
  })
  child.once('exit', (code) => reject(new Error(`the stub of the marketplace has ended with ${code}`)))
  return { child, url: `http://127.0.0.1:${await promise}` }
}
