import { z } from 'zod'
import { countNamedByDay, namingSources } from '../../store/orders/named-orders.ts'
import { type App, problems } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import type { RouteParts } from './parts.ts'

/** Whether the orders that other sources name are stored. */
export const completenessRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/completeness',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Orders that returns, the inventory log and events have named, by day, and which of them are not stored',
      querystring: z.object({
        sellerId: z.string().optional(),
        days: z.coerce.number().int().min(1).max(365).default(45),
      }),
      response: {
        200: z.object({
          items: z.array(
            z.object({
              sellerId: z.string(),
              source: z.enum(namingSources),
              day: z.iso.date(),
              named: z.int(),
              stored: z.int(),
              missing: z.int(),
              missingIds: z.array(z.string()).readonly().meta({ description: 'The first twenty missing ones.' }),
            }),
          ),
        }),
        ...problems(),
      },
    },
    handler: async ({ query, caller }) => ({
      items: [...(await countNamedByDay(services.database, resolveSellerFilter(caller, query.sellerId), query.days))],
    }),
  })
}
