import { randomBytes, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { typePatternSchema } from '../../domain/changes/filter.ts'
import type { JsonObject } from '../../domain/values/json.ts'
import type { Database, SqlRunner, Transaction } from '../../store/db/database.ts'
import { retryOnDeadlock } from '../../store/db/errors.ts'
import { type AuditAction, recordAct } from '../../store/keys/audit.ts'
import {
  changeWebhook,
  createWebhook,
  listWebhooks,
  readWebhook,
  removeWebhook,
  rotateWebhookSecret,
  type WebhookEndpoint,
  webhookStates,
} from '../../store/webhooks/webhook-endpoints.ts'
import { deliveryStatuses, listDeliveries, redeliverByIds, redeliverRange } from '../../store/webhooks/webhook-log.ts'
import { type App, idParams, problems } from '../app.ts'
import { type Caller, resolveActor } from '../auth/caller.ts'
import { Problem } from '../problems.ts'
import { buildList, textFilter } from '../schemas/lists.ts'
import { bigintKey } from '../schemas/paging.ts'
import type { RouteParts } from './parts.ts'

const secretBytes = 32
const daySeconds = 86_400
const maxTypes = 100
const maxIds = 1_000

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`

const stateSchema = z.enum(webhookStates).meta({
  description:
    'paused: nothing is sent, and changes are kept until it is resumed; disabled: nothing is sent, and undelivered changes are removed after RETAIN_CHANGES.',
})

const endpoint = {
  id: z.string(),
  url: z.string(),
  types: z.array(z.string()).readonly().meta({ description: 'Types of changes that it receives; empty: all.' }),
  sellerId: z.string().nullable().meta({ description: 'Seller whose changes it receives; null: all sellers.' }),
  state: stateSchema,
  reason: z.string().nullable().meta({ description: 'Why it is paused or disabled.' }),
  stateSince: z.date(),
  position: z.bigint().meta({ description: 'Every matching change up to this number has become a delivery.' }),
  failingSince: z.date().nullable().meta({ description: 'First failure since the last success.' }),
  lastSuccessAt: z.date().nullable(),
  createdAt: z.date(),
  updatedAt: z.date(),
}
const endpointSchema = z.object(endpoint).meta({ id: 'Webhook' })
const endpoints = buildList('webhooks', endpointSchema, z.string(), {
  state: z.enum(webhookStates).optional(),
  sellerId: textFilter('Endpoints that receive the changes of this seller: its own, and those for all sellers.'),
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
    attempt: z.int().meta({ description: 'Attempts made by the current schedule.' }),
    status: z.enum(deliveryStatuses).meta({ description: 'pending: waits for its next attempt; failed: given up.' }),
    at: z.date().nullable().meta({ description: 'When the last attempt ended.' }),
    nextAt: z
      .date()
      .nullable()
      .meta({ description: 'When it is due. It is sent later while an earlier message of its order waits.' }),
    httpStatus: z.int().nullable().meta({ description: 'Status of the last attempt; null: there was no answer.' }),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why there was no answer: a code such as timeout, address-refused or ECONNREFUSED.' }),
    attempts: z.array(attemptSchema).meta({ description: 'The last twenty attempts, oldest first.' }),
    createdAt: z.date(),
  })
  .meta({ id: 'WebhookDelivery' })

const deliveries = buildList('deliveries', deliverySchema, bigintKey, {
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
  .pipe(z.array(typePatternSchema).max(maxTypes, `must be at most ${maxTypes}`))
  // `*` and an empty list both mean all types.
  .transform((types) => (types.includes('*') ? [] : [...new Set(types)]))
  .meta({ description: 'Types of changes, as a list or separated by commas; `order.*` for a group; empty or `*`: all.' })

const sequence = z
  .union([z.string().regex(/^\d{1,18}$/, 'must be a sequence number'), z.int().min(0, 'must be a sequence number')])
  .transform((value) => BigInt(value))

const sellerSchema = z.string().min(1, 'must not be empty').max(1_000).nullable()

const newWebhookSchema = z.strictObject({
  url: z.string().meta({ description: 'https://…; without user name, password and fragment.' }),
  types: typesSchema.default([]),
  sellerId: sellerSchema.default(null),
  after: sequence.nullable().default(null).meta({ description: 'Begin after this change; default: with the next change.' }),
})

const changedWebhookSchema = z
  .strictObject({
    url: z.string().optional(),
    types: typesSchema.optional(),
    sellerId: sellerSchema.optional(),
    state: stateSchema.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'names nothing to change')

const rangeSchema = z.strictObject({ after: sequence, before: sequence })

const idsSchema = z.strictObject({
  ids: z
    .array(sequence)
    .min(1, 'must name at least one')
    .max(maxIds, `must name at most ${maxIds}`)
    .meta({ description: 'Ids of deliveries.' }),
})

const buildNotFound = (id: string): Problem => new Problem('not-found', { detail: `There is no webhook ${id}.` })

/** @throws Problem when there is no such endpoint */
const requireWebhook = async (sql: SqlRunner, id: string): Promise<WebhookEndpoint> => {
  const webhook = await readWebhook(sql, id)
  if (webhook === null) throw buildNotFound(id)
  return webhook
}

const audit = (
  sql: SqlRunner,
  caller: Caller,
  action: Extract<AuditAction, `webhook.${string}`>,
  subject: string,
  details: JsonObject = {},
): Promise<bigint> => recordAct(sql, { by: resolveActor(caller, null), action, sellerId: null, subject, reason: null, details })

/** Runs a transaction again when it deadlocks with a process that records deliveries. */
const runTransaction = <Result>(database: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> =>
  retryOnDeadlock(() => database.transaction(work))

/** Stores a new endpoint with its first secret. @throws Problem when `after` is outside of the change feed */
const addWebhook = async (database: Database, caller: Caller, body: z.output<typeof newWebhookSchema>) => {
  const secret = newSecret()
  const id = `wh_${randomUUID().replaceAll('-', '')}`
  const result = await database.transaction(async (tx) => {
    const created = await createWebhook(tx, { ...body, id, secret })
    if (created.ok) await audit(tx, caller, 'webhook.added', id, { types: [...body.types], sellerId: body.sellerId })
    return created
  })
  if (result.ok) return { ...result.endpoint, secret }
  const { removedUpTo, last } = result.bounds
  if (body.after !== null && body.after <= removedUpTo)
    throw new Problem('changes-gone', { detail: `Changes up to ${removedUpTo} were removed (RETAIN_CHANGES).` })
  throw new Problem('invalid-body', { errors: [{ path: 'after', message: `is beyond the newest change, ${last}` }] })
}

/** Changes the given members of an endpoint. @throws Problem when there is no such endpoint */
const updateWebhook = async (
  database: Database,
  caller: Caller,
  id: string,
  { url, types, sellerId, state }: z.output<typeof changedWebhookSchema>,
) => {
  const change = {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types }),
    ...(sellerId === undefined ? {} : { sellerId }),
    ...(state === undefined ? {} : { state }),
  }
  const changed = Object.keys(change)
  const webhook = await runTransaction(database, async (tx) => {
    const stored = await changeWebhook(tx, id, change)
    if (stored === null) throw buildNotFound(id)
    await audit(tx, caller, 'webhook.changed', id, { changed, state: stored.state })
    return stored
  })
  return { webhook, changed }
}

/** Schedules all messages of a range of changes again. @throws Problem when changes of the range were removed */
const redeliverChanges = async (database: Database, caller: Caller, id: string, range: z.output<typeof rangeSchema>) => {
  if (range.before <= range.after)
    throw new Problem('invalid-body', { errors: [{ path: 'before', message: 'must be greater than after' }] })
  const result = await runTransaction(database, async (tx) => {
    const redelivered = await redeliverRange(tx, id, range)
    if (!('gone' in redelivered)) {
      await audit(tx, caller, 'webhook.redelivered', id, { after: String(range.after), before: String(range.before) })
    }
    return redelivered
  })
  if (!('gone' in result)) return { ...result, missing: [] }
  throw new Problem('changes-gone', {
    detail: `Changes up to ${result.gone} were removed (RETAIN_CHANGES); send after=${result.gone} for the remaining ones.`,
  })
}

/** Schedules deliveries again. */
const redeliverDeliveries = async (database: Database, caller: Caller, id: string, ids: readonly bigint[]) => {
  const result = await runTransaction(database, async (tx) => {
    await audit(tx, caller, 'webhook.redelivered', id, { ids: ids.map(String) })
    return redeliverByIds(tx, id, ids)
  })
  return { ...result, nextAfter: null }
}

/** Webhook endpoints and their deliveries. They concern the daemon as a whole: a key that is bound to sellers is refused. */
export const webhookRoutes = (app: App, parts: RouteParts): void => {
  endpointRoutes(app, parts)
  secretRoutes(app, parts)
  deliveryRoutes(app, parts)
}

const endpointRoutes = (app: App, { services }: RouteParts): void => {
  const { database, webhooks } = services
  const requireValidUrl = (url: string): void => {
    const message = webhooks.findUrlFault(url)
    if (message !== null) throw new Problem('invalid-body', { errors: [{ path: 'url', message }] })
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
        'Every matching change is posted to the URL as a CloudEvent, signed as Standard Webhooks. The answer contains the secret, once.',
      body: newWebhookSchema,
      response: { 201: newEndpointSchema, ...problems(410, 413, 415, 422) },
    },
    handler: async ({ body, log, caller }, reply) => {
      requireValidUrl(body.url)
      const webhook = await addWebhook(database, caller, body)
      log.info({ webhook_id: webhook.id }, 'webhook added')
      return reply.status(201).send(webhook)
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
    handler: ({ params: { id } }) => requireWebhook(database, id),
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
        '`state: active` resumes it at its position and restarts the schedule of every waiting message, also if it was active. Another filter applies to ' +
        'future changes.',
      params: idParams,
      body: changedWebhookSchema,
      response: { 200: endpointSchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, log, caller }) => {
      if (body.url !== undefined) requireValidUrl(body.url)
      const { webhook, changed } = await updateWebhook(database, caller, id, body)
      log.info({ webhook_id: id, changed, state: webhook.state }, 'webhook changed')
      return webhook
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
      await runTransaction(database, async (tx) => {
        if (!(await removeWebhook(tx, id))) throw buildNotFound(id)
        await audit(tx, caller, 'webhook.removed', id)
      })
      log.info({ webhook_id: id }, 'webhook removed')
      return { id, removed: true as const }
    },
  })
}

const secretRoutes = (app: App, { services }: RouteParts): void => {
  const { database } = services

  app.route({
    method: 'POST',
    url: '/v1/webhooks/:id/rotate',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the secret of a webhook endpoint',
      description:
        'During the overlap, messages are signed with the old and the new secret. The answer contains the new one, once.',
      params: idParams,
      body: z
        .strictObject({
          overlapSeconds: z
            .int()
            .min(0, 'must not be negative')
            .max(30 * daySeconds, `must be at most ${30 * daySeconds}`)
            .default(daySeconds)
            .meta({ description: 'How long messages are also signed with the old secret; default: a day.' }),
        })
        .nullish(),
      response: {
        200: z.object({
          id: z.string(),
          secret: z.string().meta(secretMeta),
          oldSecretUntil: z.date().meta({ description: 'Until when messages are also signed with the previous secrets.' }),
        }),
        ...problems(404, 413, 415, 422),
      },
    },
    handler: async ({ params: { id }, body, log, caller }) => {
      const secret = newSecret()
      const overlapSeconds = body?.overlapSeconds ?? daySeconds
      const until = await database.transaction(async (tx) => {
        const end = await rotateWebhookSecret(tx, { id, secret, overlapSeconds })
        if (end === null) throw buildNotFound(id)
        await audit(tx, caller, 'webhook.rotated', id, { overlapSeconds })
        return end
      })
      log.info({ webhook_id: id, overlap_seconds: overlapSeconds }, 'webhook secret rotated')
      return { id, secret, oldSecretUntil: until }
    },
  })
}

const deliveryRoutes = (app: App, { services, stopping }: RouteParts): void => {
  const { database, webhooks } = services

  app.route({
    method: 'POST',
    url: '/v1/webhooks/:id/test',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['webhooks'],
      operationId: 'testWebhook',
      summary: 'Send a test message now',
      description: 'Sent once, in any state of the endpoint, with the type `webhook.test`. The answer is its result.',
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
      const { url } = await requireWebhook(database, id)
      await audit(database, caller, 'webhook.test_requested', id)
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
        'With `after` and `before`: every change between the two numbers, both excluded, that matches the current filter, up to `position`. A message ' +
        'keeps its `webhook-id`. If the range is too long for one request, `nextAfter` is the `after` of the next one.',
      params: idParams,
      body: z.union([rangeSchema, idsSchema]),
      response: {
        200: z.object({
          redelivered: z.int().meta({ description: 'Messages that are sent again.' }),
          missing: z
            .array(z.bigint())
            .readonly()
            .meta({ description: 'Ids that cannot be sent again: unknown, a test, or its change was removed.' }),
          nextAfter: z.bigint().nullable(),
        }),
        ...problems(404, 410, 413, 415, 422),
      },
    },
    handler: async ({ params: { id }, body, log, caller }) => {
      await requireWebhook(database, id)
      const result =
        'ids' in body
          ? await redeliverDeliveries(database, caller, id, body.ids)
          : await redeliverChanges(database, caller, id, body)
      log.info({ webhook_id: id, redelivered: result.redelivered }, 'messages to a webhook are sent again')
      return result
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
        await requireWebhook(database, params.id)
        const { items, next } = await listDeliveries(database, filter, before, limit)
        return { items: items.map((delivery) => ({ ...delivery, attempts: attemptsSchema.parse(delivery.attempts) })), next }
      })
    },
  })
}
