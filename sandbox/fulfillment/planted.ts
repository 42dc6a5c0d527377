import { findMonth, type Month, monthAfter, pacificMonth } from '../core/pacific.ts'
import { createRandom } from '../core/random.ts'
import type { World } from '../world.ts'
import { type Discrepancy, type DiscrepancyKind, discrepancyKinds } from './discrepancy.ts'
import type { Candidate } from './discrepancy-store.ts'
import { type Cell, type Item, isOutflow, type Movement, moved, wording } from './model.ts'
import { findPeriod, generationAt } from './report-period.ts'
import type { Recorded } from './store.ts'

/** What cannot be put in, and why. */
export class NoSuchPlace extends Error {
  override readonly name = 'NoSuchPlace'
}

export interface Wanted {
  readonly kind: DiscrepancyKind
  readonly month: Month
  /** Left out: 3. Those made of an existing entry take its units. */
  readonly units?: number | undefined
  /** Of the report's column that shall differ; left out: one of which the month has no entry. */
  readonly cell?: Cell | undefined
  /** The entry to hide or double; left out: the first of the month. */
  readonly entryId?: string | undefined
}

const defaultUnits = 3

/** Puts one discrepancy in. It stays until it is repaired. Throws `NoSuchPlace` where the month has nothing to make it of. */
export const plant = (world: World, item: Item, wanted: Wanted, now: number): Discrepancy => {
  const { kind, month } = wanted
  if (item.firstAt >= month.to) throw new NoSuchPlace(`${item.sku} has no stock in ${month.name}`)
  const covered = Math.min(month.to, generationAt(now).coveredUntil)
  const to = covered > month.from ? covered : month.to
  const from = Math.max(month.from, item.firstAt)
  const middle = Math.floor((from + to) / 2_000) * 1_000
  const units = wanted.units ?? defaultUnits
  const keep = (cell: Cell | null, counted: number, movementId: number, entryId: string | null, done: string): Discrepancy =>
    world.discrepancies.add({ itemId: item.id, month: month.name, kind, cell, units: counted, movementId, entryId, done })
  const add = (movement: Movement): Recorded => {
    const [recorded] = world.inventory.record(item, [movement])
    if (recorded === undefined) throw new Error('a movement was not written down')
    return recorded
  }
  return world.database.transaction(() => {
    switch (kind) {
      case 'report-without-log': {
        const cell = wanted.cell ?? freeCell(world, item, from, to, now)
        const { movementId } = add(moved(wording[cell], signed(cell, units), middle, { inLog: false }))
        return keep(cell, units, movementId, null, `the report counts ${units} units ${cell} that no log entry knows`)
      }
      case 'log-entry-missing': {
        const { movementId, entryId, movement } = candidate(world, item, wanted, from, to)
        world.discrepancies.setInLog(movementId, false)
        const cell = cellOfEntry(movement)
        return keep(cell, Math.abs(movement.units), movementId, entryId, `log entry ${entryId} is hidden; the report counts it`)
      }
      case 'extra-log-entry': {
        const cell = wanted.cell ?? freeCell(world, item, from, to, now)
        const { movementId, entryId } = add(moved(wording[cell], signed(cell, units), middle, { inReport: false }))
        return keep(cell, units, movementId, entryId, `log entry ${entryId} is of units that the report does not count`)
      }
      case 'duplicate-log-entry': {
        const original = candidate(world, item, wanted, from, to)
        const { movementId, entryId } = add({ ...original.movement, inReport: false })
        const cell = cellOfEntry(original.movement)
        const done = `log entry ${original.entryId} is there a second time as ${entryId}`
        return keep(cell, Math.abs(original.movement.units), movementId, entryId, done)
      }
      case 'ending-off': {
        const { movementId } = add(moved(wording.other, units, middle, { inLog: false, place: 'unexplained' }))
        return keep(
          null,
          units,
          movementId,
          null,
          `the ending quantity is ${units} more than the beginning and the movements make`,
        )
      }
      case 'carry-over-break': {
        const { movementId } = add(moved(wording.other, units, month.from, { inLog: false, place: 'carry' }))
        return keep(null, units, movementId, null, `the beginning quantity is ${units} more than the ending of the month before`)
      }
    }
  })
}

/** Undoes a discrepancy; report and log are again what they would have been without it. */
export const repair = (world: World, { id, kind, movementId }: Discrepancy): void => {
  world.database.transaction(() => {
    if (kind === 'log-entry-missing') world.discrepancies.setInLog(movementId, true)
    else world.discrepancies.removeMovement(movementId)
    world.discrepancies.remove(id)
  })
}

/** One of every kind, each with a SKU of its own, in the two whole months before this one. */
export const plantDiscrepancies = (world: World, sellerId: string, now: number): void => {
  const random = createRandom(world.settings.seed, 'discrepancies', sellerId)
  const items = world.inventory.livingItems(sellerId)
  const thisMonth = findMonth(now).name
  for (const [index, kind] of discrepancyKinds.entries()) {
    const [item] = items.splice(random.whole(0, items.length - 1), 1)
    const month = pacificMonth(monthAfter(thisMonth, index % 2 === 0 ? -1 : -2))
    const units = random.whole(2, 6)
    if (item !== undefined) plant(world, item, { kind, month, units }, now)
  }
}

/** What report and log say where a discrepancy is. */
export interface Compared {
  /** The report's figure: the column, the ending or the beginning; `null` while there is no report. */
  readonly reported: number | null
  /** What it should be: the log's sum, beginning and movements, or the ending of the month before. */
  readonly expected: number | null
}

/** Looks up the current state of both sides of a discrepancy. */
export const compare = (world: World, item: Item, { kind, month, cell }: Discrepancy, now: number): Compared => {
  const of = pacificMonth(month)
  const period = findPeriod(of, now)
  const row = period === null ? null : world.inventory.row(item, period)
  if (period === null || row === null) return { reported: null, expected: null }
  if (cell !== null) {
    return { reported: row[cell], expected: world.discrepancies.logged(item, period.from, period.to, now, cell) }
  }
  if (kind === 'ending-off') {
    const made = row.beginning - row.sold + row.returned - row.lost + row.found - row.damaged + row.other
    return { reported: row.ending, expected: made }
  }
  const before = findPeriod(pacificMonth(monthAfter(month, -1)), now)
  const rowBefore = before === null ? null : world.inventory.row(item, before)
  return { reported: row.beginning, expected: rowBefore?.ending ?? null }
}

const signed = (cell: Cell, units: number): number => (isOutflow(cell) ? -units : units)

const cellOfEntry = ({ place }: Movement): Cell | null => (place === 'carry' || place === 'unexplained' ? null : place)

/** A column without log entries in these days, so that only the report has units. */
const freeCell = (world: World, item: Item, from: number, to: number, now: number): Cell => {
  const cells = ['lost', 'damaged', 'found'] as const
  return cells.find((cell) => world.discrepancies.logged(item, from, to, now, cell) === 0) ?? 'lost'
}

const candidate = (world: World, item: Item, { entryId, month }: Wanted, from: number, to: number): Candidate => {
  const [found] = world.discrepancies.candidates(item, from, to, entryId ?? null, 1)
  if (found === undefined) throw new NoSuchPlace(`${item.sku} has no such log entry in ${month.name}`)
  return found
}
