import { Throttled } from '../../../clients/http/errors.ts'
import { hasSkips } from '../../../store/sync/quarantine.ts'
import { readFailures, type SyncWindow } from '../../../store/sync/sync-states.ts'
import { fetchPage } from '../engine/fetch-page.ts'
import type { TimeRules } from '../engine/stream.ts'
import type { PagedRun } from '../engine/stream-run.ts'
import { dayMs } from '../engine/sync-settings.ts'
import { longWindowMs } from '../windows/window-reading.ts'
import { failedRunsAgainstProbes } from './skip-rules.ts'

/** Up to this many control records may all be corrupt. If more than these fail, it is an outage. */
const enoughControlRecords = 2
/** Distances from an unreadable window at which other windows are read, to distinguish a corrupt page from an outage. */
const probeDistancesMs = [3_600_000, dayMs, 7 * dayMs]

/**
 * How the marketplace answers requests outside an unreadable window. An empty answer proves little, since the part of the marketplace that renders rows may
 * be down. So known records are requested first. An empty answer counts only where no record is known, where the known ones have left every list, or
 * where the few known ones may be corrupt themselves.
 */
export const probeMarketplace = async <T>(
  run: PagedRun<T>,
  time: TimeRules,
  window: SyncWindow,
): Promise<'with rows' | 'without rows' | 'none'> => {
  const { calls } = run
  const controlRecords = await time.controlRecords(run.context, window)
  let answered = controlRecords.length === 0
  for (const controlRecord of controlRecords) {
    const [answer] = await Promise.allSettled([controlRecord(calls)])
    if (answer.status === 'fulfilled' && answer.value.records.length > 0) return 'with rows'
    answered ||= answer.status === 'fulfilled'
    if (answer.status === 'rejected' && (answer.reason instanceof Throttled || calls.signal.aborted)) return 'none'
  }
  answered ||= controlRecords.length <= enoughControlRecords && (await mayHaveCorruptControlRecords(run))
  return answered && (await probeOtherWindows(run, window)) ? 'without rows' : 'none'
}

/** Whether the control records may fail because one of them is corrupt, and not because of an outage. */
const mayHaveCorruptControlRecords = async <T>({ context: { database }, key }: PagedRun<T>): Promise<boolean> =>
  (await readFailures(database, key)) >= failedRunsAgainstProbes || (await hasSkips(database, key.sellerId, key.resource))

/** Whether the marketplace answers for a second outside a window, or inside a long one. An empty answer counts. */
const probeOtherWindows = async <T>(run: PagedRun<T>, { from, to, part }: SyncWindow): Promise<boolean> => {
  const nowMs = run.context.client.clock().now().getTime()
  const lengthMs = to.getTime() - from.getTime()
  const starts = [
    ...probeDistancesMs.map((distanceMs) => from.getTime() - distanceMs),
    ...probeDistancesMs.map((distanceMs) => to.getTime() + distanceMs).filter((startMs) => startMs < nowMs - 1_000),
    ...(lengthMs > longWindowMs ? [0.25, 0.5, 0.75].map((share) => from.getTime() + Math.floor(lengthMs * share)) : []),
  ]
  for (const startMs of starts) {
    const second = Math.floor(startMs / 1_000) * 1_000
    const other = { from: new Date(second), to: new Date(second + 1_000), part }
    const reached = run.stream.reach(run.context, other)
    if (reached === null) continue
    const answer = await fetchPage(run, { ...other, ...reached, limit: 1 }, null)
    if (answer.status === 'fulfilled') return true
    if (answer.reason instanceof Throttled || run.options.signal.aborted) return false
  }
  return false
}
