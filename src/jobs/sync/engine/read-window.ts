import { splitWindow } from '../../../domain/sync/windows.ts'
import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import { recoverFromCursorLoop, recoverFromFailedPage } from '../recovery/failed-pages.ts'
import { recoverMissingRecords } from '../recovery/missing-records.ts'
import { findRetryingStream, narrow } from '../windows/narrowing.ts'
import { discardPlanOnClockSkew } from '../windows/planning.ts'
import {
  beginReading,
  countRecords,
  findEarlyEnd,
  findMissingCount,
  findNextCursor,
  isComplete,
  isCursorLoop,
  isEndless,
  limitStoredUpTo,
  noteEndless,
  type WindowReading,
} from '../windows/window-reading.ts'
import { fetchPage } from './fetch-page.ts'
import { type PageEnd, savePage } from './save-page.ts'
import type { FetchedPage, TimeRules } from './stream.ts'
import type { PagedRun, Stop } from './stream-run.ts'

/** Whether one query can page through a window; if not, its parts are read instead. */
const fitsOneQuery = async <T>(
  run: PagedRun<T>,
  time: TimeRules,
  { window }: WindowReading,
  page: FetchedPage<T>,
): Promise<boolean> => {
  const { maxPerQuery } = run.context.settings
  const verdict = splitWindow(window, page.totalCount, Math.floor(maxPerQuery * 0.95))
  if (verdict.kind === 'fits') return true
  if (verdict.kind === 'split') {
    run.replaceWindow(verdict.windows.map((half) => ({ ...window, ...half })))
    return false
  }
  if (narrow(run, time, window, 'time')) return false
  const fault = `one second holds ${page.totalCount} records, but a query can page through ${maxPerQuery} only; the others are not read here`
  const observedAt = page.marketplaceNow
  await run.pages.skip({ window, stream: findRetryingStream(run, time), fault, observedAt }, run.progress)
  run.options.log.warn({ stream: run.name, total_count: page.totalCount }, fault)
  return true
}

/** Whether the first page of a window may be stored; if not, the windows were replaced. */
const acceptFirstPage = async <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): Promise<boolean> => {
  if (discardPlanOnClockSkew(run, page.marketplaceNow)) return false
  limitStoredUpTo(reading, run.completeUpToMs(page.marketplaceNow))
  const { time } = run.stream
  if (time === null) return true
  if (!(await fitsOneQuery(run, time, reading, page))) return false
  run.noteWindowTotal(page.totalCount)
  return true
}

/**
 * What follows a page. A cursor that leads to known records only means "the last page", and so does a cursor loop after all announced records were
 * read.
 */
const findEnd = <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): PageEnd => {
  const next = findNextCursor(run, reading, page)
  const endless = next !== null && isEndless(run, reading)
  const loops = next !== null && !endless && isCursorLoop(run, reading, next)
  if (next !== null && !endless && !loops) return { next, loops: false, endless, missingFrom: null }
  if (loops && !isComplete(run, reading)) return { next: null, loops: true, endless, missingFrom: null }
  return { next: null, loops: false, endless, missingFrom: findMissingCount(run, reading) }
}

/** Stores a page and fetches the next one at the same time: never more than one page ahead, so memory use is constant. Null: no next page now. */
const saveAndFetch = async <T>(
  run: PagedRun<T>,
  reading: WindowReading,
  page: FetchedPage<T>,
  end: PageEnd,
): Promise<PromiseSettledResult<FetchedPage<T>> | null> => {
  const { next } = end
  const continues = page.resumeAt === null && !run.options.signal.aborted && !run.turnEndsAfter(run.record.pages + 1)
  const [saved, following] = await Promise.allSettled([
    savePage(run, reading, page, end),
    next !== null && continues ? fetchPage(run, reading.window, next) : null,
  ])
  if (saved.status === 'rejected') throw saved.reason
  if (following.status === 'rejected') throw following.reason
  return following.value
}

/** Reads the reachable part of a window page by page. Null: continue with the next window. */
export const readWindow = async <T>(run: PagedRun<T>, window: SyncWindow, planned: SyncWindow): Promise<Stop | null> => {
  const reading = beginReading(run, window, planned)
  const kept = run.takeFirstPage()
  let fetched: PromiseSettledResult<FetchedPage<T>> | null =
    kept === null ? await fetchPage(run, window, run.progress.cursor) : { status: 'fulfilled', value: kept }
  while (fetched !== null) {
    if (fetched.status === 'rejected') return recoverFromFailedPage(run, window, fetched.reason)
    const page: FetchedPage<T> = fetched.value
    if (page.isAnswer) run.noteAnswer()
    if (run.progress.cursor === null && !(await acceptFirstPage(run, reading, page))) return null
    countRecords(run, reading, page)
    const earlyEnd = findEarlyEnd(run, reading, page)
    if (earlyEnd !== null) return recoverFromFailedPage(run, window, earlyEnd)
    const end = findEnd(run, reading, page)
    if (end.endless) noteEndless(run, reading)
    fetched = await saveAndFetch(run, reading, page, end)
    if (end.loops) await recoverFromCursorLoop(run, reading)
    if (end.missingFrom !== null) await recoverMissingRecords(run, reading, end.missingFrom)
    if (page.resumeAt !== null && end.next !== null) return { finished: false, at: page.resumeAt, reason: 'throttled' }
  }
  return null
}
