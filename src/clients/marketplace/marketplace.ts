import { type Authorisation, type Call, type Caller, type CallerOptions, createCaller } from '../caller.ts'
import type { Marketplace } from '../client.ts'
import { createClient, type MarketplaceClient } from '../client.ts'
import type { ClientParts } from '../client-parts.ts'
import { createSignatureAuthorisation } from '../display/signature.ts'
import { createTokenAuthorisation } from './authorisation.ts'
import type { DisplayConnection, SellerConnection } from './connection.ts'
import type { Hosts } from './endpoint.ts'
import { faultRules } from './faults.ts'
import { ordersEndpoint } from './orders.ts'

/** Wait after a 429 of display advertising that names no time (public facts, section 8.3). */
const displayThrottleWaitMs = 600_000

/** The headers of the specification, with the seller's prefix; those of global operations for the operations that the profile names. */
const headersOf = ({ headerPrefix, profile }: SellerConnection): CallerOptions<Authorisation>['headers'] => {
  const globalHeaders = Object.fromEntries(
    Object.entries(profile.globalHeaders).map(([name, value]) => [`${headerPrefix}_${name}`, value]),
  )
  return (call: Call, credentials, correlationId) => {
    const ordinary = {
      accept: 'application/json',
      ...(call.body === null ? {} : { 'content-type': 'application/json' }),
      [`${headerPrefix}_QOS.CORRELATION_ID`]: correlationId,
      ...(profile.globalOperations.has(call.operation) ? globalHeaders : {}),
      ...credentials,
    }
    // Plain is how the specification writes them in section 8: without underscores (`XXSVC.NAME`).
    const spelt = (name: string): string =>
      call.headerSpelling === 'plain' && name.startsWith(`${headerPrefix}_`) ? name.replaceAll('_', '') : name
    return { ...Object.fromEntries(Object.entries(ordinary).map(([name, value]) => [spelt(name), value])), ...call.headers }
  }
}

/** The marketplace of the specification, display advertising included, in the dialect of a profile. */
export const marketplace: Marketplace<SellerConnection> = {
  connect(connection, parts) {
    const { sellerId, requestTimeoutMs, profile, display } = connection
    const { budgetHeaders } = profile
    const common = { sellerId, requestTimeoutMs, parts, headers: headersOf(connection), rules: faultRules, budgetHeaders }
    const caller = createCaller({
      ...common,
      baseUrl: connection.marketplaceUrl,
      authorise: (bare) => createTokenAuthorisation(connection, parts.now ?? Date.now, bare),
    })
    // A host of its own, with its own clock, on which every request is signed.
    const displayCaller = (to: DisplayConnection): Caller =>
      createCaller({
        ...common,
        baseUrl: to.url,
        authorise: (bare) => createSignatureAuthorisation(connection.headerPrefix, to, bare),
        throttleWaitMs: displayThrottleWaitMs,
      })
    const onUnknownValue = parts.hooks?.onUnknownValue ?? (() => undefined)
    const hosts: Hosts = {
      marketplace: { caller, connection, onUnknownValue },
      display: display === null ? null : { caller: displayCaller(display), connection, onUnknownValue, display },
    }
    return {
      hosts,
      vocabulary: profile.vocabulary,
      orderCommands: ordersEndpoint,
      credentials: caller.authorisation,
      clock: caller.clock,
      retire: async () => void (await Promise.all([caller.retire(), hosts.display?.caller.retire()])),
      close: async () => void (await Promise.all([caller.close(), hosts.display?.caller.close()])),
    }
  },
}

/** A client of this marketplace; see `createClient`. */
export const createMarketplaceClient = (connection: SellerConnection, parts: ClientParts): MarketplaceClient =>
  createClient(marketplace, connection, parts)
