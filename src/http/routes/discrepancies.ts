import { z } from 'zod'
import { MarketplaceFailure, Refused, Throttled } from '../../clients/errors.ts'
import { discrepancyKinds } from '../../domain/reconciliation.ts'
import { listClaims } from '../../store/claims.ts'
import { listDiscrepancies } from '../../store/discrepancy-queries.ts'
import { type App, problems } from '../app.ts'
import { bigintKey, cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import { claimSchema, discrepancySchema, gtinReportSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('discrepancies', bigintKey)
const claimCursors = cursorCodec('claims', z.string())
const month = z
  .string()
  .regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'must be a month such as 2026-03')
  .meta({ description: 'Month of the report, by the calendar of the marketplace.' })

/** Discrepancies of the marketplace's inventory reports, and possible claims. */
export const discrepancyRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  app.route({
    method: 'GET',
    url: '/v1/discrepancies',
    schema: {
      tags: ['inventory'],
      summary: 'Differences between inventory report, month before and inventory log, newest first',
      querystring: z.object({
        ...pagingSchema,
        month: month.optional(),
        sellerId: z.string().optional(),
        sku: z.string().optional(),
        kind: z.enum(discrepancyKinds).optional(),
        state: z.enum(['open', 'resolved', 'all']).default('open'),
      }),
      response: { 200: pageSchema(discrepancySchema), ...problems() },
    },
    handler: async ({ query }) => {
      const filter = {
        sellerId: query.sellerId ?? null,
        month: query.month ?? null,
        sku: query.sku ?? null,
        kind: query.kind ?? null,
        state: query.state === 'all' ? null : query.state,
      }
      const page = await listDiscrepancies(database, filter, cursors.decode(query.cursor), query.limit)
      return { items: [...page.items], nextCursor: cursors.encode(page.next) }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/claims',
    schema: {
      tags: ['inventory'],
      summary: 'Possible claims of each seller for a month: lost, damaged and unexplained units, and their value',
      querystring: z.object({ ...pagingSchema, month, sellerId: z.string().optional() }),
      response: { 200: pageSchema(claimSchema), ...problems() },
    },
    handler: async ({ query }) => {
      const filter = { month: query.month, sellerId: query.sellerId ?? null }
      const page = await listClaims(database, filter, claimCursors.decode(query.cursor), query.limit)
      return { items: [...page.items], nextCursor: claimCursors.encode(page.next) }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/reconciliation/:gtin',
    schema: {
      tags: ['inventory'],
      summary: 'The report of one GTIN of the running month, requested now and compared with the log',
      description:
        'Stores nothing. It counts as one of the hourly requests that the marketplace allows for the month: 503 with `Retry-After` if they are used up.',
      params: z.object({ gtin: z.string().regex(/^\d{8,14}$/, 'must be 8 to 14 digits') }),
      querystring: z.object({
        sellerId: z.string().optional().meta({ description: 'Required when there are several sellers.' }),
      }),
      response: { 200: gtinReportSchema, ...problems(404, 503) },
    },
    handler: async ({ params, query, signal }) => {
      const sellers = services.sellers()
      const sellerId = query.sellerId ?? (sellers.length === 1 ? sellers[0] : undefined)
      if (sellerId === undefined) throw new Problem('invalid-request', { detail: 'several sellers are served: set sellerId' })
      if (!sellers.includes(sellerId)) throw new Problem('not-found', { detail: `seller ${sellerId} is not served here` })
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
