import { inventoryLogEndpoint } from '../inventory-log.ts'
import { replenishmentEndpoint } from '../replenishment.ts'
import { reconciliationEndpoint } from '../reports/reconciliation-report.ts'
import { vocabulary } from '../vocabulary.ts'
import type { Profile } from './profile.ts'
import { specification } from './specification.ts'

/** Carriers of the published enumeration (public facts, section 3.2), with the additions of 2026. */
const carriers = [
  'UPS, USPS, FedEx, Airborne, OnTrac, DHL Ecommerce - US, DHL, LS, UDS, UPSMI, FDX, PILOT, ESTES, SAIA',
  'FDS Express, Seko Worldwide, HIT Delivery, FEDEXSP, RL Carriers, Metropolitan Warehouse & Delivery, China Post',
  'YunExpress, Yellow Freight Sys, AIT Worldwide Logistics, Chukou1, Sendle, Landmark Global, Sunyou, Yanwen, 4PX',
  'GLS, OSM Worldwide, FIRST MILE, AM Trucking, CEVA, India Post, SF Express, CNE, TForce Freight, AxleHire, LSO',
  'Royal Mail, ABF Freight System, WanB, Roadrunner Freight, Meyer Distribution, AAA Cooper, Canada Post',
  'Southeastern Freight Lines, Japan Post, Correos de Mexico, XPO Logistics, JD Logistics, YDH, JCEX, Flyt',
  'Deutsche Post, Better Trucks, Asendia, SFC, UBI, ePost Global, YF Logistics, RXO, Estes Express, Shypmax',
  'WIN.IT America, PITT OHIO, PostNord Sweden, Equick, Whistl, Tusou, Shiprocket, USPS First Class Mail, DTDC',
  'PTS, ShipGlobal, Western Post',
].flatMap((names) => names.split(', '))

/**
 * The live service of the United States, by the public facts: ship and cancel have `statusQuantity` (section 3.5), ship lines `sellerOrderId` (3.2), refund lines
 * `isFullRefund` (3.4), and a refund of the full price also refunds tax and shipping (3.4). The tracking of shipped units can be changed (3.2). Refunds include units, as its multi-quantity guide requires.
 */
export const walmartUs: Profile = {
  ...specification,
  name: 'walmart-us',
  headerPrefix: 'WM',
  tokenDetailPath: '/v3/token/detail',
  apiStatusPath: '/v3/utilities/apiStatus',
  webhooksPath: '/v3/webhooks',
  // Announced by the portal (section 15). Canada, Mexico and Chile keep delegated access.
  delegatedKeysEndOn: '2027-04-30',
  quantityField: 'statusQuantity',
  shipSellerOrderId: true,
  refundMode: true,
  fullPriceRefundsAll: true,
  correctsShipments: true,
  vocabulary: {
    ...vocabulary,
    carriers: new Set(carriers),
    // The second form, live since 15 October 2026 (section 15).
    settingsForm: { hasPriority: false, methods: ['VALUE', 'STANDARD', 'EXPEDITED', 'RUSH'] },
    // Sections 4.2, 4.3 and 9.2.
    returns: {
      arrived: ['DELIVERED', 'DELIVERED_AT_RETURN_CENTER'],
      // REFUND_INITIATED may be the state of the whole line, of which only some units are refunded.
      refunded: ['REFUND_ISSUED', 'REFUND_COMPLETED'],
      refundWithinHours: 48,
    },
  },
  replenishmentRequest: { keysIn: 'body', gtins: 'listOfGtins', skus: 'listOfSkus', maxKeys: 1_000 },
  reconciliationPath: '/v3/report/wfs/inventoryReconciliationReport',
  reconciliationPeriod: 'monthYear',
  // One request an hour is a hard limit there (section 5.1), for all months together.
  reconciliationLimit: 'all months',
  // Reports of whole months are generated on request since the other direct path ended (section 13).
  reconciliationRequests: { reportType: 'INVENTORY_RECON', reportVersion: 'v1' },
  inventoryLog: { keyParameter: 'gtin', dates: 'date', pageSize: 50 },
  // The older operation, /v3/fulfillment/inventory, ended in 2026.
  stockPath: '/v3/wfs/inventory',
  channelDetails: {
    headerSpelling: 'underscored',
    martIdHeaders: ['martId', '{prefix}martid', '{prefix}_mart_id'],
    martId: '202',
    partnerIdParameter: true,
  },
  // A client reports that the live service requires `noOfRecords`; it ignores unknown parameters.
  settlementReports: { pageSizeParameters: ['limit', 'noOfRecords'] },
  // The report and the log are also global operations there: their reference marks both headers as required.
  globalOperations: new Set([
    ...specification.globalOperations,
    replenishmentEndpoint.operations.recommend,
    reconciliationEndpoint.operations.report,
    inventoryLogEndpoint.operations.list,
  ]),
}
