import type { OrderLine, PurchaseOrder } from './order.ts'
import { isOpen, mergeOrder } from './order-merge.ts'

/** When a kept version of an order was the newest one. */
export interface VersionPeriod {
  readonly from: Date
  /** When the next version replaced it; null: it is the current one. */
  readonly to: Date | null
}

/** Which version of an order was valid at a time. */
export type ValidVersion =
  | { readonly found: 'version'; readonly index: number; readonly from: Date; readonly to: Date | null }
  /** The order was not stored yet. */
  | { readonly found: 'not-yet-known'; readonly firstSeenAt: Date }
  /** The version was removed: by its age, or with the buyer's data. */
  | { readonly found: 'not-kept'; readonly oldestFrom: Date }

/**
 * The version that was valid at a time: from its beginning until, not including, its end.
 *
 * @param periods the kept versions, oldest first, the current one last
 * @param firstSeenAt when the order was stored for the first time
 */
export const findValidVersion = (periods: readonly VersionPeriod[], firstSeenAt: Date, at: Date): ValidVersion => {
  if (at < firstSeenAt) return { found: 'not-yet-known', firstSeenAt }
  const [oldest] = periods
  if (oldest !== undefined && at < oldest.from) return { found: 'not-kept', oldestFrom: oldest.from }
  const index = periods.findIndex(({ to }) => to === null || to > at)
  const version = periods[index]
  if (version === undefined) throw new Error('the versions of an order end with the current one')
  // An order that was missing and returns unchanged is written again without a new version, so its period begins where the previous one ends.
  return { found: 'version', index, from: periods[index - 1]?.to ?? version.from, to: version.to }
}

/** An order as it was stored after some of its versions. */
export interface ReplayedOrder {
  readonly order: PurchaseOrder
  /** Some unit was neither shipped nor cancelled. */
  readonly open: boolean
}

interface PlacedLine {
  readonly index: number
  readonly line: OrderLine
}

const byPlace = (one: PlacedLine, other: PlacedLine): number =>
  one.index - other.index || (one.line.lineNumber < other.line.lineNumber ? -1 : 1)

const withoutRaw = <Part extends { readonly raw?: unknown }>({ raw: _, ...part }: Part): Omit<Part, 'raw'> => part

/**
 * Stores versions one after another, as the table of orders does: charges as first seen, parcels and lines that a later version lacks are kept. Null:
 * there is no version. The result is without the marketplace's JSON.
 */
export const replayOrder = (versions: readonly PurchaseOrder[]): ReplayedOrder | null => {
  const placed = new Map<string, PlacedLine>()
  let stored: PurchaseOrder | null = null
  let open = false
  for (const version of versions) {
    const merged: PurchaseOrder = stored === null ? version : mergeOrder(stored, version, null)
    open = isOpen(merged)
    for (const [index, line] of merged.lines.entries()) placed.set(line.lineNumber, { index, line })
    stored = { ...merged, lines: [...placed.values()].sort(byPlace).map(({ line }) => line) }
  }
  if (stored === null) return null
  const lines = stored.lines.map((line) => ({ ...withoutRaw(line), statuses: line.statuses.map(withoutRaw) }))
  return { order: { ...withoutRaw(stored), lines }, open }
}
