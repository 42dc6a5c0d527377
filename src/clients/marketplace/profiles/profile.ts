import type { Vocabulary } from '../../../domain/values/vocabulary.ts'
import type { BudgetHeaders } from '../../http/classify.ts'
import type { Operation, RateLimits } from '../../http/operation.ts'

/** Names of the object with the units of a request. Answers may have either. */
export const quantityFields = ['quantity', 'statusQuantity'] as const
/** One of {@link quantityFields}. */
export type QuantityField = (typeof quantityFields)[number]

/** The differences between the specification and a live marketplace, as data. */
export interface Profile {
  readonly name: string
  /** The company abbreviation in header names: `XX` in `XX_SEC.ACCESS_TOKEN`. */
  readonly headerPrefix: string
  readonly quantityField: QuantityField
  readonly tokenPath: string
  /** Path of the details of an access token; null: the marketplace has no such operation. */
  readonly tokenDetailPath: string | null
  /** Path of the marketplace's own status; null: the marketplace has no such operation. */
  readonly apiStatusPath: string | null
  /** Path of the subscriptions to notifications; null: the marketplace has none. */
  readonly webhooksPath: string | null
  /** Last day of keys that sellers have delegated to a solution provider, `YYYY-MM-DD`; null: none is announced. */
  readonly delegatedKeysEndOn: string | null
  /** Rate limits that replace those of the operations. */
  readonly rateLimits: RateLimits
  readonly budgetHeaders: BudgetHeaders
  /** Whether a refund line has its units in addition to its money (MLMQ rule 5). */
  readonly refundQuantity: boolean
  /** `unitOfMeasurement` of every quantity in requests. */
  readonly unitOfMeasurement: string
  /** Whether ship lines have `sellerOrderId`, which the live service's schema requires (at most 30 characters). */
  readonly shipSellerOrderId: boolean
  /** Whether refund lines have `isFullRefund: false`. */
  readonly refundMode: boolean
  /** Whether a refund of the whole product price of a line also refunds its tax and shipping, although only the price is requested. */
  readonly fullPriceRefundsAll: boolean
  /** Whether the tracking of shipped units can be changed, by a ship request in the mode `PARTIAL_UPDATE`. */
  readonly correctsShipments: boolean
  /** The terms of the marketplace. Unknown carriers are sent as `otherCarrier`. */
  readonly vocabulary: Vocabulary
  /** Maximum number of records of one page. */
  readonly maxPageSize: number
  /** Path of the recommended shipment quantity; the specification has two (section 5). */
  readonly replenishmentPath: string
  /** Place and names of the keys of a recommendation request (specification, section 5; public facts, section 7.3). */
  readonly replenishmentRequest: {
    readonly keysIn: 'body' | 'query'
    readonly gtins: string
    readonly skus: string
    readonly maxKeys: number
  }
  /** Path of the inventory reconciliation report; the specification has two, a third is published (section 6; public facts, section 7.2). */
  readonly reconciliationPath: string
  /** The parameters of the report's period: its first and last day, or its month as `MM-YYYY`. */
  readonly reconciliationPeriod: 'dates' | 'monthYear'
  /** Whether each month of the report has its own rate limit, or all months share that of the operation. */
  readonly reconciliationLimit: 'each month' | 'all months'
  /**
   * Type and version of the report of a month where it is generated on request (public facts, sections 7.2 and 13); null: it is a file of
   * `reconciliationPath`, as a single GTIN always is.
   */
  readonly reconciliationRequests: { readonly reportType: string; readonly reportVersion: string } | null
  /** The query of the inventory log: by SKU with times, or by GTIN with days (section 7; public facts, section 7.1). */
  readonly inventoryLog: {
    readonly keyParameter: 'sellerSku' | 'gtin'
    readonly dates: 'date-time' | 'date'
    readonly pageSize: number
  }
  /** Path of the stock on hand; null: the marketplace has no such operation, and its sellers do not have the resource. */
  readonly stockPath: string | null
  /** The query of the channel details (section 8; public facts, section 7.4). */
  readonly channelDetails: {
    /** `underscored` as in the section Authentication, `plain` as in the sample of the operation (`XXSVC.NAME`). */
    readonly headerSpelling: 'underscored' | 'plain'
    /** Headers of the market id; `{prefix}` is replaced by the company abbreviation in lower case. */
    readonly martIdHeaders: readonly string[]
    readonly martId: string
    readonly partnerIdParameter: boolean
  }
  /** The query of a settlement report. The specification has none, and the texts about the live service differ (public facts, section 13). */
  readonly settlementReports: { readonly pageSizeParameters: readonly ('limit' | 'noOfRecords')[] }
  /** Additional headers of the "global operations", by the name after the prefix. */
  readonly globalHeaders: Readonly<Record<string, string>>
  /** The global operations; the specification names only the creation of shipping settings. */
  readonly globalOperations: ReadonlySet<Operation>
}
