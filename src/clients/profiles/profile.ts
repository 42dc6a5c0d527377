/** Every operation that has a rate budget of its own. A call under any other name is refused before it reaches the wire. */
export type OperationName =
  | 'token'
  | 'orders.list'
  | 'orders.released'
  | 'orders.get'
  | 'orders.acknowledge'
  | 'orders.ship'
  | 'orders.cancel'
  | 'orders.refund'
  | 'returns.list'
  | 'taxonomies.list'
  | 'targeting.list'
  | 'campaigns.get'
  | 'shipping-settings.create'
  | 'shipping-settings.get'
  | 'replenishment.recommend'
  | 'reconciliation.report'
  | 'inventory-log.list'
  | 'sales-channels.list'

/** The operations that change something at the marketplace: none of them may be sent again without reading back first. */
export type WriteOperationName =
  | 'orders.acknowledge'
  | 'orders.ship'
  | 'orders.cancel'
  | 'orders.refund'
  | 'shipping-settings.create'

/** At most `tokens` requests in any `perMs` milliseconds, for one seller. */
export interface RateLimit {
  readonly tokens: number
  readonly perMs: number
}

/** One limit for each operation. */
export type RateLimits = Readonly<Record<OperationName, RateLimit>>

/** Header names (lower case, in order of preference) in which the marketplace tells what is left of its budget. */
export interface BudgetHeaders {
  /** Requests that may still be sent. */
  readonly remaining: readonly string[]
  /** When the next one comes back: epoch ms, epoch s or ISO 8601. */
  readonly replenishAt: readonly string[]
}

/** Name of the object that carries the units of a request. Answers are read with either. */
export type QuantityField = 'quantity' | 'statusQuantity'

/** What differs between the specification and a live marketplace, as data. */
export interface Profile {
  readonly name: string
  /** The company abbreviation in header names: `XX` in `XX_SEC.ACCESS_TOKEN`. */
  readonly headerPrefix: string
  readonly quantityField: QuantityField
  readonly tokenPath: string
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
  /** Carriers that go by name; others are sent as `otherCarrier`. Null when the marketplace publishes no list. */
  readonly carriers: ReadonlySet<string> | null
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
  /** Headers of the so-called global operations, beside the ordinary ones, by the name after the prefix. */
  readonly globalHeaders: Readonly<Record<string, string>>
  /** Operations that carry them; the specification names shipping settings creation only. */
  readonly globalOperations: ReadonlySet<OperationName>
}
