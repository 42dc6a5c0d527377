import { z } from 'zod'
import { scopes } from '../../domain/keys.ts'
import { type App, problems } from '../app.ts'
import { actingAs, apiKeyId, type Caller } from '../caller.ts'
import { isSecure } from '../guard.ts'
import { marketplaceKinds } from '../services.ts'
import { sessionCookie, sessionToken } from '../sessions.ts'
import type { RouteParts } from './parts.ts'

const sessionSchema = z
  .object({
    signedIn: z
      .boolean()
      .meta({ description: 'Whether requests of this browser, or with the key that is sent, are accepted. false: sign in.' }),
    name: z.string().nullable().meta({ description: 'Name of the key; null: API_KEY, or no key is needed.' }),
    scopes: z.array(z.enum(scopes)).readonly(),
    sellers: z.array(z.string()).readonly().nullable().meta({ description: 'Sellers that the key is bound to; null: all.' }),
    expiresAt: z.date().nullable().meta({ description: 'When the session ends; null: there is none.' }),
    version: z.string().nullable().meta({ description: 'Of the daemon.' }),
    marketplace: z.enum(marketplaceKinds).nullable().meta({
      description:
        '`sandbox`: the one that is built in, `demonstration`: with an ERP that decides on its orders; null: not signed in.',
    }),
    now: z.date().meta({ description: "The daemon's time." }),
    clocks: z
      .array(z.object({ sellerId: z.string(), now: z.date() }))
      .readonly()
      .meta({ description: "The marketplace's time for each seller, by which orders are late." }),
  })
  .meta({ id: 'Session' })

/** Sign-in of people: a key for a cookie. */
export const sessionRoutes = (app: App, { services, guard, sessions }: RouteParts): void => {
  const nobody = {
    signedIn: false,
    name: null,
    scopes: [],
    sellers: null,
    expiresAt: null,
    version: null,
    marketplace: null,
    clocks: [],
  }
  const shown = (caller: Caller, expiresAt: Date | null) => ({
    signedIn: true,
    name: caller.name,
    scopes: caller.scopes,
    sellers: caller.sellers,
    expiresAt,
    version: services.version,
    marketplace: services.marketplace,
    now: new Date(),
    clocks: services
      .sellers()
      .filter((sellerId) => caller.sellers === null || caller.sellers.includes(sellerId))
      .map((sellerId) => ({ sellerId, now: services.marketplaceNow(sellerId) })),
  })

  app.route({
    method: 'GET',
    url: '/v1/session',
    config: { access: 'open' },
    schema: {
      tags: ['sessions'],
      summary: 'Who is signed in',
      security: [],
      response: { 200: sessionSchema, ...problems() },
    },
    handler: async (request) => {
      const visitor = await guard.visitor(request)
      return visitor === null ? { ...nobody, now: new Date() } : shown(visitor.caller, visitor.expiresAt)
    },
  })

  app.route({
    method: 'POST',
    url: '/v1/session',
    config: { access: 'open' },
    schema: {
      tags: ['sessions'],
      summary: 'Sign in',
      description:
        'Takes a key and sets a cookie that is accepted wherever the key is, for 12 hours or until the key is revoked. Scripts cannot read it, and no other site makes a browser send it.',
      security: [],
      body: z.strictObject({ key: z.string().trim().min(1, 'must not be empty').max(1_000).meta({ description: 'The key.' }) }),
      response: { 200: sessionSchema, ...problems(413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { key } = request.body
      const caller = await guard.holderOf(request, key)
      const before = sessionToken(request.headers.cookie)
      const by = actingAs(caller, null)
      if (before !== null) await sessions.close(before, by)
      const { token, expiresAt } = await sessions.open(key, caller.keyId ?? apiKeyId, by)
      request.log.info({ key_id: caller.keyId, actor: by.actor }, 'signed in')
      reply.header('set-cookie', sessionCookie(token, isSecure(request)))
      return shown(caller, expiresAt)
    },
  })

  app.route({
    method: 'DELETE',
    url: '/v1/session',
    config: { access: 'open' },
    schema: {
      tags: ['sessions'],
      summary: 'Sign out',
      security: [],
      response: { 200: z.object({ signedIn: z.boolean() }), ...problems() },
    },
    handler: async (request, reply) => {
      const token = sessionToken(request.headers.cookie)
      const visitor = await guard.visitor(request)
      if (token !== null && visitor !== null) await sessions.close(token, actingAs(visitor.caller, null))
      reply.header('set-cookie', sessionCookie(null, isSecure(request)))
      return { signedIn: false }
    },
  })
}
