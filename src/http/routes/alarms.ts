import { z } from 'zod'
import { closeAlarm } from '../../store/alarms.ts'
import { listAlarms } from '../../store/operator-queries.ts'
import { type App, problems } from '../app.ts'
import { bigintKey, cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import { alarmSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('alarms', bigintKey)

/** Alarms for the operator. */
export const alarmRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/alarms',
    schema: {
      tags: ['alarms'],
      summary: 'Alarms, newest first',
      querystring: z.object({
        ...pagingSchema,
        state: z.enum(['open', 'all']).default('open'),
        sellerId: z.string().optional(),
      }),
      response: { 200: pageSchema(alarmSchema), ...problems() },
    },
    handler: async ({ query }) => {
      const filter = { all: query.state === 'all', sellerId: query.sellerId ?? null }
      const page = await listAlarms(services.database, filter, cursors.decode(query.cursor), query.limit)
      return { items: [...page.items], nextCursor: cursors.encode(page.next) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/alarms/:id/resolve',
    schema: {
      tags: ['alarms'],
      summary:
        'Close the alarm of a rejected command or event, or of an unlisted campaign transition; all other alarms close automatically with their cause',
      params: z.object({ id: bigintKey }),
      body: z.object({ actor: z.string().trim().min(1).max(200) }),
      response: { 200: z.object({ id: z.bigint(), resolved: z.boolean() }), ...problems(404, 409) },
    },
    handler: async ({ params: { id }, body: { actor }, log }) => {
      const result = await closeAlarm(services.database, id)
      if (result === 'not-found') throw new Problem('not-found', { detail: `There is no alarm ${id}.` })
      if (result === 'not-closable') {
        throw new Problem('illegal-state', {
          detail: `Alarm ${id} is closed already, or closes automatically with its cause.`,
        })
      }
      log.info({ alarm_id: String(id), actor }, 'alarm closed')
      return { id, resolved: true }
    },
  })
}
