import fastifySwagger from '@fastify/swagger'
import fastifySwaggerUi from '@fastify/swagger-ui'
import type { App } from '../../app.ts'
import { libraryPagePolicy } from '../../content-policies.ts'
import { completeDocument, tagDescriptions } from '../../schemas/openapi.ts'
import { openapiTransform, openapiTransformObject } from '../../schemas/serializers.ts'
import { documentationStyle, logo } from './library-look.ts'

/** `/openapi.json` and `/docs`, for the routes that are added after this call. */
export const documentationRoutes = async (app: App, version: string): Promise<void> => {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Tallyman',
        version,
        description:
          'ERP events, the change feed and the operator API. Errors are problem documents (RFC 9457); lists accept `limit` and `cursor`.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description:
              'API_KEY, or a key of `POST /v1/keys` (`tly_…`) with the scope that the operation names. Not required if no API_KEY is set. ' +
              'A browser may send the cookie of `POST /v1/session` instead.',
          },
          signature: {
            type: 'apiKey',
            in: 'header',
            name: 'webhook-signature',
            description:
              'Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature over `<id>.<timestamp>.<body>` with EVENTS_SECRET.',
          },
          notification: {
            type: 'http',
            scheme: 'basic',
            description:
              'The secret of notifications: as Basic credentials, as the key of an HMAC-SHA256 of the body in the header Authorization or of the signature in ' +
              'WM_SEC.SIGNATURE, or by a token.',
          },
        },
      },
      security: [{ apiKey: [] }],
      servers: [{ url: '/', description: 'This daemon.' }],
      tags: Object.entries(tagDescriptions).map(([name, description]) => ({ name, description })),
    },
    transform: openapiTransform,
    transformObject: openapiTransformObject,
  })
  let document: Readonly<Record<string, unknown>> | undefined
  const openapi = (): Readonly<Record<string, unknown>> => {
    document ??= completeDocument(app.swagger())
    return document
  }
  await app.register(async (docs) => {
    docs.addHook('onRoute', (route) => {
      route.config = { ...route.config, access: 'browser', needs: ['read', 'none'] }
    })
    await docs.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: libraryPagePolicy,
      logo: { type: 'image/svg+xml', content: logo, href: '/', target: '_self' },
      theme: { title: 'Tallyman API', css: [{ filename: 'tallyman.css', content: documentationStyle }] },
      uiConfig: { validatorUrl: null, persistAuthorization: false },
      transformSpecification: () => openapi(),
      transformSpecificationClone: false,
    })
    docs.get('/openapi.json', { schema: { hide: true } }, openapi)
  })
}
