import { z } from 'zod'
import { maskedText } from '../../domain/values/masking.ts'
import { listQuarantined, readQuarantinedText } from '../../store/commands/operator-queries.ts'
import { recordAct } from '../../store/keys/audit.ts'
import { findSeller } from '../../store/sellers/owners.ts'
import { dismissQuarantined } from '../../store/sync/quarantine.ts'
import { type App, problems } from '../app.ts'
import { resolveActor, resolveSellerFilter } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { buildList, flagSchema, fromSchema, textFilter, toSchema } from '../schemas/lists.ts'
import { bigintKey } from '../schemas/paging.ts'
import { actorAndReason, actorSchema, quarantinedSchema } from '../schemas/schemas.ts'
import type { RouteParts } from './parts.ts'

const quarantined = buildList('quarantine', quarantinedSchema, bigintKey, {
  state: z.enum(['open', 'replayed', 'superseded', 'dismissed', 'all']).default('open'),
  sellerId: textFilter('Of this seller.'),
  resource: textFilter('Of this resource, such as `orders`.'),
  recordKey: textFilter('Of the record with this key, such as a purchase order id.'),
  skipped: flagSchema.optional().meta({ description: 'true: skipped parts of lists; false: records.' }),
  seenFrom: fromSchema('First seen'),
  seenTo: toSchema('First seen'),
})

/** Records that could not be parsed. */
export const quarantineRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/quarantine',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['quarantine'],
      summary: 'Records that could not be parsed, newest first',
      querystring: quarantined.querystring,
      response: quarantined.response,
    },
    handler: (request, reply) => {
      const { query, caller } = request
      const filter = {
        state: query.state === 'all' ? null : query.state,
        sellerId: resolveSellerFilter(caller, query.sellerId),
        resource: query.resource ?? null,
        recordKey: query.recordKey ?? null,
        skipped: query.skipped ?? null,
        seen: { from: query.seenFrom ?? null, to: query.seenTo ?? null },
      }
      return quarantined.answer(request, reply, async (after, limit) => {
        const page = await listQuarantined(services.database, filter, after, limit)
        const items = page.items.map((record) => {
          const rawText = caller.session ? maskedText(record.rawText) : record.rawText
          return { ...record, rawText, masked: rawText !== record.rawText }
        })
        return { items, next: page.next }
      })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/quarantine/:id/reveal',
    config: { needs: ['read', 'quarantined'] },
    schema: {
      tags: ['quarantine'],
      summary: 'Show a record as it was received',
      description: "For sessions, which get records without the buyer's data. The request is audited.",
      params: z.object({ id: bigintKey }),
      body: z.strictObject({ actor: actorSchema }).nullish(),
      response: { 200: z.object({ id: z.bigint(), rawText: z.string() }), ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller }) => {
      const { database } = services
      const record = await readQuarantinedText(database, id)
      if (record === null) throw new Problem('not-found', { detail: `There is no quarantined record ${id}.` })
      const { sellerId, rawText } = record
      const by = resolveActor(caller, body?.actor)
      await recordAct(database, { by, action: 'record.shown', sellerId, subject: String(id), reason: null })
      return { id, rawText }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/quarantine/:id/replay',
    config: { needs: ['operate', 'quarantined'] },
    schema: {
      tags: ['quarantine'],
      summary: 'Parse a record again',
      params: z.object({ id: bigintKey }),
      response: {
        200: z.object({ id: z.bigint(), outcome: z.enum(['replayed', 'superseded']) }),
        ...problems(404, 409, 422),
      },
    },
    handler: async ({ params: { id }, caller }) => {
      const { database } = services
      const sellerId = await findSeller(database, 'quarantined', String(id))
      if (sellerId !== null) {
        const by = resolveActor(caller, null)
        await recordAct(database, { by, action: 'record.replay_requested', sellerId, subject: String(id), reason: null })
      }
      const result = await services.replayQuarantined(id)
      switch (result.outcome) {
        case 'replayed':
        case 'superseded':
          return { id, outcome: result.outcome }
        case 'not-found':
          throw new Problem('not-found', { detail: `There is no quarantined record ${id}.` })
        case 'already-settled':
          throw new Problem('illegal-state', { detail: `Record ${id} is ${result.state} already.` })
        case 'still-malformed':
          throw new Problem('still-malformed', { detail: result.fault })
      }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/quarantine/:id/dismiss',
    config: { needs: ['operate', 'quarantined'] },
    schema: {
      tags: ['quarantine'],
      summary: 'Settle a record that cannot be obtained or is not needed; the same text stays settled when it is received again',
      params: z.object({ id: bigintKey }),
      body: z.strictObject(actorAndReason),
      response: { 200: z.object({ id: z.bigint(), state: z.literal('dismissed') }), ...problems(404, 409, 413, 415) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body.actor)
      const refusal = await services.database.transaction((tx) => dismissQuarantined(tx, id, { reason: body.reason, ...by }))
      if (refusal === 'not-found') throw new Problem('not-found', { detail: `There is no quarantined record ${id}.` })
      if (refusal === 'already-settled') throw new Problem('illegal-state', { detail: `Record ${id} is settled already.` })
      log.info({ quarantined_id: String(id), actor: by.actor }, 'quarantined record dismissed')
      return { id, state: 'dismissed' as const }
    },
  })
}
