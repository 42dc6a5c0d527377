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
    // Limits of display advertising are not published, only that a 429 lasts ten minutes (public facts, section 8.3).
    'taxonomies.list': { tokens: 60, perMs: MINUTE_MS },
    'targeting.list': { tokens: 60, perMs: MINUTE_MS },
    'campaigns.get': { tokens: 10, perMs: MINUTE_MS },
    'shipping-settings.create': { tokens: 5, perMs: MINUTE_MS },
    'shipping-settings.get': { tokens: 50, perMs: MINUTE_MS },
    'replenishment.recommend': { tokens: 100, perMs: MINUTE_MS },
    // "No more than once per hour is recommended" (Limits): for each month.
    'reconciliation.report': { tokens: 1, perMs: 60 * MINUTE_MS },
    'inventory-log.list': { tokens: 500, perMs: MINUTE_MS },
    // Not published; a neighbour's limit (public facts, section 5.1).
    'sales-channels.list': { tokens: 20, perMs: MINUTE_MS },
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
  fullPriceRefundsAll: false,
  carriers: null,
  maxPageSize: 200,
  replenishmentPath: '/v3/wfs/recommendation/shipment-quantity',
  replenishmentRequest: { keysIn: 'body', gtins: 'gtins', skus: 'sku', mostKeys: 1_000 },
  reconciliationPath: '/v3/report/wfs/InventoryReconciliationReport',
  reconciliationPeriod: 'dates',
  reconciliationLimit: 'each month',
  inventoryLog: { keyParameter: 'sellerSku', dates: 'date-time', pageSize: 50 },
  channelDetails: {
    headerSpelling: 'underscored',
    martIdHeaders: ['martId', '{prefix}martid'],
    martId: '202',
    partnerIdParameter: false,
  },
  globalHeaders: { GLOBAL_VERSION: '3.1', MARKET: 'us' },
  globalOperations: new Set(['shipping-settings.create', 'shipping-settings.get'] as const),
}
