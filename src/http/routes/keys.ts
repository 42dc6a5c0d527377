import { z } from 'zod'
import { idOfKey, scopes } from '../../domain/keys.ts'
import { type ApiKey, addKey, listKeys, mostActiveKeys, readKey, revokeKey, rotateKey } from '../../store/api-keys.ts'
import { settingsActor } from '../../store/audit.ts'
import { type App, idParams, problems } from '../app.ts'
import { actingAs, anOperator, type Caller } from '../caller.ts'
import { makeKey } from '../keys.ts'
import { listOf, textFilter } from '../lists.ts'
import { Problem } from '../problems.ts'
import { actorSchema } from '../schemas.ts'
import type { RouteParts } from './parts.ts'

/** Who acts in the audit without a named key: the holder of `API_KEY`, and the settings. */
const reservedNames: readonly string[] = [anOperator, settingsActor]
const daySeconds = 86_400
const mostOverlapSeconds = 30 * daySeconds

const keyFields = {
  id: z.string(),
  name: z.string().meta({ description: 'Who acts with it, as the audit says.' }),
  scopes: z.array(z.enum(scopes)).readonly(),
  sellerIds: z.array(z.string()).readonly().nullable().meta({ description: 'Sellers that it is bound to; null: all.' }),
  createdAt: z.date(),
  createdBy: z.string(),
  rotatedAt: z.date().nullable(),
  previousUntil: z.date().nullable().meta({ description: 'Until when the secret before the last rotation is accepted.' }),
  lastUsedAt: z.date().nullable().meta({ description: 'Written at most once a minute.' }),
  revokedAt: z.date().nullable(),
}
const keySchema = z.object(keyFields).meta({ id: 'Key' })
const keyList = listOf('keys', keySchema, z.string(), {
  state: z.enum(['active', 'all']).default('active'),
  name: textFilter('With this name.'),
  sellerId: textFilter('That may act for this seller: those that are bound to it, and those that are bound to none.'),
})
const newKeySchema = z
  .object({ ...keyFields, key: z.string().meta({ description: 'The key. Shown in this answer only.' }) })
  .meta({ id: 'NewKey' })

const reason = z.string().trim().min(1, 'must not be empty').max(2_000).nullish().meta({ description: 'Why; for the audit.' })
const isPlain = (text: string): boolean => !/\p{Cc}/u.test(text)

const shown = (key: ApiKey) => ({
  ...key,
  scopes: [...key.scopes],
  sellerIds: key.sellerIds === null ? null : [...key.sellerIds],
})

/** Nobody gets more by a key than the caller has: neither by a new one nor by another secret. @throws Problem */
const refuseMore = (caller: Caller, wanted: ApiKey['scopes']): void => {
  const more = wanted.filter((scope) => !caller.scopes.includes(scope))
  if (more.length === 0) return
  throw new Problem('scope-missing', { detail: `The key ${caller.name ?? ''} does not have ${more.join(', ')} itself.` })
}

/** Keys of programs and people. */
export const keyRoutes = (app: App, { services, keys }: RouteParts): void => {
  const { database } = services
  const notFound = (id: string): Problem => new Problem('not-found', { detail: `There is no active key ${id}.` })

  app.route({
    method: 'GET',
    url: '/v1/keys',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['keys'],
      summary: 'Keys, without their secrets',
      querystring: keyList.querystring,
      response: keyList.response,
    },
    handler: (request, reply) => {
      const { state, name = null, sellerId = null } = request.query
      const filter = { revokedToo: state === 'all', name, sellerId }
      return keyList.answer(request, reply, async (after, limit) => {
        const { items, next } = await listKeys(database, filter, after, limit)
        return { items: items.map(shown), next }
      })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/keys',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['keys'],
      summary: 'Add a key',
      description: 'The answer contains the key, once. It can have no scope that the caller does not have.',
      body: z.strictObject({
        name: z
          .string()
          .trim()
          .min(1, 'must not be empty')
          .max(200)
          .refine(isPlain, 'must not contain control characters')
          .refine((name) => !reservedNames.includes(name), `must not be ${reservedNames.join(' or ')}, whose acts are others`)
          // A name may stand where the key was meant.
          .refine((name) => idOfKey(name) === null, 'must not be a key'),
        scopes: z.array(z.enum(scopes)).min(1, 'must name at least one'),
        sellerIds: z
          .array(z.string().min(1).max(255))
          .min(1, 'must name at least one, or be null')
          .max(1_000)
          .nullable()
          .default(null)
          .meta({ description: 'Bounds the key to these sellers; null: all, also those that are added later.' }),
        reason,
        actor: actorSchema,
      }),
      response: { 201: newKeySchema, ...problems(409, 413, 415, 422) },
    },
    handler: async ({ body, caller, log }, reply) => {
      const wanted = [...new Set(body.scopes)]
      refuseMore(caller, wanted)
      const { id, text, hash } = makeKey()
      const sellerIds = body.sellerIds === null ? null : [...new Set(body.sellerIds)]
      const by = actingAs(caller, body.actor)
      const added = await addKey(
        database,
        { id, name: body.name, scopes: wanted, sellerIds, hash, reason: body.reason ?? null },
        by,
      )
      if (!added.ok) {
        const detail =
          added.fault === 'name-taken'
            ? `An active key has the name ${body.name}; the audit could not distinguish them.`
            : `There are ${mostActiveKeys} active keys, the most that there may be; revoke one first.`
        throw new Problem('illegal-state', { detail })
      }
      keys.forget()
      log.info({ key_id: id, actor: by.actor }, 'key added')
      return reply.status(201).send({ ...shown(added.key), key: text })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/keys/:id/rotate',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['keys'],
      summary: 'Give a key another secret',
      description:
        'The secret before is accepted for `overlapSeconds` more; one that was still accepted from an earlier rotation ends at once.',
      params: idParams,
      body: z
        .strictObject({
          overlapSeconds: z
            .int()
            .min(0, 'must not be negative')
            .max(mostOverlapSeconds, `must be at most ${mostOverlapSeconds}`)
            .default(daySeconds)
            .meta({ description: 'How long both secrets are accepted: 0 to 30 days.' }),
          reason,
          actor: actorSchema,
        })
        .nullish(),
      response: { 200: newKeySchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const before = await readKey(database, id)
      if (before === null || before.revokedAt !== null) throw notFound(id)
      refuseMore(caller, before.scopes)
      const { text, hash } = makeKey(id)
      const by = actingAs(caller, body?.actor)
      const overlapMs = (body?.overlapSeconds ?? daySeconds) * 1_000
      const key = await rotateKey(database, { id, hash, overlapMs, reason: body?.reason ?? null }, by)
      if (key === null) throw notFound(id)
      keys.forget()
      log.info({ key_id: id, actor: by.actor }, 'key rotated')
      return { ...shown(key), key: text }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/keys/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['keys'],
      summary: 'Revoke a key',
      description: 'At once in this process, within two seconds in others. Its row is kept for the audit.',
      params: idParams,
      querystring: z.object({ reason: z.string().trim().min(1).max(2_000).optional(), actor: actorSchema }),
      response: { 200: keySchema, ...problems(404) },
    },
    handler: async ({ params: { id }, query, caller, log }) => {
      const by = actingAs(caller, query.actor)
      const key = await revokeKey(database, { id, reason: query.reason ?? null }, by)
      if (key === null) throw notFound(id)
      keys.forget()
      log.info({ key_id: id, actor: by.actor }, 'key revoked')
      return shown(key)
    },
  })
}
