import { bodyTooLarge, MarketplaceFailure, tooManyRecords } from '../../clients/errors.ts'
import { messageOf } from '../../message-of.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import { answerElsewhere } from './elsewhere.ts'
import { isDeadCursor, isOfPaging, PagingAstray } from './faults.ts'
import { fetchPage } from './fetching.ts'
import { isNextToPassedOver, narrow, passOver, putOff } from './narrowing.ts'
import type { WindowReading } from './passes.ts'
import { failuresWithoutOthers } from './passing-over.ts'
import { fresh } from './progress.ts'
import type { TimeRules } from './stream.ts'
import type { PagedRun, Stop } from './stream-run.ts'

// A window that is read once more is a cure for a moving set; one that goes astray again and again is a fault to report.
const restartsPerRun = 2
/** What is wrong with a page that holds too much: a smaller one may do. */
const tooMuch: ReadonlySet<string> = new Set([bodyTooLarge, tooManyRecords])
const firstPlace = 'first'

/** A failure that may speak of the page that was asked for. */
const mayBeOfPage = (error: unknown): boolean =>
  isOfPaging(error) || (error instanceof MarketplaceFailure && !error.ofCredentials)

/** Notes that the page at the run's cursor has failed; returns how often in a row it did. */
const noteFailure = <T>(run: PagedRun<T>): number => {
  const { cursor, totals } = run.progress
  const place = cursor ?? firstPlace
  const times = totals.failedAt === place ? totals.failedTimes + 1 : 1
  run.progress = { ...run.progress, totals: { ...totals, failedAt: place, failedTimes: times } }
  return times
}

const beginAnew = <T>(run: PagedRun<T>, error: unknown): void => {
  const begun = fresh(run.progress)
  run.progress = { ...begun, totals: { ...begun.totals, windowRestarts: begun.totals.windowRestarts + 1 } }
  run.restarts += 1
  run.options.log.warn(
    { stream: run.name, reason: messageOf(error) },
    'the marketplace does not go on from its own cursor; the window is read again from its start',
  )
}

/** What is to be done next about a page that has failed so many times: ask again now, or with the next run, or ask for parts of its window. */
const afterFailure = async <T>(
  run: PagedRun<T>,
  window: SyncWindow,
  error: unknown,
  times: number,
): Promise<'ask again' | 'fail' | 'narrow'> => {
  const { cursor, totals } = run.progress
  const narrows = run.stream.time !== null
  if (cursor !== null && isDeadCursor(error)) {
    if (run.restarts >= restartsPerRun || (narrows && totals.windowRestarts >= restartsPerRun)) return 'narrow'
    beginAnew(run, error)
    return 'ask again'
  }
  // One failure is no sign of anything. Of a part of a window that was asked for only because of failures it is found out at once.
  if (times === 1 && (totals.windowRestarts === 0 || !narrows)) return window.narrowed === true ? 'ask again' : 'fail'
  if (cursor === null || (narrows && totals.windowRestarts > 0)) return 'narrow'
  const first = await fetchPage(run, window, null)
  if (first.status === 'rejected') return 'narrow'
  beginAnew(run, error)
  run.firstPage = first.value
  return 'ask again'
}

/** Reads a window that fails in parts, or passes it over; throws what has failed when that is not known to be a matter of this window. */
const readInParts = async <T>(
  run: PagedRun<T>,
  time: TimeRules,
  window: SyncWindow,
  error: unknown,
  times: number,
): Promise<void> => {
  const elsewhere = await answerElsewhere(run, time, window)
  if (elsewhere === 'none') throw error
  const isTooMuch = error instanceof MarketplaceFailure && tooMuch.has(error.networkCode ?? '')
  if (narrow(run, time, window, isTooMuch ? 'page' : 'all')) {
    run.options.log.warn(
      { seller_id: run.key.sellerId, stream: run.name, reason: messageOf(error) },
      'a page cannot be read; its window is read in smaller parts',
    )
    return
  }
  const wasPassedOver = window.skippedAs !== undefined
  if (elsewhere === 'without rows') {
    if (putOff(run, window)) return
    // What spoils one window mostly stands at its edge, and so in the next one too; what was passed over before has failed so often already.
    if (times < failuresWithoutOthers && !isNextToPassedOver(run, window) && !wasPassedOver) throw error
  }
  // Passed over is only what fails in two runs, some time apart, or beside something that did.
  if (times < 3 && run.lastPassedOver === null && !wasPassedOver) throw error
  await passOver(run, time, window, messageOf(error))
}

/**
 * A page cannot be had. Null: the run goes on, with the window from its start, with parts of it, or behind it.
 *
 * - A cursor that the marketplace itself calls dead is dropped at once; one on which a second request fails, when the window's first page
 *   comes. Two in a row mean that it is not the cursor.
 * - Then, as long as the marketplace answers elsewhere, with rows where it must have some, the window is halved, and its parts again,
 *   until what spoils it stands alone.
 * - That is passed over: it is kept in quarantine and in an alarm, and is tried again later. While nothing is known to have rows, others
 *   are read first, which may show it, and it is asked for more often.
 *
 * @throws what has failed, when that is no matter of this page, or not yet known to be one
 */
export const obstructed = async <T>(run: PagedRun<T>, window: SyncWindow, error: unknown): Promise<Stop | null> => {
  const stop = run.stopBy(error)
  if (stop !== null) return stop
  if (!mayBeOfPage(error)) throw error
  const times = noteFailure(run)
  const next = await afterFailure(run, window, error, times)
  if (next === 'ask again') return null
  if (next === 'fail') throw error
  const { time } = run.stream
  if (time === null) {
    // What leads nowhere now must not be where the next run goes on either.
    if (isDeadCursor(error)) run.progress = fresh(run.progress)
    throw error
  }
  await readInParts(run, time, window, error, times)
  return null
}

/**
 * The pages of a window lead in circles, or have no end.
 *
 * @throws PagingAstray once the run has restarted windows for that often enough
 */
export const strayed = async <T>(run: PagedRun<T>, reading: WindowReading): Promise<void> => {
  const problem = `paging of ${run.name} has gone astray after ${reading.cursors.size} pages (a cursor came back, or there is no end); the window is read again in smaller parts`
  run.record = { ...run.record, error: problem }
  run.options.log.warn({ stream: run.name }, problem)
  run.restarts += 1
  const { time } = run.stream
  if (time !== null && !narrow(run, time, reading.window, 'time')) {
    return passOver(run, time, reading.window, `its pages lead in circles after ${reading.seen} records`)
  }
  if (run.restarts > restartsPerRun) throw new PagingAstray(problem)
}
