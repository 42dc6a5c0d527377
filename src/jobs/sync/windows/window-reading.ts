import type { SyncProgress, SyncWindow } from '../../../store/sync/sync-states.ts'
import type { FetchedPage } from '../engine/stream.ts'
import type { PagedRun } from '../engine/stream-run.ts'
import { dayMs } from '../engine/sync-settings.ts'
import { PagingEndedEarly } from '../recovery/errors.ts'
import { findEarlierKeys } from './snapshot-keys.ts'

const rereadsPerWindow = 2
/** A longer window is read until a pass shows nothing new: records can slip between pages while the list changes. */
export const longWindowMs = dayMs

/** The pages of one window as this run has read them. */
export interface WindowReading {
  readonly window: SyncWindow
  readonly cursors: Set<string>
  /** Keys of the records that this run has read; the text of a record without a key. For a snapshot also those of earlier runs, where known. */
  readonly keys: Set<string>
  /** Whether `keys` holds every record of the window. */
  knowsAll: boolean
  /** Records of this window, from this run and earlier ones; each known key counts once. */
  seen: number
  /** Rows of its pages, repeated ones included, without pages that show nothing new. Of the pages of earlier runs it counts records. */
  rows: number
  /** The window is stored up to this time on the marketplace's clock. */
  storedUpTo: Date
  emptyPages: number
  /** Consecutive pages whose records this run has all read before in this window. */
  repeatedPages: number
}

/** Begins a window, or continues it where an earlier run stopped. */
export const beginReading = <T>(run: PagedRun<T>, window: SyncWindow, planned: SyncWindow): WindowReading => {
  const keys = findEarlierKeys(run, planned)
  const { windowSeen } = run.progress.totals
  return {
    ...{ window, cursors: new Set(), keys: keys ?? new Set(), knowsAll: keys !== null },
    ...{ seen: windowSeen, rows: windowSeen, storedUpTo: planned.to, emptyPages: 0, repeatedPages: 0 },
  }
}

const describePass = (seen: number, announced: number): string => `${seen} of ${announced}`

/** Whether a pass may be followed by another one: the passes do not agree yet, and are not too many. */
const isNewPass = (passes: readonly string[], pass: string): boolean => passes.length < rereadsPerWindow && !passes.includes(pass)

const checksCount = <T>({ stream }: PagedRun<T>): boolean => stream.time?.checksCount === true

/** The window counts as stored only up to where the marketplace's lists are complete. */
export const limitStoredUpTo = (reading: WindowReading, completeUpToMs: number): void => {
  if (reading.storedUpTo.getTime() > completeUpToMs) reading.storedUpTo = new Date(completeUpToMs)
}

/** Counts the records of a page. */
export const countRecords = <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): void => {
  const { records, moved } = page
  if (moved || records.some(({ key }) => key === null)) reading.knowsAll = false
  if (records.length === 0) return
  // A walk requests keys of our own, each once, and has no maximum length.
  if (run.stream.kind === 'walk') {
    reading.seen += records.length
    return
  }
  const known = reading.keys.size
  for (const { key, rawText } of records) reading.keys.add(key ?? rawText)
  const fresh = reading.keys.size - known
  reading.seen += fresh
  if (fresh > 0) reading.rows += records.length
  reading.repeatedPages = fresh === 0 ? reading.repeatedPages + 1 : 0
}

/** The cursor of the page after this one; null: this was the last page. */
export const findNextCursor = <T>({ stream }: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): string | null => {
  if (stream.time === null) return page.nextCursor
  reading.emptyPages = page.records.length === 0 ? reading.emptyPages + 1 : 0
  // A page may be short and still have a successor; after two empty pages in a row the list ends, even if there is a cursor.
  return reading.emptyPages >= 2 ? null : page.nextCursor
}

/** Whether every record that the window's first page announced was read. */
export const isComplete = <T>(run: PagedRun<T>, reading: WindowReading): boolean => {
  const { windowTotal } = run.progress.totals
  return checksCount(run) && windowTotal !== null && reading.seen >= windowTotal
}

/** After this many consecutive pages without anything new a list ends, although it announces more, or announces nothing. */
const maxRepeatedPages = 2

/** Whether the pages of a window show nothing new, although each names a next one by a new cursor. */
export const isEndless = <T>(run: PagedRun<T>, reading: WindowReading): boolean =>
  reading.repeatedPages >= (isComplete(run, reading) ? 1 : maxRepeatedPages)

/** The error of a page that ends the window too early. The marketplace may answer an expired cursor with an empty page: the announced count shows it. */
export const findEarlyEnd = <T>(run: PagedRun<T>, reading: WindowReading, page: FetchedPage<T>): PagingEndedEarly | null => {
  const { cursor, totals } = run.progress
  if (cursor === null || !checksCount(run) || page.records.length > 0 || page.nextCursor !== null) return null
  if (totals.windowTotal === null || reading.seen >= totals.windowTotal) return null
  return new PagingEndedEarly(
    `a cursor of ${run.name} returned an empty page after ${reading.seen} of ${totals.windowTotal} records`,
  )
}

/** Whether a cursor loops: this run has seen it before, or the window has more pages than possible. */
export const isCursorLoop = <T>(run: PagedRun<T>, reading: WindowReading, next: string): boolean => {
  if (next === run.progress.cursor || reading.cursors.has(next)) return true
  reading.cursors.add(next)
  return run.stream.time !== null && run.progress.pages + 1 >= run.context.settings.pageCap
}

/**
 * The result of a pass after which the window has to be read again; null: the window is complete. Records that move while pages are read can
 * slip between two pages (public facts 2.2). So a window with fewer records than announced, or a long one with something new, is read again until two
 * passes agree or one shows nothing new.
 */
export const findShortPass = <T>(run: PagedRun<T>, { window }: WindowReading, progress: SyncProgress): string | null => {
  const { totals, pages } = progress
  const { windowSeen, windowTotal, windowPasses, windowChanged } = totals
  if (!checksCount(run) || windowTotal === null) return null
  if (windowSeen >= windowTotal) {
    // A false empty list looks like a true one: for a long window it is worth a second request.
    const mayMore = windowTotal === 0 ? windowPasses.length === 0 : pages > 1 && windowChanged > 0
    const long = mayMore && window.to.getTime() - window.from.getTime() > longWindowMs
    return long && windowPasses.length < rereadsPerWindow ? `${windowSeen} of ${windowTotal}, ${windowChanged} new` : null
  }
  const pass = describePass(windowSeen, windowTotal)
  if (isNewPass(windowPasses, pass)) return pass
  warnOfShortage(run, windowSeen, windowTotal)
  return null
}

/** Logs that a window has fewer records than announced and is not read again. */
export const warnOfShortage = <T>(run: PagedRun<T>, seen: number, announced: number): void => {
  run.options.log.warn(
    { stream: run.name, window_seen: seen, window_total: announced },
    'a window repeatedly has fewer records than the marketplace announces; continuing',
  )
}

/** Notes that the pages of a window have no end: records that were not read may still exist. */
export const noteEndless = <T>(run: PagedRun<T>, reading: WindowReading): void => {
  reading.knowsAll = false
  run.noteEndless()
  run.options.log.warn(
    { seller_id: run.key.sellerId, stream: run.name, window_seen: reading.seen, window_total: run.progress.totals.windowTotal },
    'a list has more pages under new cursors, but they show nothing new; the list is taken to end here',
  )
}

/** The number of records that a window announced, if fewer were read; null otherwise. */
const findAnnouncedMore = <T>(run: PagedRun<T>, { seen }: WindowReading): number | null => {
  const { windowTotal } = run.progress.totals
  return checksCount(run) && windowTotal !== null && seen < windowTotal ? windowTotal : null
}

/** Whether a window that ends here is read once more because records are missing. */
export const isReadAgain = <T>(run: PagedRun<T>, reading: WindowReading): boolean => {
  const announced = findAnnouncedMore(run, reading)
  return announced !== null && isNewPass(run.progress.totals.windowPasses, describePass(reading.seen, announced))
}

/**
 * The number of records that a finished window announced, if some are missing in every pass and its parts should be read; null otherwise. Null as well
 * where as many rows as announced were read, some of them repeated, and where one query cannot page through that many.
 */
export const findMissingCount = <T>(run: PagedRun<T>, reading: WindowReading): number | null => {
  const announced = findAnnouncedMore(run, reading)
  if (announced === null || announced > run.context.settings.maxPerQuery) return null
  return reading.rows < announced && !isReadAgain(run, reading) ? announced : null
}
