import { z } from 'zod'
import { commandsOfEvent } from '../../store/command-queries.ts'
import { readStoredEvent } from '../../store/events.ts'
import { type App, problems } from '../app.ts'
import { carriesEvents, type EventMode, eventMediaTypes, inBatch, parseEvents } from '../cloud-events.ts'
import { Problem, type ProblemFault } from '../problems.ts'
import { eventReceiptSchema, eventSchema } from '../schemas.ts'
import { createSignatureCheck } from '../signature.ts'
import type { RouteParts } from './parts.ts'

const described = (count: number): string => (count === 1 ? 'One thing is wrong' : `${count} things are wrong`)

const wrong = (errors: readonly ProblemFault[]): Problem =>
  new Problem('invalid-event', { detail: `${described(errors.length)}; nothing was accepted.`, errors })

const place = (mode: EventMode, index: number, fault: ProblemFault): ProblemFault =>
  mode === 'batch' ? inBatch(index, fault) : { path: fault.path, message: fault.message }

// For the OpenAPI document; a body is checked by hand, after its signature.
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

/** ERP events in, and what became of them. */
export const eventRoutes = (app: App, { services, stopping }: RouteParts): void => {
  const checkSignature = createSignatureCheck(services.eventsSecrets)

  app.register(async (scope) => {
    // The signature covers the bytes as they came, so nobody may read them before.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(/^/, { parseAs: 'buffer' }, (request, body, done) => {
      if (carriesEvents(request.headers['content-type'] ?? '')) return done(null, body)
      const accepted = ['application/json', eventMediaTypes.structured, eventMediaTypes.batch].join(', ')
      done(new Problem('unsupported-media-type', { detail: `Events travel as ${accepted}, in UTF-8.` }))
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
          '(`application/cloudevents-batch+json`, up to 1,000). Answers once all of them are durable; when one is wrong, none is taken. ' +
          'The same source and id with the same body is a duplicate and gets the answer of the first.',
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
        const parsed = parseEvents(request.raw, body)
        if (!parsed.ok) throw wrong(parsed.faults)
        const { events, mode } = parsed
        const verdict = await services.acceptEvents(events, stopping)
        if (verdict.ok) {
          reply.status(202)
          return { items: verdict.receipts }
        }
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
    url: '/v1/events/:source/:id',
    schema: {
      tags: ['events'],
      summary: 'An event with its commands',
      params: z.object({
        source: z.string().min(1).meta({ description: 'URL-encoded.' }),
        id: z.string().min(1).meta({ description: 'URL-encoded.' }),
      }),
      response: { 200: eventSchema, ...problems(404) },
    },
    handler: async ({ params: { source, id } }) => {
      const event = await readStoredEvent(services.database, { source, id })
      if (event === null) throw new Problem('not-found', { detail: `There is no event ${id} of ${source}.` })
      return { ...event, commands: await commandsOfEvent(services.database, source, id) }
    },
  })
}
