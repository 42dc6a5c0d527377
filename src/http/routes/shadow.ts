import { z } from 'zod'
import { commandKinds } from '../../domain/commands/command.ts'
import { differenceKinds } from '../../domain/shadow/compare.ts'
import { listShadowOrders, type ShadowCounts, summarizeShadow } from '../../store/commands/shadow-comparisons.ts'
import { type DecidedMode, decideMode } from '../../store/sellers/seller-mode.ts'
import { type App, idParams, problems } from '../app.ts'
import { resolveActor, resolveSellerFilter } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { buildList, fromSchema, textFilter } from '../schemas/lists.ts'
import { actorSchema } from '../schemas/schemas.ts'
import { shadowCountsSchema, shadowOrderSchema, shadowVerdictSchema } from '../schemas/shadow.ts'
import type { RouteParts } from './parts.ts'
import { buildNoSeller, buildSellerAnswer, reason, sellerSchema } from './sellers.ts'

const modeSchema = z
  .object({
    seller: sellerSchema,
    withdrawn: z.array(z.string()).meta({
      description:
        'Commands that ended, predicted or not predicted yet, whether the other system has done them or not: nothing of them was sent, and nothing will be. If the order of one does not show it, and Tallyman shall do it, send its event again with a new id.',
    }),
    notShown: z.array(z.string()).meta({
      description: 'Those of them that were not predicted, or whose orders do not show all units of the prediction.',
    }),
    differences: z.int().meta({ description: 'Orders that differed from their predictions when the seller went live.' }),
  })
  .meta({ id: 'SellerMode' })

/** Maximum number of orders that are compared to be counted, about. */
const maxCounted = 10_000

const shadowFilters = {
  sellerId: textFilter('Of this seller.'),
  from: fromSchema('Orders placed, or with a prediction,'),
}
const shadowOrders = buildList('shadow', shadowOrderSchema, z.object({ sellerId: z.string(), purchaseOrderId: z.string() }), {
  ...shadowFilters,
  purchaseOrderId: textFilter('This order.'),
  verdict: shadowVerdictSchema.optional(),
  kind: z
    .enum(commandKinds)
    .optional()
    .meta({ description: 'With a prediction of this kind, or with units that were processed in this way without an event.' }),
  difference: z.enum(differenceKinds).optional().meta({ description: 'With a difference of this kind.' }),
})

const describeDifferences = (
  sellerId: string,
  { difference, missing, unpredicted, pending }: ShadowCounts,
  waitingEvents: number,
): string => {
  const toDo = 'Nothing has changed. Read them (`tallyman shadow report`, GET /v1/shadow), or go live anyway with `force`.'
  if (waitingEvents > 0)
    return (
      `Undecided events of seller ${sellerId}: ${waitingEvents}. Their commands would be sent, also if the other system has done the same. Nothing has ` +
      'changed. Wait until they are decided, reject them (`tallyman events list --state received`), or go live anyway with `force`.'
    )
  if (difference + missing + unpredicted === 0)
    return (
      `No prediction of seller ${sellerId} has been compared with an order yet: ${pending} are pending, and would end without being sent. ` +
      `Wait until orders show what the other system does. ${toDo}`
    )
  return (
    `Orders of seller ${sellerId} differ from what was predicted (processed in another way: ${difference}, not processed within 24 hours: ${missing}, ` +
    `processed without an event: ${unpredicted}). ${toDo}`
  )
}

/** Shadow mode: whether the commands of a seller are sent or predicted. */
export const shadowRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services
  const toModeAnswer = ({ seller, withdrawn, notShown, differences }: DecidedMode) => ({
    seller: buildSellerAnswer(seller, services.sellers()),
    withdrawn: [...withdrawn],
    notShown: [...notShown],
    differences,
  })
  app.route({
    method: 'GET',
    url: '/v1/shadow',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['sellers'],
      summary: 'Orders of sellers in shadow mode beside what was predicted',
      description:
        'By seller and purchase order id: orders with a prediction, and orders that were processed since shadow mode began. Compared when they are read. ' +
        'With `verdict`, `kind` or `difference` a page may have fewer orders than `limit`, or none, although `nextCursor` leads to more: it compares at most 5,000 orders.',
      querystring: shadowOrders.querystring,
      response: { ...shadowOrders.response, ...problems(404) },
    },
    handler: async (request, reply) => {
      const { query, caller } = request
      const filter = {
        sellerId: resolveSellerFilter(caller, query.sellerId),
        purchaseOrderId: query.purchaseOrderId ?? null,
        from: query.from ?? null,
      }
      const { verdict = null, kind = null, difference = null } = query
      const selection = { verdict, kind, difference }
      return shadowOrders.answer(request, reply, (after, limit) => listShadowOrders(database, filter, selection, after, limit))
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/shadow/counts',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['sellers'],
      summary: 'Number of orders of sellers in shadow mode by verdict',
      querystring: z.object(shadowFilters),
      response: { 200: shadowCountsSchema, ...problems(404) },
    },
    handler: async ({ query, caller }) => {
      const sellerId = resolveSellerFilter(caller, query.sellerId)
      const filter = { sellerId, purchaseOrderId: null, from: query.from ?? null }
      const { counts, complete } = await summarizeShadow(database, filter, maxCounted)
      return { ...counts, complete }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/:id/go-live',
    config: { needs: ['operate', 'seller'] },
    schema: {
      tags: ['sellers'],
      summary: 'End the shadow mode of a seller',
      description:
        'From now on its commands are sent. Open predictions, and commands that were not predicted yet, end and are never sent: what the other system did is not repeated. The decision wins over the setting `MODE`. Refused with `shadow-differs` while orders differ from their predictions, while every prediction is pending, or while events wait, unless `force` is true.',
      params: idParams,
      body: z.strictObject({
        actor: actorSchema,
        reason,
        force: z.boolean().optional().meta({
          description: 'Go live although orders differ from their predictions, none has been compared, or events wait.',
        }),
      }),
      response: { 200: modeSchema, ...problems(404, 409, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body.actor)
      const force = body.force ?? false
      const decided = await decideMode(database, { sellerId: id, mode: 'live', reason: body.reason, force, ...by })
      if (decided === null) throw buildNoSeller(id)
      if (decided.outcome === 'differs') {
        const { counts, waitingEvents } = decided
        throw new Problem('shadow-differs', { detail: describeDifferences(id, counts, waitingEvents) })
      }
      const { withdrawn, differences } = decided
      log.info({ seller_id: id, actor: by.actor, withdrawn: withdrawn.length, differences }, 'seller went live')
      return toModeAnswer(decided)
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/sellers/:id/go-shadow',
    config: { needs: ['operate', 'seller'] },
    schema: {
      tags: ['sellers'],
      summary: 'Put a seller in shadow mode',
      description:
        'From now on nothing of it is written to the marketplace: everything is read, decided and reserved, and its commands are predicted. A request that is being sent is completed, and its outcome is read back. The decision wins over the setting `MODE`.',
      params: idParams,
      body: z.strictObject({ actor: actorSchema, reason }),
      response: { 200: modeSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body.actor)
      const decided = await decideMode(database, { sellerId: id, mode: 'shadow', reason: body.reason, ...by })
      if (decided?.outcome !== 'decided') throw buildNoSeller(id)
      log.info({ seller_id: id, actor: by.actor }, 'seller put in shadow mode')
      return toModeAnswer(decided)
    },
  })
}
