import { z } from 'zod'
import { intersect } from '../../domain/windows.ts'
import { recordAct } from '../../store/audit.ts'
import { pageOf } from '../../store/page.ts'
import { type SellerStanding, sellersAtRest } from '../../store/sellers.ts'
import { listSyncRuns } from '../../store/sync-runs.ts'
import { listSyncs, readResourceLags, type SyncKey } from '../../store/sync-states.ts'
import { type App, problems } from '../app.ts'
import { actingAs, coveredOf, sellersAsked } from '../caller.ts'
import { flagSchema, fromSchema, listOf, momentSchema, textFilter, toSchema } from '../lists.ts'
import { bigintKey } from '../paging.ts'
import { Problem } from '../problems.ts'
import { resourceLagSchema, syncRunSchema, syncSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const syncs = listOf('syncs', syncSchema, z.tuple([z.string(), z.string(), z.string()]), {
  sellerId: textFilter('Of this seller.'),
  resource: textFilter('Of this resource, such as `orders`.'),
  running: flagSchema.optional().meta({ description: 'Whether a process runs it now.' }),
  failing: flagSchema.optional().meta({ description: 'Whether its last run failed.' }),
  behind: flagSchema.optional().meta({ description: 'Whether it has not ended well for too long.' }),
  unread: flagSchema.optional().meta({ description: 'Whether it has never read everything; a backfill is not unread.' }),
})
const runs = listOf('sync-runs', syncRunSchema, bigintKey, {
  sellerId: textFilter('Of this seller.'),
  stream: textFilter('Of this stream of the resource.'),
  failed: flagSchema.optional().meta({ description: 'Whether it ended with an error.' }),
  startedFrom: fromSchema('Started'),
  startedTo: toSchema('Started'),
})

const resourceSchema = z
  .object({
    resource: z.string(),
    backfill: z.boolean().meta({ description: 'Whether its past can be read again.' }),
  })
  .meta({ id: 'Resource' })

/** Lexicographic, as the list is sorted. */
const comesAfter = (key: readonly string[], other: readonly string[]): boolean => {
  for (const [index, part] of key.entries()) {
    const against = other[index] ?? ''
    if (part !== against) return part > against
  }
  return false
}

const keyOf = ({ sellerId, resource, stream }: SyncKey): [string, string, string] => [sellerId, resource, stream]

const describeRest = ({ sellerId, state, reason, since, pausedBy }: SellerStanding): string =>
  `seller ${sellerId} is ${state} since ${since?.toISOString() ?? 'an unknown time'}${pausedBy === null ? '' : ` by ${pausedBy}`}: ${reason ?? 'no reason was recorded'}`

/** State of the syncs; run one now, or a backfill. */
export const syncRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/syncs',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'State of each sync',
      querystring: syncs.querystring,
      response: syncs.response,
    },
    handler: (request, reply) => {
      const { sellerId, resource, running, failing, behind, unread } = request.query
      const sellers = sellersAsked(request.caller, sellerId)
      return syncs.answer(request, reply, async (after, limit) => {
        // A few rows for each seller: cut here, and not in SQL.
        const all = (await listSyncs(services.database, sellers, services.paces))
          .filter(
            (sync) =>
              (resource === undefined || sync.resource === resource) &&
              (running === undefined || sync.running === running) &&
              (failing === undefined || sync.failures > 0 === failing) &&
              (behind === undefined || sync.behind === behind) &&
              (unread === undefined || sync.unread === unread),
          )
          .sort((a, b) => (comesAfter(keyOf(a), keyOf(b)) ? 1 : -1))
          .filter((sync) => after === null || comesAfter(keyOf(sync), after))
        return pageOf(all.slice(0, limit + 1), limit, keyOf)
      })
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/lags',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'How far the syncs of each resource are',
      description:
        'Over all sellers and streams; what is in trouble first, then the longest lag. `GET /v1/syncs` lists the streams.',
      querystring: z.object({ sellerId: textFilter('Of this seller.') }),
      response: { 200: z.object({ items: z.array(resourceLagSchema).readonly() }), ...problems() },
    },
    handler: async ({ query, caller }) => ({
      items: await readResourceLags(services.database, services.paces, sellersAsked(caller, query.sellerId)),
    }),
  })

  app.route({
    method: 'GET',
    url: '/v1/resources',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'Resources that can be synced',
      response: { 200: z.object({ items: z.array(resourceSchema).readonly() }), ...problems() },
    },
    handler: () => {
      const { resources, withPast } = services.syncs
      return { items: resources.map((resource) => ({ resource, backfill: withPast.includes(resource) })) }
    },
  })

  /** @throws Problem when there is no such resource */
  const known = (resource: string): void => {
    const { resources } = services.syncs
    if (resources.includes(resource)) return
    throw new Problem('not-found', { detail: `There is no sync of ${resource}; there are ${resources.join(', ')}.` })
  }

  app.route({
    method: 'GET',
    url: '/v1/syncs/:resource/runs',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'Runs of a resource, newest first',
      description: 'Runs in a row that changed nothing are one entry (`runs`), for a day at most. Kept for `RETAIN_RUNS`.',
      params: z.object({ resource: z.string() }),
      querystring: runs.querystring,
      response: { ...runs.response, ...problems(404) },
    },
    handler: (request, reply) => {
      const { query } = request
      const { resource } = request.params
      const filter = {
        resource,
        sellerId: sellersAsked(request.caller, query.sellerId),
        stream: query.stream ?? null,
        failed: query.failed ?? null,
        started: { from: query.startedFrom ?? null, to: query.startedTo ?? null },
      }
      return runs.answer(request, reply, (after, limit) => {
        known(resource)
        return listSyncRuns(services.database, filter, after, limit)
      })
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
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'Run a sync now, or a backfill',
      description:
        'With `from` (and `to`) the records of that time are read again, oldest first; not every resource supports it. Times that the marketplace ' +
        'no longer serves, and future times, are excluded: `range` is the time that is read. 422 if nothing remains.',
      params: z.object({ resource: z.string() }),
      body: z
        .strictObject({ sellerId: z.string().min(1).optional(), from: momentSchema.optional(), to: momentSchema.optional() })
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
    handler: async ({ params: { resource }, body, caller }, reply) => {
      const { withPast } = services.syncs
      known(resource)
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
      const asked = sellerId === null ? coveredOf(caller, services.sellers()) : [sellerId]
      const range = body?.from === undefined ? null : reached(resource, asked, body.from, body.to ?? null)
      const atRest = await sellersAtRest(services.database)
      const resting = asked.flatMap((id) => atRest.get(id) ?? [])
      if (resting.length > 0 && resting.length === asked.length) {
        throw new Problem('seller-stopped', { detail: `Nothing was started: ${resting.map(describeRest).join('; ')}.` })
      }
      const from = body?.from ?? null
      const to = body?.to ?? null
      // Of a key that is bound to sellers, one after the other; otherwise all at once.
      const runs = sellerId !== null || caller.sellers === null ? [sellerId] : asked
      const jobs: string[] = []
      for (const whose of runs) {
        const details = { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null }
        const act = { action: 'sync.run_requested', sellerId: whose, subject: resource, reason: null, details } as const
        await recordAct(services.database, { by: actingAs(caller, null), ...act })
        jobs.push(...(await services.syncs.run({ resource, sellerId: whose, from, to })))
      }
      reply.status(202)
      return { resource, jobs, range, resting: resting.map((standing) => standing.sellerId) }
    },
  })
}
