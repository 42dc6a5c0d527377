import type { MarketplaceClient } from '../src/clients/http/client.ts'
import type { ClientHooks } from '../src/clients/http/client-parts.ts'
import type { RateLimits } from '../src/clients/http/operation.ts'
import { createMarketplaceClient } from '../src/clients/marketplace/marketplace.ts'
import { specification } from '../src/clients/marketplace/profiles/index.ts'
import { createInProcessBudget } from '../src/clients/rate-limit/shared-budget.ts'

/** A client of the sandbox's own seller, with other limits where a benchmark needs them. */
export const createSandboxClient = (marketplaceUrl: string, limits: RateLimits, hooks: ClientHooks = {}): MarketplaceClient =>
  createMarketplaceClient(
    {
      sellerId: 'sandbox-seller',
      clientId: 'sandbox-client',
      clientSecret: 'sandbox-secret',
      profile: specification,
      marketplaceUrl,
      display: null,
      headerPrefix: specification.headerPrefix,
      quantityField: specification.quantityField,
      serviceName: 'Tallyman bench',
      tokenPath: specification.tokenPath,
      requestTimeoutMs: 60_000,
    },
    {
      budget: createInProcessBudget({ limits }),
      log: { debug: () => undefined, warn: () => undefined },
      hooks,
    },
  )
