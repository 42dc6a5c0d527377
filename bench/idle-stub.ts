/**
 * A marketplace where nothing happens: every list is empty. Notes when each list of each seller was asked for last; a child process of
 * `idle-sellers.ts`, which it tells its port, and at the message `gaps` the longest time between two requests for the same list since the last one.
 */
import { createServer } from 'node:http'

/** Whose a request is stands in its token, which is the id of the client that it was given to. */
const findSeller = (authorization: string): string =>
  Buffer.from(authorization.replace(/^Basic /, ''), 'base64')
    .toString()
    .split(':')[0] ?? ''

const empty = JSON.stringify({ list: { meta: { totalCount: 0, limit: 200 }, elements: { order: [] } } })
const askedAtMs = new Map<string, number>()
let since = performance.now()
let longestMs = 0
let requests = 0

const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://stub')
  const isToken = pathname.endsWith('/token')
  if (!isToken) {
    const [, token] = Object.entries(request.headers).find(([name]) => name.endsWith('_sec.access_token')) ?? []
    const list = `${String(token)} ${pathname} ${searchParams.get('shipNodeType')}`
    const nowMs = performance.now()
    longestMs = Math.max(longestMs, nowMs - Math.max(askedAtMs.get(list) ?? since, since))
    askedAtMs.set(list, nowMs)
    requests += 1
  }
  const body = isToken
    ? JSON.stringify({ access_token: findSeller(request.headers.authorization ?? ''), token_type: 'Bearer', expires_in: 86_400 })
    : empty
  request.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object' && address !== null) process.send?.({ port: address.port })
})
process.on('message', () => {
  const nowMs = performance.now()
  // Lists that were not asked for again are waiting still.
  for (const atMs of askedAtMs.values()) longestMs = Math.max(longestMs, nowMs - Math.max(atMs, since))
  process.send?.({ longestMs, requests, lists: askedAtMs.size })
  since = nowMs
  longestMs = 0
  requests = 0
})
process.on('disconnect', () => process.exit())
