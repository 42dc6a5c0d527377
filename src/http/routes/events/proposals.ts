import { z } from 'zod'
import { readEvent } from '../../../domain/events/event-reading.ts'
import { proposalSource, proposalStates } from '../../../domain/events/proposal.ts'
import { toJson } from '../../../domain/values/json.ts'
import { masked } from '../../../domain/values/masking.ts'
import type { EventForecast, IncomingEvent } from '../../../store/events/events.ts'
import {
  beginApproval,
  countUndecidedProposals,
  createProposal,
  type EventProposal,
  endApproval,
  listProposals,
  readProposal,
  rejectProposal,
} from '../../../store/events/proposals.ts'
import { recordAct } from '../../../store/keys/audit.ts'
import { type App, problems } from '../../app.ts'
import { type Caller, requireSeller, resolveActor, resolveSellerFilter } from '../../auth/caller.ts'
import { Problem, type ProblemFault } from '../../problems.ts'
import { buildList, textFilter } from '../../schemas/lists.ts'
import { erpEventKinds } from '../../schemas/openapi-examples.ts'
import { bigintKey } from '../../schemas/paging.ts'
import { actorAndReason, actorSchema, eventForecastSchema } from '../../schemas/schemas.ts'
import type { RouteParts } from '../parts.ts'

/** More undecided proposals are refused: a person could not read them. */
const maxUndecided = 200
const maxReason = 2_000

const proposal = {
  id: z.bigint(),
  sellerId: z.string(),
  type: z.string(),
  data: z.unknown().meta({ description: 'Data of the event.' }),
  reason: z.string().meta({ description: 'Why the program proposes it.' }),
  state: z.enum(proposalStates).meta({
    description: 'approving: approved, and its event is being posted; if that was interrupted, approve it again.',
  }),
  proposedBy: z.string(),
  proposedAt: z.date(),
  decidedBy: z.string().nullable(),
  decidedAt: z.date().nullable(),
  decisionReason: z.string().nullable(),
}
const proposalSchema = z.object(proposal).meta({ id: 'Proposal' })
const forecast = eventForecastSchema.meta({ description: 'The effect that the event would have now.' })

const proposals = buildList('proposals', proposalSchema, bigintKey, {
  state: z.enum(['open', 'all']).default('open').meta({ description: 'open: not decided.' }),
  sellerId: textFilter('Of this seller.'),
})

const types = Object.keys(erpEventKinds)
const newProposalSchema = z.strictObject({
  type: z
    .string()
    .refine((type) => types.includes(type), `must be one of ${types.join(', ')}`)
    .meta({ description: `Type of the event: ${types.map((type) => `\`${type}\``).join(', ')}.` }),
  data: z.record(z.string(), z.unknown()).meta({
    description: 'Data of the event, as for `POST /v1/events`; `sellerId` is required if there are several sellers.',
  }),
  reason: z.string().trim().min(1, 'must not be empty').max(maxReason).meta({ description: 'Why, for the person who decides.' }),
})

const idSchema = z.object({ id: bigintKey })
const buildNotFound = (id: bigint): Problem => new Problem('not-found', { detail: `There is no proposal ${id}.` })

const buildEvent = ({ id, type, data }: Pick<EventProposal, 'id' | 'type' | 'data'>): IncomingEvent => ({
  source: proposalSource,
  id: String(id),
  type,
  data,
})

const buildInvalid = (errors: readonly ProblemFault[]): Problem =>
  new Problem('invalid-event', { detail: 'The event would be refused; nothing was stored.', errors })

/** What an event would do, as the caller may read it. */
const maskForecast = ({ session }: Caller, { commands, ...rest }: EventForecast) => ({
  ...rest,
  commands: session ? commands.map((command) => ({ ...command, request: masked(command.request) })) : commands,
})

/** The proposal as the caller may read it. */
const maskProposal = ({ session }: Caller, { data, ...rest }: EventProposal): EventProposal => ({
  ...rest,
  data: session ? masked(data) : data,
})

/** Events that programs propose, and the decisions of people. */
export const proposalRoutes = (app: App, parts: RouteParts): void => {
  readRoutes(app, parts)
  proposeRoute(app, parts)
  decisionRoutes(app, parts)
}

const readRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services

  app.route({
    method: 'GET',
    url: '/v1/proposals',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['proposals'],
      summary: 'Proposed events, newest first',
      querystring: proposals.querystring,
      response: proposals.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = { sellerId: resolveSellerFilter(caller, query.sellerId), all: query.state === 'all' }
      return proposals.answer(request, reply, async (before, limit) => {
        const { items, next } = await listProposals(database, filter, before, limit)
        return { items: items.map((item) => maskProposal(caller, item)), next }
      })
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/proposals/:id',
    config: { needs: ['read', 'proposal'] },
    schema: {
      tags: ['proposals'],
      summary: 'A proposed event, with the effect that it would have now',
      params: idSchema,
      response: {
        200: z.object({ ...proposal, forecast: forecast.nullable().meta({ description: 'null: it is decided.' }) }),
        ...problems(404),
      },
    },
    handler: async ({ params: { id }, caller }) => {
      const stored = await readProposal(database, id)
      if (stored === null) throw buildNotFound(id)
      const isOpen = stored.state === 'open' || stored.state === 'approving'
      const [found = null] = isOpen ? await services.dryRunEvents([buildEvent(stored)]) : []
      return { ...maskProposal(caller, stored), forecast: found === null ? null : maskForecast(caller, found) }
    },
  })
}

const proposeRoute = (app: App, { services }: RouteParts): void => {
  const { database } = services

  /** The seller that an event names, or the only one. @throws Problem */
  const resolveSeller = (caller: Caller, event: IncomingEvent): string => {
    const sellers = services.sellers()
    const sellerId = readEvent(event).address?.sellerId ?? (sellers.length === 1 ? sellers[0] : undefined)
    if (sellerId === undefined)
      throw buildInvalid([{ path: 'data.sellerId', message: 'must be named: there are several sellers' }])
    requireSeller(caller, sellerId)
    return sellerId
  }

  app.route({
    method: 'POST',
    url: '/v1/proposals',
    config: { needs: ['propose', 'own'] },
    schema: {
      tags: ['proposals'],
      summary: 'Propose an event',
      description:
        'Nothing happens until a person approves it. An event that would be refused now is refused (422). The answer has the effect that it would have.',
      body: newProposalSchema,
      response: { 201: z.object({ ...proposal, forecast }), ...problems(409, 413, 415, 422) },
    },
    handler: async ({ body, caller, log }, reply) => {
      const sellerId = resolveSeller(caller, buildEvent({ id: 0n, ...body }))
      const data = toJson({ ...body.data, sellerId })
      const [found] = await services.dryRunEvents([buildEvent({ id: 0n, type: body.type, data })])
      if (found === undefined) throw new Error('the dry run of an event has no result')
      if (found.would !== 'accepted') throw buildInvalid(found.problem?.errors ?? [])
      if ((await countUndecidedProposals(database, null)) >= maxUndecided)
        throw new Problem('illegal-state', {
          detail: `There are ${maxUndecided} undecided proposals; a person must decide some of them first.`,
        })
      const by = resolveActor(caller, null)
      const stored = await database.transaction(async (tx) => {
        const created = await createProposal(tx, { sellerId, type: body.type, data, reason: body.reason, proposedBy: by.actor })
        const details = { type: body.type }
        await recordAct(tx, { by, action: 'proposal.added', sellerId, subject: String(created.id), reason: null, details })
        return created
      })
      log.info({ proposal_id: String(stored.id), seller_id: sellerId, event_type: body.type }, 'event proposed')
      return reply
        .status(201)
        .send({ ...maskProposal(caller, stored), forecast: maskForecast(caller, { ...found, id: String(stored.id) }) })
    },
  })
}

const decisionRoutes = (app: App, { services, stopping }: RouteParts): void => {
  const { database } = services

  const requireProposal = async (id: bigint): Promise<EventProposal> => {
    const stored = await readProposal(database, id)
    if (stored === null) throw buildNotFound(id)
    return stored
  }
  const buildDecided = async (id: bigint): Promise<Problem> =>
    new Problem('illegal-state', { detail: `Proposal ${id} is ${(await requireProposal(id)).state} already.` })

  app.route({
    method: 'POST',
    url: '/v1/proposals/:id/approve',
    config: { needs: ['operate', 'proposal'] },
    schema: {
      tags: ['proposals'],
      summary: 'Approve a proposed event: it is posted',
      description:
        'If the event is refused now (422), the proposal stays open. The approval can be repeated: the event is accepted once.',
      params: idSchema,
      body: z.strictObject({ actor: actorSchema, reason: actorAndReason.reason.nullish() }).nullish(),
      response: {
        200: z.object({ id: z.bigint(), state: z.literal('approved'), commands: z.array(z.string()).readonly() }),
        ...problems(404, 409, 413, 415, 422),
      },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body?.actor)
      const reason = body?.reason ?? null
      const stored = await requireProposal(id)
      const begun = await database.transaction(async (tx) => {
        if (!(await beginApproval(tx, { id, decidedBy: by.onBehalfOf ?? by.actor, reason }))) return false
        const { sellerId, type } = stored
        await recordAct(tx, {
          by,
          action: 'proposal.approval_requested',
          sellerId,
          subject: String(id),
          reason,
          details: { type },
        })
        return true
      })
      if (!begun) throw await buildDecided(id)
      const verdict = await services.acceptEvents([buildEvent(stored)], stopping)
      await endApproval(database, id, verdict.ok)
      services.counters.eventsReceived.inc({
        way: 'http',
        outcome: verdict.ok ? (verdict.receipts[0]?.status ?? 'accepted') : 'refused',
      })
      if (!verdict.ok)
        throw buildInvalid(verdict.reason === 'invalid' ? verdict.faults : [{ path: 'id', message: 'was posted before' }])
      log.info({ proposal_id: String(id), seller_id: stored.sellerId, actor: by.actor }, 'proposed event approved')
      return { id, state: 'approved' as const, commands: verdict.receipts[0]?.commands ?? [] }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/proposals/:id/reject',
    config: { needs: ['operate', 'proposal'] },
    schema: {
      tags: ['proposals'],
      summary: 'Reject a proposed event',
      params: idSchema,
      body: z.strictObject(actorAndReason),
      response: { 200: z.object({ id: z.bigint(), state: z.literal('rejected') }), ...problems(404, 409, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body: { actor, reason }, caller, log }) => {
      const by = resolveActor(caller, actor)
      const { sellerId, type } = await requireProposal(id)
      const rejected = await database.transaction(async (tx) => {
        if (!(await rejectProposal(tx, { id, decidedBy: by.onBehalfOf ?? by.actor, reason }))) return false
        await recordAct(tx, { by, action: 'proposal.rejected', sellerId, subject: String(id), reason, details: { type } })
        return true
      })
      if (!rejected) throw await buildDecided(id)
      log.info({ proposal_id: String(id), seller_id: sellerId, actor: by.actor }, 'proposed event rejected')
      return { id, state: 'rejected' as const }
    },
  })
}
