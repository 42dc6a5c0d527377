import { z } from 'zod'
import { listAlarms } from '../../store/operator-queries.ts'
import { type App, problems } from '../app.ts'
import { bigintKey, cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { alarmSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('alarms', bigintKey)

/** What a person should look at. */
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
}
