import { z } from 'zod'
import { MarketplaceFailure, Refused, Throttled } from '../../../clients/http/errors.ts'
import { discrepancyKinds } from '../../../domain/inventory/reconciliation.ts'
import { listClaims } from '../../../store/inventory/claims.ts'
import { listDiscrepancies } from '../../../store/inventory/discrepancy-queries.ts'
import { listStockMonths } from '../../../store/inventory/reconciliation-queries.ts'
import { type App, problems } from '../../app.ts'
import { filterAccessible, resolveSellerFilter } from '../../auth/caller.ts'
import { Problem } from '../../problems.ts'
import { buildList, flagSchema, fromSchema, skuFilter, textFilter, toSchema } from '../../schemas/lists.ts'
import { monthSchema } from '../../schemas/months.ts'
import { bigintKey } from '../../schemas/paging.ts'
import { claimSchema, discrepancySchema, gtinReportSchema, stockMonthSchema } from '../../schemas/schemas.ts'
import type { RouteParts } from '../parts.ts'

const discrepancies = buildList('discrepancies', discrepancySchema, bigintKey, {
  month: monthSchema.optional(),
  sellerId: textFilter('Of this seller.'),
  sku: skuFilter('Of this SKU.'),
  gtin: textFilter('Of this GTIN.'),
  kind: z.enum(discrepancyKinds).optional(),
  state: z.enum(['open', 'resolved', 'all']).default('open'),
  seenFrom: fromSchema('First seen'),
  seenTo: toSchema('First seen'),
})
const claims = buildList('claims', claimSchema, z.string(), {
  month: monthSchema,
  sellerId: textFilter('Of this seller.'),
})
const stock = buildList(
  'reconciliation',
  stockMonthSchema,
  z.object({ sellerId: z.string(), month: z.string(), sku: z.string() }),
  {
    sellerId: textFilter('Of this seller.'),
    month: monthSchema.optional(),
    sku: skuFilter('Of this SKU.'),
    gtin: textFilter("Of this GTIN, in the report's spelling."),
    adjusted: flagSchema.optional().meta({ description: 'Whether units were lost, damaged or found.' }),
  },
)

/** Discrepancies of the marketplace's inventory reports, and possible claims. */
export const discrepancyRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  app.route({
    method: 'GET',
    url: '/v1/discrepancies',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'Differences between inventory report, previous month and inventory log, newest first',
      querystring: discrepancies.querystring,
      response: discrepancies.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        month: query.month ?? null,
        sku: query.sku ?? null,
        kind: query.kind ?? null,
        state: query.state === 'all' ? null : query.state,
        gtin: query.gtin ?? null,
        seen: { from: query.seenFrom ?? null, to: query.seenTo ?? null },
      }
      return discrepancies.answer(request, reply, (after, limit) => listDiscrepancies(database, filter, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/claims',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'Possible claims of each seller for a month: lost, damaged and unexplained units, and their value',
      querystring: claims.querystring,
      response: claims.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = { month: query.month, sellerId: resolveSellerFilter(caller, query.sellerId) }
      return claims.answer(request, reply, (after, limit) => listClaims(database, filter, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/reconciliation',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'The stored monthly reports, one row for each SKU and month, by seller, month and SKU',
      querystring: stock.querystring,
      response: stock.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        month: query.month ?? null,
        sku: query.sku ?? null,
        gtin: query.gtin ?? null,
        adjusted: query.adjusted ?? null,
      }
      return stock.answer(request, reply, (after, limit) => listStockMonths(database, filter, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/reconciliation/:gtin',
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['inventory'],
      summary: 'The report of one GTIN for the current month, requested now and compared with the log',
      description:
        'Stores nothing. It counts as one of the hourly requests that the marketplace allows for the month: 503 with `Retry-After` if they are used up.',
      params: z.object({ gtin: z.string().regex(/^\d{8,14}$/, 'must be 8 to 14 digits') }),
      querystring: z.object({
        sellerId: z.string().optional().meta({ description: 'Required when there are several sellers.' }),
      }),
      response: { 200: gtinReportSchema, ...problems(404, 503) },
    },
    handler: async ({ params, query, caller, signal }) => {
      const sellers = filterAccessible(caller, services.sellers())
      const sellerId = query.sellerId ?? (sellers.length === 1 ? sellers[0] : undefined)
      if (sellerId === undefined) throw new Problem('invalid-request', { detail: 'Several sellers are served: set sellerId.' })
      if (!sellers.includes(sellerId))
        throw new Problem('not-found', { detail: `This daemon does not serve seller ${sellerId}.` })
      try {
        const report = await services.readGtinReport(sellerId, params.gtin, signal)
        return { ...report, rows: report.rows.map((row) => ({ ...row, differences: [...row.differences] })) }
      } catch (error) {
        if (!(error instanceof MarketplaceFailure)) throw error
        if (error instanceof Refused) throw new Problem('invalid-request', { detail: error.message })
        const waitMs = error instanceof Throttled ? error.retryAt.getTime() - Date.now() : 0
        throw new Problem('unavailable', {
          detail: error.message,
          headers: { 'retry-after': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
        })
      }
    },
  })
}
