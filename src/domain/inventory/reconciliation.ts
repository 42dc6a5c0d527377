import type { InventoryLogEntry } from './inventory-log.ts'
import { findMovementKind, type LogMovement, type MovementKind, movementKinds, type ReasonMap } from './log-reasons.ts'
import type { ReconciliationRow } from './reconciliation-report.ts'

/**
 * Whether the marketplace's monthly report of a SKU is consistent with itself, with the month before and with the inventory log; if not, by
 * how many units, and which entries of the log may be the cause.
 */

/**
 * Kinds of differences.
 *
 * - balance: beginning and movements of the report do not make its ending.
 * - carry-over: the month does not begin with what the month before ended with.
 * - row: the report was generated again without a row that it had, and no movement of the log shows what it omits.
 * - any kind of movement: the report and the log have different counts of it.
 */
export const discrepancyKinds = ['balance', 'carry-over', 'row', ...movementKinds] as const

/** A kind of discrepancy. */
export type DiscrepancyKind = (typeof discrepancyKinds)[number]

/** A row's numbers, as the report states them, with their signs. */
export type ReportedUnits = Pick<
  ReconciliationRow,
  'beginningQuantity' | 'endingQuantity' | 'sold' | 'returned' | 'lost' | 'found' | 'damaged' | 'otherAdjustments'
>

/** Units of each kind: as many as were sold, returned, lost, found and damaged; `other` with its sign, negative when units left. */
export type UnitsByKind = Readonly<Record<MovementKind, number>>

/** Two numbers that should be the same. */
export interface Difference {
  readonly kind: DiscrepancyKind
  /** What the report states: its ending of a balance, its beginning of a carry-over, none of a row that is gone, otherwise its units of the kind. */
  readonly reportUnits: number
  /** What it should state by its other columns (balance), by the month before (carry-over), by the ending of a row that is gone, or by the log. */
  readonly expectedUnits: number
  /** `reportUnits` less `expectedUnits`. */
  readonly difference: number
}

/** Certainty with which entries of the log explain a difference. */
export type Certainty =
  /** The report counts none of the kind, so every entry of it is superfluous. */
  | 'certain'
  /** Duplicate entries, identical except for their ids, together make the difference. */
  | 'likely'
  /** Each of these entries would make the difference alone. */
  | 'possible'
  /** There is no candidate. */
  | 'unknown'

/** A difference between report and log, seen from the log. */
export interface LogExplanation<Entry> {
  /** missing: the report counts units that the log lacks; extra: the log holds units that the report does not count. */
  readonly verdict: 'missing' | 'extra'
  readonly certainty: Certainty
  /** Entries that may be extra, in the order in which they were given; none when units are missing, since those are not in the log. */
  readonly entries: readonly Entry[]
  /** What copies of entries of the kind add to the stock by the log, whether or not they make the difference; negative when they remove units. */
  readonly copiedUnits: number
}

/** Effect of a unit of the kind on the stock. */
export const directions: UnitsByKind = { sold: -1, returned: 1, lost: -1, found: 1, damaged: -1, other: 1 }

const unitsAs = (report: ReportedUnits, outgoing: (units: number) => number): UnitsByKind => ({
  sold: outgoing(report.sold),
  returned: report.returned,
  lost: outgoing(report.lost),
  found: report.found,
  damaged: outgoing(report.damaged),
  other: report.otherAdjustments,
})

/** How a row may be written: all that moved is counted; what left stands with a minus; or units are counted and a minus takes them back. */
const readings: readonly ((report: ReportedUnits) => UnitsByKind)[] = [
  (report) => ({ ...unitsAs(report, Math.abs), returned: Math.abs(report.returned), found: Math.abs(report.found) }),
  (report) => unitsAs(report, (units) => 0 - units),
  (report) => unitsAs(report, (units) => units),
]

/** The units of the log by kind, counted as the report counts them: an entry that takes a sale back makes one sold unit less. */
const loggedUnits = (movements: readonly LogMovement[], reasons: ReasonMap | undefined): UnitsByKind => {
  const units = { sold: 0, returned: 0, lost: 0, found: 0, damaged: 0, other: 0 }
  for (const movement of movements) {
    const kind = findMovementKind(movement, reasons)
    if (kind !== null) units[kind] += directions[kind] * movement.changedUnits
  }
  return units
}

/** Effect of movements of the log on sellable stock, over all kinds. */
export const stockChange = (movements: readonly LogMovement[]): number =>
  movements.reduce((sum, movement) => (findMovementKind(movement) === null ? sum : sum + movement.changedUnits), 0)

const buildDifference = (kind: DiscrepancyKind, reportUnits: number, expectedUnits: number): Difference[] =>
  reportUnits === expectedUnits ? [] : [{ kind, reportUnits, expectedUnits, difference: reportUnits - expectedUnits }]

/** The data of one SKU in one month. */
export interface MonthOfSku {
  /** Null when the month's report is without a row of the SKU: then it counts no movement of it. */
  readonly report: ReportedUnits | null
  /** What such a row stated as the ending before the report was made without it; null or left out when there was none. */
  readonly endingWhenListed?: number | null
  /**
   * What the report of the month before ended with, or of the last month that had a row, with what the log knows of the months between;
   * null when that is not known.
   */
  readonly endingBefore: number | null
  /** Movements of the log within the time that the report counts; null when the log has not been read so far. */
  readonly movements: readonly LogMovement[] | null
  /** The seller's classification of log reasons. */
  readonly reasons?: ReasonMap
}

/** A month as it was read. */
export interface ReadMonth {
  /** The report's units; all zero where it has no row. */
  readonly units: UnitsByKind
  /** All differences; none for a consistent month. */
  readonly differences: readonly Difference[]
}

const noUnits: UnitsByKind = { sold: 0, returned: 0, lost: 0, found: 0, damaged: 0, other: 0 }

const movementDifferences = (units: UnitsByKind, logged: UnitsByKind | null): readonly Difference[] =>
  logged === null ? [] : movementKinds.flatMap((kind) => buildDifference(kind, units[kind], logged[kind]))

const readUnlisted = ({ endingWhenListed = null }: MonthOfSku, logged: UnitsByKind | null): ReadMonth => {
  const moved = movementDifferences(noUnits, logged)
  const gone = moved.length === 0 && endingWhenListed !== null ? buildDifference('row', 0, endingWhenListed) : []
  return { units: noUnits, differences: [...gone, ...moved] }
}

const totalUnits = (differences: readonly Difference[]): number =>
  differences.reduce((sum, { difference }) => sum + Math.abs(difference), 0)

/**
 * Reads a month and reports its differences. A minus in a row may mean that units left, or that a former count is taken back:
 * of the interpretations, the one with the fewest open units counts, and of equals the one that ignores the sign.
 */
export const reconcile = (month: MonthOfSku): ReadMonth => {
  const { report, endingBefore, movements, reasons } = month
  const logged = movements === null ? null : loggedUnits(movements, reasons)
  if (report === null) return readUnlisted(month, logged)
  const isSigned = [report.sold, report.returned, report.lost, report.found, report.damaged].some((units) => units < 0)
  const ways = readings.slice(0, isSigned ? readings.length : 1).map((read) => {
    const units = read(report)
    const moved = movementKinds.reduce((sum, kind) => sum + directions[kind] * units[kind], 0)
    const balance = buildDifference('balance', report.endingQuantity, report.beginningQuantity + moved)
    const byKind = movementDifferences(units, logged)
    return { units, balance, byKind, open: totalUnits([...balance, ...byKind]) }
  })
  const { units, balance, byKind } = ways.reduce((best, way) => (way.open < best.open ? way : best))
  const carryOver = endingBefore === null ? [] : buildDifference('carry-over', report.beginningQuantity, endingBefore)
  return { units, differences: [...balance, ...carryOver, ...byKind] }
}

/** What a difference says about the stock: how many units are there beyond what is known of its movements; negative when they lack. */
export const stockEffect = (kind: DiscrepancyKind, difference: number): number =>
  (isMovementKind(kind) ? directions[kind] * difference : difference) + 0

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
 * Which entries of the log are extra, as far as that is known, or that some are missing. `entries` are those of the SKU within the time that
 * the report counts, in the order of their time; entries of other kinds are skipped. Other adjustments have no direction of their own:
 * there, units count as missing unless entries stand out that would be extra.
 */
export const explainByLog = <Entry extends ComparableEntry>(
  { kind, reportUnits, difference }: Difference & { readonly kind: MovementKind },
  entries: readonly Entry[],
  reasons?: ReasonMap,
): LogExplanation<Entry> => {
  const surplus = -difference
  const ofKind = entries.filter((entry) => findMovementKind(entry, reasons) === kind)
  const copies = copiesIn(ofKind)
  const copiedUnits = copies.reduce((sum, entry) => sum + entry.changedUnits, 0)
  const nothing = { certainty: 'unknown', entries: [], copiedUnits } as const
  if (kind !== 'other' && surplus < 0) return { verdict: 'missing', ...nothing }

  const countMovedUnits = (entry: Entry): number => directions[kind] * entry.changedUnits
  if (reportUnits === 0 && ofKind.every((entry) => Math.sign(countMovedUnits(entry)) === Math.sign(surplus))) {
    return { verdict: 'extra', certainty: 'certain', entries: ofKind, copiedUnits }
  }
  if (directions[kind] * copiedUnits === surplus) {
    return { verdict: 'extra', certainty: 'likely', entries: copies, copiedUnits }
  }
  const single = ofKind.filter((entry) => countMovedUnits(entry) === surplus)
  if (single.length > 0) return { verdict: 'extra', certainty: 'possible', entries: single, copiedUnits }
  return { verdict: kind === 'other' ? 'missing' : 'extra', ...nothing }
}
