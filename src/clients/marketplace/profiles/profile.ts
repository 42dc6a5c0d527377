import type { Vocabulary } from '../../../domain/vocabulary.ts'
import type { BudgetHeaders } from '../../judge.ts'
import type { Operation, RateLimits } from '../../operation.ts'

/** Names of the object that carries the units of a request. Answers are read with either. */
export const quantityFields = ['quantity', 'statusQuantity'] as const
/** One of {@link quantityFields}. */
export type QuantityField = (typeof quantityFields)[number]

/** What differs between the specification and a live marketplace, as data. */
export interface Profile {
  readonly name: string
  /** The company abbreviation in header names: `XX` in `XX_SEC.ACCESS_TOKEN`. */
  readonly headerPrefix: string
  readonly quantityField: QuantityField
  readonly tokenPath: string
  /** Limits that are others there than the operations' own. */
  readonly rateLimits: RateLimits
  readonly budgetHeaders: BudgetHeaders
  /** Whether a refund line states its units beside its money (MLMQ rule 5). */
  readonly refundQuantity: boolean
  /** `unitOfMeasurement` of every quantity that requests carry. */
  readonly unitOfMeasurement: string
  /** Whether ship lines carry `sellerOrderId`, which the live service's schema requires (at most 30 characters). */
  readonly shipSellerOrderId: boolean
  /** Whether refund lines carry `isFullRefund: false`. */
  readonly refundMode: boolean
  /** Whether a refund of the whole product price of a line gives back its tax and shipping too, although only the price is asked for. */
  readonly fullPriceRefundsAll: boolean
  /** What things are called there. Carriers that do not go by name are sent as `otherCarrier`. */
  readonly vocabulary: Vocabulary
  /** Most records that one page may ask for. */
  readonly maxPageSize: number
  /** Path of the recommended shipment quantity; the specification gives two (section 5). */
  readonly replenishmentPath: string
  /** Where the keys of a recommendation request go, and under which names (specification, section 5; public facts, section 7.3). */
  readonly replenishmentRequest: {
    readonly keysIn: 'body' | 'query'
    readonly gtins: string
    readonly skus: string
    readonly mostKeys: number
  }
  /** Path of the inventory reconciliation report; two are given, a third is published (section 6; public facts, section 7.2). */
  readonly reconciliationPath: string
  /** How the report's period is named: by its first and last day, or by its month as `MM-YYYY`. */
  readonly reconciliationPeriod: 'dates' | 'monthYear'
  /** Whether each month of the report has a limit of its own, or all of them share the operation's. */
  readonly reconciliationLimit: 'each month' | 'all months'
  /** How the inventory log is asked: by SKU with moments, or by GTIN with days (section 7; public facts, section 7.1). */
  readonly inventoryLog: {
    readonly keyParameter: 'sellerSku' | 'gtin'
    readonly dates: 'date-time' | 'date'
    readonly pageSize: number
  }
  /** How the channel details are asked (section 8; public facts, section 7.4). */
  readonly channelDetails: {
    /** `underscored` as in the Authentication part, `plain` as in the operation's own sample (`XXSVC.NAME`). */
    readonly headerSpelling: 'underscored' | 'plain'
    /** Headers that carry the market id; `{prefix}` stands for the company abbreviation in lower case. */
    readonly martIdHeaders: readonly string[]
    readonly martId: string
    readonly partnerIdParameter: boolean
  }
  /** How a settlement report is asked; the specification has none, and the texts on the live service differ (public facts, section 13). */
  readonly settlementReports: { readonly pageSizeParameters: readonly ('limit' | 'noOfRecords')[] }
  /** Headers of the so-called global operations, beside the ordinary ones, by the name after the prefix. */
  readonly globalHeaders: Readonly<Record<string, string>>
  /** Operations that carry them; the specification names shipping settings creation only. */
  readonly globalOperations: ReadonlySet<Operation>
}
