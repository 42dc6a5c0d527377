import { type ServerSpan, startServerSpan } from '../observability/trace.ts'
import type { App } from './app.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null: the request is not traced. */
    span: ServerSpan | null
  }
}

/** Routes that supervisors ask all the time. */
const untraced: ReadonlySet<string> = new Set(['/livez', '/readyz', '/metrics'])

/** Answers each request inside a span, in the trace that its header `traceparent` names. */
export const traceRequests = (app: App): void => {
  app.decorateRequest('span', null)
  app.addHook('onRequest', (request, _reply, done) => {
    const { url: route } = request.routeOptions
    if (route !== undefined && !untraced.has(route))
      request.span = startServerSpan(`${request.method} ${route}`, request.headers, {
        'http.request.method': request.method,
        'http.route': route,
        'tallyman.correlation_id': request.id,
      })
    done()
  })
  // After the body was read, which continues outside of what surrounded the hooks before it.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.span === null) done()
    else request.span.enter(done)
  })
  app.addHook('onResponse', async (request, reply) => request.span?.end(reply.statusCode))
}
