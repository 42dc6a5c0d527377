import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { nearestName } from '../../domain/values/nearest.ts'
import { Problem } from '../problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Names of the query parameters that the route accepts; set by {@link refuseUnknownParameters}. */
    parameters?: readonly string[]
  }
}

/** Characters of an unknown name that the answer repeats. */
const maxNameLength = 60

const shorten = (name: string): string => (name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name)

/** Routes that are added after this call refuse unknown query parameters: ignoring a filter would return other data than requested. */
export const refuseUnknownParameters = (app: Pick<FastifyInstance, 'addHook'>): void => {
  app.addHook('onRoute', (route) => {
    const { querystring } = route.schema ?? {}
    route.config = { ...route.config, parameters: querystring instanceof z.ZodObject ? Object.keys(querystring.shape) : [] }
  })
  app.addHook('onRequest', async (request) => {
    const known = request.routeOptions.config.parameters
    if (known === undefined || typeof request.query !== 'object' || request.query === null) return
    const unknown = Object.keys(request.query).filter((name) => !known.includes(name))
    if (unknown.length === 0) return
    const accepted = known.length === 0 ? 'the route has none' : `accepted: ${known.join(', ')}`
    throw new Problem('unknown-parameter', {
      errors: unknown.map((name) => {
        const near = nearestName(name, known)
        return {
          path: `query.${shorten(name)}`,
          message: `is unknown${near === null ? '' : ` (did you mean ${near}?)`}; ${accepted}`,
        }
      }),
    })
  })
}
