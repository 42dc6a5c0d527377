/** One row of the change feed. `seq` ascends without gaps; changes of one order are in the order in which they occurred. */
export interface Change {
  readonly seq: bigint
  readonly sellerId: string
  /** A type of the catalogue; rows of earlier versions may have other types. */
  readonly type: string
  readonly purchaseOrderId: string | null
  readonly lineNumber: string | null
  readonly returnOrderId: string | null
  readonly commandId: string | null
  readonly data: unknown
  /** Start of the transaction of the change. */
  readonly occurredAt: Date
}
