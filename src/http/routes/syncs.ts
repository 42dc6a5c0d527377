import { z } from 'zod'
import { intersect } from '../../domain/sync/windows.ts'
import { buildPage } from '../../store/db/page.ts'
import { recordAct } from '../../store/keys/audit.ts'
import { readInactiveSellers, type SellerStatus } from '../../store/sellers/sellers.ts'
import { listSyncRuns } from '../../store/sync/sync-runs.ts'
import { listSyncs, readResourceLags, type SyncKey } from '../../store/sync/sync-states.ts'
import { type App, problems } from '../app.ts'
import { type Caller, filterAccessible, resolveActor, resolveSellerFilter } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { buildList, flagSchema, fromSchema, textFilter, timeSchema, toSchema } from '../schemas/lists.ts'
import { bigintKey } from '../schemas/paging.ts'
import { resourceLagSchema, syncRunSchema, syncSchema } from '../schemas/schemas.ts'
import type { HttpServices } from '../services.ts'
import type { RouteParts } from './parts.ts'

const syncs = buildList('syncs', syncSchema, z.tuple([z.string(), z.string(), z.string()]), {
  sellerId: textFilter('Of this seller.'),
  resource: textFilter('Of this resource, such as `orders`.'),
  running: flagSchema.optional().meta({ description: 'Whether a process runs it now.' }),
  failing: flagSchema.optional().meta({ description: 'Whether its last run failed.' }),
  behind: flagSchema.optional().meta({ description: 'Whether its last success is too long ago.' }),
  unread: flagSchema.optional().meta({ description: 'Whether it has never been read completely; backfills do not count.' }),
})
const runs = buildList('sync-runs', syncRunSchema, bigintKey, {
  sellerId: textFilter('Of this seller.'),
  stream: textFilter('Of this stream of the resource.'),
  failed: flagSchema.optional().meta({ description: 'Whether it ended with an error.' }),
  startedFrom: fromSchema('Started'),
  startedTo: toSchema('Started'),
})

const resourceSchema = z
  .object({
    resource: z.string(),
    backfill: z.boolean().meta({ description: 'Whether it supports backfills.' }),
  })
  .meta({ id: 'Resource' })

/** Compares two keys in the order of the list, which is lexicographic. */
const comesAfter = (key: readonly string[], other: readonly string[]): boolean => {
  for (const [index, part] of key.entries()) {
    const against = other[index] ?? ''
    if (part !== against) return part > against
  }
  return false
}

const buildKey = ({ sellerId, resource, stream }: SyncKey): [string, string, string] => [sellerId, resource, stream]

const describeStatus = ({ sellerId, state, reason, since, pausedBy }: SellerStatus): string => {
  const by = pausedBy === null ? '' : ` by ${pausedBy}`
  return `seller ${sellerId} is ${state} since ${since?.toISOString() ?? 'an unknown time'}${by}: ${reason ?? 'no reason was recorded'}`
}

const runSchema = z
  .strictObject({ sellerId: z.string().min(1).optional(), from: timeSchema.optional(), to: timeSchema.optional() })
  .refine(({ from, to }) => to === undefined || from !== undefined, { message: 'needs from', path: ['to'] })
  .refine(({ from, to }) => from === undefined || to === undefined || from < to, {
    message: 'must be later than from',
    path: ['to'],
  })

/** @throws Problem when there is no such resource */
const requireResource = ({ syncs: { resources } }: HttpServices, resource: string): void => {
  if (resources.includes(resource)) return
  throw new Problem('not-found', { detail: `There is no sync of ${resource}; there are ${resources.join(', ')}.` })
}

/** The part of a time range that a backfill of the seller can read. @throws Problem when it can read nothing of it */
const findBackfillRange = (services: HttpServices, resource: string, sellerId: string, from: Date, to: Date | null) => {
  const now = services.marketplaceNow(sellerId)
  const reach = services.syncs.reach(resource, now)
  const end = to ?? now
  const range = intersect({ from, to: end }, reach)
  if (range !== null) return { ...range, clamped: range.from > from || range.to < end }
  const [path, message] =
    from < reach.from
      ? ['to', `is before ${reach.from.toISOString()}: the marketplace serves nothing older`]
      : ['from', `is after ${now.toISOString()}, the current time of the marketplace`]
  throw new Problem('invalid-body', { errors: [{ path, message }] })
}

/** The sellers of a run. @throws Problem when the daemon does not serve the requested one */
const findRunSellers = (services: HttpServices, caller: Caller, sellerId: string | null): readonly string[] => {
  if (sellerId === null) return filterAccessible(caller, services.sellers())
  if (services.sellers().includes(sellerId)) return [sellerId]
  throw new Problem('invalid-body', {
    errors: [{ path: 'sellerId', message: `is ${sellerId}, a seller that this daemon does not serve` }],
  })
}

/** The sellers of a run that are stopped or paused. @throws Problem when all of them are */
const findInactiveSellers = async (services: HttpServices, sellerIds: readonly string[]): Promise<readonly string[]> => {
  const statuses = await readInactiveSellers(services.database)
  const inactive = sellerIds.flatMap((id) => statuses.get(id) ?? [])
  if (inactive.length > 0 && inactive.length === sellerIds.length) {
    throw new Problem('seller-stopped', { detail: `Nothing was started: ${inactive.map(describeStatus).join('; ')}.` })
  }
  return inactive.map(({ sellerId }) => sellerId)
}

/** Starts a sync or a backfill. @throws Problem */
const startRun = async (services: HttpServices, caller: Caller, resource: string, body: z.output<typeof runSchema>) => {
  const { backfillable } = services.syncs
  const { from = null, to = null } = body
  if (from !== null && !backfillable.includes(resource)) {
    const message = `is given, but ${resource} does not support backfills; supported: ${backfillable.join(', ')}`
    throw new Problem('invalid-body', { errors: [{ path: 'from', message }] })
  }
  const requested = body.sellerId ?? null
  const sellerIds = findRunSellers(services, caller, requested)
  const range = from === null ? null : findBackfillRange(services, resource, sellerIds[0] ?? '', from, to)
  const resting = await findInactiveSellers(services, sellerIds)
  // One run for all sellers, unless the caller is bound to some: then one run for each of them.
  const runs = requested !== null || caller.sellers === null ? [requested] : sellerIds
  const jobs: string[] = []
  for (const sellerId of runs) {
    const details = { from: from?.toISOString() ?? null, to: to?.toISOString() ?? null }
    const act = { action: 'sync.run_requested', sellerId, subject: resource, reason: null, details } as const
    await recordAct(services.database, { by: resolveActor(caller, null), ...act })
    jobs.push(...(await services.syncs.run({ resource, sellerId, from, to })))
  }
  return { resource, jobs, range, resting }
}

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
      const sellers = resolveSellerFilter(request.caller, sellerId)
      return syncs.answer(request, reply, async (after, limit) => {
        // There are few rows for each seller, so the page is cut here and not in SQL.
        const all = (await listSyncs(services.database, sellers, services.paces))
          .filter(
            (sync) =>
              (resource === undefined || sync.resource === resource) &&
              (running === undefined || sync.running === running) &&
              (failing === undefined || sync.failures > 0 === failing) &&
              (behind === undefined || sync.behind === behind) &&
              (unread === undefined || sync.unread === unread),
          )
          .sort((a, b) => (comesAfter(buildKey(a), buildKey(b)) ? 1 : -1))
          .filter((sync) => after === null || comesAfter(buildKey(sync), after))
        return buildPage(all.slice(0, limit + 1), limit, buildKey)
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
        'Over all sellers and streams; failing resources first, then by descending lag. `GET /v1/syncs` lists the streams.',
      querystring: z.object({ sellerId: textFilter('Of this seller.') }),
      response: { 200: z.object({ items: z.array(resourceLagSchema).readonly() }), ...problems() },
    },
    handler: async ({ query, caller }) => ({
      items: await readResourceLags(services.database, services.paces, resolveSellerFilter(caller, query.sellerId)),
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
      const { resources, backfillable } = services.syncs
      return { items: resources.map((resource) => ({ resource, backfill: backfillable.includes(resource) })) }
    },
  })

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
        sellerId: resolveSellerFilter(request.caller, query.sellerId),
        stream: query.stream ?? null,
        failed: query.failed ?? null,
        started: { from: query.startedFrom ?? null, to: query.startedTo ?? null },
      }
      return runs.answer(request, reply, (after, limit) => {
        requireResource(services, resource)
        return listSyncRuns(services.database, filter, after, limit)
      })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/syncs/:resource/run',
    config: { needs: ['operate', 'own'] },
    schema: {
      tags: ['syncs'],
      summary: 'Run a sync now, or a backfill',
      description:
        'With `from` (and `to`) the records of that time are read again, oldest first; not every resource supports it. Times that the marketplace ' +
        'no longer serves, and future times, are excluded: `range` is the time that is read. 422 if nothing remains. A sync that is running already ' +
        'goes on and is not run a second time.',
      params: z.object({ resource: z.string() }),
      body: runSchema.nullish(),
      response: {
        202: z.object({
          resource: z.string(),
          jobs: z.array(z.string()).readonly(),
          range: z
            .object({ from: z.date(), to: z.date(), clamped: z.boolean() })
            .nullable()
            .meta({ description: 'Of a backfill: the time that is read; `clamped` if it is shorter than requested.' }),
          resting: z
            .array(z.string())
            .readonly()
            .meta({ description: 'Sellers that are stopped or paused: nothing runs for them.' }),
        }),
        ...problems(404, 409, 413, 415, 422),
      },
    },
    handler: async ({ params: { resource }, body, caller }, reply) => {
      requireResource(services, resource)
      const started = await startRun(services, caller, resource, body ?? {})
      reply.status(202)
      return started
    },
  })
}
