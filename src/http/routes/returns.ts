import { z } from 'zod'
import { listLateReturns, listReturnRules } from '../../store/orders/late-returns.ts'
import type { App } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { buildList, skuFilter, textFilter } from '../schemas/lists.ts'
import { lateReturnSchema } from '../schemas/returns.ts'
import type { RouteParts } from './parts.ts'

const positionSchema = z.object({ refundBy: z.iso.datetime(), sellerId: z.string(), returnOrderId: z.string() })
const lateReturns = buildList('late-returns', lateReturnSchema, positionSchema, {
  sellerId: textFilter('Of this seller.'),
  returnOrderId: textFilter('With this id.'),
  purchaseOrderId: textFilter('At least one line is of this order.'),
  sku: skuFilter('At least one line has this SKU.'),
  state: z
    .enum(['late', 'soon'])
    .optional()
    .meta({ description: 'late: the deadline has passed; soon: it passes within 12 hours. Default: both.' }),
})

/** Returns that the seller must refund. */
export const returnRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services

  app.route({
    method: 'GET',
    url: '/v1/late-returns',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Returns to refund, the earliest deadline first',
      description:
        'Returns with units that have arrived and are not refunded, if their refund is late, or due within 12 hours. Only of sellers whose marketplace sets ' +
        'a deadline (profile `walmart-us`: 48 hours after the arrival); not of goods that the marketplace fulfils. A return that is late for more than 30 days ' +
        'is no longer listed.',
      querystring: lateReturns.querystring,
      response: lateReturns.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const times = new Map(services.sellers().map((sellerId) => [sellerId, services.marketplaceNow(sellerId)]))
      const rules = listReturnRules(database, times, resolveSellerFilter(caller, query.sellerId))
      const filter = {
        state: query.state ?? null,
        returnOrderId: query.returnOrderId ?? null,
        purchaseOrderId: query.purchaseOrderId ?? null,
        sku: query.sku ?? null,
      }
      return lateReturns.answer(request, reply, (after, limit) => listLateReturns(database, rules, filter, after, limit))
    },
  })
}
