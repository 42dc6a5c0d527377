import { z } from 'zod'
import { estimateBases, type Forecast, mostForecastHours } from '../../domain/forecast.ts'
import { sellersIn } from '../../store/seller-filter.ts'
import { type App, problems } from '../app.ts'
import { sellersAsked } from '../caller.ts'
import { Problem } from '../problems.ts'
import type { RouteParts } from './parts.ts'

/** Sellers that one forecast may be about: it takes a quarter of a second of a core for ten of them and a day. */
const mostSellers = 100

const commandSchema = z
  .object({
    commandId: z.string(),
    sellerId: z.string(),
    purchaseOrderId: z.string().nullable(),
    kind: z.string(),
    lines: z.array(z.string()).readonly(),
    actBy: z.date().meta({ description: 'By when the marketplace wants it, on its clock.' }),
    expectedAt: z.date().nullable().meta({ description: 'When its request will leave; null: not within the time.' }),
  })
  .meta({ id: 'ForecastCommand' })

const forecastSchema = z
  .object({
    from: z.date(),
    until: z.date(),
    sellerIds: z.array(z.string()).readonly(),
    assumptions: z.array(z.string()).readonly().meta({ description: 'What was taken for granted.' }),
    backfills: z
      .array(
        z.object({
          sellerId: z.string(),
          resource: z.string(),
          stream: z.string(),
          windowsLeft: z.int(),
          pages: z.int().meta({ description: 'Pages that are left, an estimate.' }),
          basis: z.enum(estimateBases).meta({
            description:
              'What the estimate is based on: the average of the windows that were read, the count of the one under way, or nothing: one page a window.',
          }),
          operation: z.string(),
          endsAt: z.date().nullable().meta({ description: 'Null: not within the time.' }),
        }),
      )
      .readonly(),
    operations: z
      .array(
        z.object({
          sellerId: z.string(),
          operation: z.string(),
          tokens: z.int().meta({ description: 'Of the limit: so many calls in `perMs` milliseconds.' }),
          perMs: z.number(),
          calls: z.int(),
          allowed: z.int().meta({ description: 'Most calls that the limit allows within the time.' }),
          share: z.number(),
          waits: z.int().meta({ description: 'How often something has to wait for the limit.' }),
        }),
      )
      .readonly()
      .meta({ description: 'Use of the limits, the highest first.' }),
    commands: z.object({
      open: z.int(),
      sent: z.int().meta({ description: 'That leave within the time.' }),
      late: z.int().meta({ description: 'That leave after the marketplace wants them, or have not until it does.' }),
      unsent: z.int(),
      lateOnes: z.array(commandSchema).readonly().meta({ description: 'The first 200 of them, by their deadlines.' }),
    }),
    shipBy: z.object({
      atRisk: z.array(commandSchema).readonly().meta({ description: 'Shipments that are queued and leave late; the first 200.' }),
      waitingForErp: z
        .array(
          z.object({
            sellerId: z.string(),
            purchaseOrderId: z.string(),
            wants: z.enum(['acknowledge', 'ship']),
            by: z.date(),
          }),
        )
        .readonly()
        .meta({
          description: 'Orders whose deadline comes within the time and of which the ERP has said nothing; the first 200.',
        }),
      waitingForErpCount: z.int(),
    }),
    polls: z.object({ runs: z.int(), lateP99Ms: z.number(), lateMostMs: z.number() }),
  })
  .meta({ id: 'Forecast' }) satisfies z.ZodType<unknown, Forecast>

/** What comes next. */
export const forecastRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/forecast',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['sellers'],
      summary: 'When backfills will end, and which commands and ship-by dates are at risk',
      description: 'A simulation of what the daemon will do with what is known now. Nothing is written.',
      querystring: z.object({
        sellerId: z.string().min(1, 'must not be empty').optional().meta({ description: 'Of this seller; of all by default.' }),
        hours: z.coerce.number().int().min(1).max(mostForecastHours).default(24).meta({ description: 'How far to look ahead.' }),
      }),
      response: { 200: forecastSchema, ...problems(404) },
    },
    handler: async ({ query: { sellerId, hours }, caller, signal }) => {
      const asked = sellersIn(sellersAsked(caller, sellerId)) ?? services.sellers()
      const known = asked.filter((id) => services.sellers().includes(id))
      if (sellerId !== undefined && known.length === 0)
        throw new Problem('not-found', { detail: `This daemon serves no seller ${sellerId}.` })
      if (known.length > mostSellers)
        throw new Problem('invalid-request', {
          errors: [
            {
              path: 'query.sellerId',
              message: `is required: there are ${known.length} sellers, and a forecast is of ${mostSellers} at most`,
            },
          ],
        })
      return services.forecast(known, hours, signal)
    },
  })
}
