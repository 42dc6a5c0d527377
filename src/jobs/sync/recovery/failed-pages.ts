import { bodyTooLarge, MarketplaceFailure, tooManyRecords } from '../../../clients/http/errors.ts'
import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import { errorMessage } from '../../../util/error-message.ts'
import { fetchPage } from '../engine/fetch-page.ts'
import type { TimeRules } from '../engine/stream.ts'
import type { PagedRun, Stop } from '../engine/stream-run.ts'
import { isNextToSkipped, narrow, skipWindow } from '../windows/narrowing.ts'
import type { WindowReading } from '../windows/window-reading.ts'
import { CursorLoop, isCursorError, isPagingError } from './errors.ts'
import { probeMarketplace } from './outage-probe.ts'
import { failedRunsWithoutProbes } from './skip-rules.ts'

// Reading a window again helps while the list changes. A cursor that loops repeatedly is an error to report.
const restartsPerRun = 2
/** Error codes of a page that is too large: a smaller page may work. */
const tooLarge: ReadonlySet<string> = new Set([bodyTooLarge, tooManyRecords])

/** Whether a failure may be about the requested page. */
const mayBeAboutPage = (error: unknown): boolean =>
  isPagingError(error) || (error instanceof MarketplaceFailure && !error.ofCredentials)

const restartWindow = <T>(run: PagedRun<T>, error: unknown): void => {
  run.restartWindow()
  run.options.log.warn(
    { stream: run.name, reason: errorMessage(error) },
    'the marketplace does not continue from its own cursor; the window is read again from its start',
  )
}

/** The next action for a page that has failed this many times in a row: retry now, retry in the next run, or read its window in parts. */
const chooseAction = async <T>(
  run: PagedRun<T>,
  window: SyncWindow,
  error: unknown,
  times: number,
): Promise<'retry' | 'fail' | 'narrow'> => {
  const { cursor, totals } = run.progress
  const narrows = run.stream.time !== null
  if (cursor !== null && isCursorError(error)) {
    if (run.restarts >= restartsPerRun || (narrows && totals.windowRestarts >= restartsPerRun)) return 'narrow'
    restartWindow(run, error)
    return 'retry'
  }
  // One failure proves nothing. A part of a window that failed before is retried immediately.
  if (times === 1 && (totals.windowRestarts === 0 || !narrows)) return window.narrowed === true ? 'retry' : 'fail'
  if (cursor === null || (narrows && totals.windowRestarts > 0)) return 'narrow'
  const first = await fetchPage(run, window, null)
  if (first.status === 'rejected') return 'narrow'
  restartWindow(run, error)
  run.keepFirstPage(first.value)
  return 'retry'
}

/** Reads an unreadable window in parts, or skips it; throws its error unless it is known to be about this window only. */
const narrowOrSkip = async <T>(
  run: PagedRun<T>,
  time: TimeRules,
  window: SyncWindow,
  error: unknown,
  times: number,
): Promise<void> => {
  const probe = await probeMarketplace(run, time, window)
  if (probe === 'none') throw error
  const isTooLarge = error instanceof MarketplaceFailure && tooLarge.has(error.networkCode ?? '')
  if (narrow(run, time, window, isTooLarge ? 'page' : 'all')) {
    run.options.log.warn(
      { seller_id: run.key.sellerId, stream: run.name, reason: errorMessage(error) },
      'a page cannot be read; its window is read in smaller parts',
    )
    return
  }
  const wasSkipped = window.skippedAs !== undefined
  if (probe === 'without rows') {
    if (run.postponeWindow(window)) return
    // A corrupt record at the edge of a window breaks the next window too. A window that was skipped before has failed often enough.
    if (times < failedRunsWithoutProbes && !isNextToSkipped(run, window) && !wasSkipped) throw error
  }
  // A window is skipped only if it fails in two runs, some time apart, or if the run has skipped another one before.
  if (times < 3 && run.lastSkipped === null && !wasSkipped) throw error
  await skipWindow(run, time, window, errorMessage(error))
}

/**
 * Handles a page that cannot be read. Null: the run continues, at the start of the window, with parts of it, or after it.
 *
 * - A cursor that the marketplace refuses is dropped immediately. Any other cursor is dropped after two failures, if the window's first page can be
 *   read; otherwise the cursor is not the cause.
 * - Then the window is halved repeatedly until the corrupt record is alone, as long as the marketplace answers other requests, with rows where it must
 *   have some.
 * - The remaining part is skipped: it is quarantined, raises an alarm, and is retried later. While no other request returns rows, other windows are
 *   read first, since they may, and the part is retried more often before it is skipped.
 *
 * @throws the error, unless it is known to be about this page
 */
export const recoverFromFailedPage = async <T>(run: PagedRun<T>, window: SyncWindow, error: unknown): Promise<Stop | null> => {
  const stop = run.findStop(error)
  if (stop !== null) return stop
  if (!mayBeAboutPage(error)) throw error
  const times = run.noteFailedPage()
  const action = await chooseAction(run, window, error, times)
  if (action === 'retry') return null
  if (action === 'fail') throw error
  const { time } = run.stream
  if (time === null) {
    // The next run must not continue from a cursor that failed.
    if (isCursorError(error)) run.dropCursor()
    throw error
  }
  await narrowOrSkip(run, time, window, error, times)
  return null
}

/**
 * Handles a window whose cursors loop or have no end.
 *
 * @throws CursorLoop once the run has restarted windows too often
 */
export const recoverFromCursorLoop = async <T>(run: PagedRun<T>, reading: WindowReading): Promise<void> => {
  const problem = `the cursors of ${run.name} loop after ${reading.cursors.size} pages (a repeated cursor, or too many pages); the window is read again in smaller parts`
  run.noteCursorLoop(problem)
  run.options.log.warn({ stream: run.name }, problem)
  const { time } = run.stream
  if (time !== null && !narrow(run, time, reading.window, 'time')) {
    return skipWindow(run, time, reading.window, `its cursors loop after ${reading.seen} records`)
  }
  if (run.restarts > restartsPerRun) throw new CursorLoop(problem)
}
