import type { DriftReport } from '../../clients/http/client-parts.ts'
import type { QuietLog } from '../../observability/log.ts'
import type { Database } from '../../store/db/database.ts'
import { recordDrift, type SeenDrift } from '../../store/sync/drift.ts'
import type { ShutdownHooks } from '../../util/shutdown-hooks.ts'

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
export const createDriftRecorder = (
  { quiet, shutdownHooks }: { readonly quiet: QuietLog; readonly shutdownHooks: ShutdownHooks },
  database: Database,
): DriftRecorder => {
  const narrow = createNarrowing()
  const recorded = new Set<string>()
  const pending = new Map<string, SeenDrift>()
  let recordedAtMs = performance.now()
  let recording: Promise<void> | null = null

  const add = (key: string, seen: SeenDrift): void => {
    pending.set(key, { ...seen, count: seen.count + (pending.get(key)?.count ?? 0) })
  }

  const isDue = (): boolean =>
    pending.size > 0 &&
    (performance.now() - recordedAtMs >= knownEveryMs || [...pending.keys()].some((key) => !recorded.has(key)))

  const flush = async (): Promise<void> => {
    const taken = [...pending]
    pending.clear()
    recordedAtMs = performance.now()
    try {
      await recordDrift(
        database,
        taken.map(([, seen]) => seen),
      )
      for (const [key] of taken) recorded.add(key)
      quiet.recovered('drift', "differences of the marketplace's answers are recorded again")
    } catch (error) {
      for (const [key, seen] of taken) add(key, seen)
      quiet.warn('drift', { err: error }, "differences of the marketplace's answers cannot be recorded; it is tried again")
    }
  }

  const timer = setInterval(() => {
    if (!isDue()) return
    recording ??= flush().finally(() => {
      recording = null
    })
  }, newEveryMs)
  shutdownHooks.add("the differences of the marketplace's answers", async () => {
    clearInterval(timer)
    await recording
    if (pending.size > 0) await flush()
  })

  return {
    record(report) {
      const { sellerId, operation, kind, path, value, example } = narrow(report)
      add(JSON.stringify([sellerId, operation, kind, path, value]), { sellerId, operation, kind, path, value, example, count: 1 })
    },
  }
}
