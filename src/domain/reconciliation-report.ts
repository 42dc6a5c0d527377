/** One row of the inventory reconciliation report: the net movement of one SKU over a month (specification, "Inventory reconciliation report"). */
export interface ReconciliationRow {
  readonly sku: string
  readonly gtin: string | null
  readonly beginningQuantity: number
  readonly endingQuantity: number
  /** As the report states it, whatever its sign; reading a sign is the reconciliation's task. */
  readonly sold: number
  readonly returned: number
  readonly lost: number
  readonly found: number
  readonly damaged: number
  readonly otherAdjustments: number
  /** Every column of the row by its header, as it came. */
  readonly raw: Readonly<Record<string, string>>
}
