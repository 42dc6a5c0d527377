import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { commandsOfEvent } from '../../store/command-queries.ts'
import { listEvents } from '../../store/event-queries.ts'
import { readStoredEvent } from '../../store/events.ts'
import { type App, problems } from '../app.ts'
import { carriesEvents, type EventMode, eventMediaTypes, inBatch, parseEvents } from '../cloud-events.ts'
import { bigintKey, cursorCodec, pageSchema, pagingSchema } from '../paging.ts'
import { Problem, type ProblemFault } from '../problems.ts'
import { actorAndReason, eventReceiptSchema, eventSchema, eventStateSchema, listedEventSchema } from '../schemas.ts'
import { createSignatureCheck } from '../signature.ts'
import type { RouteParts } from './parts.ts'

const cursors = cursorCodec('events', bigintKey)

const described = (count: number): string => (count === 1 ? 'There is one fault' : `There are ${count} faults`)

const wrong = (errors: readonly ProblemFault[]): Problem =>
  new Problem('invalid-event', { detail: `${described(errors.length)}; nothing was accepted.`, errors })

const place = (mode: EventMode, index: number, fault: ProblemFault): ProblemFault =>
  mode === 'batch' ? inBatch(index, fault) : { path: fault.path, message: fault.message }

// For the OpenAPI document; a body is validated explicitly, after its signature.
const cloudEventSchema = z
  .looseObject({
    specversion: z.literal('1.0'),
    id: z.string(),
    source: z.string(),
    type: z.string(),
    time: z.string().optional(),
    datacontenttype: z.string().optional(),
    data: z.unknown(),
  })
  .meta({ id: 'CloudEvent', description: 'CloudEvents 1.0; `type` and `data` as in the page on ERP events.' })

const cloudEventDataSchema = z
  .union([z.looseObject({ purchaseOrderId: z.string() }), z.looseObject({ simplifiedShippingSettings: z.looseObject({}) })])
  .meta({ description: 'Binary mode: the data alone.' })

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
  /** @throws Problem; how many events there are is not known then: they count as one */
  const readEvents = (request: IncomingMessage, body: Buffer) => {
    try {
      const parsed = parseEvents(request, body, services.limits.batchEvents)
      if (!parsed.ok) throw wrong(parsed.faults)
      return parsed
    } catch (error) {
      count('refused', 1)
      throw error
    }
  }

  app.register(async (scope) => {
    // The signature covers the bytes as received, so they must not be parsed before.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(/^/, { parseAs: 'buffer' }, (request, body, done) => {
      if (carriesEvents(request.headers['content-type'] ?? '')) return done(null, body)
      const accepted = ['application/json', eventMediaTypes.structured, eventMediaTypes.batch].join(', ')
      done(new Problem('unsupported-media-type', { detail: `Events are sent as ${accepted}, in UTF-8.` }))
    })
    scope.route({
      method: 'POST',
      url: '/v1/events',
      config: { access: 'signed' },
      schema: {
        tags: ['events'],
        summary: 'Accept ERP events',
        description:
          'CloudEvents 1.0 over HTTP: binary (`ce-*` headers, data as body), structured (`application/cloudevents+json`) or batch ' +
          `(\`application/cloudevents-batch+json\`, up to ${services.limits.batchEvents}). Answers once all of them are stored; if one is invalid, ` +
          'none is accepted. ' +
          'A repeated source and id with the same body is a duplicate and gets the answer of the first.',
        security: [{ apiKey: [] }, { signature: [] }],
        body: z.union([cloudEventSchema, z.array(cloudEventSchema), cloudEventDataSchema]),
        consumes: ['application/json', eventMediaTypes.structured, eventMediaTypes.batch],
        response: {
          202: z.object({ items: z.array(eventReceiptSchema).readonly() }),
          ...problems(409, 413, 415, 422),
        },
      },
      validatorCompiler: () => (value) => ({ value }),
      handler: async (request, reply) => {
        const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
        checkSignature(request.headers, body)
        if (request.headers['content-type'] === undefined) {
          throw new Problem('unsupported-media-type', { detail: 'The header content-type is missing.' })
        }
        const { events, mode } = readEvents(request.raw, body)
        const verdict = await services.acceptEvents(events, stopping)
        if (verdict.ok) {
          for (const { status } of verdict.receipts) count(status, 1)
          reply.status(202)
          return { items: verdict.receipts }
        }
        const conflicts = verdict.reason === 'conflict' ? verdict.indexes.length : 0
        count('conflict', conflicts)
        count('refused', events.length - conflicts)
        if (verdict.reason === 'invalid') throw wrong(verdict.faults.map((fault) => place(mode, fault.index, fault)))
        throw new Problem('event-conflict', {
          detail: 'The source and id were posted before with another body; nothing was accepted.',
          errors: verdict.indexes.map((index) =>
            place(mode, index, { path: 'id', message: `${events[index]?.id} of ${events[index]?.source} has another body` }),
          ),
        })
      },
    })
  })

  app.route({
    method: 'GET',
    url: '/v1/events',
    schema: {
      tags: ['events'],
      summary: 'Events, newest first',
      querystring: z.object({ ...pagingSchema, state: eventStateSchema.optional(), sellerId: z.string().optional() }),
      response: { 200: pageSchema(listedEventSchema), ...problems() },
    },
    handler: async ({ query }) => {
      const filter = { state: query.state ?? null, sellerId: query.sellerId ?? null }
      const page = await listEvents(services.database, filter, cursors.decode(query.cursor), query.limit)
      return { items: [...page.items], nextCursor: cursors.encode(page.next) }
    },
  })

  const notFound = (source: string, id: string): Problem =>
    new Problem('not-found', { detail: `There is no event ${id} of ${source}.` })

  app.route({
    method: 'GET',
    url: '/v1/events/:source/:id',
    schema: {
      tags: ['events'],
      summary: 'An event with its commands',
      params: eventParams,
      response: { 200: eventSchema, ...problems(404) },
    },
    handler: async ({ params: { source, id } }) => {
      const event = await readStoredEvent(services.database, { source, id })
      if (event === null) throw notFound(source, id)
      return { ...event, commands: await commandsOfEvent(services.database, source, id) }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/events/:source/:id/reject',
    schema: {
      tags: ['events'],
      summary: 'Reject a waiting event',
      description:
        'It creates no command. Stored with who, when and why; its source and id stay reserved. Possible only for an event in the state `received`.',
      params: eventParams,
      body: z.strictObject(actorAndReason),
      response: {
        200: z.object({ source: z.string(), id: z.string(), state: eventStateSchema }),
        ...problems(404, 409, 413, 415, 422),
      },
    },
    handler: async ({ params: { source, id }, body }) => {
      const result = await services.rejectEvent({ source, id }, body)
      if (result.ok) return { source, id, state: result.state }
      if (result.fault === 'not-found') throw notFound(source, id)
      const advice = result.state === 'accepted' ? '; its commands can be rejected one by one' : ''
      throw new Problem('illegal-state', { detail: `Event ${id} of ${source} is ${result.state} already${advice}.` })
    },
  })
}
