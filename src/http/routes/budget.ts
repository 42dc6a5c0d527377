import { z } from 'zod'
import type { RateLimitSnapshot } from '../../domain/values/rate-limit-snapshot.ts'
import { type App, problems } from '../app.ts'
import { mayAccessSeller, requireSeller } from '../auth/caller.ts'
import { textFilter } from '../schemas/lists.ts'
import { budgetSchema, operationBudgetSchema } from '../schemas/schemas.ts'
import type { RouteParts } from './parts.ts'

/** Sorts by remaining requests, ascending. */
const compareRemaining = (one: RateLimitSnapshot, other: RateLimitSnapshot): number =>
  one.available - other.available ||
  (other.blockedUntil?.getTime() ?? 0) - (one.blockedUntil?.getTime() ?? 0) ||
  one.perMinute - other.perMinute ||
  (one.operation < other.operation ? -1 : 1)

/** What remains of the rate limits: of each bucket, and of each operation over all sellers. */
export const budgetRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/budget',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'What remains of the rate limits',
      description:
        'Each operation of the marketplace that any process used recently, those with the fewest remaining requests first. Figures of other processes are some seconds old.',
      querystring: z.object({
        sellerId: textFilter('Of this seller.'),
        operation: textFilter('Of this operation.'),
        limit: z.coerce
          .number('must be a whole number of at least 1')
          .int('must be a whole number of at least 1')
          .min(1, 'must be at least 1')
          .optional()
          .meta({ description: 'Number of results. Default: all.' }),
      }),
      response: { 200: z.object({ items: z.array(budgetSchema).readonly() }), ...problems() },
    },
    handler: async ({ caller, query: { sellerId, operation, limit } }) => {
      if (sellerId !== undefined) requireSeller(caller, sellerId)
      const figures = (await services.budget()).filter(
        (figure) =>
          mayAccessSeller(caller, figure.sellerId) &&
          (sellerId === undefined || figure.sellerId === sellerId) &&
          (operation === undefined || figure.operation === operation),
      )
      return { items: figures.sort(compareRemaining).slice(0, limit) }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/budget/operations',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'What remains of the rate limit of each operation',
      description:
        'Over all sellers; the operation with the fewest remaining requests first. `GET /v1/budget` with `operation` lists its limits.',
      response: { 200: z.object({ items: z.array(operationBudgetSchema).readonly() }), ...problems() },
    },
    handler: async ({ caller }) => {
      const figures = (await services.budget()).filter(({ sellerId }) => mayAccessSeller(caller, sellerId)).sort(compareRemaining)
      const items = [...Map.groupBy(figures, ({ operation }) => operation).values()].flatMap((buckets) => {
        const [least] = buckets
        if (least === undefined) return []
        const usedUp = buckets.filter(({ available }) => available === 0).length
        return [{ operation: least.operation, limits: buckets.length, usedUp, least }]
      })
      return { items }
    },
  })
}
