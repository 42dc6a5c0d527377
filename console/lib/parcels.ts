/** Units of a parcel: all that were ever shown in it, and those that the marketplace shows in it now. */
export interface ParcelUnits {
  readonly quantity: number
  readonly shownQuantity: number
}

/**
 * Why the marketplace shows fewer units in a parcel than it had. It shows refunded units without their parcel, so units up to those refunded of the line are
 * refunded ones; more are not explained.
 */
export const describeMissing = (
  line: { readonly refunded: number; readonly shipments: readonly ParcelUnits[] },
  { quantity, shownQuantity }: ParcelUnits,
  isPast: boolean,
): string => {
  const missing = line.shipments.reduce((sum, parcel) => sum + Math.max(0, parcel.quantity - parcel.shownQuantity), 0)
  if (missing <= line.refunded) return `${quantity - shownQuantity} of them refunded`
  return `the marketplace ${isPast ? 'showed' : 'now shows'} ${shownQuantity} in it`
}
