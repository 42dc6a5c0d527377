import { expireKeyless, hasKeyless, reviewSkipAlarm, settleSkipped } from '../../store/quarantine.ts'
import type { SyncProgress } from '../../store/sync-states.ts'
import type { SavedPage } from './pages.ts'
import { isReadAgain, shortPass, type WindowReading } from './passes.ts'
import { fresh, windowDone } from './progress.ts'
import { rememberKeys } from './snapshots.ts'
import type { Alongside, FetchedPage } from './stream.ts'
import type { PagedRun, StreamRun } from './stream-run.ts'

/** Where a run's stream stands with the numbers of a page added; its record counts them as well. */
export const countSaved = <T>(run: StreamRun<T>, before: SyncProgress, seen: number, saved: SavedPage): SyncProgress => {
  const { changed, quarantined } = saved
  run.record = {
    ...run.record,
    pages: run.record.pages + 1,
    seen: run.record.seen + seen,
    changed: run.record.changed + changed,
    quarantined: run.record.quarantined + quarantined,
  }
  const totals = {
    ...before.totals,
    seen: before.totals.seen + seen,
    changed: before.totals.changed + changed,
    quarantined: before.totals.quarantined + quarantined,
    windowSeen: before.totals.windowSeen + seen,
    windowChanged: before.totals.windowChanged + changed,
    failedAt: null,
    failedTimes: 0,
  }
  return { ...before, pages: before.pages + 1, totals }
}

/** Does what stores a page; when that fails, what the page counted for does not count. */
export const savingPage = async <T>(run: StreamRun<T>, save: () => Promise<SyncProgress>): Promise<void> => {
  const recordBefore = run.record
  try {
    run.progress = await save()
  } catch (error) {
    run.record = recordBefore
    throw error
  }
}

/** Where a page ends. */
export interface PageEnd {
  /** The cursor of the next one; null: this was the last one. */
  readonly next: string | null
  /** The cursor leads nowhere. */
  readonly astray: boolean
  /** How many records the window has announced, where it ends and lacks some of them however often it is read. */
  readonly announced: number | null
}

/** Stores a page with where the stream stands behind it. */
export const savePage = async <T>(
  run: PagedRun<T>,
  reading: WindowReading,
  page: FetchedPage<T>,
  end: PageEnd,
): Promise<void> => {
  const { progress: before, stream, context } = run
  const { next, astray } = end
  const isShort = end.announced !== null
  const { window } = reading
  const last = next === null && !astray
  const gone = last && stream.kind === 'snapshot' && reading.keys !== null ? reading.keys : null
  // What a window still lacks may be what was passed over.
  const isSettling = last && !isShort && !isReadAgain(run, reading)
  const progressAfter = (saved: SavedPage): SyncProgress => {
    const counted = countSaved(run, before, page.records.length, saved)
    const moved = { ...counted, cursor: next, totals: { ...counted.totals, windowSeen: reading.seen } }
    if (next !== null) return moved
    if (astray || isShort) return fresh(moved)
    const pass = shortPass(run, reading, moved)
    if (pass === null) return windowDone(moved, stream.kind === 'changes' ? reading.storedUpTo : null)
    return fresh({ ...moved, totals: { ...moved.totals, windowPasses: [...moved.totals.windowPasses, pass] } })
  }
  await savingPage(run, async () => {
    const settles = isSettling ? await settlementsOf(run, reading) : null
    const { alongside } = page
    const all: Alongside = async (tx) => {
      await alongside?.(tx)
      await settles?.(tx)
    }
    return run.pages.save(settles === null ? page : { ...page, alongside: all }, progressAfter, {
      createdFrom: stream.time?.createdFrom(context, window) ?? null,
      snapshot: gone === null ? null : { part: window.part, keys: gone },
    })
  })
  rememberKeys(run, window, reading.keys, next)
}

/** What a whole reading of a window settles: what was passed over before, and records without a key that did not come again. Null: nothing. */
const settlementsOf = async <T>(run: PagedRun<T>, { window }: WindowReading): Promise<Alongside | null> => {
  const { sellerId, resource, stream } = run.key
  const { pending, totals } = run.progress
  const { skippedAs } = window
  const { shows } = run.stream
  const { plannedAt: since, plannedFrom, outOfReachBefore } = totals
  const expires =
    shows !== null &&
    since !== null &&
    plannedFrom !== null &&
    pending.length === 1 &&
    totals.skipped === 0 &&
    (await hasKeyless(run.context.database, sellerId, resource))
  if (skippedAs === undefined && !expires) return null
  return async (tx) => {
    if (expires) {
      const createdFrom = outOfReachBefore !== null && outOfReachBefore > plannedFrom ? outOfReachBefore : plannedFrom
      await expireKeyless(tx, sellerId, resource, shows === 'stream' ? { stream } : { createdFrom }, since)
    }
    if (skippedAs === undefined) return
    await settleSkipped(tx, skippedAs)
    await reviewSkipAlarm(tx, sellerId, resource)
  }
}
