import { tokenOperation } from '../../src/clients/marketplace/authorisation.ts'
import type { Operation, RateLimit, RateLimits } from '../../src/clients/operation.ts'
import { resources } from '../../src/jobs/sync/resources.ts'

/** Every operation of the marketplace. */
export const allOperations: readonly Operation[] = [
  tokenOperation,
  ...new Set(resources.flatMap(({ endpoint }) => Object.values(endpoint.operations))),
]

/** The same limit for every operation. */
export const limitsOfAll = (limit: RateLimit): RateLimits => Object.fromEntries(allOperations.map(({ name }) => [name, limit]))
