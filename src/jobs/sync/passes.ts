import type { SyncProgress, SyncWindow } from '../../store/sync-states.ts'
import { EndedTooSoon } from './faults.ts'
import { dayMs } from './settings.ts'
import { keysSoFar } from './snapshots.ts'
import type { FetchedPage } from './stream.ts'
import type { PagedRun } from './stream-run.ts'

const rereadsPerWindow = 2
/** A window as long as that is read until a pass brings nothing new: rows slip between pages while the set moves. */
export const longWindowMs = dayMs

/** The pages of one window as this run has read them. */
export interface WindowReading {
  readonly window: SyncWindow
  readonly cursors: Set<string>
  /** Keys of this run's records, where the stream counts or compares them; null once one of them is not known. */
  keys: Set<string> | null
  /** Records that were read of this window, by this run and earlier ones; those with a known key once each. */
  seen: number
  /** Rows of its pages, those that came twice too; of what an earlier run has read it counts records. */
  rows: number
  /** How much of the window is finally past on the marketplace's clock. */
  storedUpTo: Date
  emptyPages: number
}

/** Begins to read a window, or goes on with it where an earlier run has left it. */
export const beginReading = <T>(run: PagedRun<T>, window: SyncWindow, planned: SyncWindow): WindowReading => ({
  ...{ window, cursors: new Set(), keys: keysSoFar(run, planned) },
  seen: run.progress.totals.windowSeen,
  rows: run.progress.totals.windowSeen,
  storedUpTo: planned.to,
  emptyPages: 0,
})

const passOf = (seen: number, announced: number): string => `${seen} of ${announced}`

/** Whether a pass over a window may be followed by another one: they do not agree yet, and are not too many. */
const isNewPass = (passes: readonly string[], pass: string): boolean => passes.length < rereadsPerWindow && !passes.includes(pass)

const checksCount = <T>({ stream }: PagedRun<T>): boolean => stream.time?.checksCount === true

/** Counts the records of a page. */
export const countPage = <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): void => {
  const isSnapshot = run.stream.kind === 'snapshot'
  if (page.moved) reading.keys = null
  reading.rows += page.records.length
  for (const { key, rawText } of page.records) {
    if (!checksCount(run) && !isSnapshot) {
      reading.seen += 1
      continue
    }
    if (key === null && isSnapshot) reading.keys = null
    const known = reading.keys?.size ?? 0
    reading.keys?.add(key ?? rawText)
    reading.seen += reading.keys === null ? 1 : reading.keys.size - known
  }
}

/** Where a window goes on behind a page; null: this was its last one. */
export const cursorAfter = <T>({ stream }: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): string | null => {
  if (stream.time === null) return page.nextCursor
  reading.emptyPages = page.records.length === 0 ? reading.emptyPages + 1 : 0
  // A short page may still have a successor; two empty ones in a row have none, whatever the cursor says.
  return reading.emptyPages >= 2 ? null : page.nextCursor
}

/** All that the window's first page announced has come. */
export const isWhole = <T>(run: PagedRun<T>, reading: WindowReading): boolean => {
  const { windowTotal } = run.progress.totals
  return checksCount(run) && windowTotal !== null && reading.seen >= windowTotal
}

/** A cursor that dies may be answered with "none there": it is known by what was announced. */
export const endedTooSoon = <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): EndedTooSoon | null => {
  const { cursor, totals } = run.progress
  if (cursor === null || !checksCount(run) || page.records.length > 0 || page.nextCursor !== null) return null
  if (totals.windowTotal === null || reading.seen >= totals.windowTotal) return null
  return new EndedTooSoon(`a cursor of ${run.name} led to nothing after ${reading.seen} of ${totals.windowTotal} records`)
}

/** Whether a cursor leads nowhere: it was met before, or the window has more pages than any can have. */
export const isAstray = <T>(run: PagedRun<T>, reading: WindowReading, next: string): boolean => {
  if (next === run.progress.cursor || reading.cursors.has(next)) return true
  reading.cursors.add(next)
  return run.stream.time !== null && run.progress.pages + 1 >= run.context.settings.pageCap
}

/**
 * What a pass over a window found, when it has to be looked at again; null: the window is complete. Rows that move while pages are read can slip
 * between two pages (public facts 2.2). Fewer than announced, or something new in a long window, means: look again, until two passes agree or
 * one brings nothing new.
 */
export const shortPass = <T>(run: PagedRun<T>, { window }: WindowReading, { totals, pages }: SyncProgress): string | null => {
  const { windowSeen, windowTotal, windowPasses, windowChanged } = totals
  if (!checksCount(run) || windowTotal === null) return null
  if (windowSeen >= windowTotal) {
    // A false "none there" looks like any other: for a long stretch of time it is worth a second request.
    const mayMore = windowTotal === 0 ? windowPasses.length === 0 : pages > 1 && windowChanged > 0
    const long = mayMore && window.to.getTime() - window.from.getTime() > longWindowMs
    return long && windowPasses.length < rereadsPerWindow ? `${windowSeen} of ${windowTotal}, ${windowChanged} new` : null
  }
  const pass = passOf(windowSeen, windowTotal)
  if (isNewPass(windowPasses, pass)) return pass
  warnOfShortage(run, windowSeen, windowTotal)
  return null
}

/** Logs that a window lacks what it has announced and is left as it is. */
export const warnOfShortage = <T>(run: PagedRun<T>, seen: number, announced: number): void => {
  run.options.log.warn(
    { stream: run.name, window_seen: seen, window_total: announced },
    'a window keeps bringing fewer records than the marketplace announces; going on',
  )
}

/** How many records a window was announced to hold, where fewer have come; null otherwise. */
const announcedMore = <T>(run: PagedRun<T>, { seen }: WindowReading): number | null => {
  const { windowTotal } = run.progress.totals
  return checksCount(run) && windowTotal !== null && seen < windowTotal ? windowTotal : null
}

/** Whether a window that ends here lacks what it has announced, and is read once more for it. */
export const isReadAgain = <T>(run: PagedRun<T>, reading: WindowReading): boolean => {
  const announced = announcedMore(run, reading)
  return announced !== null && isNewPass(run.progress.totals.windowPasses, passOf(reading.seen, announced))
}

/**
 * How many records a window that ends here has announced, where it lacks some however often it is read, so that its parts should be asked for;
 * null otherwise. Not where as many rows came as were announced, some of them twice, nor where a query pages through no more.
 */
export const announcedButMissing = <T>(run: PagedRun<T>, reading: WindowReading): number | null => {
  const announced = announcedMore(run, reading)
  if (announced === null || announced > run.context.settings.maxPerQuery) return null
  return reading.rows < announced && !isReadAgain(run, reading) ? announced : null
}
