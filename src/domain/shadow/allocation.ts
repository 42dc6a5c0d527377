import type { UnitKind } from '../commands/command.ts'
import type { DecimalText, Shipment } from '../orders/order.ts'

/** A parcel of a line, with the units that no prediction has taken yet. */
export interface Parcel extends Shipment {
  left: number
}

/** Predicted units of a line, and how far the line shows them. */
export interface PredictedUnits {
  readonly lineNumber: string
  readonly kind: UnitKind
  readonly quantity: number
  /** The parcel of shipped units. */
  readonly parcel: { readonly carrier: string; readonly trackingNumber: string } | null
  /** What a refund gives back; null: no refund, or not known. */
  readonly money: DecimalText | null
  seen: number
  /** Units that were processed in another way. */
  replaced: number
  /** The parcels in which the seen units left. */
  readonly found: Parcel[]
}

/**
 * Gives the shipped units of a line to the predicted ones: first those under the predicted tracking number, or under the one that a predicted correction gives
 * them; then those of other parcels; last those without a known parcel. Returns the units and parcels that are left.
 */
export const allocateShipments = (
  predicted: readonly PredictedUnits[],
  parcels: readonly Parcel[],
  shipped: number,
  corrections: ReadonlyMap<string, string>,
): { readonly left: number; readonly parcels: readonly Parcel[] } => {
  let left = shipped
  const take = (one: PredictedUnits, parcel: Parcel | null): void => {
    const units = Math.min(one.quantity - one.seen, left, parcel?.left ?? left)
    if (units <= 0) return
    one.seen += units
    left -= units
    if (parcel === null) return
    parcel.left -= units
    one.found.push(parcel)
  }
  for (const one of predicted)
    for (const parcel of parcels) if (parcel.trackingNumber === one.parcel?.trackingNumber) take(one, parcel)
  for (const one of predicted)
    for (const parcel of parcels)
      if (one.parcel !== null && parcel.trackingNumber === corrections.get(one.parcel.trackingNumber)) take(one, parcel)
  // A parcel that another prediction names belongs to that one, also when it holds more units than predicted.
  const named = new Set(predicted.map(({ parcel }) => parcel?.trackingNumber))
  for (const one of predicted) for (const parcel of parcels) if (!named.has(parcel.trackingNumber ?? undefined)) take(one, parcel)
  for (const one of predicted) take(one, null)
  return { left, parcels }
}
