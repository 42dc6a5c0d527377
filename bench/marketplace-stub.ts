/**
 * Answers ship requests for generated orders with the order as it then is, and keeps nothing: both sides of `commands.ts` talk to the same one.
 * A child process of that benchmark and of `events.ts`; reports its port to its parent and, with `--tell`, each request to ship.
 */
import { createServer } from 'node:http'
import { generateOrder } from './generate.ts'

const tells = process.argv.includes('--tell')
const firstOrder = Number(generateOrder(0, 0).key)
const token = JSON.stringify({ access_token: 'bench', token_type: 'Bearer', expires_in: 86_400 })

const server = createServer((request, response) => {
  const shipped = /^\/v3\/orders\/(\d+)\/shipping$/.exec(request.url ?? '')?.[1]
  const body = shipped === undefined ? token : `{"order":${generateOrder(Number(shipped) - firstOrder, 1).rawText}}`
  // Only once the request has been received completely; its content is not needed.
  request.resume().on('end', () => {
    if (tells && shipped !== undefined) process.send?.({ shipped, atMs: performance.timeOrigin + performance.now() })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) process.send?.({ port: address.port })
})
process.on('disconnect', () => process.exit())
