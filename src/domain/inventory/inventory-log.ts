/** One movement of stock of one SKU (specification, "Inventory log entry"). */
export interface InventoryLogEntry {
  /** Unique within the GTIN (public facts, section 7.1). */
  readonly id: string
  readonly sku: string
  readonly gtin: string | null
  readonly fcName: string | null
  /** What the movement added, negative when units left. */
  readonly changedUnits: number
  readonly transactionTime: Date
  readonly transactionLocation: string | null
  readonly transactionReasonCode: string | null
  readonly transactionReasonDescription: string | null
  /** Open set; `Receipt`, `Adjustment`, `Ship` and `Return` are published. */
  readonly transactionType: string | null
  readonly shipmentId: string | null
  readonly raw: unknown
}
