import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import type { Endpoint } from '../../src/clients/http/endpoint.ts'

/** A client one part of which does some things in another way; the client itself stays as it is. */
export const withPart = <Part extends object>(
  client: MarketplaceClient,
  endpoint: Endpoint<Part | null>,
  others: Partial<Part>,
): MarketplaceClient => ({
  ...client,
  of: (asked) => {
    const part = client.of(asked)
    return Object.is(asked, endpoint) ? Object.assign({}, part, others) : part
  },
})
