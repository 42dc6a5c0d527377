import Fastify, { type FastifyInstance } from 'fastify'
import { gatewayRefusal, renderFaults } from '../core/errors.ts'
import { OPERATIONS } from '../operations/registry.ts'
import { registerControl } from './control.ts'
import { type Gateway, serve } from './gateway.ts'

const MAX_BODY_BYTES = 1_048_576

/** The HTTP side of the sandbox: the marketplace's operations and the control routes. */
export function createApp(gateway: Gateway): FastifyInstance {
  const { world, log } = gateway
  // Requests that were never answered must not hold up the end of the program.
  const app = Fastify({ logger: false, bodyLimit: MAX_BODY_BYTES, forceCloseConnections: true, exposeHeadRoutes: false })
  app.removeAllContentTypeParsers()
  // Bodies come as text: whether they are acceptable is for the operation to say, in the marketplace's own words.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.addHook('onSend', async (_request, reply) => {
    reply.header('date', new Date(world.clock.now()).toUTCString())
  })
  for (const operation of OPERATIONS) {
    for (const url of operation.urls) {
      app.route({
        method: operation.method,
        url,
        handler: async (request, reply) => {
          await serve(gateway, operation, request, reply)
          // Said so, or the server would end a stream before it has begun.
          return reply
        },
      })
    }
  }
  app.register(registerControl(gateway), { prefix: '/_sandbox' })
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?')[0] ?? ''
    const known = OPERATIONS.some(({ urls }) => urls.some((url) => new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`).test(path)))
    const refusal = known
      ? gatewayRefusal(405, 'METHOD_NOT_ALLOWED', 'method', `${request.method} is not allowed here`)
      : gatewayRefusal(404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
    const { contentType, text } = renderFaults(refusal.status, refusal.faults, 'nested', request.url, world.clock.now())
    reply.code(refusal.status).header('content-type', contentType).send(text)
  })
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error)
    if (status === 500)
      log('error', 'request failed', { url: request.url, err: error instanceof Error ? error.stack : String(error) })
    const { faults } = gatewayRefusal(
      status,
      status === 413 ? 'REQUEST_ENTITY_TOO_LARGE' : status < 500 ? 'INVALID_REQUEST' : 'SYSTEM_ERROR',
      'data',
      'Unable to process',
    )
    const { contentType, text } = renderFaults(status, faults, 'nested', request.url, world.clock.now())
    reply.code(status).header('content-type', contentType).send(text)
  })
  return app
}

/** 4xx where the HTTP layer itself found the request wrong (too large, cut short); all else is our own fault. */
function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : null
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}
