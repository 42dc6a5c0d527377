import type { Database } from '../../../store/db/database.ts'
import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import type { PagedRun } from '../engine/stream-run.ts'

/** An unfinished snapshot: the keys that its window has shown up to a cursor. */
interface UnfinishedSnapshot {
  /** When the window was planned, epoch ms. */
  readonly plannedMs: number
  readonly cursor: string
  readonly keys: Set<string>
}

// A snapshot that exceeds the rate budget of one run continues in the next run. The keys are known only if this process read them.
const unfinishedSnapshots = new WeakMap<Database, Map<string, UnfinishedSnapshot>>()

const findUnfinishedSnapshots = (database: Database): Map<string, UnfinishedSnapshot> => {
  const known = unfinishedSnapshots.get(database) ?? new Map<string, UnfinishedSnapshot>()
  unfinishedSnapshots.set(database, known)
  return known
}

const buildName = <T>({ context, name }: PagedRun<T>, { part }: SyncWindow): string =>
  JSON.stringify([context.client.sellerId, name, part])

/** Keys that a window has shown before its next page; null: another process read the pages before, so absent keys are unknown. */
export const findEarlierKeys = <T>(run: PagedRun<T>, window: SyncWindow): Set<string> | null => {
  const { cursor } = run.progress
  if (run.stream.kind !== 'snapshot' || cursor === null) return new Set()
  const begun = findUnfinishedSnapshots(run.context.database).get(buildName(run, window))
  return begun?.cursor === cursor && begun.plannedMs === window.from.getTime() ? begun.keys : null
}

/** Remembers the keys of a snapshot up to a cursor. Forgets them at its end (no cursor), or where they are not known (no keys). */
export const rememberKeys = <T>(run: PagedRun<T>, window: SyncWindow, keys: Set<string> | null, cursor: string | null): void => {
  if (run.stream.kind !== 'snapshot') return
  const unfinished = findUnfinishedSnapshots(run.context.database)
  if (cursor === null || keys === null) unfinished.delete(buildName(run, window))
  else unfinished.set(buildName(run, window), { plannedMs: window.from.getTime(), cursor, keys })
}
