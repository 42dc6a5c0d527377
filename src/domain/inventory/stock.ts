/** The stock of one SKU at the fulfilment service. Units that the marketplace leaves out are null. */
export interface StockOnHand {
  readonly sku: string
  readonly itemName: string | null
  readonly gtin: string | null
  readonly itemId: string | null
  readonly offerId: string | null
  readonly brand: string | null
  readonly itemCondition: string | null
  /** Open sets: whether the item is published, its lifecycle, and whether it is in stock. */
  readonly publishingStatus: string | null
  readonly lifecycle: string | null
  readonly stockStatus: string | null
  readonly availableUnits: number
  readonly reservedUnits: number | null
  readonly onHandUnits: number | null
  readonly inboundUnits: number | null
  /** Unavailable units: in review, and moving between warehouses. */
  readonly inReviewUnits: number | null
  readonly inMovementUnits: number | null
  /** Units by the days since they arrived. */
  readonly ageUnits: {
    readonly days0To90: number | null
    readonly days91To180: number | null
    readonly days181To270: number | null
    readonly days271To365: number | null
    readonly daysOver365: number | null
  }
  /** `YYYY-MM-DD`. */
  readonly firstInStockOn: string | null
  /** What the marketplace expects; decimal text, days as `YYYY-MM-DD`. */
  readonly insights: {
    readonly daysOfSupply: string | null
    readonly outOfStockOn: string | null
    readonly salesForecastWeeks1To4: string | null
    readonly salesForecastWeeks5To8: string | null
    readonly salesForecastWeeks9To12: string | null
    readonly sellThroughRate: string | null
    readonly suggestedUnits: string | null
    readonly surplusUnits: string | null
  }
  readonly raw: unknown
}
