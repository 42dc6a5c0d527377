import { expireKeyless, hasKeyless, reviewSkipAlarm, settleSkippedWindow } from '../../../store/sync/quarantine.ts'
import type { SyncProgress } from '../../../store/sync/sync-states.ts'
import { rememberKeys } from '../windows/snapshot-keys.ts'
import { findShortPass, isReadAgain, type WindowReading } from '../windows/window-reading.ts'
import { finishWindow, restartWindow } from './progress.ts'
import type { FetchedPage, TransactionHook } from './stream.ts'
import type { PagedRun } from './stream-run.ts'

/** What follows a page. */
export interface PageEnd {
  /** The cursor of the next page; null: this was the last one. */
  readonly next: string | null
  /** The cursor loops. */
  readonly loops: boolean
  /** The pages show nothing new, but have no end. */
  readonly endless: boolean
  /** How many records the window announced, if it ends here and lacks some of them in every pass. */
  readonly missingFrom: number | null
}

/** Number of endless windows since a run without any: one part of a list may be endless while the others are not. */
const countEndless = <T>({ endless }: PagedRun<T>, { totals, pending }: SyncProgress, end: PageEnd): number => {
  if (end.endless) return totals.endlessWindows + 1
  return end.next === null && pending.length === 1 && !endless ? 0 : totals.endlessWindows
}

/** The progress after a page. */
const moveOn = <T>(run: PagedRun<T>, reading: WindowReading, end: PageEnd, counted: SyncProgress): SyncProgress => {
  const { next, loops, missingFrom } = end
  const totals = { ...counted.totals, windowSeen: reading.seen, endlessWindows: countEndless(run, run.progress, end) }
  const moved = { ...counted, cursor: next, totals }
  if (next !== null) return moved
  if (loops || missingFrom !== null) return restartWindow(moved)
  const pass = findShortPass(run, reading, moved)
  if (pass === null) return finishWindow(moved, run.stream.kind === 'changes' ? reading.storedUpTo : null)
  return restartWindow({ ...moved, totals: { ...totals, windowPasses: [...totals.windowPasses, pass] } })
}

/** Stores a page together with the progress after it. */
export const savePage = async <T>(
  run: PagedRun<T>,
  reading: WindowReading,
  page: FetchedPage<T>,
  end: PageEnd,
): Promise<void> => {
  const { stream, context } = run
  const { next, loops, missingFrom } = end
  const { window } = reading
  const last = next === null && !loops
  const allKeys = last && stream.kind === 'snapshot' && reading.knowsAll ? reading.keys : null
  // Records that the window still lacks may be the skipped ones.
  const isSettling = last && missingFrom === null && !isReadAgain(run, reading)
  await run.savePage(page.records.length, async (count) => {
    const settle = isSettling ? await prepareSettling(run, reading) : null
    const { inSameTransaction } = page
    const both: TransactionHook = async (tx) => {
      await inSameTransaction?.(tx)
      await settle?.(tx)
    }
    const content = settle === null ? page : { ...page, inSameTransaction: both }
    return run.pages.save(content, (saved) => moveOn(run, reading, end, count(saved)), {
      createdFrom: stream.time?.createdFrom(context, window) ?? null,
      snapshot: allKeys === null ? null : { part: window.part, keys: allKeys },
    })
  })
  rememberKeys(run, window, reading.knowsAll ? reading.keys : null, next)
}

/** Settles what a complete window proves: the window that was skipped before, and records without a key that no longer appear. Null: nothing. */
const prepareSettling = async <T>(run: PagedRun<T>, { window }: WindowReading): Promise<TransactionHook | null> => {
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
    await settleSkippedWindow(tx, skippedAs)
    await reviewSkipAlarm(tx, sellerId, resource)
  }
}
