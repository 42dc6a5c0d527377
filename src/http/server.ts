import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { App } from './app.ts'
import { createChangeFeed } from './change-feed.ts'
import { boundConnections } from './connections.ts'
import { libraryPagePolicy } from './content-policies.ts'
import { createErrorAnswers, pathOf } from './errors.ts'
import { createFailedKeys } from './failed-keys.ts'
import { createGuard } from './guard.ts'
import { createKeyRing } from './keys.ts'
import { enforceNeeds } from './needs.ts'
import { completeDocument, nameOperations, tagDescriptions } from './openapi.ts'
import { refuseUnknownParameters } from './parameters.ts'
import { Problem, rawProblemResponse } from './problems.ts'
import { alarmRoutes } from './routes/alarms.ts'
import { auditRoutes } from './routes/audit.ts'
import { boardRoutes } from './routes/board.ts'
import { budgetRoutes } from './routes/budget.ts'
import { campaignRoutes } from './routes/campaigns.ts'
import { changeRoutes } from './routes/changes.ts'
import { commandRoutes } from './routes/commands.ts'
import { completenessRoutes } from './routes/completeness.ts'
import { consoleRoutes } from './routes/console.ts'
import { discrepancyRoutes } from './routes/discrepancies.ts'
import { erasureRoutes } from './routes/erasures.ts'
import { eventRoutes } from './routes/events.ts'
import { forecastRoutes } from './routes/forecast.ts'
import { healthRoutes } from './routes/health.ts'
import { keyRoutes } from './routes/keys.ts'
import { orderRoutes } from './routes/orders.ts'
import { quarantineRoutes } from './routes/quarantine.ts'
import { retentionRoutes } from './routes/retention.ts'
import { sellerRoutes } from './routes/sellers.ts'
import { sessionRoutes } from './routes/session.ts'
import { settingRoutes } from './routes/settings.ts'
import { syncRoutes } from './routes/syncs.ts'
import { targetRoutes } from './routes/targets.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { openapiTransform, openapiTransformObject, serializerCompiler, validatorCompiler } from './serializers.ts'
import type { HttpServices } from './services.ts'
import { createSessions } from './sessions.ts'

/** Longest path parameter: an event's source, each of its bytes percent-encoded. */
const maxParamLength = 4_096

/** Time that requests under way get when the server closes, in milliseconds. */
const defaultGraceMs = 10_000

/** The HTTP server of the daemon. */
export interface HttpServer {
  /** Starts listening; returns the address with the actual port. */
  listen(address: { readonly host: string; readonly port: number }): Promise<string>
  /** No longer ready, and waiting readers of changes are released; requests are still served. */
  drain(): void
  /** Drains, accepts no more connections, and resolves when requests in progress have been answered, or aborted after this time in milliseconds. */
  close(graceMs?: number): Promise<void>
}

/** Builds the server; throws when a secret of `eventsSecrets` is invalid. */
export const createHttpServer = async (services: HttpServices): Promise<HttpServer> => {
  const stopping = new AbortController()
  const changes = createChangeFeed(services.database, services.listener)
  const log: FastifyBaseLogger = services.log
  const errors = createErrorAnswers(services.log, services.limits.faultsTold)
  const app: App = fastify({
    loggerInstance: log,
    // A line per request would flood the log of a busy daemon; failures are logged below.
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'correlation_id' }),
    bodyLimit: services.limits.bodyBytes,
    routerOptions: { maxParamLength, ignoreTrailingSlash: true },
    genReqId: () => randomUUID(),
    // During closing, requests on open connections are answered as usual, and their connections are closed.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    frameworkErrors: (error, request, reply) => void errors.answer(error, request, reply),
    clientErrorHandler: (error: Error & { code?: string }, socket: Socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) {
        socket.destroy()
        return
      }
      const code = error.code === 'HPE_HEADER_OVERFLOW' ? 'headers-too-large' : 'malformed-request'
      socket.end(rawProblemResponse(code, randomUUID()))
    },
  }).withTypeProvider<ZodTypeProvider>()

  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  app.setErrorHandler(errors.answer)

  const methods = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const known = methods.get(url) ?? { pattern: patternOf(url), methods: new Set<string>() }
    methods.set(url, known)
    for (const one of [method].flat()) known.methods.add(one)
  })
  app.setNotFoundHandler((request) => {
    const path = pathOf(request)
    const allowed = [...methods.values()].flatMap((route) => (route.pattern.test(path) ? [...route.methods] : []))
    if (allowed.length === 0) throw new Problem('not-found', { detail: `There is no resource at ${path}.` })
    throw new Problem('method-not-allowed', {
      detail: `${request.method} is not allowed here; allowed: ${[...new Set(allowed)].join(', ')}.`,
      headers: { allow: [...new Set(allowed)].join(', ') },
    })
  })

  const connections = boundConnections(app.server, services.limits.connections)
  app.addHook('onRequest', async (request, reply) => {
    if (!connections.isExcess(request.raw)) return
    reply.header('connection', 'close')
    // Supervisors depend on health: a high number of clients must not make them end the daemon.
    if (request.routeOptions.config.access === 'open') return
    throw new Problem('unavailable', {
      detail: `More than ${services.limits.connections} connections are open (MAX_CONNECTIONS). Retry later.`,
      headers: { 'retry-after': '1' },
    })
  })
  const keys = createKeyRing(services.database)
  const failedKeys = createFailedKeys(services.log)
  app.decorateRequest('caller')
  const sessions = createSessions(services.database, keys, services.apiKey)
  const signed = services.eventsSecrets.length > 0
  const guard = createGuard({ apiKey: services.apiKey, signed, keys, sessions, failedKeys })
  app.addHook('onRequest', guard.admit)
  const routesWithoutNeeds = enforceNeeds(app, services.database)
  app.addHook('onSend', async (request, reply) => {
    reply.headers({
      'x-correlation-id': request.id,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
    })
    if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })

  app.addHook('onResponse', async (request, reply) => {
    // A path that leads nowhere is anything at all, and would be labels without end.
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: `${Math.floor(reply.statusCode / 100)}xx`,
    }
    services.counters.httpRequests.inc(labels)
    services.counters.httpRequestDuration.observe(labels, reply.elapsedTime / 1_000)
  })

  // Node closes connections that are idle when the server closes; one whose answer ended since would stay for its keep-alive time.
  app.addHook('onResponse', async (request, reply) => {
    // Every route of the interface queries the database, and what it finds there may be a conflict.
    if ((reply.statusCode < 300 || reply.statusCode === 409) && request.url.startsWith('/v1/')) errors.succeeded()
    if (stopping.signal.aborted && !app.server.listening) setImmediate(() => app.server.closeIdleConnections())
  })

  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tallyman',
        version: services.version,
        description:
          'ERP events, the change feed and the operator API. Errors are problem documents (RFC 9457); lists accept `limit` and `cursor`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description:
              'API_KEY, or a key of `POST /v1/keys` (`tly_…`) with the scope that the operation names. Not required if no API_KEY is set. ' +
              'A browser may send the cookie of `POST /v1/session` instead.',
          },
          signature: {
            type: 'apiKey',
            in: 'header',
            name: 'webhook-signature',
            description:
              'Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature over `<id>.<timestamp>.<body>` with EVENTS_SECRET.',
          },
        },
      },
      security: [{ apiKey: [] }],
      servers: [{ url: '/', description: 'This daemon.' }],
      tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    },
    transform: openapiTransform,
    transformObject: openapiTransformObject,
  })
  let document: Readonly<Record<string, unknown>> | undefined
  const openapi = (): Readonly<Record<string, unknown>> => {
    document ??= completeDocument(app.swagger())
    return document
  }
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'browser', needs: ['read', 'none'] }
    })
    await docs.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: libraryPagePolicy,
      uiConfig: { validatorUrl: null, persistAuthorization: false },
      transformSpecification: () => openapi(),
      transformSpecificationClone: false,
    })
    docs.get('/openapi.json', { schema: { hide: true } }, openapi)
  })

  const parts = { services, changes, stopping: stopping.signal, keys, guard, sessions }
  await app.register(async (routes) => {
    refuseUnknownParameters(routes)
    nameOperations(routes)
    eventRoutes(routes, parts)
    commandRoutes(routes, parts)
    orderRoutes(routes, parts)
    changeRoutes(routes, parts)
    webhookRoutes(routes, parts)
    syncRoutes(routes, parts)
    budgetRoutes(routes, parts)
    sellerRoutes(routes, parts)
    forecastRoutes(routes, parts)
    quarantineRoutes(routes, parts)
    erasureRoutes(routes, parts)
    campaignRoutes(routes, parts)
    discrepancyRoutes(routes, parts)
    targetRoutes(routes, parts)
    alarmRoutes(routes, parts)
    completenessRoutes(routes, parts)
    retentionRoutes(routes, parts)
    keyRoutes(routes, parts)
    auditRoutes(routes, parts)
    healthRoutes(routes, parts)
    sessionRoutes(routes, parts)
    settingRoutes(routes, parts)
  })
  // Its addresses carry the filters of its views, which the server does not read.
  consoleRoutes(app, services.log)
  await boardRoutes(app, services, errors)
  await app.ready()
  const undeclared = routesWithoutNeeds()
  if (undeclared.length > 0) throw new Error(`these routes do not declare what they need of a key: ${undeclared.join('; ')}`)

  const drain = (): void => {
    if (stopping.signal.aborted) return
    stopping.abort()
    changes.close()
  }
  return {
    listen: ({ host, port }) => app.listen({ host, port }),
    drain,
    close: async (graceMs = defaultGraceMs) => {
      drain()
      // A stalled reader would keep its stream, and the daemon, open for ever.
      const cutOff = setTimeout(() => app.server.closeAllConnections(), graceMs)
      try {
        await app.close()
      } finally {
        clearTimeout(cutOff)
      }
    },
  }
}

/** Characters of a route's path. */
const patternOf = (url: string): RegExp => {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replace(/:\w+/g, '[^/]+').replaceAll('*', '.*')}/?$`)
}
