import { z } from 'zod'
import { type App, openProblems, problems } from '../app.ts'
import { healthSchema } from '../schemas/schemas.ts'
import type { HealthReport, HttpServices } from '../services.ts'

const toAnswer = ({ ok, checks }: HealthReport) => ({
  status: ok ? ('ok' as const) : ('failing' as const),
  checks: checks.map((check) => ({
    name: check.name,
    ok: check.ok,
    ...(check.detail === undefined ? {} : { detail: check.detail }),
  })),
})

/** Liveness, readiness and metrics of the daemon. */
export const healthRoutes = (
  app: App,
  { services, stopping }: { readonly services: Pick<HttpServices, 'health' | 'metrics'>; readonly stopping: AbortSignal },
): void => {
  const response = { 200: healthSchema, 503: healthSchema, ...openProblems() }
  for (const url of ['/livez', '/healthz'] as const) {
    app.route({
      method: 'GET',
      url,
      config: { access: 'open' },
      schema: { tags: ['health'], summary: 'Work is being consumed', security: [], response },
      handler: (_request, reply) => {
        const report = services.health.live()
        reply.status(report.ok ? 200 : 503)
        return toAnswer(report)
      },
    })
  }

  app.route({
    method: 'GET',
    url: '/readyz',
    config: { access: 'open' },
    schema: { tags: ['health'], summary: 'Migrated, connected, started, and not draining', security: [], response },
    handler: async (_request, reply) => {
      const draining = stopping.aborted
      // During the shutdown, closed connections are not reported as failures.
      const report = draining ? { ok: false, checks: [] } : await services.health.ready()
      const ok = report.ok && !draining
      const checks = [...report.checks, { name: 'not-draining', ok: !draining }]
      reply.status(ok ? 200 : 503)
      return toAnswer({ ok, checks })
    },
  })

  app.route({
    method: 'GET',
    url: '/metrics',
    config: { access: 'browser', needs: ['read', 'all'] },
    schema: {
      tags: ['health'],
      summary: 'Metrics for Prometheus',
      response: { 200: { description: 'Prometheus text', content: { 'text/plain': { schema: z.string() } } }, ...problems() },
    },
    handler: async (_request, reply) => {
      const { contentType, body } = await services.metrics()
      return reply
        .header('content-type', contentType)
        .serializer((text: unknown) => String(text))
        .send(body)
    },
  })
}
