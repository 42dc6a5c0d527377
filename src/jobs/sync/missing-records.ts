import { halvesApart } from '../../domain/windows.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import { EndedTooSoon } from './faults.ts'
import { fetchPage } from './fetching.ts'
import { narrow, passOver } from './narrowing.ts'
import { type WindowReading, warnOfShortage } from './passes.ts'
import { windowDone } from './progress.ts'
import type { PagedRun } from './stream-run.ts'

const partsAnnounceMore = async <T>(run: PagedRun<T>, window: SyncWindow, announced: number): Promise<boolean> => {
  let sum = 0
  for (const half of halvesApart(window)) {
    const answer = await fetchPage(run, { ...window, ...half, limit: 1 }, null)
    sum += answer.status === 'fulfilled' ? (answer.value.totalCount ?? 0) : 0
  }
  return sum > announced
}

/**
 * Finds where a window lacks records that it has announced: some page may always come without its rows, or without the next cursor. Its
 * parts are read, as far as they announce no more than it does; where they do, the marketplace only counts too many. A part that is as small
 * as can be is passed over when it lacks something in two runs, or beside one that did.
 *
 * @throws EndedTooSoon where such a part does so for the first time
 */
export const lookForMissing = async <T>(
  run: PagedRun<T>,
  { window, seen, storedUpTo }: WindowReading,
  announced: number,
): Promise<void> => {
  const { time } = run.stream
  if (time === null || (await partsAnnounceMore(run, window, announced))) {
    warnOfShortage(run, seen, announced)
    run.progress = windowDone(run.progress, run.stream.kind === 'changes' ? storedUpTo : null)
    return
  }
  if (narrow(run, time, window, 'all')) return
  const fault = `of ${announced} records that ${run.name} announces only ${seen} come`
  if (window.putOff !== true && window.skippedAs === undefined && run.lastPassedOver === null) {
    run.replaceWindow([{ ...window, putOff: true }])
    throw new EndedTooSoon(fault)
  }
  await passOver(run, time, window, fault)
}
