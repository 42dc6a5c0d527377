import type { MarketplaceClient } from '../../src/clients/http/client.ts'
import { createMarketplaceClient } from '../../src/clients/marketplace/marketplace.ts'
import { specification } from '../../src/clients/marketplace/profiles/specification.ts'
import { createInProcessBudget } from '../../src/clients/rate-limit/shared-budget.ts'

/** The client of a seller whose marketplace nobody can reach: it words requests, and every call fails. */
export const unreachableClient = (sellerId: string): MarketplaceClient =>
  createMarketplaceClient(
    {
      sellerId,
      clientId: 'nobody',
      clientSecret: 'nobody',
      profile: specification,
      marketplaceUrl: 'http://127.0.0.1:1',
      display: null,
      headerPrefix: specification.headerPrefix,
      quantityField: specification.quantityField,
      serviceName: 'Tallyman test',
      tokenPath: specification.tokenPath,
      requestTimeoutMs: 1_000,
    },
    { budget: createInProcessBudget({}), log: { debug: () => undefined, warn: () => undefined } },
  )
