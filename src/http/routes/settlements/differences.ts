import { z } from 'zod'
import { settlementDifferenceKinds } from '../../../domain/settlements/settlement-differences.ts'
import { listSettlementDifferences } from '../../../store/orders/settlement-difference-queries.ts'
import type { App } from '../../app.ts'
import { resolveSellerFilter } from '../../auth/caller.ts'
import { buildList, fromSchema, skuFilter, textFilter, toSchema } from '../../schemas/lists.ts'
import { bigintKey } from '../../schemas/paging.ts'
import { settlementDifferenceSchema } from '../../schemas/settlements.ts'
import type { RouteParts } from '../parts.ts'

const differences = buildList('settlement-differences', settlementDifferenceSchema, bigintKey, {
  sellerId: textFilter('Of this seller.'),
  kind: z.enum(settlementDifferenceKinds).optional(),
  purchaseOrderId: textFilter('Of this order.'),
  sku: skuFilter('Of this SKU.'),
  state: z.enum(['open', 'resolved', 'all']).default('open'),
  seenFrom: fromSchema('First seen'),
  seenTo: toSchema('First seen'),
})

/** The differences between settlement reports and orders. */
export const settlementRoutes = (app: App, { services: { database } }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/settlement-differences',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Differences between what settlement reports have paid and what orders are due, newest first',
      querystring: differences.querystring,
      response: differences.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        kind: query.kind ?? null,
        purchaseOrderId: query.purchaseOrderId ?? null,
        sku: query.sku ?? null,
        state: query.state === 'all' ? null : query.state,
        seen: { from: query.seenFrom ?? null, to: query.seenTo ?? null },
      }
      return differences.answer(request, reply, (before, limit) => listSettlementDifferences(database, filter, before, limit))
    },
  })
}
