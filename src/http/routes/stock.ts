import { z } from 'zod'
import { listStock, listStockDifferences } from '../../store/inventory/stock-queries.ts'
import type { App } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { buildList, fromSchema, skuFilter, textFilter, toSchema } from '../schemas/lists.ts'
import { bigintKey } from '../schemas/paging.ts'
import { stockDifferenceSchema, stockSchema } from '../schemas/stock.ts'
import type { RouteParts } from './parts.ts'

const stock = buildList('stock', stockSchema, z.object({ sellerId: z.string(), sku: z.string() }), {
  sellerId: textFilter('Of this seller.'),
  sku: skuFilter('Of this SKU.'),
  gtin: textFilter("Of this GTIN, in the list's spelling."),
  stockStatus: textFilter('In this status of the marketplace, such as `In-stock`.'),
  state: z.enum(['listed', 'missing', 'all']).default('listed').meta({
    description: "missing: SKUs that the marketplace's list no longer has.",
  }),
})
const differences = buildList('stock-differences', stockDifferenceSchema, bigintKey, {
  sellerId: textFilter('Of this seller.'),
  sku: skuFilter('Of this SKU.'),
  state: z.enum(['open', 'resolved', 'all']).default('open'),
  seenFrom: fromSchema('First seen'),
  seenTo: toSchema('First seen'),
})

/** The stock on hand at the fulfillment service, and its differences from the inventory log. */
export const stockRoutes = (app: App, { services: { database } }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/stock',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'The stock on hand at the fulfillment service, by seller and SKU',
      querystring: stock.querystring,
      response: stock.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        sku: query.sku ?? null,
        gtin: query.gtin ?? null,
        stockStatus: query.stockStatus ?? null,
        missing: query.state === 'all' ? null : query.state === 'missing',
      }
      return stock.answer(request, reply, (after, limit) => listStock(database, filter, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/stock-differences',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'Differences between the stock on hand and the balance of the inventory log, newest first',
      querystring: differences.querystring,
      response: differences.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        sku: query.sku ?? null,
        state: query.state === 'all' ? null : query.state,
        seen: { from: query.seenFrom ?? null, to: query.seenTo ?? null },
      }
      return differences.answer(request, reply, (before, limit) => listStockDifferences(database, filter, before, limit))
    },
  })
}
