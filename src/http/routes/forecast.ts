import { z } from 'zod'
import { forecastAnswer, maxForecastHours } from '../../domain/commands/forecast-answer.ts'
import { toSellerIds } from '../../store/sellers/seller-filter.ts'
import { type App, problems } from '../app.ts'
import { resolveSellerFilter } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { wholeNumberSchema } from '../schemas/lists.ts'
import type { RouteParts } from './parts.ts'

const answerSchema = forecastAnswer(z.date())

/** When open work will be done. */
export const forecastRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/forecast',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['sellers'],
      summary: 'When commands are sent and backfills end, and which ship-by dates are at risk',
      description: 'Computed from open work, reported or learned rate limits, and positions in the queues. Nothing is written.',
      querystring: z.object({
        sellerId: z.string().min(1, 'must not be empty').optional().meta({ description: 'Of this seller; of all by default.' }),
        hours: wholeNumberSchema(1, maxForecastHours).default(24).meta({ description: 'Hours of the forecast.' }),
        commandId: z
          .string()
          .min(1, 'must not be empty')
          .optional()
          .meta({ description: 'Also forecast this open command: its position and time.' }),
      }),
      response: { 200: answerSchema, ...problems(404) },
    },
    handler: async ({ query: { sellerId, hours, commandId }, caller }) => {
      const asked = toSellerIds(resolveSellerFilter(caller, sellerId)) ?? services.sellers()
      const sellerIds = asked.filter((id) => services.sellers().includes(id))
      if (sellerId !== undefined && sellerIds.length === 0)
        throw new Problem('not-found', { detail: `This daemon does not serve seller ${sellerId}.` })
      const forecast = await services.forecast(sellerIds, hours, commandId)
      if (commandId !== undefined && forecast.command === null)
        throw new Problem('not-found', { detail: `There is no open command ${commandId}.` })
      return forecast
    },
  })
}
