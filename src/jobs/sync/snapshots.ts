import type { Database } from '../../store/database.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import type { PagedRun } from './stream-run.ts'

/** A snapshot that a run could not finish: what came of its window up to a cursor. */
interface UnfinishedSnapshot {
  /** When the window was planned, epoch ms. */
  readonly plannedMs: number
  readonly cursor: string
  readonly keys: Set<string>
}

// A snapshot larger than the budget of one run goes on in the next one; as long as that is of this process, it is known what came before.
const unfinishedSnapshots = new WeakMap<Database, Map<string, UnfinishedSnapshot>>()

const unfinishedSnapshotsOf = (database: Database): Map<string, UnfinishedSnapshot> => {
  const known = unfinishedSnapshots.get(database) ?? new Map<string, UnfinishedSnapshot>()
  unfinishedSnapshots.set(database, known)
  return known
}

const nameOf = <T>({ context, name }: PagedRun<T>, { part }: SyncWindow): string =>
  JSON.stringify([context.client.sellerId, name, part])

/** Keys that came of a window before its next page; null for a snapshot that another process has begun, which cannot know what is gone. */
export const keysSoFar = <T>(run: PagedRun<T>, window: SyncWindow): Set<string> | null => {
  const { cursor } = run.progress
  if (run.stream.kind !== 'snapshot' || cursor === null) return new Set()
  const begun = unfinishedSnapshotsOf(run.context.database).get(nameOf(run, window))
  return begun?.cursor === cursor && begun.plannedMs === window.from.getTime() ? begun.keys : null
}

/** Remembers what came of a snapshot up to a cursor; null: it is at its end. Keys that are null are not known. */
export const rememberKeys = <T>(run: PagedRun<T>, window: SyncWindow, keys: Set<string> | null, cursor: string | null): void => {
  if (run.stream.kind !== 'snapshot') return
  const unfinished = unfinishedSnapshotsOf(run.context.database)
  if (cursor === null || keys === null) unfinished.delete(nameOf(run, window))
  else unfinished.set(nameOf(run, window), { plannedMs: window.from.getTime(), cursor, keys })
}
