import { splitWindow } from '../../domain/windows.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import { fetchPage } from './fetching.ts'
import { lookForMissing } from './missing-records.ts'
import { completeUpTo, narrow, retryingStream } from './narrowing.ts'
import { obstructed, strayed } from './obstacles.ts'
import {
  announcedButMissing,
  beginReading,
  countPage,
  cursorAfter,
  endedTooSoon,
  isAstray,
  isWhole,
  type WindowReading,
} from './passes.ts'
import { clockSurprise } from './planning.ts'
import { type PageEnd, savePage } from './saving.ts'
import type { FetchedPage, TimeRules } from './stream.ts'
import type { PagedRun, Stop } from './stream-run.ts'

/** A window holds more than a query can page through: false when it is read in parts instead. */
const fits = async <T>(run: PagedRun<T>, time: TimeRules, { window }: WindowReading, page: FetchedPage<T>): Promise<boolean> => {
  const { maxPerQuery } = run.context.settings
  const verdict = splitWindow(window, page.totalCount, Math.floor(maxPerQuery * 0.95))
  if (verdict.kind === 'fits') return true
  if (verdict.kind === 'split') {
    run.replaceWindow(verdict.windows.map((half) => ({ ...window, ...half })))
    return false
  }
  if (narrow(run, time, window, 'time')) return false
  const fault = `one second holds ${page.totalCount} records, more than the ${maxPerQuery} that a query can page through; those beyond are not read here`
  await run.pages.passOver({ window, stream: retryingStream(run, time), fault, observedAt: page.marketplaceNow }, run.progress)
  run.options.log.warn({ stream: run.name, total_count: page.totalCount }, fault)
  return true
}

/** Whether the first page of a window may be stored; if not, the windows have been planned again. */
const accepts = async <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): Promise<boolean> => {
  if (clockSurprise(run, page.marketplaceNow)) return false
  const bound = completeUpTo(run, page.marketplaceNow)
  if (reading.storedUpTo.getTime() > bound) reading.storedUpTo = new Date(bound)
  const { time } = run.stream
  if (time === null) return true
  if (!(await fits(run, time, reading, page))) return false
  run.progress = { ...run.progress, totals: { ...run.progress.totals, windowTotal: page.totalCount } }
  return true
}

/** Where a page that has come ends. A cursor that leads in circles once all that was announced has come is only a bad way to say "the last page". */
const endOf = <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): PageEnd => {
  const next = cursorAfter(run, reading, page)
  const astray = next !== null && isAstray(run, reading, next)
  if (next !== null && !astray) return { next, astray: false, announced: null }
  if (astray && !isWhole(run, reading)) return { next: null, astray: true, announced: null }
  return { next: null, astray: false, announced: announcedButMissing(run, reading) }
}

/** Stores a page while the next one is on its way: one page ahead, never more, so memory stays the same. Null: there is no next one now. */
const saveAndFetch = async <T>(
  run: PagedRun<T>,
  reading: WindowReading,
  page: FetchedPage<T>,
  end: PageEnd,
): Promise<PromiseSettledResult<FetchedPage<T>> | null> => {
  const { next } = end
  const goesOn = next !== null && page.resumeAt === null && !run.options.signal.aborted && !run.turnEndsWith(run.record.pages + 1)
  const [saved, following] = await Promise.allSettled([
    savePage(run, reading, page, end),
    goesOn ? fetchPage(run, reading.window, next) : null,
  ])
  if (saved.status === 'rejected') throw saved.reason
  if (following.status === 'rejected') throw following.reason
  return following.value
}

/** Reads a window page by page, as far as it can be asked for. Null: go on with the next window. */
export const readWindow = async <T>(run: PagedRun<T>, window: SyncWindow, planned: SyncWindow): Promise<Stop | null> => {
  const reading = beginReading(run, window, planned)
  const begun = run.firstPage
  run.firstPage = null
  let fetched: PromiseSettledResult<FetchedPage<T>> | null =
    begun === null ? await fetchPage(run, window, run.progress.cursor) : { status: 'fulfilled', value: begun }
  while (fetched !== null) {
    if (fetched.status === 'rejected') return obstructed(run, window, fetched.reason)
    const page: FetchedPage<T> = fetched.value
    if (page.isAnswer) run.answered = true
    if (run.progress.cursor === null && !(await accepts(run, reading, page))) return null
    countPage(run, reading, page)
    const tooSoon = endedTooSoon(run, reading, page)
    if (tooSoon !== null) return obstructed(run, window, tooSoon)
    const end = endOf(run, reading, page)
    fetched = await saveAndFetch(run, reading, page, end)
    if (end.astray) await strayed(run, reading)
    if (end.announced !== null) await lookForMissing(run, reading, end.announced)
    if (page.resumeAt !== null && end.next !== null) return { finished: false, at: page.resumeAt, reason: 'throttled' }
  }
  return null
}
