import { z } from 'zod'
import type { BudgetFigure } from '../../domain/budget-figure.ts'
import { operationOfKind } from '../../domain/command.ts'
import { recordAct } from '../../store/audit.ts'
import { deadlineRulesOf } from '../../store/deadlines.ts'
import { listSellerProcesses } from '../../store/seller-processes.ts'
import { removeSeller, type UnsettledWork } from '../../store/seller-removal.ts'
import { mostCounted, readSellerWork, readWaitingCommands, type WaitingCommands } from '../../store/seller-work.ts'
import { listSellers, pauseSeller, resumeSeller, type SellerStanding, sellerStates } from '../../store/sellers.ts'
import { type App, idParams, problems } from '../app.ts'
import { actingAs, sellersAsked } from '../caller.ts'
import { flagSchema, listOf, textFilter } from '../lists.ts'
import { Problem } from '../problems.ts'
import { actorSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

const sellerSchema = z
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
    served: z.boolean().meta({ description: 'It is in the settings of this daemon.' }),
    removedAt: z.date().nullable().meta({
      description:
        'When an operator removed it, and kept its past; null: it is not removed, or in the settings of a process again.',
    }),
    removedBy: z.string().nullable(),
  })
  .meta({ id: 'Seller' })

const counted = (what: string) => z.int().meta({ description: `${what}; at most ${mostCounted} are counted.` })

const listedSellerSchema = z
  .object({
    ...sellerSchema.shape,
    servedBy: z.array(z.string()).meta({
      description: 'The processes that serve it, as they have said within a minute; none that has ended on this machine.',
    }),
    openOrders: counted('Open orders'),
    lateOrders: counted('Open orders that should have been shipped'),
    openCommands: counted('Commands that are under way or wait'),
    heldCommands: counted('Commands that a person must decide on'),
    waitingEvents: counted('Events that wait to be decided'),
    quarantined: counted('Open records of the quarantine'),
    openAlarms: counted('Open alarms'),
    failingStreams: z.int().meta({ description: 'Streams whose last run failed: `GET /v1/syncs`.' }),
    ordersLagSeconds: z.number().nullable().meta({
      description: 'Since the polled orders that are furthest behind were read to the end; null: they have not been yet.',
    }),
    furthestBehind: z
      .object({
        resource: z.string(),
        stream: z.string(),
        lagSeconds: z.number().meta({ description: 'Since it was read to its end.' }),
      })
      .nullable()
      .meta({
        description:
          'The stream of any resource that is furthest behind, without backfills; null: none has been read to its end.',
      }),
    waitingOperations: z
      .array(
        z.object({
          operation: z.string(),
          scope: z
            .string()
            .nullable()
            .meta({ description: 'What its limit is for, such as one report; null: all of its calls.' }),
          until: z.date().nullable().meta({
            description: 'Until when the marketplace has asked us to wait, or when the first of the commands that wait goes on.',
          }),
        }),
      )
      .meta({
        description:
          'Operations whose rate budget is used up: by what processes report, some seconds later, and by commands that wait for it.',
      }),
  })
  .meta({ id: 'ListedSeller' })

const sellers = listOf('sellers', listedSellerSchema, z.string(), {
  state: z.enum(sellerStates).optional().meta({ description: 'In this state.' }),
  sellerId: textFilter('This seller.'),
  removed: flagSchema.optional().meta({
    description: 'Whether it was removed. Left out: those that were not, and a removed one only where `sellerId` names it.',
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
            description: 'faulty: its settings have faults, its sellers stay as they were; unanswered: not within five seconds.',
          }),
          faults: z.array(z.string()),
        }),
      )
      .nullable()
      .meta({ description: 'What the other processes have done that share the database; null: they could not be asked.' }),
  })
  .meta({ id: 'ReloadedSellers' })

const removedSchema = z
  .object({
    sellerId: z.string(),
    deleted: z
      .boolean()
      .meta({ description: 'It had no past, and nothing of it is left. false: it is hidden, and its past readable.' }),
    removedAt: z.date().nullable().meta({ description: 'Since when it is hidden; null: it is deleted.' }),
  })
  .meta({ id: 'RemovedSeller' })

const reason = z.string().trim().min(1, 'must not be empty').max(2_000).meta({ description: 'Why.' })

/** What a seller waits for: the limits that are used up, and those that only its commands show to be. */
const waitingOf = (limits: readonly BudgetFigure[], commands: readonly WaitingCommands[]) => {
  const untilOf = new Map<string, Date>(commands.map(({ kind, until }) => [operationOfKind[kind], until]))
  const reported = limits.map(({ operation, scope, blockedUntil }) => ({
    operation,
    scope,
    until: blockedUntil ?? untilOf.get(operation) ?? null,
  }))
  for (const { operation } of reported) untilOf.delete(operation)
  return [...reported, ...[...untilOf].map(([operation, until]) => ({ operation, scope: null, until }))]
}

const several = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

/** What keeps a seller from being removed, and what to do about it. */
const unsettledDetail = (sellerId: string, { commands, unknown, held, events, readings }: UnsettledWork): string => {
  const parts = [
    ...(commands === 0
      ? []
      : [
          `${several(commands, 'command that is', 'commands that are')} not settled (${unknown} of unknown outcome, ${held} held for a person)`,
        ]),
    ...(events === 0 ? [] : [`${several(events, 'event that waits', 'events that wait')} to be decided`]),
    ...(readings === 0 ? [] : [`${several(readings, 'stream', 'streams')} being read at this moment`]),
  ]
  const advice = [
    ...(commands === 0 ? [] : ['decide its commands (`tallyman commands`)']),
    ...(events === 0 ? [] : ['end its events (`tallyman events reject`)']),
    ...(readings === 0 ? [] : ['wait half a minute']),
  ]
  const orServe = commands + events === 0 ? '' : ', or have it served again until they are done'
  return `Seller ${sellerId} has ${parts.join(', ')}: ${advice.join(', ')}${orServe}, and try again.`
}

/** State of the sellers; pausing, resuming and removing one. */
export const sellerRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  const shown = ({ reason: why, probeAt, resumes: _, ...standing }: SellerStanding) => {
    const served = services.sellers().includes(standing.sellerId)
    return { ...standing, reason: why, nextProbeAt: probeAt, served }
  }
  const found = (sellerId: string, standing: SellerStanding | null): SellerStanding => {
    if (standing === null) throw new Problem('not-found', { detail: `There is no seller ${sellerId}.` })
    return standing
  }

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
          sellers: sellersAsked(request.caller, request.query.sellerId),
          removed: request.query.removed ?? null,
        })
        const sellerIds = page.items.map(({ sellerId }) => sellerId)
        const served = new Set(services.sellers())
        const nowOf = (sellerId: string): Date | null => (served.has(sellerId) ? services.marketplaceNow(sellerId) : null)
        const works = await readSellerWork(database, deadlineRulesOf(database, sellerIds, nowOf))
        const processes = (await listSellerProcesses(database)).filter(({ process }) => !services.hasEnded(process))
        const waiting = Map.groupBy(
          (await services.budget()).filter(({ available }) => available === 0),
          ({ sellerId }) => sellerId,
        )
        const commands = Map.groupBy(await readWaitingCommands(database, sellerIds), ({ sellerId }) => sellerId)
        const items = page.items.map((standing) => {
          const work = works.get(standing.sellerId)
          if (work === undefined) throw new Error(`Postgres has not said what is open of seller ${standing.sellerId}`)
          const { ordersLagMs, ...open } = work
          const ordersLagSeconds = ordersLagMs === null ? null : ordersLagMs / 1_000
          const waitingOperations = waitingOf(waiting.get(standing.sellerId) ?? [], commands.get(standing.sellerId) ?? [])
          const servedBy = processes.flatMap(({ process, sellerIds: ids }) => (ids.includes(standing.sellerId) ? [process] : []))
          return { ...shown(standing), servedBy, ...open, ordersLagSeconds, waitingOperations }
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
        'In this process, then in every other one that shares the database, each from its own settings. If the settings of this one have faults, all sellers stay as they were everywhere, and the answer lists the faults; they stay so too where the settings cannot be stored (503).',
      response: { 200: reloadSchema, ...problems(422, 503) },
    },
    handler: async ({ caller }) => {
      const act = { action: 'sellers.reload_requested', sellerId: null, subject: 'sellers', reason: null } as const
      await recordAct(database, { by: actingAs(caller, null), ...act })
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
          detail: 'The database does not take the sellers: all stay as they were. The log has details, with the reason.',
          headers: { 'retry-after': '5' },
        })
      throw new Problem('invalid-settings', {
        detail: 'All sellers stay as they were.',
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
        'Nothing of it runs until it is resumed, across restarts too; events are accepted and wait. Work in progress is completed first.',
      params: idParams,
      body: z.strictObject({ actor: actorSchema, reason }),
      response: { 200: sellerSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = actingAs(caller, body.actor)
      const standing = found(id, await pauseSeller(database, { sellerId: id, reason: body.reason, ...by }))
      log.info({ seller_id: id, actor: by.actor }, 'seller paused')
      return shown(standing)
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/:id/resume',
    config: { needs: ['operate', 'seller'] },
    schema: {
      tags: ['sellers'],
      summary: 'Resume a stopped or paused seller',
      description: 'Its credentials are tried at once. If they are refused repeatedly, it is stopped again.',
      params: idParams,
      body: z.strictObject({ actor: actorSchema, reason: reason.nullish() }).nullish(),
      response: { 200: sellerSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = actingAs(caller, body?.actor)
      const standing = found(id, await resumeSeller(database, { sellerId: id, reason: body?.reason ?? null, ...by }))
      log.info({ seller_id: id, actor: by.actor }, 'seller resumed')
      return shown(standing)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/sellers/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['sellers'],
      operationId: 'removeSeller',
      summary: 'Remove a seller that no process serves any more',
      description:
        'One without a past is deleted. One with orders, commands, events or other records is hidden: its past stays readable, and it is listed again once a process has it in its settings. Refused while a process serves it (`seller-served`) and while it has work that is not settled (`seller-unsettled`).',
      params: idParams,
      querystring: z.object({ reason: reason.optional(), actor: actorSchema }),
      response: { 200: removedSchema, ...problems(404, 409) },
    },
    handler: async ({ params: { id }, query, caller, log }) => {
      const by = actingAs(caller, query.actor)
      const { hasEnded } = services
      const removal = await removeSeller(database, { sellerId: id, reason: query.reason ?? null, hasEnded, ...by })
      switch (removal.outcome) {
        case 'unknown':
          throw new Problem('not-found', { detail: `There is no seller ${id}.` })
        case 'served':
          throw new Problem('seller-served', {
            detail: `Seller ${id} is served by ${removal.by.join(', ')}. Take it out of SELLERS_FILE there (or of SELLER_ID, and restart), have the settings read again (\`tallyman sellers reload\`, POST /v1/sellers/reload), and try again. A process that was killed counts for a minute.`,
          })
        case 'unsettled':
          throw new Problem('seller-unsettled', { detail: unsettledDetail(id, removal.work) })
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
