import { z } from 'zod'
import { auditActions, listAudit } from '../../store/audit.ts'
import type { App } from '../app.ts'
import { sellersAsked } from '../caller.ts'
import { fromSchema, listOf, textFilter, toSchema } from '../lists.ts'
import { bigintKey } from '../paging.ts'
import type { RouteParts } from './parts.ts'

const auditEntrySchema = z
  .object({
    id: z.bigint(),
    at: z.date(),
    actor: z
      .string()
      .meta({ description: 'Name of the key; of API_KEY, and where no key is needed, who the client says it is.' }),
    onBehalfOf: z.string().nullable().meta({ description: 'For whom the holder of a named key says it acts.' }),
    keyId: z.string().nullable().meta({ description: 'Id of the key, or `API_KEY`; null: no key was needed.' }),
    action: z.string().meta({ description: `One of ${auditActions.join(', ')}.` }),
    sellerId: z.string().nullable().meta({ description: 'null: no seller, or all of them.' }),
    subject: z.string().meta({ description: 'Id of what was acted on.' }),
    reason: z.string().nullable(),
    details: z.unknown(),
  })
  .meta({ id: 'AuditEntry' })

const entries = listOf('audit', auditEntrySchema, bigintKey, {
  sellerId: textFilter('Concerning this seller.'),
  actor: textFilter('By the holder of the key with this name, or by who said so.'),
  onBehalfOf: textFilter('For whom the holder of a named key acted.'),
  keyId: textFilter('With this key: its id, or `API_KEY`.'),
  action: z.enum(auditActions).optional(),
  subject: textFilter('On what has this id.'),
  from: fromSchema('Done'),
  to: toSchema('Done'),
})

/** What people have done. */
export const auditRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/audit',
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['audit'],
      summary: 'What people have done, newest first',
      querystring: entries.querystring,
      response: entries.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: sellersAsked(caller, query.sellerId),
        actor: query.actor ?? null,
        onBehalfOf: query.onBehalfOf ?? null,
        action: query.action ?? null,
        subject: query.subject ?? null,
        keyId: query.keyId ?? null,
        from: query.from ?? null,
        to: query.to ?? null,
      }
      return entries.answer(request, reply, (before, limit) => listAudit(services.database, filter, before, limit))
    },
  })
}
