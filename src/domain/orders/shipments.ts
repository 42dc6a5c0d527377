import type { LineStatus, Shipment } from './order.ts'

/** A parcel is known by its carrier and tracking number; one without a tracking number by the time it was shipped. */
const buildIdentity = ({
  carrier,
  trackingNumber,
  shippedAt,
}: Pick<Shipment, 'carrier' | 'trackingNumber' | 'shippedAt'>): string =>
  JSON.stringify([carrier, trackingNumber, trackingNumber === null ? shippedAt : null])

/**
 * The parcels that the statuses of a line show, with all units that stand under each of them. `isDelivered`: whether units of a status are
 * delivered; `statusDate`: when the line got its status.
 */
export const shownShipments = (
  statuses: readonly LineStatus[],
  isDelivered: (status: string) => boolean = () => false,
  statusDate: Date | null = null,
): readonly Shipment[] => {
  const shipments = new Map<string, Shipment>()
  for (const { status: name, carrier, methodCode, trackingNumber, trackingUrl, shippedAt, quantity } of statuses) {
    if (trackingNumber === null && shippedAt === null) continue
    const status = { carrier, methodCode, trackingNumber, trackingUrl, shippedAt }
    const identity = buildIdentity(status)
    const same = shipments.get(identity)
    const units = (same?.quantity ?? 0) + quantity
    const deliveredQuantity = (same?.deliveredQuantity ?? 0) + (isDelivered(name) ? quantity : 0)
    const deliveredAt = deliveredQuantity > 0 ? statusDate : null
    shipments.set(identity, { ...(same ?? status), quantity: units, shownQuantity: units, deliveredQuantity, deliveredAt })
  }
  return [...shipments.values()]
}

/**
 * The parcels of a line in the order in which they were first seen. The marketplace shows refunded units without their parcel: a parcel stays
 * with the most units that were seen in it, and `shownQuantity` says how many are shown now. `at`: when units that are newly delivered were.
 */
export const keepShipments = (
  kept: readonly Shipment[],
  shown: readonly Shipment[],
  at: Date | null = null,
): readonly Shipment[] => {
  const rest = new Map(shown.map((shipment) => [buildIdentity(shipment), shipment]))
  const known = kept.map((before): Shipment => {
    const identity = buildIdentity(before)
    const now = rest.get(identity)
    rest.delete(identity)
    if (now === undefined) return { ...before, shownQuantity: 0 }
    return {
      ...now,
      methodCode: now.methodCode ?? before.methodCode,
      trackingUrl: now.trackingUrl ?? before.trackingUrl,
      shippedAt: now.shippedAt ?? before.shippedAt,
      quantity: Math.max(before.quantity, now.quantity),
      deliveredQuantity: Math.max(before.deliveredQuantity, now.deliveredQuantity),
      deliveredAt: now.deliveredQuantity > before.deliveredQuantity ? at : before.deliveredAt,
    }
  })
  const added = [...rest.values()].map((parcel) =>
    parcel.deliveredQuantity > 0 && at !== null ? { ...parcel, deliveredAt: at } : parcel,
  )
  return [...known, ...added]
}
