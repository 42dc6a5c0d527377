import { nextWatermark } from '../../../domain/sync/windows.ts'
import type { SyncProgress, SyncRun } from '../../../store/sync/sync-states.ts'
import type { SavedPage } from './page-store.ts'

/** A run that has read nothing yet. */
export const emptyRun: SyncRun = {
  ...{ windowFrom: null, windowTo: null, pages: 0, seen: 0, changed: 0, quarantined: 0 },
  error: null,
}

/** The record of a run with a page of `seen` records added. */
export const addPage = (record: SyncRun, seen: number, { changed, quarantined }: SavedPage): SyncRun => ({
  ...record,
  pages: record.pages + 1,
  seen: record.seen + seen,
  changed: record.changed + changed,
  quarantined: record.quarantined + quarantined,
})

/** The progress with a page of `seen` records added. */
export const withPage = (progress: SyncProgress, seen: number, { changed, quarantined }: SavedPage): SyncProgress => {
  const { totals } = progress
  return {
    ...progress,
    pages: progress.pages + 1,
    totals: {
      ...totals,
      seen: totals.seen + seen,
      changed: totals.changed + changed,
      quarantined: totals.quarantined + quarantined,
      windowSeen: totals.windowSeen + seen,
      windowChanged: totals.windowChanged + changed,
      failedAt: null,
      failedTimes: 0,
    },
  }
}

/** The progress with the current window at its start. */
export const restartWindow = (progress: SyncProgress): SyncProgress => ({
  ...progress,
  cursor: null,
  pages: 0,
  totals: {
    ...progress.totals,
    ...{ windowSeen: 0, windowTotal: null, windowChanged: 0, failedAt: null, failedTimes: 0, importAt: null },
  },
})

/** The progress without the earlier passes of the current window. */
export const withoutPasses = (progress: SyncProgress): SyncProgress => ({
  ...progress,
  totals: { ...progress.totals, windowPasses: [], windowRestarts: 0 },
})

/** The progress after the current window, which is stored up to a time; null: the watermark stays. */
export const finishWindow = (progress: SyncProgress, storedUpTo: Date | null): SyncProgress => {
  const [done, ...pending] = progress.pending
  const restarted = withoutPasses(restartWindow(progress))
  const moves = storedUpTo !== null && done !== undefined
  return {
    ...restarted,
    pending,
    watermark: moves ? nextWatermark(progress.watermark, { from: done.from, to: storedUpTo }) : progress.watermark,
    totals: { ...restarted.totals, windowsDone: progress.totals.windowsDone + 1 },
  }
}
