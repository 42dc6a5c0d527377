import { randomUUID } from 'node:crypto'
import type { Socket } from 'node:net'
import fastify, { type FastifyBaseLogger, LogController } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { App } from './app.ts'
import { createFailedKeys } from './auth/failed-keys.ts'
import { createGuard } from './auth/guard.ts'
import { createKeyRing } from './auth/keys.ts'
import { enforceNeeds } from './auth/needs.ts'
import { createSessions } from './auth/sessions.ts'
import { createChangeFeed } from './change-feed.ts'
import { limitConnections } from './connections.ts'
import { createErrorAnswers, type ErrorAnswers, requestPath } from './errors.ts'
import { Problem, rawProblemResponse } from './problems.ts'
import { auditRoutes } from './routes/access/audit.ts'
import { keyRoutes } from './routes/access/keys.ts'
import { sessionRoutes } from './routes/access/session.ts'
import { alarmChannelRoutes } from './routes/alarms/alarm-channels.ts'
import { alarmRoutes } from './routes/alarms/alarms.ts'
import { budgetRoutes } from './routes/budget.ts'
import { campaignRoutes } from './routes/campaigns.ts'
import { changeRoutes } from './routes/changes.ts'
import { commandRoutes } from './routes/commands.ts'
import { completenessRoutes } from './routes/completeness.ts'
import { demonstrationRoutes } from './routes/demonstration.ts'
import { driftRoutes } from './routes/drift.ts'
import { erasureRoutes } from './routes/erasures.ts'
import { eventRoutes } from './routes/events/events.ts'
import { proposalRoutes } from './routes/events/proposals.ts'
import { forecastRoutes } from './routes/forecast.ts'
import { healthRoutes } from './routes/health.ts'
import { claimRoutes } from './routes/inventory/claims.ts'
import { discrepancyRoutes } from './routes/inventory/discrepancies.ts'
import { notificationRoutes } from './routes/notifications.ts'
import { orderRoutes } from './routes/orders.ts'
import { boardRoutes } from './routes/pages/board.ts'
import { consoleRoutes } from './routes/pages/console.ts'
import { documentationRoutes } from './routes/pages/documentation.ts'
import type { RouteParts } from './routes/parts.ts'
import { quarantineRoutes } from './routes/quarantine.ts'
import { retentionRoutes } from './routes/retention.ts'
import { returnRoutes } from './routes/returns.ts'
import { searchRoutes } from './routes/search.ts'
import { sellerRoutes } from './routes/sellers.ts'
import { settingRoutes } from './routes/settings.ts'
import { settlementRoutes } from './routes/settlements/differences.ts'
import { shadowRoutes } from './routes/shadow.ts'
import { stockRoutes } from './routes/stock.ts'
import { syncRoutes } from './routes/syncs.ts'
import { targetRoutes } from './routes/targets.ts'
import { trendRoutes } from './routes/trends.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { nameOperations } from './schemas/openapi.ts'
import { refuseUnknownParameters } from './schemas/parameters.ts'
import { serializerCompiler, validatorCompiler } from './schemas/serializers.ts'
import type { HttpServices } from './services.ts'
import { traceRequests } from './tracing.ts'

/** Longest path parameter: an event's source, each of its bytes percent-encoded. */
const maxParamLength = 4_096

/** Time that requests in progress get when the server closes, in milliseconds. */
const defaultGraceMs = 10_000

/** The HTTP server of the daemon. */
export interface HttpServer {
  /** Starts listening; returns the address with the actual port. */
  listen(address: { readonly host: string; readonly port: number }): Promise<string>
  /** Reports not ready and releases waiting readers of changes. Requests are still served. */
  drain(): void
  /** Drains and accepts no more connections. Resolves when requests in progress are answered; aborts them after this time in milliseconds. */
  close(graceMs?: number): Promise<void>
}

/** Builds the server. Throws when a secret of `eventsSecrets` is invalid. */
export const createHttpServer = async (services: HttpServices): Promise<HttpServer> => {
  const stopping = new AbortController()
  const changes = createChangeFeed(services.database, services.listener)
  const errors = createErrorAnswers(services.log, services.limits.maxReportedFaults)
  const app = createApp(services, errors)
  // Hooks of the same kind run in the order in which they are added.
  answerUnknownRoutes(app)
  limitConnections(app, services.limits.connections)
  const keys = createKeyRing(services.database)
  const sessions = createSessions(services.database, keys, services.apiKey)
  const guard = createGuard({
    apiKey: services.apiKey,
    signed: services.eventsSecrets.length > 0,
    provesNotifications: (sellerId) => typeof services.notifications.findSecret(sellerId) === 'string',
    keys,
    sessions,
    failedKeys: createFailedKeys(services.log),
  })
  app.decorateRequest('caller')
  traceRequests(app)
  app.addHook('onRequest', guard.admit)
  const listRoutesWithoutNeeds = enforceNeeds(app, services.database, services.knowsSeller)
  addResponseHeaders(app)
  countRequests(app, services.counters)
  followResponses(app, errors, stopping.signal)
  await documentationRoutes(app, services.version)
  const parts = { services, changes, stopping: stopping.signal, keys, guard, sessions }
  await app.register(async (routes) => apiRoutes(routes, parts))
  // Registered apart: the page's addresses carry the filters of its views, which the server does not read.
  consoleRoutes(app, services.log)
  await boardRoutes(app, services, errors)
  await app.ready()
  const undeclared = listRoutesWithoutNeeds()
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
      const timeout = setTimeout(() => app.server.closeAllConnections(), graceMs)
      try {
        await app.close()
      } finally {
        clearTimeout(timeout)
      }
    },
  }
}

/** Fastify with our limits, zod schemas and problem documents; without routes. */
const createApp = (services: HttpServices, errors: ErrorAnswers): App => {
  const log: FastifyBaseLogger = services.log
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
  return app
}

/** Answers requests without a route with 404, or with 405 and the allowed methods. Knows the routes that are added after this call. */
const answerUnknownRoutes = (app: App): void => {
  const routes = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  app.addHook('onRoute', ({ url, method }) => {
    const route = routes.get(url) ?? { pattern: buildRoutePattern(url), methods: new Set<string>() }
    routes.set(url, route)
    for (const one of [method].flat()) route.methods.add(one)
  })
  app.setNotFoundHandler((request) => {
    const path = requestPath(request)
    const matching = [...routes.values()].filter(({ pattern }) => pattern.test(path))
    if (matching.length === 0) throw new Problem('not-found', { detail: `There is no resource at ${path}.` })
    const allowed = [...new Set(matching.flatMap(({ methods }) => [...methods]))].join(', ')
    throw new Problem('method-not-allowed', {
      detail: `${request.method} is not allowed here; allowed: ${allowed}.`,
      headers: { allow: allowed },
    })
  })
}

/** Matches the paths of a route. */
const buildRoutePattern = (url: string): RegExp => {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(`^${escaped.replace(/:\w+/g, '[^/]+').replaceAll('*', '.*')}/?$`)
}

const addResponseHeaders = (app: App): void => {
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
}

const countRequests = (app: App, { httpRequests, httpRequestDuration }: HttpServices['counters']): void => {
  app.addHook('onResponse', async (request, reply) => {
    // The path of an unknown route can be any text: as a label it would create any number of series.
    const labels = {
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: `${Math.floor(reply.statusCode / 100)}xx`,
    }
    httpRequests.inc(labels)
    httpRequestDuration.observe(labels, reply.elapsedTime / 1_000)
  })
}

/** Reports a recovered database, and closes connections that became idle while the server closes. */
const followResponses = (app: App, errors: ErrorAnswers, stopping: AbortSignal): void => {
  app.addHook('onResponse', async (request, reply) => {
    // Every route of the API queries the database; 409 reports a conflict that was found there.
    if ((reply.statusCode < 300 || reply.statusCode === 409) && request.url.startsWith('/v1/')) errors.succeeded()
    // When the server closes, Node closes only the connections that are idle then. Others would stay open for their keep-alive time.
    if (stopping.aborted && !app.server.listening) setImmediate(() => app.server.closeIdleConnections())
  })
}

/** The routes of the API. Each refuses unknown query parameters, and is described in `/openapi.json`. */
const apiRoutes = (app: App, parts: RouteParts): void => {
  refuseUnknownParameters(app)
  nameOperations(app)
  eventRoutes(app, parts)
  proposalRoutes(app, parts)
  notificationRoutes(app, parts)
  commandRoutes(app, parts)
  orderRoutes(app, parts)
  searchRoutes(app, parts)
  changeRoutes(app, parts)
  webhookRoutes(app, parts)
  syncRoutes(app, parts)
  budgetRoutes(app, parts)
  sellerRoutes(app, parts)
  shadowRoutes(app, parts)
  forecastRoutes(app, parts)
  quarantineRoutes(app, parts)
  erasureRoutes(app, parts)
  campaignRoutes(app, parts)
  discrepancyRoutes(app, parts)
  claimRoutes(app, parts)
  returnRoutes(app, parts)
  stockRoutes(app, parts)
  settlementRoutes(app, parts)
  demonstrationRoutes(app, parts)
  driftRoutes(app, parts)
  trendRoutes(app, parts)
  targetRoutes(app, parts)
  alarmRoutes(app, parts)
  alarmChannelRoutes(app, parts)
  completenessRoutes(app, parts)
  retentionRoutes(app, parts)
  keyRoutes(app, parts)
  auditRoutes(app, parts)
  healthRoutes(app, parts)
  sessionRoutes(app, parts)
  settingRoutes(app, parts)
}
