import { halvesApart } from '../../../domain/sync/windows.ts'
import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import { fetchPage } from '../engine/fetch-page.ts'
import type { PagedRun } from '../engine/stream-run.ts'
import { narrow, skipWindow } from '../windows/narrowing.ts'
import { type WindowReading, warnOfShortage } from '../windows/window-reading.ts'
import { PagingEndedEarly } from './errors.ts'

const halvesAnnounceMore = async <T>(run: PagedRun<T>, window: SyncWindow, announced: number): Promise<boolean> => {
  let sum = 0
  for (const half of halvesApart(window)) {
    const answer = await fetchPage(run, { ...window, ...half, limit: 1 }, null)
    sum += answer.status === 'fulfilled' ? (answer.value.totalCount ?? 0) : 0
  }
  return sum > announced
}

/**
 * Handles a window that lacks announced records: one of its pages may always lack its rows, or its next cursor. The parts of the window are read. If the
 * halves announce more than the window, the marketplace counts wrong, and the window is complete. The smallest part is skipped when it lacks
 * records in two runs, or when the run has skipped another part before.
 *
 * @throws PagingEndedEarly when the smallest part lacks records for the first time
 */
export const recoverMissingRecords = async <T>(
  run: PagedRun<T>,
  { window, seen, storedUpTo }: WindowReading,
  announced: number,
): Promise<void> => {
  const { time } = run.stream
  if (time === null || (await halvesAnnounceMore(run, window, announced))) {
    warnOfShortage(run, seen, announced)
    run.completeWindow(storedUpTo)
    return
  }
  if (narrow(run, time, window, 'all')) return
  const fault = `${run.name} announces ${announced} records but lists only ${seen}`
  if (window.putOff !== true && window.skippedAs === undefined && run.lastSkipped === null) {
    run.replaceWindow([{ ...window, putOff: true }])
    throw new PagingEndedEarly(fault)
  }
  await skipWindow(run, time, window, fault)
}
