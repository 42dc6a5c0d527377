import type { Profile } from './profile.ts'

const MINUTE_MS = 60_000

/**
 * The specification to the letter. It shows no numeric rate limits: those here are the published ones of the live service
 * (public facts, section 5.1), as a start that the marketplace's own answers correct.
 */
export const specification: Profile = {
  name: 'specification',
  headerPrefix: 'XX',
  quantityField: 'quantity',
  tokenPath: '/v3/token',
  rateLimits: {
    // Not published anywhere. One token lives 15 minutes; the rest is for tokens that die early and for requests that fail, since
    // nothing of a seller works while it has no token.
    token: { tokens: 20, perMs: 5 * MINUTE_MS },
    'orders.list': { tokens: 5000, perMs: MINUTE_MS },
    'orders.released': { tokens: 60, perMs: MINUTE_MS },
    'orders.get': { tokens: 5000, perMs: MINUTE_MS },
    'orders.acknowledge': { tokens: 60, perMs: MINUTE_MS },
    'orders.ship': { tokens: 60, perMs: MINUTE_MS },
    'orders.cancel': { tokens: 60, perMs: MINUTE_MS },
    'orders.refund': { tokens: 60, perMs: MINUTE_MS },
    'returns.list': { tokens: 50, perMs: MINUTE_MS },
  },
  budgetHeaders: {
    remaining: ['x-current-token-count'],
    // Two spellings are published (public facts, section 5.3).
    replenishAt: ['x-next-replenishment-time', 'x-next-replenish-time'],
  },
  refundQuantity: true,
  unitOfMeasurement: 'EACH',
  shipSellerOrderId: false,
  refundMode: false,
  carriers: null,
  maxPageSize: 200,
}
