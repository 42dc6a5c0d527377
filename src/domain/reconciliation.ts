import type { InventoryLogEntry } from './inventory-log.ts'
import type { ReconciliationRow } from './reconciliation-report.ts'

/**
 * Whether the marketplace's monthly report of a SKU agrees with itself, with the month before and with the inventory log; and where not, by
 * how many units, and which entries of the log may be why.
 */

/** What moves stock, as the report counts it (specification, "Inventory reconciliation report"). */
export const movementKinds = ['sold', 'returned', 'lost', 'found', 'damaged', 'other'] as const

/** A column of movements of the report. */
export type MovementKind = (typeof movementKinds)[number]

/**
 * What can differ.
 *
 * - balance: beginning and movements of the report do not make its ending.
 * - carry-over: the month does not begin with what the month before ended with.
 * - any kind of movement: the report and the log do not count the same units of it.
 */
export const discrepancyKinds = ['balance', 'carry-over', ...movementKinds] as const

/** A kind of discrepancy. */
export type DiscrepancyKind = (typeof discrepancyKinds)[number]

/** A row's numbers, as the report states them, whatever their signs. */
export type ReportedUnits = Pick<
  ReconciliationRow,
  'beginningQuantity' | 'endingQuantity' | 'sold' | 'returned' | 'lost' | 'found' | 'damaged' | 'otherAdjustments'
>

/** What of a log entry says which kind of movement it is, and of how many units; several alike may be added up to one. */
export type LogMovement = Pick<
  InventoryLogEntry,
  'changedUnits' | 'transactionLocation' | 'transactionReasonCode' | 'transactionReasonDescription' | 'transactionType'
>

/** Units of each kind: as many as were sold, returned, lost, found and damaged; `other` with its sign, negative when units left. */
export type UnitsByKind = Readonly<Record<MovementKind, number>>

/** Two numbers that should be the same. */
export interface Difference {
  readonly kind: DiscrepancyKind
  /** What the report states: its ending of a balance, its beginning of a carry-over, otherwise its units of the kind. */
  readonly reportUnits: number
  /** What it should state by its other columns (balance), by the month before (carry-over), or by the log. */
  readonly expectedUnits: number
  /** `reportUnits` less `expectedUnits`. */
  readonly difference: number
}

/** How well entries of the log explain a difference. */
export type Certainty =
  /** The report counts none of the kind, so every entry of it is extra. */
  | 'certain'
  /** Copies of entries, alike in everything but their ids, make the difference together. */
  | 'likely'
  /** Each of these entries would make the difference alone. */
  | 'possible'
  /** No entry stands out. */
  | 'unknown'

/** A difference between report and log, seen from the log. */
export interface LogExplanation<Entry> {
  /** missing: the report counts units that the log lacks; extra: the log holds units that the report does not count. */
  readonly verdict: 'missing' | 'extra'
  readonly certainty: Certainty
  /** Entries that may be extra, in the order in which they were given; none when units are missing, since those are not in the log. */
  readonly entries: readonly Entry[]
}

/** What a unit of the kind does to the stock. */
const directions: UnitsByKind = { sold: -1, returned: 1, lost: -1, found: 1, damaged: -1, other: 1 }

/** The units of a row by kind. All but `other` are magnitudes: a report that writes what left with a minus means the same. */
const reportedUnits = (report: ReportedUnits): UnitsByKind => ({
  sold: Math.abs(report.sold),
  returned: Math.abs(report.returned),
  lost: Math.abs(report.lost),
  found: Math.abs(report.found),
  damaged: Math.abs(report.damaged),
  other: report.otherAdjustments,
})

/** Stock that is not for sale, which the report does not count (public facts, section 7.1). */
const unsellableLocation = 'salvage'

// The reasons of an adjustment are an open set (public facts, section 7.1), so words decide. What was found again may have been lost or
// missing before, and says so; hence the order.
const reasons: readonly (readonly [MovementKind, RegExp])[] = [
  ['found', /\b(fnd|found)\b/],
  ['damaged', /\b(dmg|damaged?|damages)\b/],
  ['lost', /\b(los|lost|loss|missing)\b/],
]

/** Words of a code or a description: `LOST_IN_WAREHOUSE` and `LostInWarehouse` have three. */
const words = (text: string | null): string =>
  (text ?? '')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase()

/**
 * The column of the report in which a movement belongs; null when the report does not count it. Types are `Ship`, `Return`, `Receipt` and
 * `Adjustment`, an open set (public facts, section 7.1): receipts and what is unknown count as other adjustments.
 */
export const movementKindOf = (movement: Omit<LogMovement, 'changedUnits'>): MovementKind | null => {
  if (movement.transactionLocation?.trim().toLowerCase() === unsellableLocation) return null
  switch (movement.transactionType?.trim().toLowerCase()) {
    case 'ship':
      return 'sold'
    case 'return':
      return 'returned'
    case 'adjustment': {
      const reason = `${words(movement.transactionReasonCode)} ${words(movement.transactionReasonDescription)}`
      return reasons.find(([, pattern]) => pattern.test(reason))?.[0] ?? 'other'
    }
    default:
      return 'other'
  }
}

/** The units of the log by kind, counted as the report counts them: an entry that takes a sale back makes one sold unit less. */
const loggedUnits = (movements: readonly LogMovement[]): UnitsByKind => {
  const units = { sold: 0, returned: 0, lost: 0, found: 0, damaged: 0, other: 0 }
  for (const movement of movements) {
    const kind = movementKindOf(movement)
    if (kind !== null) units[kind] += directions[kind] * movement.changedUnits
  }
  return units
}

const differenceOf = (kind: DiscrepancyKind, reportUnits: number, expectedUnits: number): Difference[] =>
  reportUnits === expectedUnits ? [] : [{ kind, reportUnits, expectedUnits, difference: reportUnits - expectedUnits }]

/** What is known of one SKU in one month. */
export interface MonthOfSku {
  readonly report: ReportedUnits
  /** What the report of the month before ended with; null when there is none that counts to its end. */
  readonly endingBefore: number | null
  /** Movements of the log within the time that the report counts; null when the log has not been read so far. */
  readonly movements: readonly LogMovement[] | null
}

/** Everything that does not add up: a month that is in order has no differences. */
export const reconcile = ({ report, endingBefore, movements }: MonthOfSku): readonly Difference[] => {
  const reported = reportedUnits(report)
  const logged = movements === null ? null : loggedUnits(movements)
  const moved = movementKinds.reduce((sum, kind) => sum + directions[kind] * reported[kind], 0)
  return [
    ...differenceOf('balance', report.endingQuantity, report.beginningQuantity + moved),
    ...(endingBefore === null ? [] : differenceOf('carry-over', report.beginningQuantity, endingBefore)),
    ...(logged === null ? [] : movementKinds.flatMap((kind) => differenceOf(kind, reported[kind], logged[kind]))),
  ]
}

/** Whether a kind of discrepancy is one between the report and the log. */
export const isMovementKind = (kind: DiscrepancyKind): kind is MovementKind => movementKinds.some((each) => each === kind)

/** What of an entry is compared to tell copies from movements of their own. */
type ComparableEntry = Omit<InventoryLogEntry, 'raw' | 'sku' | 'gtin'>

const likeness = (entry: ComparableEntry): string =>
  JSON.stringify([
    entry.transactionTime.getTime(),
    entry.changedUnits,
    entry.shipmentId,
    entry.transactionType,
    entry.transactionReasonCode,
    entry.transactionReasonDescription,
    entry.transactionLocation,
    entry.fcName,
  ])

/** All but the first of each group of entries that are alike. */
const copiesIn = <Entry extends ComparableEntry>(entries: readonly Entry[]): Entry[] => {
  const seen = new Set<string>()
  return entries.filter((entry) => {
    const key = likeness(entry)
    if (!seen.has(key)) {
      seen.add(key)
      return false
    }
    return true
  })
}

/**
 * Which entries of the log are extra, as far as that can be told, or that some are missing. `entries` are those of the SKU within the time that
 * the report counts, in the order of their time; entries of other kinds are passed over. Other adjustments have no direction of their own:
 * there, units count as missing unless entries stand out that would be extra.
 */
export const explainByLog = <Entry extends ComparableEntry>(
  { kind, reportUnits, difference }: Difference & { readonly kind: MovementKind },
  entries: readonly Entry[],
): LogExplanation<Entry> => {
  const surplus = -difference
  const nothing = { certainty: 'unknown', entries: [] } as const
  if (kind !== 'other' && surplus < 0) return { verdict: 'missing', ...nothing }

  const unitsOf = (entry: Entry): number => directions[kind] * entry.changedUnits
  const ofKind = entries.filter((entry) => movementKindOf(entry) === kind)
  if (reportUnits === 0 && ofKind.every((entry) => Math.sign(unitsOf(entry)) === Math.sign(surplus))) {
    return { verdict: 'extra', certainty: 'certain', entries: ofKind }
  }
  const copies = copiesIn(ofKind)
  if (copies.reduce((sum, entry) => sum + unitsOf(entry), 0) === surplus) {
    return { verdict: 'extra', certainty: 'likely', entries: copies }
  }
  const single = ofKind.filter((entry) => unitsOf(entry) === surplus)
  if (single.length > 0) return { verdict: 'extra', certainty: 'possible', entries: single }
  return { verdict: kind === 'other' ? 'missing' : 'extra', ...nothing }
}
