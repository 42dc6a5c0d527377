import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Scope } from '../domain/keys.ts'
import type { SqlRunner } from '../store/database.ts'
import { type OwnedThing, sellerOf, sellerOfEvent } from '../store/sellers-of.ts'
import { coversSeller, requireAllSellers, requireSeller } from './caller.ts'
import { Problem } from './problems.ts'

/** How a route relates to sellers, for keys that are bound to some. */
export type Concern =
  /** No data of a seller. */
  | 'none'
  /** The daemon as a whole: refused. */
  | 'all'
  /** The handler shows and touches only what the caller may know of. */
  | 'own'
  /** What `:id` names, or an event by `:source` and `:id`: that of another seller does not exist. */
  | OwnedThing
  | 'event'
  /** `:id` is the seller: another one is refused. */
  | 'seller'

/** What a route needs of a key. */
export type Needs = readonly [scope: Scope, concerns: Concern]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required unless `access` is `open`: the server does not start without it. */
    needs?: Needs
  }
}

const names: Readonly<Record<OwnedThing, string>> = {
  command: 'command',
  quarantined: 'quarantined record',
  alarm: 'alarm',
}

/** Refuses what a caller may not do, before the body is read. @throws Problem */
export const checkNeeds = ({ caller, routeOptions }: FastifyRequest): void => {
  const { needs, access } = routeOptions.config
  // An address that leads nowhere has no needs.
  if (needs === undefined || access === 'open') return
  const [scope, concerns] = needs
  if (!caller.scopes.includes(scope)) {
    throw new Problem('scope-missing', {
      detail: `The key ${caller.name ?? ''} has ${caller.scopes.join(', ')}; this needs ${scope}.`,
    })
  }
  if (concerns === 'all') requireAllSellers(caller)
}

const parameter = (request: FastifyRequest, name: string): string => {
  const { params } = request
  const value: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  return String(value)
}

/** What names a seller outright: the parameter or the member `sellerId`. */
const namedSeller = (part: unknown): string | null => {
  if (typeof part !== 'object' || part === null || !('sellerId' in part)) return null
  return typeof part.sellerId === 'string' ? part.sellerId : null
}

/** Keeps a key that is bound to sellers away from others, once the request has been read. @throws Problem */
const keepToSellers = async (sql: SqlRunner, request: FastifyRequest): Promise<void> => {
  const { caller, routeOptions } = request
  // An address of the console may name a seller; what it shows is asked for by requests of its own.
  if (caller.sellers === null || routeOptions.config.access === 'open') return
  for (const sellerId of [namedSeller(request.query), namedSeller(request.body)]) {
    if (sellerId !== null) requireSeller(caller, sellerId)
  }
  const concerns = routeOptions.config.needs?.[1]
  switch (concerns) {
    case 'seller':
      requireSeller(caller, parameter(request, 'id'))
      return
    case 'event': {
      const [source, id] = [parameter(request, 'source'), parameter(request, 'id')]
      if (!coversSeller(caller, await sellerOfEvent(sql, source, id)))
        throw new Problem('not-found', { detail: `There is no event ${id} of ${source}.` })
      return
    }
    case 'command':
    case 'quarantined':
    case 'alarm': {
      const id = parameter(request, 'id')
      if (!coversSeller(caller, await sellerOf(sql, concerns, id)))
        throw new Problem('not-found', { detail: `There is no ${names[concerns]} ${id}.` })
      return
    }
    default:
      return
  }
}

/** Documents what a route needs. A `security` of its own stays. */
const document = (route: RouteOptions): void => {
  const { needs } = route.config ?? {}
  if (needs === undefined || route.schema === undefined) return
  const [scope, concerns] = needs
  const { description, security } = route.schema
  const bound = concerns === 'all' ? ', of a key that is not bound to sellers' : ''
  const sentence = `Needs the scope \`${scope}\`${bound}.`
  route.schema = {
    ...route.schema,
    description: description === undefined ? sentence : `${description} ${sentence}`,
    security: security ?? [{ apiKey: [scope] }],
  }
}

/**
 * Holds all routes that are added from now on to what they declare. Returns the names of those that declare nothing, to be asked once all
 * have been added.
 */
export const enforceNeeds = (app: FastifyInstance, sql: SqlRunner): (() => readonly string[]) => {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
    document(route)
  })
  app.addHook('onRequest', async (request) => checkNeeds(request))
  app.addHook('preHandler', (request) => keepToSellers(sql, request))
  return () =>
    routes
      .filter(({ config }) => config?.needs === undefined && config?.access !== 'open')
      .map(({ method, url }) => `${[method].flat().join(', ')} ${url}`)
}
