/** What the ERP has sent to the marketplace's fulfillment centers, beside what their log shows as received. */

const dayMs = 86_400_000
/** Maximum duration of an inbound shipment whose event names no time. Public facts name none: an assumption. */
const defaultTransitMs = 30 * dayMs

/** When units left, and when all of them are expected to be received. */
export interface InboundTimes {
  readonly shippedAt: Date
  readonly expectedBy: Date
  /** When the fulfillment center got the shipment; null: it is not known. */
  readonly deliveredAt: Date | null
}

/** What was sent in one inbound shipment, each SKU once. */
export interface InboundShipment extends InboundTimes {
  /** As in the inventory log. */
  readonly shipmentId: string
  readonly lines: readonly { readonly sku: string; readonly quantity: number }[]
}

/** The times of a shipment; without a named time its units are expected 30 days after they left. */
export const findInboundTimes = (shippedAt: string, expectedBy: string | null, deliveredAt: string | null): InboundTimes => {
  const left = new Date(shippedAt)
  return {
    shippedAt: left,
    expectedBy: expectedBy === null ? new Date(left.getTime() + defaultTransitMs) : new Date(expectedBy),
    deliveredAt: deliveredAt === null ? null : new Date(deliveredAt),
  }
}

/** States of a SKU in an inbound shipment. */
export const inboundStates = ['open', 'complete', 'short', 'over', 'unknown-sku'] as const

/** A SKU in an inbound shipment, and up to when the log of the SKU was read; null: never. */
export interface SentUnits extends Pick<InboundTimes, 'expectedBy'> {
  readonly units: number
  readonly logReadUpTo: Date | null
  /** The marketplace was asked for the log of the SKU, and neither that nor orders, stock or reports have the SKU: it may be misspelt. */
  readonly isUnknown: boolean
}

/** An entry of the log with the id of the shipment. Negative units correct a receipt. */
export interface ReceiptEntry {
  readonly units: number
  readonly at: Date
}

/** Received units beside sent ones. */
export interface InboundComparison {
  readonly receivedUnits: number
  /** The first receipt; null: none. */
  readonly firstReceivedAt: Date | null
  /** The time since which all sent units are received; null: they are not. */
  readonly completeAt: Date | null
  /**
   * `open`: less was received, and the log was not read up to the expected time; `short`: it was; `over`: more was received than sent; `unknown-sku`: nothing
   * was received of a SKU that is not known.
   */
  readonly state: (typeof inboundStates)[number]
  /** Not all units were received by the expected time. */
  readonly late: boolean
}

/** Compares the units of a SKU that were sent with its receipts, in any order. */
export const compareInbound = (sent: SentUnits, receipts: readonly ReceiptEntry[]): InboundComparison => {
  const { units, expectedBy, logReadUpTo, isUnknown } = sent
  let firstReceivedAt: Date | null = null
  let receivedUnits = 0
  let completeAt: Date | null = null
  for (const { units: received, at } of receipts.toSorted((a, b) => a.at.getTime() - b.at.getTime())) {
    receivedUnits += received
    if (received > 0) firstReceivedAt ??= at
    if (receivedUnits < units) completeAt = null
    else completeAt ??= at
  }
  const received = { receivedUnits, firstReceivedAt, completeAt }
  if (completeAt !== null)
    return { ...received, state: receivedUnits > units ? 'over' : 'complete', late: completeAt > expectedBy }
  if (isUnknown && firstReceivedAt === null) return { ...received, state: 'unknown-sku', late: false }
  const isDue = logReadUpTo !== null && logReadUpTo >= expectedBy
  return { ...received, state: isDue ? 'short' : 'open', late: isDue }
}
