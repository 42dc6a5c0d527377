/** What a notification makes be read: an order or a return by its id, or the progress of a requested report. */
export const notifiedResources = ['orders', 'returns', 'reconciliation'] as const
/** One of {@link notifiedResources}. */
export type NotifiedResource = (typeof notifiedResources)[number]

/** A record that a notification names. */
export interface NotifiedRecord {
  readonly resource: NotifiedResource
  /** The id of the order, the return or the request of a report. */
  readonly recordId: string
}

/** Why shipments of an order are held: the buyer asks to cancel it, or the marketplace suspects fraud. */
export type ShipmentHoldReason = 'intent-to-cancel' | 'fraud-cancel'

/** A notification of the marketplace: a hint of what has changed. It contains no buyer's data. */
export interface MarketplaceNotification {
  /** The same for a repeated delivery. */
  readonly eventId: string
  readonly eventType: string
  /** Empty: nothing is read. */
  readonly records: readonly NotifiedRecord[]
  /** Null: shipments are not held. */
  readonly hold: ShipmentHoldReason | null
}
