import { shippingSettingsEndpoint } from '../shipping-settings.ts'
import { vocabulary } from '../vocabulary.ts'
import type { Profile } from './profile.ts'

/**
 * The literal specification. It has no numeric rate limits: those of the operations are the published limits of the live service (public facts, section 5.1),
 * which the marketplace's answers correct.
 */
export const specification: Profile = {
  name: 'specification',
  headerPrefix: 'XX',
  quantityField: 'quantity',
  tokenPath: '/v3/token',
  tokenDetailPath: null,
  apiStatusPath: null,
  webhooksPath: null,
  delegatedKeysEndOn: null,
  rateLimits: {},
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
  // The specification names no way to change what was shipped.
  correctsShipments: false,
  vocabulary,
  maxPageSize: 200,
  replenishmentPath: '/v3/wfs/recommendation/shipment-quantity',
  replenishmentRequest: { keysIn: 'body', gtins: 'gtins', skus: 'sku', maxKeys: 1_000 },
  reconciliationPath: '/v3/report/wfs/InventoryReconciliationReport',
  reconciliationPeriod: 'dates',
  reconciliationLimit: 'each month',
  reconciliationRequests: null,
  inventoryLog: { keyParameter: 'sellerSku', dates: 'date-time', pageSize: 50 },
  stockPath: null,
  channelDetails: {
    headerSpelling: 'underscored',
    martIdHeaders: ['martId', '{prefix}martid'],
    martId: '202',
    partnerIdParameter: false,
  },
  settlementReports: { pageSizeParameters: ['limit'] },
  globalHeaders: { GLOBAL_VERSION: '3.1', MARKET: 'us' },
  globalOperations: new Set(Object.values(shippingSettingsEndpoint.operations)),
}
