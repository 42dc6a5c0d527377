/** One row of the change feed. `seq` follows the order of commits, without gaps. */
export interface Change {
  readonly seq: bigint
  readonly sellerId: string
  /** Of the catalogue; rows of earlier versions may have others. */
  readonly type: string
  readonly purchaseOrderId: string | null
  readonly lineNumber: string | null
  readonly returnOrderId: string | null
  readonly commandId: string | null
  readonly data: unknown
  /** When the transaction that made the change began. */
  readonly occurredAt: Date
}
