import type { Operation, RateLimit, RateLimits } from '../../src/clients/http/operation.ts'
import { tokenOperation } from '../../src/clients/marketplace/token-authorisation.ts'
import { resources } from '../../src/jobs/sync/resources/resources.ts'

/** Every operation of the marketplace. */
export const allOperations: readonly Operation[] = [
  tokenOperation,
  ...new Set(resources.flatMap(({ endpoint }) => Object.values(endpoint.operations))),
]

/** The same limit for every operation. */
export const limitsOfAll = (limit: RateLimit): RateLimits => Object.fromEntries(allOperations.map(({ name }) => [name, limit]))
