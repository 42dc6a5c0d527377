import { createSignatureAuthorisation } from '../display/signature.ts'
import type { Authorisation, Call } from '../http/call.ts'
import { type Caller, type CallerOptions, createCaller } from '../http/caller.ts'
import type { Marketplace } from '../http/client.ts'
import { createClient, type MarketplaceClient } from '../http/client.ts'
import type { ClientParts } from '../http/client-parts.ts'
import type { DisplayConnection, SellerConnection } from './connection.ts'
import type { Hosts } from './endpoint.ts'
import { faultRules } from './faults.ts'
import { ordersEndpoint, orderWrites } from './orders/orders.ts'
import { returnsEndpoint, returnWrites } from './returns.ts'
import { createTokenAuthorisation } from './token-authorisation.ts'

/** Wait after a 429 of display advertising that names no time (public facts, section 8.3). */
const displayThrottleWaitMs = 600_000

/** The headers of the specification with the seller's prefix, and the global headers for the global operations of the profile. */
const buildHeaders = ({ headerPrefix, profile }: SellerConnection): CallerOptions<Authorisation>['headers'] => {
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
    // The plain spelling of the specification, section 8, has no underscores (`XXSVC.NAME`).
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
    const common = { sellerId, requestTimeoutMs, parts, headers: buildHeaders(connection), rules: faultRules, budgetHeaders }
    const caller = createCaller({
      ...common,
      baseUrl: connection.marketplaceUrl,
      authorise: (context) => createTokenAuthorisation(connection, parts, context),
    })
    // Display advertising is another host with its own clock, and its requests are signed.
    const displayCaller = (to: DisplayConnection): Caller =>
      createCaller({
        ...common,
        baseUrl: to.url,
        authorise: (context) => createSignatureAuthorisation(connection.headerPrefix, to, context),
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
      returnCommands: returnsEndpoint,
      orderWrites,
      returnWrites,
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
