import type { DriftReport } from '../../clients/http/client-parts.ts'
import type { Database } from '../../store/db/database.ts'
import { recordDrift, type SeenDrift } from '../../store/sync/drift.ts'
import { createCountRecorder, type RecorderParts } from './count-recorder.ts'

/** A new place is recorded after this time at the latest … */
const newEveryMs = 5_000
/** … and the counts of known ones after this time. */
const knownEveryMs = 300_000
/** At most this number of members of an object, or of values of a member, are distinguished: an object may be keyed by data. */
const maxNames = 20

/** Collects what the clients report about drift. */
export interface DriftRecorder {
  /** Counts a place in memory. Never throws. */
  record(report: DriftReport): void
}

/** The place, without its name if its object or its enumeration has too many unknown ones. */
export const createNarrowing = (): ((report: DriftReport) => DriftReport) => {
  const names = new Map<string, Set<string>>()
  return (report) => {
    const { sellerId, operation, kind, path, value } = report
    const parent = value === '' ? path.slice(0, path.lastIndexOf('.') + 1) : path
    const name = value === '' ? path.slice(parent.length) : value
    const group = JSON.stringify([sellerId, operation, kind, parent, value === ''])
    const known = names.get(group) ?? new Set()
    names.set(group, known)
    if (known.has(name)) return report
    if (known.size >= maxNames)
      return value === '' ? { ...report, path: `${parent}*` } : { ...report, value: '', example: 'another value' }
    known.add(name)
    return report
  }
}

/** One for each process: counts in memory, and records in Postgres now and then, new places soon. */
export const createDriftRecorder = (parts: RecorderParts, database: Database): DriftRecorder => {
  const narrow = createNarrowing()
  const recorded = new Set<string>()
  const add = createCountRecorder<SeenDrift>(parts, {
    what: "differences of the marketplace's answers",
    everyMs: newEveryMs,
    isDue: (pending, sinceMs) => sinceMs >= knownEveryMs || [...pending.keys()].some((key) => !recorded.has(key)),
    record: async (pending) => {
      await recordDrift(database, [...pending.values()])
      for (const key of pending.keys()) recorded.add(key)
    },
  })
  return {
    record(report) {
      const { sellerId, operation, kind, path, value, example } = narrow(report)
      add(JSON.stringify([sellerId, operation, kind, path, value]), { sellerId, operation, kind, path, value, example, count: 1 })
    },
  }
}
