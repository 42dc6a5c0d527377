/** A request to run syncs now. With `from`/`to` it is a backfill of that time instead. */
export interface SyncRunRequest {
  readonly resource: string
  /** Null: all sellers. */
  readonly sellerId: string | null
  /** Only this stream of the resource; all of them when absent. */
  readonly stream?: string
  readonly from: Date | null
  readonly to: Date | null
}
