import { z } from 'zod'
import { listQuarantined } from '../../store/operator-queries.ts'
import { dismissQuarantined } from '../../store/quarantine.ts'
import { type App, problems } from '../app.ts'
import { bigintKey, cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import { quarantinedSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('quarantine', bigintKey)

/** Records that could not be parsed. */
export const quarantineRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/quarantine',
    schema: {
      tags: ['quarantine'],
      summary: 'Records that could not be parsed, newest first',
      querystring: z.object({
        ...pagingSchema,
        state: z.enum(['open', 'replayed', 'superseded', 'dismissed', 'all']).default('open'),
        sellerId: z.string().optional(),
        resource: z.string().optional(),
      }),
      response: { 200: pageSchema(quarantinedSchema), ...problems() },
    },
    handler: async ({ query }) => {
      const filter = {
        state: query.state === 'all' ? null : query.state,
        sellerId: query.sellerId ?? null,
        resource: query.resource ?? null,
      }
      const page = await listQuarantined(services.database, filter, cursors.decode(query.cursor), query.limit)
      return { items: [...page.items], nextCursor: cursors.encode(page.next) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/quarantine/:id/replay',
    schema: {
      tags: ['quarantine'],
      summary: 'Parse a record again',
      params: z.object({ id: bigintKey }),
      response: {
        200: z.object({ id: z.bigint(), outcome: z.enum(['replayed', 'superseded']) }),
        ...problems(404, 409, 422),
      },
    },
    handler: async ({ params: { id } }) => {
      const result = await services.replayQuarantined(id)
      switch (result.outcome) {
        case 'replayed':
        case 'superseded':
          return { id, outcome: result.outcome }
        case 'not-found':
          throw new Problem('not-found', { detail: `There is no quarantined record ${id}.` })
        case 'already-settled':
          throw new Problem('illegal-state', { detail: `Record ${id} is ${result.state} already.` })
        case 'still-malformed':
          throw new Problem('still-malformed', { detail: result.fault })
      }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/quarantine/:id/dismiss',
    schema: {
      tags: ['quarantine'],
      summary: 'Settle a record that cannot be obtained or is not needed; the same text, seen again, stays settled',
      params: z.object({ id: bigintKey }),
      body: z.strictObject({ actor: z.string().trim().min(1).max(200), reason: z.string().trim().min(1).max(2_000) }),
      response: { 200: z.object({ id: z.bigint(), state: z.literal('dismissed') }), ...problems(404, 409, 413, 415) },
    },
    handler: async ({ params: { id }, body, log }) => {
      const refusal = await services.database.transaction((tx) => dismissQuarantined(tx, id, body))
      if (refusal === 'not-found') throw new Problem('not-found', { detail: `There is no quarantined record ${id}.` })
      if (refusal === 'already-settled') throw new Problem('illegal-state', { detail: `Record ${id} is settled already.` })
      log.info({ quarantined_id: String(id), actor: body.actor }, 'quarantined record dismissed')
      return { id, state: 'dismissed' as const }
    },
  })
}
