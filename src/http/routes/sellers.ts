import { z } from 'zod'
import { operationOfKind } from '../../domain/commands/command.ts'
import { sellerModes } from '../../domain/shadow/mode.ts'
import type { RateLimitSnapshot } from '../../domain/values/rate-limit-snapshot.ts'
import { recordAct } from '../../store/keys/audit.ts'
import { listDeadlineRules } from '../../store/orders/deadlines.ts'
import { listSellerProcesses } from '../../store/sellers/seller-processes.ts'
import { removeSeller, type UnsettledWork } from '../../store/sellers/seller-removal.ts'
import { maxCounted, readSellerWork, readWaitingCommands, type WaitingCommands } from '../../store/sellers/seller-work.ts'
import { listSellers, pauseSeller, resumeSeller, type SellerStatus, sellerStates } from '../../store/sellers/sellers.ts'
import { type App, idParams, problems } from '../app.ts'
import { resolveActor, resolveSellerFilter } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { buildList, flagSchema, textFilter } from '../schemas/lists.ts'
import { actorSchema } from '../schemas/schemas.ts'
import type { RouteParts } from './parts.ts'

/** The state of a seller, as it is answered. */
export const sellerSchema = z
  .object({
    sellerId: z.string(),
    state: z.enum(sellerStates).meta({
      description:
        'stopped: the marketplace refuses the credentials; paused: by an operator. In both states nothing of the seller runs.',
    }),
    reason: z.string().nullable().meta({ description: 'Why it is stopped or paused, and what to do.' }),
    since: z.date().nullable().meta({ description: 'Since when it is stopped or paused.' }),
    pausedBy: z.string().nullable(),
    nextProbeAt: z.date().nullable().meta({ description: 'When the next token is requested while it is stopped.' }),
    served: z.boolean().meta({ description: 'Whether it is in the settings of this daemon.' }),
    removedAt: z.date().nullable().meta({
      description:
        'When an operator removed it and kept its records; null: it is not removed, or is in the settings of a process again.',
    }),
    removedBy: z.string().nullable(),
    mode: z.enum(sellerModes).meta({
      description:
        'shadow: everything is read, decided and reserved, and nothing is written to the marketplace; commands end as `predicted`.',
    }),
    modeSince: z.date().meta({ description: 'When the mode began.' }),
    modeBy: z.string().nullable().meta({ description: 'Who decided on the mode; null: the setting `MODE`.' }),
  })
  .meta({ id: 'Seller' })

const countUpToMax = (what: string) => z.int().meta({ description: `${what}; at most ${maxCounted} are counted.` })

const listedSellerSchema = z
  .object({
    ...sellerSchema.shape,
    servedBy: z.array(z.string()).meta({
      description: 'Processes that serve it, by their reports of the last minute, without those that have ended on this machine.',
    }),
    openOrders: countUpToMax('Open orders'),
    lateOrders: countUpToMax('Open orders that should have been shipped'),
    openCommands: countUpToMax('Commands that are in progress or wait'),
    heldCommands: countUpToMax('Commands that a person must decide on'),
    waitingEvents: countUpToMax('Events that wait to be decided'),
    quarantined: countUpToMax('Open records of the quarantine'),
    openAlarms: countUpToMax('Open alarms'),
    failingStreams: z.int().meta({ description: 'Streams whose last run failed: `GET /v1/syncs`.' }),
    ordersLagSeconds: z.number().nullable().meta({
      description: 'Longest time since an order stream was read completely; null: one has never been.',
    }),
    furthestBehind: z
      .object({
        resource: z.string(),
        stream: z.string(),
        lagSeconds: z.number().meta({ description: 'Time since it was read completely.' }),
      })
      .nullable()
      .meta({
        description: 'The stream with the longest lag, without backfills; null: none has been read completely.',
      }),
    waitingOperations: z
      .array(
        z.object({
          operation: z.string(),
          scope: z.string().nullable().meta({
            description: 'The part of the operation that the limit is for, such as one report; null: all of its requests.',
          }),
          until: z.date().nullable().meta({
            description: 'When the wait that the marketplace requested ends, or when the first waiting command continues.',
          }),
        }),
      )
      .meta({
        description:
          'Operations whose rate limit is used up, by reports of processes (some seconds old) and by commands that wait for it.',
      }),
  })
  .meta({ id: 'ListedSeller' })

const sellers = buildList('sellers', listedSellerSchema, z.string(), {
  state: z.enum(sellerStates).optional().meta({ description: 'In this state.' }),
  mode: z.enum(sellerModes).optional().meta({ description: 'In this mode.' }),
  sellerId: textFilter('This seller.'),
  removed: flagSchema.optional().meta({
    description: 'Whether it was removed. Default: sellers that were not removed, and a removed one if `sellerId` names it.',
  }),
})

const reloadSchema = z
  .object({
    sellers: z.array(z.string()).meta({ description: 'Ids of the sellers that this process serves now.' }),
    added: z.array(z.string()),
    removed: z.array(z.string()),
    others: z
      .array(
        z.object({
          process: z.string(),
          roles: z.array(z.string()),
          sellers: z.array(z.string()).meta({ description: 'Ids of the sellers that it serves now.' }),
          state: z.enum(['reread', 'faulty', 'unanswered']).meta({
            description:
              'faulty: its settings are invalid, its sellers are unchanged; unanswered: no answer within five seconds.',
          }),
          faults: z.array(z.string()),
        }),
      )
      .nullable()
      .meta({ description: 'Results of the other processes that share the database; null: they could not be reached.' }),
  })
  .meta({ id: 'ReloadedSellers' })

const removedSchema = z
  .object({
    sellerId: z.string(),
    deleted: z
      .boolean()
      .meta({ description: 'true: it had no records and is deleted. false: it is hidden, and its records stay readable.' }),
    removedAt: z.date().nullable().meta({ description: 'When it was hidden; null: it is deleted.' }),
  })
  .meta({ id: 'RemovedSeller' })

/** Why an operator decided. */
export const reason = z.string().trim().min(1, 'must not be empty').max(2_000).meta({ description: 'Why.' })

/** Operations that a seller waits for: by limits that are reported as used up, and by commands that wait for one. */
const listWaitingOperations = (limits: readonly RateLimitSnapshot[], commands: readonly WaitingCommands[]) => {
  // Commands of several kinds may wait for one operation: the first one counts.
  const untilByOperation = new Map<string, Date>()
  for (const { kind, until } of commands) {
    const known = untilByOperation.get(operationOfKind[kind])
    if (known === undefined || until < known) untilByOperation.set(operationOfKind[kind], until)
  }
  const reported = limits.map(({ operation, scope, blockedUntil }) => ({
    operation,
    scope,
    until: blockedUntil ?? untilByOperation.get(operation) ?? null,
  }))
  for (const { operation } of reported) untilByOperation.delete(operation)
  return [...reported, ...[...untilByOperation].map(([operation, until]) => ({ operation, scope: null, until }))]
}

const pluralize = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** Why a seller cannot be removed, and what to do. */
const describeUnsettled = (sellerId: string, { commands, unknown, held, events, readings }: UnsettledWork): string => {
  const parts = [
    ...(commands === 0
      ? []
      : [
          `${pluralize(commands, 'command that is', 'commands that are')} not settled (${unknown} of unknown outcome, ${held} held for a person)`,
        ]),
    ...(events === 0 ? [] : [`${pluralize(events, 'event that waits', 'events that wait')} to be decided`]),
    ...(readings === 0 ? [] : [`${pluralize(readings, 'stream', 'streams')} being read now`]),
  ]
  const advice = [
    ...(commands === 0 ? [] : ['decide its commands (`tallyman commands`)']),
    ...(events === 0 ? [] : ['end its events (`tallyman events reject`)']),
    ...(readings === 0 ? [] : ['wait half a minute']),
  ]
  const orServe = commands + events === 0 ? '' : ', or let a process serve it until they are done'
  return `Seller ${sellerId} has ${parts.join(', ')}: ${advice.join(', ')}${orServe}, and try again.`
}

/** A seller as it is answered; `served`: the sellers in the settings of this daemon. */
export const buildSellerAnswer = ({ probeAt, resumes: _, ...status }: SellerStatus, served: readonly string[]) => ({
  ...status,
  nextProbeAt: probeAt,
  served: served.includes(status.sellerId),
})

/** The answer about a seller that does not exist. */
export const buildNoSeller = (sellerId: string): Problem =>
  new Problem('not-found', { detail: `There is no seller ${sellerId}.` })

/** State of the sellers; pausing, resuming and removing one. */
export const sellerRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  const toAnswer = (status: SellerStatus) => buildSellerAnswer(status, services.sellers())

  app.route({
    method: 'GET',
    url: '/v1/sellers',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['sellers'],
      summary: 'State of each seller, its open work and how far behind it is',
      querystring: sellers.querystring,
      response: sellers.response,
    },
    handler: (request, reply) =>
      sellers.answer(request, reply, async (after, limit) => {
        const page = await listSellers(database, after, limit, {
          state: request.query.state ?? null,
          mode: request.query.mode ?? null,
          sellers: resolveSellerFilter(request.caller, request.query.sellerId),
          removed: request.query.removed ?? null,
        })
        const sellerIds = page.items.map(({ sellerId }) => sellerId)
        const served = new Set(services.sellers())
        const findNow = (sellerId: string): Date | null => (served.has(sellerId) ? services.marketplaceNow(sellerId) : null)
        const works = await readSellerWork(database, listDeadlineRules(database, sellerIds, findNow))
        const processes = (await listSellerProcesses(database)).filter(({ process }) => !services.hasEnded(process))
        const waiting = Map.groupBy(
          (await services.budget()).filter(({ available }) => available === 0),
          ({ sellerId }) => sellerId,
        )
        const commands = Map.groupBy(await readWaitingCommands(database, sellerIds), ({ sellerId }) => sellerId)
        const items = page.items.map((status) => {
          const { sellerId } = status
          const work = works.get(sellerId)
          if (work === undefined) throw new Error(`Postgres returned no open work of seller ${sellerId}`)
          const { ordersLagMs, ...open } = work
          const ordersLagSeconds = ordersLagMs === null ? null : ordersLagMs / 1_000
          const waitingOperations = listWaitingOperations(waiting.get(sellerId) ?? [], commands.get(sellerId) ?? [])
          const servedBy = processes.flatMap(({ process, sellerIds: ids }) => (ids.includes(sellerId) ? [process] : []))
          return { ...toAnswer(status), servedBy, ...open, ordersLagSeconds, waitingOperations }
        })
        return { items, next: page.next }
      }),
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/reload',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['sellers'],
      summary: 'Read the settings of the sellers again',
      description:
        'In this process, then in every other process that shares the database, each from its own settings. If the settings of this process are invalid, no seller changes in any process, and the answer lists the errors. If they cannot be stored (503), no seller changes either.',
      response: { 200: reloadSchema, ...problems(422, 503) },
    },
    handler: async ({ caller }) => {
      const act = { action: 'sellers.reload_requested', sellerId: null, subject: 'sellers', reason: null } as const
      await recordAct(database, { by: resolveActor(caller, null), ...act })
      const result = await services.reloadSellers()
      if (result.ok) {
        const others = result.others?.map((other) => ({
          ...other,
          roles: [...other.roles],
          sellers: [...other.sellers],
          faults: [...other.faults],
        }))
        const { sellers: served, added, removed } = result
        return { sellers: [...served], added: [...added], removed: [...removed], others: others ?? null }
      }
      if ('isStored' in result)
        throw new Problem('unavailable', {
          detail: 'The sellers could not be stored in the database: no seller has changed. The log has the reason.',
          headers: { 'retry-after': '5' },
        })
      throw new Problem('invalid-settings', {
        detail: 'No seller has changed.',
        errors: result.faults.map((fault) => {
          const [, path = 'settings', message = fault] = /^([A-Z][A-Z_]*): (.*)$/s.exec(fault) ?? []
          return { path, message }
        }),
      })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/:id/pause',
    config: { needs: ['operate', 'seller'] },
    schema: {
      tags: ['sellers'],
      summary: 'Pause a seller',
      description:
        'Nothing of the seller runs until it is resumed, also after a restart. Events are accepted and wait. Work in progress is completed first.',
      params: idParams,
      body: z.strictObject({ actor: actorSchema, reason }),
      response: { 200: sellerSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body.actor)
      const status = await pauseSeller(database, { sellerId: id, reason: body.reason, ...by })
      if (status === null) throw buildNoSeller(id)
      log.info({ seller_id: id, actor: by.actor }, 'seller paused')
      return toAnswer(status)
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/:id/resume',
    config: { needs: ['operate', 'seller'] },
    schema: {
      tags: ['sellers'],
      summary: 'Resume a stopped or paused seller',
      description: 'Its credentials are tried immediately. If they are refused repeatedly, it is stopped again.',
      params: idParams,
      body: z.strictObject({ actor: actorSchema, reason: reason.nullish() }).nullish(),
      response: { 200: sellerSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body?.actor)
      const status = await resumeSeller(database, { sellerId: id, reason: body?.reason ?? null, ...by })
      if (status === null) throw buildNoSeller(id)
      log.info({ seller_id: id, actor: by.actor }, 'seller resumed')
      return toAnswer(status)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/sellers/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['sellers'],
      operationId: 'removeSeller',
      summary: 'Remove a seller that no process serves',
      description:
        'A seller without records is deleted. A seller with orders, commands, events or other records is hidden: its records stay readable, and it is listed again when a process has it in its settings. Refused while a process serves it (`seller-served`) and while it has work that is not settled (`seller-unsettled`).',
      params: idParams,
      querystring: z.object({ reason: reason.optional(), actor: actorSchema }),
      response: { 200: removedSchema, ...problems(404, 409) },
    },
    handler: async ({ params: { id }, query, caller, log }) => {
      const by = resolveActor(caller, query.actor)
      const { hasEnded } = services
      const removal = await removeSeller(database, { sellerId: id, reason: query.reason ?? null, hasEnded, ...by })
      switch (removal.outcome) {
        case 'unknown':
          throw buildNoSeller(id)
        case 'served':
          throw new Problem('seller-served', {
            detail: `Seller ${id} is served by ${removal.by.join(', ')}. Remove it from SELLERS_FILE there (or from SELLER_ID, and restart), reload the settings (\`tallyman sellers reload\`, POST /v1/sellers/reload), and try again. A killed process counts for a minute.`,
          })
        case 'unsettled':
          throw new Problem('seller-unsettled', { detail: describeUnsettled(id, removal.work) })
        case 'deleted':
        case 'hidden': {
          const deleted = removal.outcome === 'deleted'
          log.info({ seller_id: id, actor: by.actor, deleted }, 'seller removed')
          return { sellerId: id, deleted, removedAt: removal.outcome === 'hidden' ? removal.removedAt : null }
        }
      }
    },
  })
}
