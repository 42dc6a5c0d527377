import { addMonths } from '../values/calendar.ts'
import { movementKinds } from './log-reasons.ts'
import { type DiscrepancyKind, isMovementKind, stockEffect } from './reconciliation.ts'

/**
 * Units that are missing without an explanation, derived from the open differences of one SKU over all its months: those that the stock
 * lacks and that no later month restores.
 */

/** An open difference of the SKU, as far as it counts here. */
export interface OpenDifference {
  /** `YYYY-MM`. */
  readonly month: string
  readonly kind: DiscrepancyKind
  readonly difference: number
  /** What copies in the log, entries that are identical except for their ids, add to the stock; negative when they remove units. */
  readonly copiedUnits: number
  /** What entries of the log that are newer than the report add to the stock; negative when they remove units. */
  readonly lateUnits: number
  /** The month's report has a row of the SKU. */
  readonly listed: boolean
  /** The month's report counts the whole month. */
  readonly complete: boolean
}

/**
 * Why units that the stock lacks are not claimed.
 *
 * - log-copy: the log may hold a copy of an entry.
 * - older-report: the log has entries that were reported after the report was read.
 * - cut-off: the report counts a movement in one month, the log in the month next to it.
 * - other-month: a later month restores the units, or the month before had as many too many.
 * - no-row: the report has no row of the SKU.
 * - incomplete-month: the month's report does not count the whole month yet.
 */
export const uncertainReasons = ['log-copy', 'older-report', 'cut-off', 'other-month', 'no-row', 'incomplete-month'] as const

/** A reason of {@link uncertainReasons}. */
export type UncertainReason = (typeof uncertainReasons)[number]

/** Units by the reason why they are uncertain; reasons without units are left out. */
export type UncertainUnits = Readonly<Partial<Record<UncertainReason, number>>>

/** Units of one month. */
export interface Shortage {
  /** Missing, without a movement that explains it. */
  readonly unexplained: number
  /** Those of them that came back from customers by the log, and that the report does not count. */
  readonly returned: number
  /** Possibly missing. */
  readonly uncertain: UncertainUnits
}

/** A month's effects on the stock, during their classification. */
interface MonthEffects {
  /** Of each kind; shifts between months take from it. */
  readonly byKind: Map<DiscrepancyKind, number>
  readonly uncertain: Map<UncertainReason, number>
  readonly complete: boolean
}

const addUncertain = ({ uncertain }: MonthEffects, reason: UncertainReason, units: number): void => {
  if (units > 0) uncertain.set(reason, (uncertain.get(reason) ?? 0) + units)
}

const admittedKinds: ReadonlySet<DiscrepancyKind> = new Set(['lost', 'damaged'])

/** What a loss that the report admits may be in the log, and in an ending that is without it; no loss comes as a return or as a find. */
const counterparts = ['lost', 'damaged', 'sold', 'other', 'balance'] as const

const effectsByMonth = (open: readonly OpenDifference[]): ReadonlyMap<string, MonthEffects> => {
  const months = new Map<string, MonthEffects>()
  for (const { month, kind, difference, copiedUnits, lateUnits, listed, complete } of open) {
    const effects = months.get(month) ?? { byKind: new Map(), uncertain: new Map(), complete }
    months.set(month, effects)
    const effect = stockEffect(kind, difference)
    // A report without a row says nothing of the stock, so it does not settle a shortage of another kind.
    if (kind === 'row' || !listed) {
      addUncertain(effects, 'no-row', -effect)
      continue
    }
    // A copy in the log moved nothing. As far as it makes the difference, the difference neither lacks units nor settles a shortage.
    const copied = effect * copiedUnits < 0 ? Math.min(Math.abs(effect), Math.abs(copiedUnits)) : 0
    if (effect < 0) addUncertain(effects, 'log-copy', copied)
    const left = effect - Math.sign(effect) * copied
    // The report may count a late entry when it is read again. Until then it lacks no units; units that it has too many still settle a shortage.
    const late = left < 0 && lateUnits > 0 ? Math.min(-left, lateUnits) : 0
    addUncertain(effects, 'older-report', late)
    effects.byKind.set(kind, left + late)
  }
  return months
}

/** What the report counts in one month and the log in the next one, or the other way round, has only passed midnight. */
const takeShifts = (months: ReadonlyMap<string, MonthEffects>): void => {
  for (const [month, { byKind }] of months) {
    const next = months.get(addMonths(month, 1))
    if (next === undefined) continue
    for (const [kind, effect] of byKind) {
      const other = next.byKind.get(kind) ?? 0
      if (!isMovementKind(kind) || effect * other >= 0) continue
      const units = Math.min(Math.abs(effect), Math.abs(other))
      byKind.set(kind, effect - Math.sign(effect) * units)
      next.byKind.set(kind, other - Math.sign(other) * units)
      const lacking = effect < 0 ? months.get(month) : next
      if (lacking !== undefined && !admittedKinds.has(kind)) addUncertain(lacking, 'cut-off', units)
    }
  }
}

/** Two opposite effects cancel each other, as far as their amounts allow. */
const takeBack = (byKind: Map<DiscrepancyKind, number>, kind: DiscrepancyKind, other: DiscrepancyKind): void => {
  const [effect, otherEffect] = [byKind.get(kind) ?? 0, byKind.get(other) ?? 0]
  const units = effect * otherEffect < 0 ? Math.min(Math.abs(effect), Math.abs(otherEffect)) : 0
  byKind.set(kind, effect - Math.sign(effect) * units)
  byKind.set(other, otherEffect - Math.sign(otherEffect) * units)
}

/**
 * What is left of a month's effects, all kinds together. The report admits what it counts as lost or damaged: that is claimed as such, so it
 * is left out, with what the log calls otherwise for it. Before that, an ending that is too large for the cells takes back what the cells
 * count too much. A beginning is the affair of other months.
 */
const sumAll = ({ byKind }: MonthEffects): number => {
  const left = new Map(byKind)
  if ((left.get('balance') ?? 0) > 0) {
    for (const kind of movementKinds) if (!admittedKinds.has(kind)) takeBack(left, 'balance', kind)
  }
  for (const kind of admittedKinds) {
    if ((left.get(kind) ?? 0) >= 0) continue
    for (const other of counterparts) takeBack(left, kind, other)
    left.delete(kind)
  }
  return [...left.values()].reduce((sum, effect) => sum + effect, 0)
}

/**
 * Units that lack in each month that has differences. Within a month movements under the wrong kind, and a wrong cell that another one makes
 * good, count for nothing: a loss that the log calls otherwise hides no other one. Units that come again in a later month are settled, the
 * youngest shortage first; units too many settle what lacks in the month right after. What was settled is uncertain, not unexplained, and so
 * is what lacks in a month that its report does not count to its end.
 */
export const sumShortages = (open: readonly OpenDifference[]): ReadonlyMap<string, Shortage> => {
  const months = effectsByMonth(open)
  takeShifts(months)
  const unsettled: { readonly month: string; readonly effects: MonthEffects; units: number }[] = []
  let before: { readonly month: string; readonly surplus: number } | null = null
  for (const [month, effects] of [...months].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const sum = sumAll(effects)
    const lacking = Math.max(0, -sum)
    let surplus = Math.max(0, sum)
    const surplusBefore = before !== null && addMonths(before.month, 1) === month ? before.surplus : 0
    const offset = Math.min(lacking, surplusBefore)
    addUncertain(effects, 'other-month', offset)
    if (!effects.complete) addUncertain(effects, 'incomplete-month', lacking - offset)
    unsettled.push({ month, effects, units: effects.complete ? lacking - offset : 0 })
    for (const shortage of unsettled.toReversed()) {
      const settled = Math.min(shortage.units, surplus)
      shortage.units -= settled
      addUncertain(shortage.effects, 'other-month', settled)
      surplus -= settled
    }
    before = { month, surplus }
  }
  return new Map(
    unsettled.map(({ month, effects, units }) => {
      const returned = Math.min(units, Math.max(0, -(effects.byKind.get('returned') ?? 0)))
      return [month, { unexplained: units, returned, uncertain: Object.fromEntries(effects.uncertain) }]
    }),
  )
}
