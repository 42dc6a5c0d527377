import { createBullBoard } from '@bull-board/api'
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter'
import { FastifyAdapter } from '@bull-board/fastify'
import { recordAct } from '../../../store/keys/audit.ts'
import type { App } from '../../app.ts'
import { resolveActor } from '../../auth/caller.ts'
import { libraryPagePolicy } from '../../content-policies.ts'
import type { ErrorAnswers } from '../../errors.ts'
import type { HttpServices } from '../../services.ts'
import { boardLook, wayBack } from './library-look.ts'

const basePath = '/queues'
/** bull-board for the queues. Job data are ids only, except for events in the queue of other programs, which `GET /v1/events` shows as well. */
export const boardRoutes = async (app: App, services: HttpServices, { answer }: ErrorAnswers): Promise<void> => {
  const adapter = new FastifyAdapter().setBasePath(basePath)
  createBullBoard({
    queues: services
      .boardQueues()
      .map(({ queue, readOnly }) => new BullMQAdapter(queue, { readOnlyMode: readOnly, allowRetries: !readOnly })),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Tallyman queues', ...boardLook } },
  })
  await app.register(
    async (scope) => {
      scope.addHook('onRoute', (route) => {
        const isRead = [route.method].flat().every((method) => method === 'GET' || method === 'HEAD')
        route.config = { ...route.config, access: 'browser', needs: [isRead ? 'read' : 'operate', 'all'] }
        // bull-board's own error handler would answer a missing key with 500.
        route.errorHandler = (error, request, reply) => void answer(error, request, reply)
      })
      scope.addHook('preHandler', async ({ caller, method, url }) => {
        if (method === 'GET' || method === 'HEAD') return
        const act = {
          action: 'queues.change_requested',
          sellerId: null,
          subject: url.split('?')[0] ?? url,
          reason: null,
        } as const
        await recordAct(services.database, { by: resolveActor(caller, null), ...act, details: { method } })
      })
      // bull-board's page loads a font from another host; our pages load nothing from other hosts.
      scope.addHook('onSend', async (_request, reply, payload) => {
        reply.header('content-security-policy', libraryPagePolicy)
        return typeof payload === 'string' && String(reply.getHeader('content-type')).startsWith('text/html')
          ? payload.replace(/<link\b[^>]*https:\/\/fonts\.googleapis\.com[^>]*>/g, '').replace('</body>', `${wayBack}</body>`)
          : payload
      })
      await scope.register(adapter.registerPlugin())
    },
    { prefix: basePath },
  )
}
