import { nextWatermark } from '../../domain/windows.ts'
import type { SyncProgress, SyncRun } from '../../store/sync-states.ts'

/** A run that has read nothing yet. */
export const emptyRun: SyncRun = {
  ...{ windowFrom: null, windowTo: null, pages: 0, seen: 0, changed: 0, quarantined: 0 },
  error: null,
}

/** Where a stream stands that begins the window under way from its start. */
export const fresh = (progress: SyncProgress): SyncProgress => ({
  ...progress,
  cursor: null,
  pages: 0,
  totals: {
    ...progress.totals,
    ...{ windowSeen: 0, windowTotal: null, windowChanged: 0, failedAt: null, failedTimes: 0, importAt: null },
  },
})

/** Where a stream stands that knows nothing of earlier passes over the window under way. */
export const withoutPasses = (progress: SyncProgress): SyncProgress => ({
  ...progress,
  totals: { ...progress.totals, windowPasses: [], windowRestarts: 0 },
})

/** Where a stream stands behind the window under way, which is stored up to a moment; null: that moves no watermark. */
export const windowDone = (progress: SyncProgress, storedUpTo: Date | null): SyncProgress => {
  const [done, ...pending] = progress.pending
  const restarted = withoutPasses(fresh(progress))
  const moves = storedUpTo !== null && done !== undefined
  return {
    ...restarted,
    pending,
    watermark: moves ? nextWatermark(progress.watermark, { from: done.from, to: storedUpTo }) : progress.watermark,
    totals: { ...restarted.totals, windowsDone: progress.totals.windowsDone + 1 },
  }
}
