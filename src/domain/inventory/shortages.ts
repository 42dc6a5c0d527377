import { addMonths } from '../values/calendar.ts'
import { movementKinds } from './log-reasons.ts'
import { type Certainty, type DiscrepancyKind, isMovementKind, stockEffect } from './reconciliation.ts'

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
  readonly certainty: Certainty | null
  /** The month's report has a row of the SKU. */
  readonly listed: boolean
}

/** Units of one month. */
export interface Shortage {
  /** Missing, without a movement that explains it. */
  readonly unexplained: number
  /** Possibly missing: an entry of the log may be a duplicate, another month restores them, or the report has no row. */
  readonly uncertain: number
}

/** A month's effects on the stock, during their classification. */
interface MonthEffects {
  /** Of each kind; shifts between months take from it. */
  readonly byKind: Map<DiscrepancyKind, number>
  uncertain: number
}

const admittedKinds: ReadonlySet<DiscrepancyKind> = new Set(['lost', 'damaged'])

/** What a loss that the report admits may be in the log, and in an ending that is without it; no loss comes as a return or as a find. */
const counterparts = ['lost', 'damaged', 'sold', 'other', 'balance'] as const

const effectsByMonth = (open: readonly OpenDifference[]): ReadonlyMap<string, MonthEffects> => {
  const months = new Map<string, MonthEffects>()
  for (const { month, kind, difference, certainty, listed } of open) {
    const effects = months.get(month) ?? { byKind: new Map<DiscrepancyKind, number>(), uncertain: 0 }
    months.set(month, effects)
    const effect = stockEffect(kind, difference)
    // A copy in the log moved nothing, and a report without a row says nothing of the stock: neither settles a shortage of another kind.
    if (certainty === 'likely' || kind === 'row' || !listed) effects.uncertain += Math.max(0, -effect)
    else effects.byKind.set(kind, effect)
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
      if (lacking !== undefined && !admittedKinds.has(kind)) lacking.uncertain += units
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
 * youngest shortage first; units too many settle what lacks in the month right after. What was settled is uncertain, not unexplained.
 */
export const sumShortages = (open: readonly OpenDifference[]): ReadonlyMap<string, Shortage> => {
  const months = effectsByMonth(open)
  takeShifts(months)
  const unsettled: { readonly month: string; units: number }[] = []
  const lacking = new Map<string, number>()
  let before: { readonly month: string; readonly surplus: number } | null = null
  for (const month of [...months.keys()].sort()) {
    const effects = months.get(month)
    const sum = effects === undefined ? 0 : sumAll(effects)
    let surplus = Math.max(0, sum)
    const surplusBefore = before !== null && addMonths(before.month, 1) === month ? before.surplus : 0
    lacking.set(month, Math.max(0, -sum))
    unsettled.push({ month, units: Math.max(0, Math.max(0, -sum) - surplusBefore) })
    for (const shortage of unsettled.toReversed()) {
      const settled = Math.min(shortage.units, surplus)
      shortage.units -= settled
      surplus -= settled
    }
    before = { month, surplus }
  }
  return new Map(
    unsettled.map(({ month, units }) => {
      const settled = (lacking.get(month) ?? 0) - units
      return [month, { unexplained: units, uncertain: settled + (months.get(month)?.uncertain ?? 0) }]
    }),
  )
}
