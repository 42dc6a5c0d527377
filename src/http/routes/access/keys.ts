import { z } from 'zod'
import { parseKeyId, scopes } from '../../../domain/values/keys.ts'
import { type ApiKey, addKey, listKeys, maxActiveKeys, readKey, revokeKey, rotateKey } from '../../../store/keys/api-keys.ts'
import { settingsActor } from '../../../store/keys/audit.ts'
import { type App, idParams, problems } from '../../app.ts'
import { type Caller, defaultActor, resolveActor } from '../../auth/caller.ts'
import { makeKey } from '../../auth/keys.ts'
import { Problem } from '../../problems.ts'
import { buildList, textFilter } from '../../schemas/lists.ts'
import { actorSchema } from '../../schemas/schemas.ts'
import type { RouteParts } from '../parts.ts'

/** Actors of the audit without a named key: the operator with `API_KEY`, and the settings. */
const reservedNames: readonly string[] = [defaultActor, settingsActor]
const daySeconds = 86_400
const maxOverlapSeconds = 30 * daySeconds

const keyFields = {
  id: z.string(),
  name: z.string().meta({ description: 'Its actor in the audit.' }),
  scopes: z.array(z.enum(scopes)).readonly(),
  sellerIds: z.array(z.string()).readonly().nullable().meta({ description: 'Sellers that it is bound to; null: all.' }),
  createdAt: z.date(),
  createdBy: z.string(),
  rotatedAt: z.date().nullable(),
  previousUntil: z.date().nullable().meta({ description: 'Until when the previous secret is accepted.' }),
  lastUsedAt: z.date().nullable().meta({ description: 'Written at most once a minute.' }),
  revokedAt: z.date().nullable(),
}
const keySchema = z.object(keyFields).meta({ id: 'Key' })
const keyList = buildList('keys', keySchema, z.string(), {
  state: z.enum(['active', 'all']).default('active'),
  name: textFilter('With this name.'),
  sellerId: textFilter('Keys that may act for this seller: those bound to it, and those bound to none.'),
})
const newKeySchema = z
  .object({ ...keyFields, key: z.string().meta({ description: 'The key. Shown in this answer only.' }) })
  .meta({ id: 'NewKey' })

const reason = z.string().trim().min(1, 'must not be empty').max(2_000).nullish().meta({ description: 'Why; for the audit.' })
const isPrintable = (text: string): boolean => !/\p{Cc}/u.test(text)

const toAnswer = (key: ApiKey) => ({
  ...key,
  scopes: [...key.scopes],
  sellerIds: key.sellerIds === null ? null : [...key.sellerIds],
})

/** A caller can give a key only scopes that it has itself, by a new key or by a new secret. @throws Problem */
const requireScopes = (caller: Caller, scopesOfKey: ApiKey['scopes']): void => {
  const missing = scopesOfKey.filter((scope) => !caller.scopes.includes(scope))
  if (missing.length === 0) return
  throw new Problem('scope-missing', { detail: `The key ${caller.name ?? ''} does not have ${missing.join(', ')} itself.` })
}

/** Keys of programs and people. */
export const keyRoutes = (app: App, { services, keys }: RouteParts): void => {
  const { database } = services
  const buildNotFound = (id: string): Problem => new Problem('not-found', { detail: `There is no active key ${id}.` })

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
        return { items: items.map(toAnswer), next }
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
      description: 'The answer contains the key, once. The key cannot have scopes that the caller does not have.',
      body: z.strictObject({
        name: z
          .string()
          .trim()
          .min(1, 'must not be empty')
          .max(200)
          .refine(isPrintable, 'must not contain control characters')
          .refine(
            (name) => !reservedNames.includes(name),
            `must not be ${reservedNames.join(' or ')}, which are actors of the audit`,
          )
          // A key that is entered as its name by mistake would be stored as readable text.
          .refine((name) => parseKeyId(name) === null, 'must not be a key'),
        scopes: z.array(z.enum(scopes)).min(1, 'must name at least one'),
        sellerIds: z
          .array(z.string().min(1).max(255))
          .min(1, 'must name at least one, or be null')
          .max(1_000)
          .nullable()
          .default(null)
          .meta({ description: 'Binds the key to these sellers; null: all, also those that are added later.' }),
        reason,
        actor: actorSchema,
      }),
      response: { 201: newKeySchema, ...problems(409, 413, 415, 422) },
    },
    handler: async ({ body, caller, log }, reply) => {
      const wanted = [...new Set(body.scopes)]
      requireScopes(caller, wanted)
      const { id, text, hash } = makeKey()
      const sellerIds = body.sellerIds === null ? null : [...new Set(body.sellerIds)]
      const by = resolveActor(caller, body.actor)
      const added = await addKey(
        database,
        { id, name: body.name, scopes: wanted, sellerIds, hash, reason: body.reason ?? null },
        by,
      )
      if (!added.ok) {
        const detail =
          added.fault === 'name-taken'
            ? `An active key has the name ${body.name}; the audit could not distinguish them.`
            : `There are ${maxActiveKeys} active keys, the maximum; revoke one first.`
        throw new Problem('illegal-state', { detail })
      }
      keys.invalidate()
      log.info({ key_id: id, actor: by.actor }, 'key added')
      return reply.status(201).send({ ...toAnswer(added.key), key: text })
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/keys/:id/rotate',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['keys'],
      summary: 'Rotate the secret of a key',
      description:
        'The previous secret is accepted for `overlapSeconds` more. A secret that is still accepted from an earlier rotation ends immediately.',
      params: idParams,
      body: z
        .strictObject({
          overlapSeconds: z
            .int()
            .min(0, 'must not be negative')
            .max(maxOverlapSeconds, `must be at most ${maxOverlapSeconds}`)
            .default(daySeconds)
            .meta({ description: 'How long both secrets are accepted: 0 to 30 days.' }),
          reason,
          actor: actorSchema,
        })
        .nullish(),
      response: { 200: newKeySchema, ...problems(404, 413, 415, 422) },
    },
    handler: async ({ params: { id }, body, caller, log }) => {
      const current = await readKey(database, id)
      if (current === null || current.revokedAt !== null) throw buildNotFound(id)
      requireScopes(caller, current.scopes)
      const { text, hash } = makeKey(id)
      const by = resolveActor(caller, body?.actor)
      const overlapMs = (body?.overlapSeconds ?? daySeconds) * 1_000
      const key = await rotateKey(database, { id, hash, overlapMs, reason: body?.reason ?? null }, by)
      if (key === null) throw buildNotFound(id)
      keys.invalidate()
      log.info({ key_id: id, actor: by.actor }, 'key rotated')
      return { ...toAnswer(key), key: text }
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/keys/:id',
    config: { needs: ['operate', 'all'] },
    schema: {
      tags: ['keys'],
      summary: 'Revoke a key',
      description: 'Takes effect immediately in this process, within two seconds in others. The row is kept for the audit.',
      params: idParams,
      querystring: z.object({ reason: z.string().trim().min(1).max(2_000).optional(), actor: actorSchema }),
      response: { 200: keySchema, ...problems(404) },
    },
    handler: async ({ params: { id }, query, caller, log }) => {
      const by = resolveActor(caller, query.actor)
      const key = await revokeKey(database, { id, reason: query.reason ?? null }, by)
      if (key === null) throw buildNotFound(id)
      keys.invalidate()
      log.info({ key_id: id, actor: by.actor }, 'key revoked')
      return toAnswer(key)
    },
  })
}
