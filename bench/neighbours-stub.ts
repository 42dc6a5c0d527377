/**
 * A marketplace of many sellers, some of whom are treated badly unless it is started with `--kind`; whose a request is stands in its token, which is the id
 * of its client. Lists are empty, a shipment is answered with the order as shipped. A child process of `neighbours.ts`: it tells its port, and each request
 * to ship when it has arrived.
 */
import { createServer, type ServerResponse } from 'node:http'
import { generateOrder } from './generate.ts'
import { badNeighbours } from './neighbours-sellers.ts'

const kind = process.argv.includes('--kind')
const firstOrder = Number(generateOrder(0, 0).key)
const emptyList = JSON.stringify({ list: { meta: { totalCount: 0, limit: 200 }, elements: { order: [] } } })

const findClient = (authorization: string): string =>
  Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')[0] ?? ''

const answer = (response: ServerResponse, status: number, body: string): void => {
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://stub')
  const isToken = pathname.endsWith('/token')
  const [, token] = Object.entries(request.headers).find(([name]) => name.endsWith('_sec.access_token')) ?? []
  const sellerId = isToken ? findClient(request.headers.authorization ?? '') : String(token)
  const treatment = kind ? undefined : badNeighbours[sellerId]
  const shipped = /^\/v3\/orders\/(\d+)\/shipping$/.exec(pathname)?.[1]
  request.resume().on('end', () => {
    if (shipped !== undefined) {
      process.send?.({ shipped, sellerId, atMs: performance.timeOrigin + performance.now() })
    }
    if (isToken) {
      if (treatment?.tokenRefused === true) answer(response, 400, JSON.stringify({ error: 'invalid_client' }))
      else answer(response, 200, JSON.stringify({ access_token: sellerId, token_type: 'Bearer', expires_in: 86_400 }))
      return
    }
    if (treatment?.throttled === true) {
      answer(response, 429, JSON.stringify({ errors: { error: [{ code: 'REQUEST_THRESHOLD_VIOLATED.GMP_GATEWAY_API' }] } }))
      return
    }
    const body = shipped === undefined ? emptyList : `{"order":${generateOrder(Number(shipped) - firstOrder, 1).rawText}}`
    setTimeout(() => answer(response, 200, body), treatment?.answersAfterMs ?? 0)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) process.send?.({ port: address.port })
})
process.on('disconnect', () => process.exit())
