import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Operation } from '../calls/operation.ts'
import { operations } from '../calls/registry.ts'
import { gatewayRefusal } from '../core/errors.ts'
import { registerControl } from './control.ts'
import { dateHeader, type Gateway, refusalAnswer, serve } from './gateway.ts'
import { readParams } from './params.ts'
import { registerReportFiles } from './report-files.ts'

const maxBodyBytes = 1_048_576

/** The HTTP side of the sandbox: the marketplace's operations and the control routes. */
export const createApp = (gateway: Gateway): FastifyInstance => {
  const { log } = gateway
  /** Control routes have no part in the disagreement of clocks. */
  const marketplaceDate = (url: string): string =>
    dateHeader(gateway, url.startsWith('/_sandbox') ? 0 : gateway.faults.nodeOffsetMs(''))
  /** Refusals of the HTTP layer before an operation is reached, in the marketplace's format. */
  const refuse = ({ url }: FastifyRequest, reply: FastifyReply, ...refusal: Parameters<typeof gatewayRefusal>): void => {
    const { status, contentType, text } = refusalAnswer(gateway, operationsAt(url)[0] ?? null, gatewayRefusal(...refusal), url)
    reply.code(status).header('content-type', contentType).send(text)
  }
  const app = Fastify({
    logger: false,
    bodyLimit: maxBodyBytes,
    // Requests that were never answered must not hold up the end of the program.
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    // However long an id is, it is one that is not known.
    routerOptions: { maxParamLength: 10_000 },
    // A path that cannot be decoded; no hook is run for it.
    frameworkErrors: (_error, request, reply) => {
      reply.header('date', marketplaceDate(request.url))
      refuse(request, reply, 400, 'INVALID_REQUEST', 'uri', 'The path cannot be decoded')
    },
  })
  app.removeAllContentTypeParsers()
  // Bodies are read as text: the operation validates them and refuses them in the marketplace's format.
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.addHook('onSend', async (request, reply) => {
    if (!reply.hasHeader('date')) reply.header('date', marketplaceDate(request.url))
  })
  for (const operation of operations) {
    for (const url of operation.urls) {
      app.route({
        method: operation.method,
        url,
        handler: async (request, reply) => {
          // A path that ends where its id should be is another path, and must not look like an id that is not known.
          if (Object.values(readParams(request)).includes('')) return reply.callNotFound()
          await serve(gateway, operation, request, reply)
          // Said so, or the server would end a stream before it has begun.
          return reply
        },
      })
    }
  }
  registerReportFiles(app, gateway)
  app.register(registerControl(gateway), { prefix: '/_sandbox' })
  app.setNotFoundHandler((request, reply) => {
    const known = operationsAt(request.url)
    if (known.length === 0) return refuse(request, reply, 404, 'URI_NOT_FOUND', 'uri', 'There is no such operation')
    reply.header('allow', known.map(({ method }) => method).join(', '))
    refuse(request, reply, 405, 'METHOD_NOT_ALLOWED', 'method', `${request.method} is not allowed here`)
  })
  app.setErrorHandler((error, request, reply) => {
    const status = findStatus(error)
    if (status === 500)
      log('error', 'request failed', { url: request.url, err: error instanceof Error ? error.stack : String(error) })
    const code = codes.get(status) ?? (status < 500 ? 'INVALID_REQUEST' : 'SYSTEM_ERROR')
    refuse(request, reply, status, code, 'data', 'Unable to process')
  })
  return app
}

const codes: ReadonlyMap<number, string> = new Map([
  [413, 'REQUEST_ENTITY_TOO_LARGE'],
  [415, 'UNSUPPORTED_MEDIA_TYPE'],
])

/** The operations of a path, for all methods; a placeholder matches one non-empty segment. */
const operationsAt = (url: string): readonly Operation[] => {
  const path = url.split('?')[0] ?? ''
  return operations.filter(({ urls }) => urls.some((one) => new RegExp(`^${one.replace(/:\w+/g, '[^/]+')}$`).test(path)))
}

/** 4xx where the HTTP layer itself found the request wrong (too large, cut short); all else is our own fault. */
const findStatus = (error: unknown): number => {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : null
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}
