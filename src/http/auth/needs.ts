import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify'
import type { Scope } from '../../domain/values/keys.ts'
import type { SqlRunner } from '../../store/db/database.ts'
import { findEventSeller, findSeller, type OwnedThing } from '../../store/sellers/owners.ts'
import { Problem } from '../problems.ts'
import { mayAccessSeller, requireAllSellers, requireSeller } from './caller.ts'

/** How a route relates to sellers; limits keys that are bound to sellers. */
export type Concern =
  /** No data of a seller. */
  | 'none'
  /** The daemon as a whole: refused for such keys. */
  | 'all'
  /** The handler limits itself to the sellers of the caller. */
  | 'own'
  /** One thing by `:id`, or one event by `:source` and `:id`: 404 if it belongs to another seller. */
  | OwnedThing
  | 'event'
  /** The seller `:id`: other sellers are refused. */
  | 'seller'

/** The scope that a route needs, and its relation to sellers. */
export type Needs = readonly [scope: Scope, concerns: Concern]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Required unless `access` is `open`: otherwise the server does not start. */
    needs?: Needs
  }
}

const nouns: Readonly<Record<OwnedThing, string>> = {
  command: 'command',
  quarantined: 'quarantined record',
  alarm: 'alarm',
  claim: 'claim',
  proposal: 'proposal',
}

/** Checks the scope of the caller, before the body is read. @throws Problem */
export const checkNeeds = ({ caller, routeOptions }: FastifyRequest): void => {
  const { needs, access } = routeOptions.config
  // An unknown route has no needs.
  if (needs === undefined || access === 'open') return
  const [scope, concerns] = needs
  if (!caller.scopes.includes(scope)) {
    throw new Problem('scope-missing', {
      detail: `The key ${caller.name ?? ''} has ${caller.scopes.join(', ')}; this needs ${scope}.`,
    })
  }
  if (concerns === 'all') requireAllSellers(caller)
}

/** A parameter of the path. */
export const readParameter = (request: FastifyRequest, name: string): string => {
  const { params } = request
  const value: unknown = typeof params === 'object' && params !== null ? Reflect.get(params, name) : undefined
  return String(value)
}

/** Whether a seller is, or once was, one of this database. */
export type KnowsSeller = (sellerId: string) => Promise<boolean>

/** The member `sellerId` of a query or a body. */
const findSellerId = (part: unknown): string | null => {
  if (typeof part !== 'object' || part === null || !('sellerId' in part)) return null
  return typeof part.sellerId === 'string' ? part.sellerId : null
}

/** Checks that the seller that a query names exists. @throws Problem */
const checkNamedSeller = async (knowsSeller: KnowsSeller, { query, routeOptions }: FastifyRequest): Promise<void> => {
  const sellerId = routeOptions.config.access === 'open' ? null : findSellerId(query)
  if (sellerId !== null && !(await knowsSeller(sellerId)))
    throw new Problem('not-found', { detail: `There is no seller ${sellerId}.` })
}

/** Checks that a key that is bound to sellers names no other seller, after the request has been read. @throws Problem */
const checkSellers = async (sql: SqlRunner, request: FastifyRequest): Promise<void> => {
  const { caller, routeOptions } = request
  // The address of a console page may name a seller; the page requests its data separately.
  if (caller.sellers === null || routeOptions.config.access === 'open') return
  for (const sellerId of [findSellerId(request.query), findSellerId(request.body)]) {
    if (sellerId !== null) requireSeller(caller, sellerId)
  }
  const concerns = routeOptions.config.needs?.[1]
  switch (concerns) {
    case 'seller':
      requireSeller(caller, readParameter(request, 'id'))
      return
    case 'event': {
      const [source, id] = [readParameter(request, 'source'), readParameter(request, 'id')]
      if (!mayAccessSeller(caller, await findEventSeller(sql, source, id)))
        throw new Problem('not-found', { detail: `There is no event ${id} of ${source}.` })
      return
    }
    case 'command':
    case 'quarantined':
    case 'alarm':
    case 'claim':
    case 'proposal': {
      const id = readParameter(request, 'id')
      if (!mayAccessSeller(caller, await findSeller(sql, concerns, id)))
        throw new Problem('not-found', { detail: `There is no ${nouns[concerns]} ${id}.` })
      return
    }
    default:
      return
  }
}

/** Adds the needs of a route to its OpenAPI description. Keeps a `security` that the route declares. */
const documentNeeds = (route: RouteOptions): void => {
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
 * Enforces the declared needs of all routes that are added after this call; a query that names an unknown seller is refused. Returns a function that lists the routes without needs; call it when all
 * routes have been added.
 */
export const enforceNeeds = (app: FastifyInstance, sql: SqlRunner, knowsSeller: KnowsSeller): (() => readonly string[]) => {
  const routes: RouteOptions[] = []
  app.addHook('onRoute', (route) => {
    routes.push(route)
    documentNeeds(route)
  })
  app.addHook('onRequest', async (request) => checkNeeds(request))
  // A key that is bound to other sellers does not learn whether a seller exists.
  app.addHook('preHandler', async (request) => {
    await checkSellers(sql, request)
    await checkNamedSeller(knowsSeller, request)
  })
  return () =>
    routes
      .filter(({ config }) => config?.needs === undefined && config?.access !== 'open')
      .map(({ method, url }) => `${[method].flat().join(', ')} ${url}`)
}
