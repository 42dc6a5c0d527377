import { z } from 'zod'
import { inboundStates } from '../../domain/inventory/inbound-receipts.ts'
import { listInboundLines } from '../../store/inventory/inbound-shipments.ts'
import { listStock, listStockDifferences } from '../../store/inventory/stock-queries.ts'
import type { App } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { buildList, flagSchema, fromSchema, skuFilter, textFilter, toSchema } from '../schemas/lists.ts'
import { bigintKey } from '../schemas/paging.ts'
import { inboundLineSchema, stockDifferenceSchema, stockSchema } from '../schemas/stock.ts'
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

const inbound = buildList(
  'inbound-shipments',
  inboundLineSchema,
  z.object({ sellerId: z.string(), shipmentId: z.string(), sku: z.string() }),
  {
    sellerId: textFilter('Of this seller.'),
    shipmentId: textFilter('Of this shipment.'),
    sku: skuFilter('Of this SKU.'),
    state: z
      .enum([...inboundStates, 'not-received', 'all'])
      .default('all')
      .meta({ description: 'not-received: short or unknown-sku.' }),
    late: flagSchema.optional().meta({ description: 'Whether not all units were received by the expected time.' }),
  },
)

const notReceived = ['short', 'unknown-sku'] as const

/** The stock on hand at the fulfillment service, its differences from the inventory log, and inbound shipments. */
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

  app.route({
    method: 'GET',
    url: '/v1/inbound-shipments',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'Units sent to fulfillment centers beside their receipts in the inventory log, by seller, shipment and SKU',
      querystring: inbound.querystring,
      response: inbound.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        shipmentId: query.shipmentId ?? null,
        sku: query.sku ?? null,
        states: query.state === 'all' ? null : query.state === 'not-received' ? notReceived : [query.state],
        late: query.late ?? null,
      }
      return inbound.answer(request, reply, (after, limit) => listInboundLines(database, filter, after, limit))
    },
  })
}
