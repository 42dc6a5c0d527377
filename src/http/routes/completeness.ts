import { z } from 'zod'
import { namingSources } from '../../domain/orders/named-orders.ts'
import { addDays, toUtcDay } from '../../domain/values/calendar.ts'
import { countNamedByDay, maxShownIds } from '../../store/orders/named-orders.ts'
import { type App, problems } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { wholeNumberSchema } from '../schemas/lists.ts'
import type { RouteParts } from './parts.ts'

const maxDays = 365
const firstIds = `The first ${maxShownIds}, by id.`

/** A day of the filter. Earlier ones would leave the range of Postgres when days are subtracted. */
const filterDay = z.iso.date().refine((day) => day >= '1970-01-01', 'must be 1970-01-01 or later')

const namedDay = z
  .object({
    sellerId: z.string(),
    source: z.enum(namingSources),
    day: z.iso.date(),
    named: z.int(),
    stored: z.int(),
    missing: z.int().meta({ description: 'Not stored yet; each is requested by its id.' }),
    explained: z.int().meta({ description: 'Not stored, for a known reason.' }),
    missingIds: z.array(z.string()).readonly().meta({ description: firstIds }),
    explanations: z
      .array(z.object({ purchaseOrderId: z.string(), reason: z.string() }))
      .readonly()
      .meta({ description: firstIds }),
  })
  .meta({ id: 'NamedDay' })

/** Whether the orders that other sources name are stored. */
export const completenessRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/completeness',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['orders'],
      summary:
        'Orders that returns, the inventory log, settlement reports, events and notifications have named, by day and source, and what has become of them',
      querystring: z
        .object({
          sellerId: z.string().optional(),
          source: z.enum(namingSources).optional(),
          from: filterDay.optional().meta({ description: 'The first day (UTC). Without it, `days` counts.' }),
          to: filterDay.optional().meta({ description: 'The last day (UTC). Default: today.' }),
          days: wholeNumberSchema(1, maxDays)
            .default(45)
            .meta({ description: 'Number of days before `to`, if `from` is not given.' }),
        })
        .refine(({ from, to }) => from === undefined || from <= (to ?? toUtcDay(new Date())), {
          message: 'is after `to` (default: today)',
          path: ['from'],
        }),
      response: {
        200: z.object({
          items: z.array(namedDay),
        }),
        ...problems(),
      },
    },
    handler: async ({ query, caller }) => {
      const { sellerId, source = null, to = toUtcDay(new Date()), days } = query
      const from = query.from ?? addDays(to, -days)
      const filter = { sellerId: resolveSellerFilter(caller, sellerId), from, to, source }
      return { items: [...(await countNamedByDay(services.database, filter))] }
    },
  })
}
