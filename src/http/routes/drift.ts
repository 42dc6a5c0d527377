import { z } from 'zod'
import { driftKinds } from '../../domain/drift/shape.ts'
import { listDrift } from '../../store/sync/drift.ts'
import type { App } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { driftSchema } from '../schemas/drift.ts'
import { buildList, textFilter } from '../schemas/lists.ts'
import { bigintKey } from '../schemas/paging.ts'
import type { RouteParts } from './parts.ts'

const drift = buildList('drift', driftSchema, bigintKey, {
  sellerId: textFilter('Of this seller.'),
  operation: textFilter('Of this operation, such as `orders.list`.'),
  kind: z.enum(driftKinds).optional(),
})

/** Differences between the marketplace's answers and what is published. */
export const driftRoutes = (app: App, { services: { database } }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/drift',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: "Differences between the marketplace's answers and what is published, newest first",
      querystring: drift.querystring,
      response: drift.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        operation: query.operation ?? null,
        kind: query.kind ?? null,
      }
      return drift.answer(request, reply, (before, limit) => listDrift(database, filter, before, limit))
    },
  })
}
