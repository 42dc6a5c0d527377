import { z } from 'zod'
import { foundKinds, search } from '../../store/commands/search.ts'
import { type App, problems } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { textFilter } from '../schemas/lists.ts'
import type { RouteParts } from './parts.ts'

const maxOfEachKind = 20

const foundSchema = z
  .object({
    kind: z.enum(foundKinds),
    text: z.string().meta({
      description: 'The id, number or SKU that begins with `q`, or the id of an order or customer order that ends with it.',
    }),
    exact: z.boolean().meta({ description: 'It is equal to `q`.' }),
    sellerId: z.string().nullable().meta({ description: 'Null: the seller of an event is unknown.' }),
    purchaseOrderId: z.string().nullable().meta({ description: 'The order of an order, a customer order or a tracking number.' }),
    source: z.string().nullable().meta({ description: 'The source of an event.' }),
  })
  .meta({ id: 'Found' })

/** One search for everything that has an id. */
export const searchRoutes = (app: App, { services: { database } }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/search',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Search everything that has an id',
      description:
        'Orders, customer orders, tracking numbers, SKUs, commands and events whose id begins with `q`, regardless of case, spaces and hyphens; equal ones first. ' +
        'Then orders and customer orders whose id ends with it, if it has at least four characters.',
      querystring: z.object({
        q: z.string().trim().min(1, 'must not be empty').max(255, 'must have at most 255 characters').meta({
          description: 'Beginning of an id, number or SKU.',
        }),
        sellerId: textFilter('Of this seller.'),
        limit: z.coerce
          .number(`must be a whole number from 1 to ${maxOfEachKind}`)
          .int(`must be a whole number from 1 to ${maxOfEachKind}`)
          .min(1, 'must be at least 1')
          .max(maxOfEachKind, `must be at most ${maxOfEachKind}`)
          .default(5)
          .meta({ description: 'Maximum number of things of each kind.' }),
      }),
      response: { 200: z.object({ items: z.array(foundSchema).readonly() }), ...problems() },
    },
    handler: async ({ query: { q, sellerId, limit }, caller }) => ({
      items: await search(database, q, resolveSellerFilter(caller, sellerId), limit),
    }),
  })
}
