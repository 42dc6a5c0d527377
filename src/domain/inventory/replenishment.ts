/** How many units of an item to send to the fulfilment service (specification, "Replenishment item"). */
export interface ReplenishmentRecommendation {
  readonly itemId: string | null
  readonly gtin: string | null
  readonly upc: string | null
  readonly vendorSku: string
  readonly suggestedQuantity: number | null
  readonly maxQuantity: number | null
  readonly raw: unknown
}
