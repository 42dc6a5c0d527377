import { type RetainedData, retainedData } from '../../src/domain/sync/retention.ts'
import type { HourEnd } from './hours.ts'

/** A level may move by so much: pages are used again as they become free, and the last hour's changes as transactions end. */
const tolerance = 1.15

/** Of these a row stays for each that there ever was: known events, and baselines that units are counted from. */
const keepsRows: ReadonlySet<RetainedData> = new Set(['events', 'attempts'])

/** So many hours are needed to tell whether what is kept for `keepHours` has reached a level and stayed there. */
export const hoursToTell = (keepHours: number): number => keepHours + 5

/** What of these hours did not reach a level and stay there, as sentences; `keepHours` is how long data was kept. Null: too few hours to tell. */
export const grown = (hours: readonly HourEnd[], keepHours: number): readonly string[] | null => {
  if (hours.length < hoursToTell(keepHours)) return null
  const faults: string[] = []
  // When the first pass is over the level is reached; one more hour fills what it left free.
  const [early, late] = [hours.slice(keepHours + 1, keepHours + 4), hours.slice(keepHours + 4)]
  const hold = (what: string, of: (end: HourEnd) => number): void => {
    const [before, after] = [Math.max(...early.map(of)), Math.max(...late.map(of))]
    if (after > before * tolerance) faults.push(`${what} grew from ${before} to ${after}`)
  }
  for (const data of retainedData) {
    if (keepsRows.has(data)) continue
    hold(`rows of ${data}`, ({ rows }) => rows[data])
    hold(`bytes of ${data}`, ({ bytes }) => bytes[data])
  }
  // What is not one of the rows that stay, and all that these rows keep besides their ids and hashes.
  hold('events that are whole', ({ whole }) => whole.events)
  hold('attempts that are whole', ({ whole }) => whole.attempts)
  return faults
}
