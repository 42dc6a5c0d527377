/**
 * Units of one SKU that a seller can claim: what is lost, damaged or missing at the end of a month, net of units that were found again then
 * or in a later month.
 */

/** Kinds of losses of a month. lost, damaged: as the report states it; returned: came back by the log, not by the report; missing: without any reason. */
export const lossKinds = ['lost', 'damaged', 'missing', 'returned'] as const

/** A kind of loss of a month. */
export type LossKind = (typeof lossKinds)[number]

/** Kinds of claims. inbound: units of an inbound shipment that were not received. */
export const claimKinds = [...lossKinds, 'inbound'] as const

/** A kind of claim. */
export type ClaimKind = (typeof claimKinds)[number]

/** Units that can be claimed, by kind. */
export type ClaimableUnits = Readonly<Record<LossKind, number>>

/** Units of one month of a SKU, before found units are deducted. */
export interface LossesOfMonth {
  /** `YYYY-MM`. */
  readonly month: string
  readonly lost: number
  readonly damaged: number
  readonly found: number
  readonly unexplained: number
  /** Those of the unexplained units that are returns. */
  readonly returned: number
}

/** Kinds that found units settle, in this order. Damaged units are not found again. */
const settledKinds = ['lost', 'missing', 'returned'] as const

/**
 * The claimable units of each month. Found units settle losses of their own and of earlier months: first what the report states as lost,
 * then what is missing without a reason, and of each the youngest loss first.
 */
export const netLosses = (months: readonly LossesOfMonth[]): ReadonlyMap<string, ClaimableUnits> => {
  const open: { readonly month: string; readonly units: Record<LossKind, number> }[] = []
  for (const { month, lost, damaged, found, unexplained, returned } of months.toSorted((a, b) => (a.month < b.month ? -1 : 1))) {
    open.push({ month, units: { lost, damaged, missing: unexplained - returned, returned } })
    let left = found
    for (const kind of settledKinds) {
      for (const { units } of open.toReversed()) {
        const settled = Math.min(units[kind], left)
        units[kind] -= settled
        left -= settled
      }
    }
  }
  return new Map(open.map(({ month, units }) => [month, units]))
}
