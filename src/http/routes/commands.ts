import { z } from 'zod'
import { commandKinds } from '../../domain/commands/command.ts'
import { verdicts } from '../../domain/commands/decision.ts'
import type { DecisionResult } from '../../store/commands/command-decisions.ts'
import { listCommands, readCommandDetail } from '../../store/commands/command-queries.ts'
import { type App, idParams, problems } from '../app.ts'
import { resolveActor, resolveSellerFilter } from '../auth/caller.ts'
import { maskCommand } from '../masking.ts'
import { Problem } from '../problems.ts'
import { buildList, fromSchema, searchFilter, skuFilter, textFilter, toSchema } from '../schemas/lists.ts'
import { bigintKey } from '../schemas/paging.ts'
import { actorAndReason, commandSchema, commandStateSchema } from '../schemas/schemas.ts'
import type { RouteParts } from './parts.ts'

const commands = buildList('commands', commandSchema, bigintKey, {
  state: commandStateSchema.optional(),
  kind: z.enum(commandKinds).optional(),
  sellerId: textFilter('Of this seller.'),
  q: searchFilter(
    "Beginning of their order's purchase order id, customer order id, SKU or tracking number, in upper or lower case.",
  ),
  purchaseOrderId: textFilter('On this purchase order.'),
  sku: skuFilter('They concern units of a line with this SKU. Acknowledgements concern whole orders and no units.'),
  trackingNumber: textFilter('Shipments with a parcel of this tracking number, and corrections from it or to it.'),
  eventId: textFilter('Of the event with this id.'),
  eventSource: textFilter('Of events of this source.'),
  createdFrom: fromSchema('Accepted'),
  createdTo: toSchema('Accepted'),
  settledFrom: fromSchema('Confirmed or rejected'),
  settledTo: toSchema('Confirmed or rejected'),
})
const decisions = ['retry', 'confirm', 'reject'] as const
const meanings = {
  retry: 'It was not applied and must be sent again. If a part of it was applied, decide line by line instead.',
  confirm: 'It was applied: its units count as done.',
  reject: 'It was not applied and must not be: its units are released.',
} as const

const lineDecisionSchema = z.strictObject({
  lineNumber: z.string().min(1),
  verdict: z.enum(verdicts),
  quantity: z.int().positive().optional().meta({ description: 'Default: all units of the line that are not decided yet.' }),
  trackingNumber: z
    .string()
    .optional()
    .meta({ description: 'For shipments: the parcel, if the line is distributed over several.' }),
  reason: z.string().optional().meta({ description: 'For cancellations and refunds: the entry, if the line has several.' }),
})

/** Commands, and an operator's decisions on them. */
export const commandRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/commands',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['commands'],
      summary: 'Commands, newest first',
      querystring: commands.querystring,
      response: commands.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        q: query.q ?? null,
        state: query.state ?? null,
        sellerId: resolveSellerFilter(caller, query.sellerId),
        purchaseOrderId: query.purchaseOrderId ?? null,
        eventId: query.eventId ?? null,
        eventSource: query.eventSource ?? null,
        kind: query.kind ?? null,
        sku: query.sku ?? null,
        trackingNumber: query.trackingNumber ?? null,
        created: { from: query.createdFrom ?? null, to: query.createdTo ?? null },
        settled: { from: query.settledFrom ?? null, to: query.settledTo ?? null },
      }
      return commands.answer(request, reply, async (after, limit) => {
        const { items, next } = await listCommands(services.database, filter, after, limit)
        return { items: items.map((command) => maskCommand(caller, command)), next }
      })
    },
  })

  const buildNotFound = (id: string): Problem => new Problem('not-found', { detail: `There is no command ${id}.` })

  app.route({
    method: 'GET',
    url: '/v1/commands/:id',
    config: { needs: ['read', 'command'] },
    schema: {
      tags: ['commands'],
      summary: 'A command with its attempts, evidence and decisions',
      params: idParams,
      response: { 200: commandSchema, ...problems(404) },
    },
    handler: async ({ params: { id }, caller }) => {
      const command = await readCommandDetail(services.database, id)
      if (command === null) throw buildNotFound(id)
      return maskCommand(caller, command)
    },
  })

  const toAnswer = (id: string, result: DecisionResult) => {
    if (result.ok) return { id, state: result.state }
    if (result.fault === 'not-found') throw buildNotFound(id)
    if (result.fault === 'wrong-lines')
      throw new Problem('invalid-request', { detail: 'The decision does not match the command.', errors: result.faults })
    const why = result.state === 'sending' ? 'its request is being sent; try again in a minute' : 'it is settled'
    throw new Problem('illegal-state', { detail: `Command ${id} is ${result.state}: ${why}.` })
  }

  for (const decision of decisions) {
    app.route({
      method: 'POST',
      url: `/v1/commands/:id/${decision}`,
      config: { needs: ['operate', 'command'] },
      schema: {
        tags: ['commands'],
        summary: `Decide: ${decision}`,
        description: `${meanings[decision]} Stored with actor, time and reason. Possible for every command that is not settled.`,
        params: idParams,
        body: z.strictObject(actorAndReason),
        response: { 200: z.object({ id: z.string(), state: commandStateSchema }), ...problems(404, 409, 413, 415, 422) },
      },
      handler: async ({ params: { id }, body, caller }) =>
        toAnswer(
          id,
          await services.decide({ commandId: id, decision, reason: body.reason, ...resolveActor(caller, body.actor) }),
        ),
    })
  }

  app.route({
    method: 'POST',
    url: '/v1/commands/:id/decide',
    config: { needs: ['operate', 'command'] },
    schema: {
      tags: ['commands'],
      summary: 'Decide line by line',
      description:
        'For the units of each line: applied, not applied (and must not be), or to be sent again. Every unit of the command needs one verdict; the order ledger is updated.',
      params: idParams,
      body: z.strictObject({ ...actorAndReason, lines: z.array(lineDecisionSchema).min(1).max(1_000) }),
      response: { 200: z.object({ id: z.string(), state: commandStateSchema }), ...problems(404, 409, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller }) =>
      toAnswer(id, await services.decide({ commandId: id, ...body, ...resolveActor(caller, body.actor) })),
  })
}
