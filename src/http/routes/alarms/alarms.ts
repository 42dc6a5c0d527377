import { z } from 'zod'
import { alarmSeverities } from '../../../domain/alarms/alarm-rules.ts'
import { closeAlarm, silenceAlarm } from '../../../store/alarms/alarms.ts'
import { listAlarms } from '../../../store/commands/operator-queries.ts'
import { type App, problems } from '../../app.ts'
import { resolveActor, resolveSellerFilter } from '../../auth/caller.ts'
import { Problem } from '../../problems.ts'
import { buildList, flagSchema, fromSchema, textFilter, timeSchema, toSchema } from '../../schemas/lists.ts'
import { bigintKey } from '../../schemas/paging.ts'
import { actorAndReason, actorSchema, alarmSchema } from '../../schemas/schemas.ts'
import type { RouteParts } from '../parts.ts'

const alarms = buildList('alarms', alarmSchema, bigintKey, {
  state: z.enum(['open', 'all']).default('open'),
  sellerId: textFilter('Of this seller.'),
  kind: textFilter('Of this kind, such as `command-held`.'),
  severity: z.enum(alarmSeverities).optional().meta({ description: 'Of this severity.' }),
  silenced: flagSchema.optional().meta({ description: 'Whether an operator has silenced it until a future time.' }),
  subject: textFilter('About this subject: a command, an order, a SKU …'),
  raisedFrom: fromSchema('Raised'),
  raisedTo: toSchema('Raised'),
})

const maxSilenceMs = 366 * 86_400_000

/** Alarms for the operator. */
export const alarmRoutes = (app: App, { services }: RouteParts): void => {
  app.route({
    method: 'GET',
    url: '/v1/alarms',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['alarms'],
      summary: 'Alarms, newest first',
      querystring: alarms.querystring,
      response: alarms.response,
    },
    handler: (request, reply) => {
      const { query } = request
      const filter = {
        all: query.state === 'all',
        sellerId: resolveSellerFilter(request.caller, query.sellerId),
        kind: query.kind ?? null,
        severity: query.severity ?? null,
        silenced: query.silenced ?? null,
        subject: query.subject ?? null,
        raised: { from: query.raisedFrom ?? null, to: query.raisedTo ?? null },
      }
      return alarms.answer(request, reply, (after, limit) => listAlarms(services.database, filter, after, limit))
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/alarms/:id/resolve',
    config: { needs: ['operate', 'alarm'] },
    schema: {
      tags: ['alarms'],
      summary:
        'Resolve an alarm about a past event, such as a rejected command; all other alarms close automatically with their cause',
      params: z.object({ id: bigintKey }),
      body: z.object({ actor: actorSchema, reason: actorAndReason.reason.nullish() }).nullish(),
      response: { 200: z.object({ id: z.bigint(), resolved: z.boolean() }), ...problems(404, 409) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const by = resolveActor(caller, body?.actor)
      const result = await closeAlarm(services.database, { id, by, reason: body?.reason ?? null })
      if (result === 'not-found') throw new Problem('not-found', { detail: `There is no alarm ${id}.` })
      if (result === 'not-closable') {
        throw new Problem('illegal-state', {
          detail: `Alarm ${id} is closed already, or closes automatically with its cause.`,
        })
      }
      log.info({ alarm_id: String(id), actor: by.actor }, 'alarm closed')
      return { id, resolved: true }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/alarms/:id/silence',
    config: { needs: ['operate', 'alarm'] },
    schema: {
      tags: ['alarms'],
      summary: 'Silence an open alarm until a given time',
      description:
        'It stays open and is counted separately (`tallyman_alarms_silenced`), like any alarm of the same kind and subject that opens before that time. A past time ends the silence.',
      params: z.object({ id: bigintKey }),
      body: z.strictObject({
        ...actorAndReason,
        until: timeSchema.meta({ description: 'Date, or date and time, at most a year ahead.' }),
      }),
      response: { 200: z.object({ id: z.bigint(), silencedUntil: z.date() }), ...problems(404, 409, 422) },
    },
    handler: async ({ params: { id }, body: { until, reason, actor }, caller, log }) => {
      if (until.getTime() > Date.now() + maxSilenceMs || until.getTime() < 0) {
        throw new Problem('invalid-body', {
          detail: 'An alarm is silenced for a year at most.',
          errors: [{ path: 'until', message: 'must be at most a year ahead' }],
        })
      }
      const by = resolveActor(caller, actor)
      const result = await silenceAlarm(services.database, { id, by, reason, until })
      if (result === 'not-found') throw new Problem('not-found', { detail: `There is no alarm ${id}.` })
      if (result === 'not-open') throw new Problem('illegal-state', { detail: `Alarm ${id} is no longer open.` })
      log.info({ alarm_id: String(id), actor: by.actor, until }, 'alarm silenced')
      return { id, silencedUntil: until }
    },
  })
}
