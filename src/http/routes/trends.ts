import { z } from 'zod'
import { trendFigureNames, trendFigures, trendUnits } from '../../domain/trends/figures.ts'
import { readTrends } from '../../store/trends/daily-figures.ts'
import { type App, problems } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { textFilter, wholeNumberSchema } from '../schemas/lists.ts'
import type { RouteParts } from './parts.ts'

const valuesSchema = z.array(z.string().nullable()).readonly()

const trendSchema = z
  .object({
    figure: z.enum(trendFigureNames).meta({
      description:
        '`on-time`: share of the shipped units; `hours-to-ship`: mean from order to shipment; `refunds`: units; `seconds-to-confirm`: mean from event to ' +
        'confirmed command; `lag`: the largest of the day, over all sellers; `calls`, `calls-refused`: requests to the marketplace, and those it refused for ' +
        'their rate; `money-at-stake`: open differences of inventory, stock and settlements at the end of the day.',
    }),
    part: z.string().meta({ description: 'A currency, or the resource of a sync; empty: nothing in particular.' }),
    unit: z.enum(trendUnits),
    values: valuesSchema.meta({ description: 'A decimal for each of `days`; null: nothing is known of it.' }),
    previous: valuesSchema.meta({ description: 'The same for the period before.' }),
  })
  .meta({ id: 'Trend' })

/** Figures by day. */
export const trendRoutes = (app: App, { services: { database } }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/trends',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary: 'Figures of the last days, and of the days before',
      description:
        'Computed within minutes; within an hour where there are many orders. Days are those of BI_TIME_ZONE, the last one is today.',
      querystring: z.object({
        sellerId: textFilter('Of this seller.'),
        days: wholeNumberSchema(1, 90).default(30).meta({ description: 'Number of days.' }),
      }),
      response: {
        200: z.object({ timeZone: z.string(), days: z.array(z.string()).readonly(), items: z.array(trendSchema).readonly() }),
        ...problems(),
      },
    },
    handler: async ({ query, caller }) => {
      const { trends, ...calendar } = await readTrends(database, query.days, resolveSellerFilter(caller, query.sellerId))
      return { ...calendar, items: trends.map((trend) => ({ ...trend, unit: trendFigures[trend.figure].unit })) }
    },
  })
}
