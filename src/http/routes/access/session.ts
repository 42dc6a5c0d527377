import { z } from 'zod'
import { scopes } from '../../../domain/values/keys.ts'
import { type App, problems } from '../../app.ts'
import { apiKeyId, mayAccessSeller, resolveActor } from '../../auth/caller.ts'
import type { Identity } from '../../auth/guard.ts'
import { isSecure } from '../../auth/request-origin.ts'
import { sessionCookie, sessionToken } from '../../auth/sessions.ts'
import { marketplaceKinds } from '../../services.ts'
import type { RouteParts } from '../parts.ts'

const sessionSchema = z
  .object({
    signedIn: z.boolean().meta({ description: 'Whether requests with this cookie or key are accepted. false: sign in.' }),
    name: z.string().nullable().meta({ description: 'Name of the key; null: API_KEY, or no key is needed.' }),
    scopes: z.array(z.enum(scopes)).readonly(),
    sellers: z.array(z.string()).readonly().nullable().meta({ description: 'Sellers that the key is bound to; null: all.' }),
    expiresAt: z.date().nullable().meta({ description: 'When the session ends; null: there is none.' }),
    version: z.string().nullable().meta({ description: 'Version of the daemon.' }),
    marketplace: z.enum(marketplaceKinds).nullable().meta({
      description:
        '`sandbox`: the built-in one; `demonstration`: the built-in one with the demonstration ERP; null: not signed in.',
    }),
    now: z.date().meta({ description: "The daemon's time." }),
    clocks: z
      .array(z.object({ sellerId: z.string(), now: z.date() }))
      .readonly()
      .meta({ description: "The marketplace's time for each seller, by which orders are late." }),
  })
  .meta({ id: 'Session' })

/** Sign-in of people: exchanges a key for a cookie. */
export const sessionRoutes = (app: App, { services, guard, sessions }: RouteParts): void => {
  const signedOut = {
    signedIn: false,
    name: null,
    scopes: [],
    sellers: null,
    expiresAt: null,
    version: null,
    marketplace: null,
    clocks: [],
  }
  const toAnswer = ({ caller, expiresAt }: Identity) => ({
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
      .filter((sellerId) => mayAccessSeller(caller, sellerId))
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
      const identity = await guard.identify(request)
      return identity === null ? { ...signedOut, now: new Date() } : toAnswer(identity)
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
        'Takes a key and sets a cookie that is accepted wherever the key is, for 12 hours or until the key is revoked. Scripts cannot read it, and other sites cannot make a browser send it.',
      security: [],
      body: z.strictObject({ key: z.string().trim().min(1, 'must not be empty').max(1_000).meta({ description: 'The key.' }) }),
      response: { 200: sessionSchema, ...problems(413, 415, 422) },
    },
    handler: async (request, reply) => {
      const { key } = request.body
      const caller = await guard.checkKey(request, key)
      const previousToken = sessionToken(request.headers.cookie)
      const by = resolveActor(caller, null)
      if (previousToken !== null) await sessions.close(previousToken, by)
      const { token, expiresAt } = await sessions.open(key, caller.keyId ?? apiKeyId, by)
      request.log.info({ key_id: caller.keyId, actor: by.actor }, 'signed in')
      reply.header('set-cookie', sessionCookie(token, isSecure(request)))
      return toAnswer({ caller, expiresAt })
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
      const identity = await guard.identify(request)
      if (token !== null && identity !== null) await sessions.close(token, resolveActor(identity.caller, null))
      reply.header('set-cookie', sessionCookie(null, isSecure(request)))
      return { signedIn: false }
    },
  })
}
