import { inventoryLogEndpoint } from '../inventory-log.ts'
import { reconciliationEndpoint } from '../reconciliation-report.ts'
import { replenishmentEndpoint } from '../replenishment.ts'
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
 * The live service of the United States, after the public facts: ship and cancel carry `statusQuantity` (section 3.5), ship lines
 * `sellerOrderId` (3.2), refund lines `isFullRefund` (3.4), and whoever asks for the full price gives tax and shipping back too (3.4).
 * Units of a refund are sent as well, as its multi-quantity guide demands.
 */
export const walmartUs: Profile = {
  ...specification,
  name: 'walmart-us',
  headerPrefix: 'WM',
  quantityField: 'statusQuantity',
  shipSellerOrderId: true,
  refundMode: true,
  fullPriceRefundsAll: true,
  vocabulary: { ...specification.vocabulary, carriers: new Set(carriers) },
  replenishmentRequest: { keysIn: 'body', gtins: 'listOfGtins', skus: 'listOfSkus', mostKeys: 1_000 },
  reconciliationPath: '/v3/report/wfs/inventoryReconciliationReport',
  reconciliationPeriod: 'monthYear',
  // One an hour is a hard limit there (section 5.1), whatever the month.
  reconciliationLimit: 'all months',
  inventoryLog: { keyParameter: 'gtin', dates: 'date', pageSize: 50 },
  channelDetails: {
    headerSpelling: 'underscored',
    martIdHeaders: ['martId', '{prefix}martid', '{prefix}_mart_id'],
    martId: '202',
    partnerIdParameter: true,
  },
  // The live service misses `noOfRecords` where it is left out, as a client reports; unknown parameters are ignored.
  settlementReports: { pageSizeParameters: ['limit', 'noOfRecords'] },
  // The report and the log are global operations there too: their reference marks both headers as required.
  globalOperations: new Set([
    ...specification.globalOperations,
    replenishmentEndpoint.operations.recommend,
    reconciliationEndpoint.operations.report,
    inventoryLogEndpoint.operations.list,
  ]),
}
