import { z } from 'zod'
import { intersect } from '../../domain/windows.ts'
import { type SellerStanding, sellersAtRest } from '../../store/sellers.ts'
import { listSyncs } from '../../store/sync-states.ts'
import { type App, problems } from '../app.ts'
import { cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem } from '../problems.ts'
import { syncSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('syncs', z.tuple([z.string(), z.string(), z.string()]))
const moment = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be an ISO 8601 date, or date and time with its offset')
  .transform((text) => new Date(text))

/** Lexicographic, as the list is sorted. */
const comesAfter = (key: readonly string[], other: readonly string[]): boolean => {
  for (const [index, part] of key.entries()) {
    const against = other[index] ?? ''
    if (part !== against) return part > against
  }
  return false
}

const describeRest = ({ sellerId, state, reason, since, pausedBy }: SellerStanding): string =>
  `seller ${sellerId} is ${state} since ${since?.toISOString() ?? 'an unknown time'}${pausedBy === null ? '' : ` by ${pausedBy}`}: ${reason ?? 'no reason was recorded'}`

/** State of the syncs; run one now, or a backfill. */
export const syncRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/syncs',
    schema: {
      tags: ['syncs'],
      summary: 'State of each sync',
      querystring: z.object({ ...pagingSchema, sellerId: z.string().optional() }),
      response: { 200: pageSchema(syncSchema), ...problems() },
    },
    handler: async ({ query }) => {
      const after = cursors.decode(query.cursor)
      // A few rows for each seller: cut here, and not in SQL.
      const all = (await listSyncs(services.database, query.sellerId ?? null))
        .map((sync) => ({ key: [sync.sellerId, sync.resource, sync.stream] as [string, string, string], sync }))
        .sort((a, b) => (comesAfter(a.key, b.key) ? 1 : -1))
        .filter(({ key }) => after === null || comesAfter(key, after))
      const page = all.slice(0, query.limit)
      return {
        items: page.map(({ sync }) => sync),
        nextCursor: all.length > page.length ? cursors.encode(page.at(-1)?.key ?? null) : null,
      }
    },
  })

  /** The part of a requested time range that can be read. */
  const reached = (resource: string, sellerIds: readonly string[], from: Date, to: Date | null) => {
    const [sellerId = ''] = sellerIds
    const now = services.marketplaceNow(sellerId)
    const reach = services.syncs.reach(resource, now)
    const end = to ?? now
    const range = intersect({ from, to: end }, reach)
    if (range !== null) return { ...range, clamped: range.from > from || range.to < end }
    const early = from < reach.from
    const message = early
      ? `is before ${reach.from.toISOString()}: the marketplace serves nothing older`
      : `is after ${now.toISOString()}, the marketplace's now`
    throw new Problem('invalid-body', { errors: [{ path: early ? 'to' : 'from', message }] })
  }

  app.route({
    method: 'POST',
    url: '/v1/syncs/:resource/run',
    schema: {
      tags: ['syncs'],
      summary: 'Run a sync now, or a backfill',
      description:
        'With `from` (and `to`) the records of that time are read again, oldest first; not every resource supports it. Times that the marketplace ' +
        'no longer serves, and future times, are excluded: `range` is the time that is read. 422 if nothing remains.',
      params: z.object({ resource: z.string() }),
      body: z
        .strictObject({ sellerId: z.string().min(1).optional(), from: moment.optional(), to: moment.optional() })
        .refine(({ from, to }) => to === undefined || from !== undefined, { message: 'needs from', path: ['to'] })
        .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
          message: 'must be later than from',
          path: ['to'],
        })
        .nullish(),
      response: {
        202: z.object({
          resource: z.string(),
          jobs: z.array(z.string()).readonly(),
          range: z
            .object({ from: z.date(), to: z.date(), clamped: z.boolean() })
            .nullable()
            .meta({ description: 'Of a backfill: the time that is read; `clamped` if it is less than requested.' }),
          resting: z
            .array(z.string())
            .readonly()
            .meta({ description: 'Sellers that are stopped or paused: nothing runs for them.' }),
        }),
        ...problems(404, 409, 413, 415, 422),
      },
    },
    handler: async ({ params: { resource }, body }, reply) => {
      const { resources, withPast } = services.syncs
      if (!resources.includes(resource)) {
        throw new Problem('not-found', { detail: `There is no sync of ${resource}; there are ${resources.join(', ')}.` })
      }
      if (body?.from !== undefined && !withPast.includes(resource)) {
        const message = `is given, but ${resource} does not support backfills; supported: ${withPast.join(', ')}`
        throw new Problem('invalid-body', { errors: [{ path: 'from', message }] })
      }
      const sellerId = body?.sellerId ?? null
      if (sellerId !== null && !services.sellers().includes(sellerId)) {
        throw new Problem('invalid-body', {
          errors: [{ path: 'sellerId', message: `is ${sellerId}, a seller that this daemon does not serve` }],
        })
      }
      const asked = sellerId === null ? services.sellers() : [sellerId]
      const range = body?.from === undefined ? null : reached(resource, asked, body.from, body.to ?? null)
      const atRest = await sellersAtRest(services.database)
      const resting = asked.flatMap((id) => atRest.get(id) ?? [])
      if (resting.length > 0 && resting.length === asked.length) {
        throw new Problem('seller-stopped', { detail: `Nothing was started: ${resting.map(describeRest).join('; ')}.` })
      }
      const jobs = await services.syncs.run({ resource, sellerId, from: body?.from ?? null, to: body?.to ?? null })
      reply.status(202)
      return { resource, jobs, range, resting: resting.map((standing) => standing.sellerId) }
    },
  })
}
