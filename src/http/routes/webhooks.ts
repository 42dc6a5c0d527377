import { randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { typePatternSchema } from '../../domain/changes/filter.ts'
import type { JsonObject } from '../../domain/json.ts'
import { type AuditAction, recordAct } from '../../store/audit.ts'
import type { SqlRunner, Transaction } from '../../store/database.ts'
import { retryOnDeadlock } from '../../store/faults.ts'
import {
  changeWebhook,
  createWebhook,
  listWebhooks,
  readWebhook,
  removeWebhook,
  rotateWebhookSecret,
  type WebhookEndpoint,
  webhookStates,
} from '../../store/webhook-endpoints.ts'
import { deliveryStatuses, listDeliveries, redeliverByIds, redeliverRange } from '../../store/webhook-log.ts'
import { type App, idParams, problems } from '../app.ts'
import { actingAs, type Caller } from '../caller.ts'
import { listOf, textFilter } from '../lists.ts'
import { bigintKey } from '../paging.ts'
import { Problem } from '../problems.ts'
import type { RouteParts } from './parts.ts'

const secretBytes = 32
const daySeconds = 86_400
const mostTypes = 100
const mostIds = 1_000

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

const stateSchema = z.enum(webhookStates).meta({
  description:
    'paused: nothing is sent and nothing is forgotten; disabled: nothing is sent, and changes that were not delivered go with RETAIN_CHANGES.',
})

const endpoint = {
  id: z.string(),
  url: z.string(),
  types: z.array(z.string()).readonly().meta({ description: 'Types of changes that it gets; empty: all.' }),
  sellerId: z.string().nullable().meta({ description: 'Whose changes it gets; null: those of all sellers.' }),
  state: stateSchema,
  reason: z.string().nullable().meta({ description: 'Why it is paused or disabled.' }),
  stateSince: z.date(),
  position: z.bigint().meta({ description: 'Every change up to this number that it gets has become a delivery.' }),
  failingSince: z.date().nullable().meta({ description: 'First failure since the last success.' }),
  lastSuccessAt: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
}
const endpointSchema = z.object(endpoint).meta({ id: 'Webhook' })
const endpoints = listOf('webhooks', endpointSchema, z.string(), {
  state: z.enum(webhookStates).optional(),
  sellerId: textFilter('That get the changes of this seller: its own, and those of all sellers.'),
})
const secretMeta = { description: 'Standard Webhooks secret. Shown in this answer only.' }
const newEndpointSchema = z.object({ ...endpoint, secret: z.string().meta(secretMeta) }).meta({ id: 'NewWebhook' })

const attemptSchema = z.object({
  at: z.string(),
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
  durationMs: z.number(),
})

const deliverySchema = z
  .object({
    id: z.bigint(),
    changeSequence: z.bigint().nullable().meta({ description: '`seq` of the change; null: a test.' }),
    attempt: z.int().meta({ description: 'Attempts made by the present schedule.' }),
    status: z.enum(deliveryStatuses).meta({ description: 'pending: waits for its next attempt; failed: given up.' }),
    at: z.date().nullable().meta({ description: 'When the last attempt ended.' }),
    nextAt: z.date().nullable().meta({ description: 'When it is due; later, while an earlier message of its order waits.' }),
    httpStatus: z.int().nullable().meta({ description: 'Of the last attempt; null: there was no answer.' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why there was no answer: a code such as timeout, address-refused or ECONNREFUSED.' }),
    attempts: z.array(attemptSchema).meta({ description: 'The last twenty attempts, oldest first.' }),
    createdAt: z.date(),
  })
  .meta({ id: 'WebhookDelivery' })

const deliveries = listOf('deliveries', deliverySchema, bigintKey, {
  status: z.enum(deliveryStatuses).optional(),
  changeSequence: z
    .string()
    .regex(/^\d{1,18}$/, 'must be a sequence number')
    .transform(BigInt)
    .optional(),
})

const attemptsSchema = z.array(attemptSchema)

const typesSchema = z
  .union([z.array(z.string()), z.string().transform((list) => list.split(',').map((type) => type.trim()))])
  .pipe(z.array(typePatternSchema).max(mostTypes, `must be at most ${mostTypes}`))
  // All types and none named are the same.
  .transform((types) => (types.includes('*') ? [] : [...new Set(types)]))
  .meta({ description: 'Types of changes, as a list or separated by commas; `order.*` for a group; empty or `*`: all.' })

const sequence = z
  .union([z.string().regex(/^\d{1,18}$/, 'must be a sequence number'), z.int().min(0, 'must be a sequence number')])
  .transform((value) => BigInt(value))

const sellerSchema = z.string().min(1, 'must not be empty').max(1_000).nullable()

const note = (
  sql: SqlRunner,
  caller: Caller,
  action: Extract<AuditAction, `webhook.${string}`>,
  subject: string,
  details: JsonObject = {},
): Promise<bigint> => recordAct(sql, { by: actingAs(caller, null), action, sellerId: null, subject, reason: null, details })

/** Endpoints that changes are posted to. They concern the daemon as a whole: a key that is bound to sellers is refused. */
export const webhookRoutes = (app: App, { services, stopping }: RouteParts): void => {
  const { database, webhooks } = services
  /** Again when it and whoever settles deliveries wait for each other. */
  const atOnce = <Result>(work: (tx: Transaction) => Promise<Result>): Promise<Result> =>
    retryOnDeadlock(() => database.transaction(work))
  const acceptUrl = (url: string): void => {
    const refusal = webhooks.refusalOf(url)
    if (refusal !== null) throw new Problem('invalid-body', { errors: [{ path: 'url', message: refusal }] })
  }
  const found = (id: string, webhook: WebhookEndpoint | null): WebhookEndpoint => {
    if (webhook === null) throw notFound(id)
    return webhook
  }

  app.route({
    method: 'GET',
    url: '/v1/webhooks',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'listWebhooks',
      summary: 'Webhook endpoints',
      querystring: endpoints.querystring,
      response: endpoints.response,
    },
    handler: (request, reply) => {
      const { state = null, sellerId = null } = request.query
      return endpoints.answer(request, reply, (after, limit) => listWebhooks(database, { state, sellerId }, after, limit))
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/webhooks',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'createWebhook',
      summary: 'Add a webhook endpoint',
      description:
        'Every change that matches is posted to the URL as a CloudEvent, signed as Standard Webhooks say. The answer contains the secret, once.',
      body: z.strictObject({
        url: z.string().meta({ description: 'https://…; without user name, password and fragment.' }),
        types: typesSchema.default([]),
        sellerId: sellerSchema.default(null),
        after: sequence
          .nullable()
          .default(null)
          .meta({ description: 'Begin after this change; default: with the next one that happens.' }),
      }),
      response: { 201: newEndpointSchema, ...problems(410, 413, 415, 422) },
    },
    handler: async ({ body, log, caller }, reply) => {
      acceptUrl(body.url)
      const secret = newSecret()
      const id = `wh_${randomUUID().replaceAll('-', '')}`
      const made = await database.transaction(async (tx) => {
        const result = await createWebhook(tx, { ...body, id, secret })
        if (result.ok) await note(tx, caller, 'webhook.added', id, { types: [...body.types], sellerId: body.sellerId })
        return result
      })
      if (!made.ok) {
        const { removedUpTo, last } = made.bounds
        if (body.after !== null && body.after <= removedUpTo)
          throw new Problem('changes-gone', { detail: `Changes up to ${removedUpTo} are kept no more (RETAIN_CHANGES).` })
        throw new Problem('invalid-body', { errors: [{ path: 'after', message: `is beyond the newest change, ${last}` }] })
      }
      log.info({ webhook_id: id }, 'webhook added')
      return reply.status(201).send({ ...made.endpoint, secret })
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/webhooks/:id',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'readWebhook',
      summary: 'A webhook endpoint',
      params: idParams,
      response: { 200: endpointSchema, ...problems(404) },
    },
    handler: async ({ params: { id } }) => found(id, await readWebhook(database, id)),
  })

  app.route({
    method: 'PATCH',
    url: '/v1/webhooks/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'changeWebhook',
      summary: 'Change, pause, resume or disable a webhook endpoint',
      description:
        '`state: active` resumes it where it was; the schedule of every waiting message begins anew, also when it was active. Another filter holds for ' +
        'changes that come from now on.',
      params: idParams,
      body: z
        .strictObject({
          url: z.string().optional(),
          types: typesSchema.optional(),
          sellerId: sellerSchema.optional(),
          state: stateSchema.optional(),
        })
        .refine((body) => Object.keys(body).length > 0, 'names nothing to change'),
      response: { 200: endpointSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body: { url, types, sellerId, state }, log, caller }) => {
      if (url !== undefined) acceptUrl(url)
      const change = {
        ...(url === undefined ? {} : { url }),
        ...(types === undefined ? {} : { types }),
        ...(sellerId === undefined ? {} : { sellerId }),
        ...(state === undefined ? {} : { state }),
      }
      const changed = await atOnce(async (tx) => {
        const after = found(id, await changeWebhook(tx, id, change))
        await note(tx, caller, 'webhook.changed', id, { changed: Object.keys(change), state: after.state })
        return after
      })
      log.info({ webhook_id: id, changed: Object.keys(change), state: changed.state }, 'webhook changed')
      return changed
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/webhooks/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'removeWebhook',
      summary: 'Remove a webhook endpoint with its secrets and deliveries',
      params: idParams,
      response: { 200: z.object({ id: z.string(), removed: z.literal(true) }), ...problems(404) },
    },
    handler: async ({ params: { id }, log, caller }) => {
      await atOnce(async (tx) => {
        if (!(await removeWebhook(tx, id))) throw notFound(id)
        await note(tx, caller, 'webhook.removed', id)
      })
      log.info({ webhook_id: id }, 'webhook removed')
      return { id, removed: true as const }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/webhooks/:id/rotate',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'rotateWebhookSecret',
      summary: 'Give a webhook endpoint another secret',
      description:
        'Messages are signed with the old and the new secret for the time of the overlap. The answer contains the new one, once.',
      params: idParams,
      body: z
        .strictObject({
          overlapSeconds: z
            .int()
            .min(0, 'must not be negative')
            .max(30 * daySeconds, `must be at most ${30 * daySeconds}`)
            .default(daySeconds)
            .meta({ description: 'How long the old secret still signs; default: a day.' }),
        })
        .nullish(),
      response: {
        200: z.object({
          id: z.string(),
          secret: z.string().meta(secretMeta),
          oldSecretUntil: z.date().meta({ description: 'Until when the secrets before it sign as well.' }),
        }),
        ...problems(404, 413, 415, 422),
      },
    },
    handler: async ({ params: { id }, body, log, caller }) => {
      const secret = newSecret()
      const overlapSeconds = body?.overlapSeconds ?? daySeconds
      const until = await database.transaction(async (tx) => {
        const end = await rotateWebhookSecret(tx, { id, secret, overlapSeconds })
        if (end === null) throw notFound(id)
        await note(tx, caller, 'webhook.rotated', id, { overlapSeconds })
        return end
      })
      log.info({ webhook_id: id, overlap_seconds: overlapSeconds }, 'webhook secret rotated')
      return { id, secret, oldSecretUntil: until }
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/webhooks/:id/test',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'testWebhook',
      summary: 'Send a test message now',
      description: 'Once, whatever the state of the endpoint; type `webhook.test`. Answers what became of it.',
      params: idParams,
      response: {
        200: z.object({
          deliveryId: z.bigint(),
          delivered: z.boolean(),
          httpStatus: z.int().nullable(),
          error: z.string().nullable(),
          durationMs: z.number(),
        }),
        ...problems(404),
      },
    },
    handler: async ({ params: { id }, caller }) => {
      const { url } = found(id, await readWebhook(database, id))
      await note(database, caller, 'webhook.test_requested', id)
      return webhooks.test({ id, url }, stopping)
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/webhooks/:id/redeliver',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'redeliverWebhook',
      summary: 'Send messages again, by id or by range of changes',
      description:
        'With `after` and `before`: every change between the two numbers, both excluded, that matches the present filter, as far as `position`. A message ' +
        'keeps its `webhook-id`. `nextAfter` is not null when there may be more than this request has taken up.',
      params: idParams,
      body: z.union([
        z.strictObject({ after: sequence, before: sequence }),
        z.strictObject({
          ids: z
            .array(sequence)
            .min(1, 'must name at least one')
            .max(mostIds, `must name at most ${mostIds}`)
            .meta({ description: 'Ids of deliveries.' }),
        }),
      ]),
      response: {
        200: z.object({
          redelivered: z.int().meta({ description: 'Messages that are sent again.' }),
          missing: z
            .array(z.bigint())
            .readonly()
            .meta({ description: 'Ids that cannot be: unknown, a test, or its change was removed.' }),
          nextAfter: z.bigint().nullable(),
        }),
        ...problems(404, 410, 413, 415, 422),
      },
    },
    handler: async ({ params: { id }, body, log, caller }) => {
      found(id, await readWebhook(database, id))
      if ('ids' in body) {
        const result = await atOnce(async (tx) => {
          await note(tx, caller, 'webhook.redelivered', id, { ids: body.ids.map(String) })
          return redeliverByIds(tx, id, body.ids)
        })
        log.info({ webhook_id: id, redelivered: result.redelivered }, 'messages to a webhook are sent again')
        return { ...result, nextAfter: null }
      }
      if (body.before <= body.after)
        throw new Problem('invalid-body', { errors: [{ path: 'before', message: 'must be greater than after' }] })
      const range = { after: String(body.after), before: String(body.before) }
      const result = await atOnce(async (tx) => {
        const sent = await redeliverRange(tx, id, body)
        if (!('gone' in sent)) await note(tx, caller, 'webhook.redelivered', id, range)
        return sent
      })
      if ('gone' in result) {
        throw new Problem('changes-gone', {
          detail: `Changes up to ${result.gone} are kept no more (RETAIN_CHANGES); send after=${result.gone} for what is there.`,
        })
      }
      log.info({ webhook_id: id, redelivered: result.redelivered }, 'messages to a webhook are sent again')
      return { ...result, missing: [] }
    },
  })

  app.route({
    method: 'GET',
    url: '/v1/webhooks/:id/deliveries',
    config: { needs: ['read', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'listWebhookDeliveries',
      summary: 'Messages of a webhook endpoint, newest first',
      params: idParams,
      querystring: deliveries.querystring,
      response: { ...deliveries.response, ...problems(404) },
    },
    handler: (request, reply) => {
      const { params, query } = request
      const filter = { endpointId: params.id, status: query.status ?? null, changeSequence: query.changeSequence ?? null }
      return deliveries.answer(request, reply, async (before, limit) => {
        found(params.id, await readWebhook(database, params.id))
        const { items, next } = await listDeliveries(database, filter, before, limit)
        return { items: items.map((delivery) => ({ ...delivery, attempts: attemptsSchema.parse(delivery.attempts) })), next }
      })
    },
  })
}

const notFound = (id: string): Problem => new Problem('not-found', { detail: `There is no webhook ${id}.` })
