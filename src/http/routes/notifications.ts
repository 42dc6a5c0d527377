import type { FastifyRequest, FastifySchemaCompiler } from 'fastify'
import { type core, z } from 'zod'
import { type ReadNotification, readNotification } from '../../clients/marketplace/notifications.ts'
import { createQuietLog } from '../../observability/log.ts'
import { type App, problems } from '../app.ts'
import { requireSeller } from '../auth/caller.ts'
import { areClientCredentials, isProven, issueToken, tokenLifetimeSeconds } from '../auth/notification-proof.ts'
import { Problem } from '../problems.ts'
import { validatorCompiler } from '../schemas/serializers.ts'
import type { RouteParts } from './parts.ts'

const params = z.object({ sellerId: z.string().min(1).max(255) })

const receiptSchema = z.object({
  status: z
    .enum(['accepted', 'duplicate', 'ignored'])
    .meta({ description: '`ignored`: nothing is read for a notification of this type, or it names no record.' }),
})

const tokenSchema = z.object({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  expires_in: z.int().meta({ description: 'Seconds.' }),
})

const credentialsSchema = z.looseObject({
  client_id: z.string().nullish().catch(null),
  client_secret: z.string().nullish().catch(null),
})

/** Client credentials of a form, or of a JSON object. */
const readCredentials = (body: Buffer) => {
  const text = body.toString('utf8')
  const form = text.trimStart().startsWith('{') ? parseObject(text) : Object.fromEntries(new URLSearchParams(text))
  const { data } = credentialsSchema.safeParse(form)
  return { clientId: data?.client_id ?? null, clientSecret: data?.client_secret ?? null }
}

/** @throws Problem */
const parseObject = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Problem('malformed-json', { detail: `The body is not JSON: ${error instanceof Error ? error.name : 'error'}.` })
  }
}

const readBody = ({ body }: FastifyRequest): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

/** Takes the body as it was sent: a proof covers its bytes. */
const keepBodies = (scope: App): void => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(/^/, { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  const skipBody: FastifySchemaCompiler<core.$ZodType> = (part) =>
    part.httpPart === 'body' ? (value) => ({ value }) : validatorCompiler(part)
  scope.setValidatorCompiler(skipBody)
}

/** The marketplace's notifications about its sellers. */
export const notificationRoutes = (app: App, { services }: RouteParts): void => {
  const { notifications, counters } = services
  const quiet = createQuietLog(services.log)
  const count = (outcome: 'accepted' | 'duplicate' | 'refused' | Exclude<ReadNotification['kind'], 'known'>): void =>
    counters.notifications.inc({ outcome })

  /** The secret of a seller; null: none is set. @throws Problem for an unknown seller */
  const findSecret = (request: FastifyRequest, sellerId: string): string | null => {
    const secret = notifications.findSecret(sellerId)
    if (secret === undefined) throw new Problem('not-found', { detail: `There is no seller ${sellerId}.` })
    if (!request.caller.mustSign) requireSeller(request.caller, sellerId)
    return secret
  }

  const refuse = (sellerId: string, what: string): Problem => {
    count('refused')
    quiet.warn(
      `notification:${sellerId}`,
      { seller_id: sellerId },
      `refused ${what}: compare NOTIFICATIONS_SECRET with the subscription at the marketplace (docs/notifications.md)`,
    )
    return new Problem('invalid-signature', {
      detail: `The ${what.replace(/^an? /, '')} is not proven to be of the marketplace.`,
    })
  }

  app.register(async (scope) => {
    keepBodies(scope)
    scope.route({
      method: 'POST',
      url: '/v1/notifications/:sellerId',
      config: { access: 'proven', needs: ['events:write', 'own'] },
      schema: {
        tags: ['notifications'],
        summary: 'Accept a notification of the marketplace',
        description:
          'A webhook of the marketplace about the seller. It is a hint: the named order or return is read from the marketplace by its id. ' +
          'Proven with `NOTIFICATIONS_SECRET` by HTTP Basic, by an HMAC-SHA256 of the body, by the signature with a time, or by a token of ' +
          '`POST /v1/notifications/{sellerId}/token`. A repeated `source.eventId` changes nothing.',
        security: [{ apiKey: ['events:write'] }, { notification: [] }],
        params,
        body: z.looseObject({ source: z.looseObject({ eventType: z.string() }) }).meta({ description: 'Kept nowhere.' }),
        response: { 202: receiptSchema, ...problems(404, 413, 422) },
      },
      handler: async (request, reply) => {
        const { sellerId } = params.parse(request.params)
        const secret = findSecret(request, sellerId)
        const body = readBody(request)
        const received = { method: request.method, target: request.raw.url ?? '', headers: request.headers, body }
        if (secret !== null && !isProven(received, sellerId, secret, Date.now())) throw refuse(sellerId, 'a notification')
        const read = readNotification(body)
        if (read.kind === 'malformed') {
          count('malformed')
          const message = 'must be a JSON object with source.eventType'
          throw new Problem('invalid-body', { errors: [{ path: 'source.eventType', message }] })
        }
        reply.status(202)
        if (read.kind !== 'known') {
          count(read.kind)
          if (read.kind === 'unreadable')
            quiet.warn(`unreadable:${sellerId}`, { seller_id: sellerId }, 'a notification names no record; the polls read it')
          return { status: 'ignored' as const }
        }
        const isNew = await notifications.accept(sellerId, read.notification)
        const status = isNew ? ('accepted' as const) : ('duplicate' as const)
        count(status)
        return { status }
      },
    })

    scope.route({
      method: 'POST',
      url: '/v1/notifications/:sellerId/token',
      config: { access: 'proven', needs: ['events:write', 'own'] },
      schema: {
        tags: ['notifications'],
        summary: 'Get a token for notifications',
        description:
          'OAuth 2.0 client credentials, in a Basic header or in a form: the user and the password of `NOTIFICATIONS_SECRET`. The token proves notifications ' +
          'about this seller as `Authorization: Bearer`; nothing of it is stored.',
        security: [{ apiKey: ['events:write'] }, { notification: [] }],
        params,
        consumes: ['application/x-www-form-urlencoded', 'application/json'],
        response: { 200: tokenSchema, ...problems(404, 413) },
      },
      handler: async (request) => {
        const { sellerId } = params.parse(request.params)
        const secret = findSecret(request, sellerId)
        const credentials = readCredentials(readBody(request))
        if (secret === null)
          throw new Problem('not-found', { detail: `No secret of notifications is set for seller ${sellerId}.` })
        if (!areClientCredentials(secret, request.headers.authorization, credentials))
          throw refuse(sellerId, 'a request for a token')
        return {
          access_token: issueToken(secret, sellerId, Date.now()),
          token_type: 'Bearer' as const,
          expires_in: tokenLifetimeSeconds,
        }
      },
    })
  })
}
