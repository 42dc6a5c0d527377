import type { IncomingMessage } from 'node:http'
import type { FastifySchemaCompiler } from 'fastify'
import { type core, z } from 'zod'
import { conflictMessage } from '../../../domain/events/event-conflict.ts'
import { readEvent } from '../../../domain/events/event-reading.ts'
import { masked } from '../../../domain/values/masking.ts'
import { listEventCommands } from '../../../store/commands/command-queries.ts'
import { listEvents } from '../../../store/events/event-queries.ts'
import { type IncomingEvent, readStoredEvent } from '../../../store/events/events.ts'
import { type App, problems } from '../../app.ts'
import { type Caller, mayAccessSeller, resolveActor, resolveSellerFilter } from '../../auth/caller.ts'
import { createSignatureCheck } from '../../auth/signature.ts'
import { type EventMode, eventMediaTypes, mayContainEvents, parseEvents, placeInBatch } from '../../cloud-events.ts'
import { maskCommand } from '../../masking.ts'
import { Problem, type ProblemFault } from '../../problems.ts'
import { cloudEventSchema, eventDataSchema } from '../../schemas/event-schemas.ts'
import { buildList, fromSchema, textFilter, toSchema } from '../../schemas/lists.ts'
import { bigintKey } from '../../schemas/paging.ts'
import {
  actorAndReason,
  eventForecastSchema,
  eventReceiptSchema,
  eventSchema,
  eventStateSchema,
  listedEventSchema,
} from '../../schemas/schemas.ts'
import { validatorCompiler } from '../../schemas/serializers.ts'
import type { RouteParts } from '../parts.ts'

const listed = buildList('events', listedEventSchema, bigintKey, {
  state: eventStateSchema.optional(),
  type: textFilter('Of this type, such as `erp.shipment.dispatched`.'),
  sellerId: textFilter('Of this seller.'),
  purchaseOrderId: textFilter('About this purchase order, or about a return of it.'),
  source: textFilter('Of this source.'),
  id: textFilter('With this id.'),
  receivedFrom: fromSchema('Received'),
  receivedTo: toSchema('Received'),
})

const buildInvalidEvent = (errors: readonly ProblemFault[]): Problem => {
  const count = errors.length === 1 ? 'There is one error' : `There are ${errors.length} errors`
  return new Problem('invalid-event', { detail: `${count}; nothing was accepted.`, errors })
}

const placeFault = (mode: EventMode, index: number, fault: ProblemFault): ProblemFault =>
  mode === 'batch' ? placeInBatch(index, fault) : { path: fault.path, message: fault.message }

const postingQuery = z.object({
  dryRun: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .meta({ description: 'true: reports what the events would do now; nothing is stored, and the marketplace is not called.' }),
})

/** Events of a key that is bound to sellers must name one of them. @throws Problem */
const refuseOtherSellers = (caller: Caller, mode: EventMode, events: readonly IncomingEvent[]): void => {
  const { sellers } = caller
  if (sellers === null) return
  const faults = events.flatMap((event, index) => {
    const sellerId = readEvent(event).address?.sellerId ?? null
    if (mayAccessSeller(caller, sellerId)) return []
    const message = sellerId === null ? 'must be named: the key is bound to sellers' : 'is a seller that the key is not bound to'
    return [placeFault(mode, index, { path: 'data.sellerId', message })]
  })
  if (faults.length === 0) return
  throw new Problem('seller-refused', {
    detail: `The key ${caller.name ?? ''} is bound to ${sellers.join(', ')}; nothing was accepted.`,
    errors: faults,
  })
}

const eventParams = z.object({
  source: z.string().min(1).meta({ description: 'URL-encoded.' }),
  id: z.string().min(1).meta({ description: 'URL-encoded.' }),
})

/** ERP events and their results. */
export const eventRoutes = (app: App, { services, stopping }: RouteParts): void => {
  const checkSignature = createSignatureCheck(services.eventsSecrets)
  const count = (outcome: 'accepted' | 'duplicate' | 'conflict' | 'refused', events: number): void => {
    if (events > 0) services.counters.eventsReceived.inc({ way: 'http', outcome }, events)
  }
  /** @throws Problem for a malformed body, which counts as one refused event: their number is unknown */
  const readEvents = (request: IncomingMessage, body: Buffer, dryRun: boolean) => {
    try {
      const parsed = parseEvents(request, body, services.limits.batchEvents)
      if (!parsed.ok) throw buildInvalidEvent(parsed.faults)
      return parsed
    } catch (error) {
      if (!dryRun) count('refused', 1)
      throw error
    }
  }

  app.register(async (scope) => {
    // The signature covers the received bytes, so the body must not be parsed before.
    scope.removeAllContentTypeParsers()
    const skipBody: FastifySchemaCompiler<core.$ZodType> = (part) =>
      part.httpPart === 'body' ? (value) => ({ value }) : validatorCompiler(part)
    scope.setValidatorCompiler(skipBody)
    scope.addContentTypeParser(/^/, { parseAs: 'buffer' }, (request, body, done) => {
      if (mayContainEvents(request.headers['content-type'] ?? '')) return done(null, body)
      const accepted = Object.values(eventMediaTypes).join(', ')
      done(new Problem('unsupported-media-type', { detail: `Events are sent as ${accepted}, in UTF-8.` }))
    })
    scope.route({
      method: 'POST',
      url: '/v1/events',
      config: { access: 'signed', needs: ['events:write', 'own'] },
      schema: {
        tags: ['events'],
        summary: 'Accept ERP events',
        description:
          'CloudEvents 1.0 over HTTP: binary (`ce-*` headers, data as body), structured (`application/cloudevents+json`) or batch ' +
          `(\`application/cloudevents-batch+json\`, up to ${services.limits.batchEvents}). Without \`ce-*\` headers, \`application/json\` is read ` +
          'as structured or batch mode: an event, or an array. Answers once all of them are stored; if one is invalid, none is accepted. ' +
          'A repeated source and id with the same body is a duplicate and gets the answer of the first. ' +
          'With `dryRun=true` nothing is stored: the answer is 200 with the effect that each event would have now.',
        security: [{ apiKey: ['events:write'] }, { signature: [] }],
        querystring: postingQuery,
        body: z.union([cloudEventSchema, z.array(cloudEventSchema), eventDataSchema]),
        consumes: Object.values(eventMediaTypes),
        response: {
          200: z
            .object({ items: z.array(eventForecastSchema).readonly() })
            .meta({ description: 'With `dryRun=true`: the effect that each event would have now.' }),
          202: z.object({ items: z.array(eventReceiptSchema).readonly() }),
          ...problems(409, 413, 415, 422),
        },
      },
      handler: async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        // A named key admits events without a signature. A signature that is sent anyway must be right.
        if (request.caller.mustSign || request.headers['webhook-signature'] !== undefined) checkSignature(request.headers, body)
        if (request.headers['content-type'] === undefined) {
          throw new Problem('unsupported-media-type', { detail: 'The header content-type is missing.' })
        }
        const dryRun = postingQuery.parse(request.query).dryRun === 'true'
        const { events, mode } = readEvents(request.raw, body, dryRun)
        refuseOtherSellers(request.caller, mode, events)
        if (dryRun) return { items: await services.dryRunEvents(events) }
        const verdict = await services.acceptEvents(events, stopping)
        if (verdict.ok) {
          for (const { status } of verdict.receipts) count(status, 1)
          reply.status(202)
          return { items: verdict.receipts }
        }
        const conflicts = verdict.reason === 'conflict' ? verdict.indexes.length : 0
        count('conflict', conflicts)
        count('refused', events.length - conflicts)
        if (verdict.reason === 'invalid')
          throw buildInvalidEvent(verdict.faults.map((fault) => placeFault(mode, fault.index, fault)))
        throw new Problem('event-conflict', {
          detail: 'The source and id were posted before with another body; nothing was accepted.',
          errors: verdict.indexes.flatMap((index) => {
            const event = events[index]
            return event === undefined ? [] : [placeFault(mode, index, { path: 'id', message: conflictMessage(event) })]
          }),
        })
      },
    })
  })

  app.route({
    method: 'GET',
    url: '/v1/events',
    config: { needs: ['read', 'own'] },
    schema: {
      tags: ['events'],
      summary: 'Events, newest first',
      querystring: listed.querystring,
      response: listed.response,
    },
    handler: (request, reply) => {
      const { query } = request
      const filter = {
        state: query.state ?? null,
        type: query.type ?? null,
        sellerId: resolveSellerFilter(request.caller, query.sellerId),
        purchaseOrderId: query.purchaseOrderId ?? null,
        source: query.source ?? null,
        id: query.id ?? null,
        received: { from: query.receivedFrom ?? null, to: query.receivedTo ?? null },
      }
      return listed.answer(request, reply, (after, limit) => listEvents(services.database, filter, after, limit))
    },
  })

  const buildNotFound = (source: string, id: string): Problem =>
    new Problem('not-found', { detail: `There is no event ${id} of ${source}.` })

  app.route({
    method: 'GET',
    url: '/v1/events/:source/:id',
    config: { needs: ['read', 'event'] },
    schema: {
      tags: ['events'],
      summary: 'An event with its commands',
      params: eventParams,
      response: { 200: eventSchema, ...problems(404) },
    },
    handler: async ({ params: { source, id }, caller }) => {
      const event = await readStoredEvent(services.database, { source, id })
      if (event === null) throw buildNotFound(source, id)
      const commands = await listEventCommands(services.database, source, id)
      return {
        ...event,
        data: caller.session ? masked(event.data) : event.data,
        commands: commands.map((command) => maskCommand(caller, command)),
      }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/events/:source/:id/reject',
    config: { needs: ['operate', 'event'] },
    schema: {
      tags: ['events'],
      summary: 'Reject a waiting event',
      description:
        'It creates no command. Stored with actor, time and reason; its source and id stay reserved. Possible only for an event in the state `received`.',
      params: eventParams,
      body: z.strictObject(actorAndReason),
      response: {
        200: z.object({ source: z.string(), id: z.string(), state: eventStateSchema }),
        ...problems(404, 409, 413, 415, 422),
      },
    },
    handler: async ({ params: { source, id }, body, caller }) => {
      const result = await services.rejectEvent({ source, id }, { reason: body.reason, ...resolveActor(caller, body.actor) })
      if (result.ok) return { source, id, state: result.state }
      if (result.fault === 'not-found') throw buildNotFound(source, id)
      const advice = result.state === 'accepted' ? '; its commands can be rejected one by one' : ''
      throw new Problem('illegal-state', { detail: `Event ${id} of ${source} is ${result.state} already${advice}.` })
    },
  })
}
