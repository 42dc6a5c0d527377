import { z } from 'zod'
import { auditActions, listAudit } from '../../../store/keys/audit.ts'
import type { App } from '../../app.ts'
import { resolveSellerFilter } from '../../auth/caller.ts'
import { buildList, fromSchema, textFilter, toSchema } from '../../schemas/lists.ts'
import { bigintKey } from '../../schemas/paging.ts'
import type { RouteParts } from '../parts.ts'

const auditEntrySchema = z
  .object({
    id: z.bigint(),
    at: z.date(),
    actor: z.string().meta({ description: 'Name of the key; with API_KEY or without a key: the actor that the request names.' }),
    onBehalfOf: z.string().nullable().meta({ description: 'With a named key: the actor that the request names.' }),
    keyId: z.string().nullable().meta({ description: 'Id of the key, or `API_KEY`; null: no key was needed.' }),
    action: z.string().meta({ description: `One of ${auditActions.join(', ')}.` }),
    sellerId: z.string().nullable().meta({ description: 'null: no seller, or all of them.' }),
    subject: z.string().meta({ description: 'Id of the subject of the action.' }),
    reason: z.string().nullable(),
    details: z.unknown(),
  })
  .meta({ id: 'AuditEntry' })

const entries = buildList('audit', auditEntrySchema, bigintKey, {
  sellerId: textFilter('Concerning this seller.'),
  actor: textFilter('By this actor: the name of a key, or the actor that the request named.'),
  onBehalfOf: textFilter('On behalf of this actor, which a request with a named key named.'),
  keyId: textFilter('With this key: its id, or `API_KEY`.'),
  action: z.enum(auditActions).optional(),
  subject: textFilter('On the subject with this id.'),
  from: fromSchema('Done'),
  to: toSchema('Done'),
})

/** Actions of people. */
export const auditRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/audit',
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['audit'],
      summary: 'Actions of people, newest first',
      querystring: entries.querystring,
      response: entries.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
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
