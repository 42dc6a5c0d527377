import { isBackfill } from '../jobs/sync/resource.ts'
import type { SyncRunReport } from '../jobs/sync/run.ts'
import type { Metrics } from '../observability/metrics.ts'

/** Counts a run of a sync, by its resource and stream; backfills of a resource are one. `now` answers a seller's time at the marketplace. */
export const countRun = (metrics: Metrics, now: (sellerId: string) => Date, report: SyncRunReport): void => {
  const { sellerId: seller, resource, run, watermark } = report
  const sync = { resource, stream: isBackfill(report.stream) ? 'backfill' : report.stream }
  metrics.pollRuns.inc({ ...sync, outcome: run.error === null ? 'done' : 'failed' })
  metrics.pollRecords.inc({ ...sync, outcome: 'seen' }, run.seen)
  metrics.pollRecords.inc({ ...sync, outcome: 'changed' }, run.changed)
  metrics.pollRecords.inc({ ...sync, outcome: 'quarantined' }, run.quarantined)
  if (run.error === null) metrics.pollLastSuccess.set({ ...sync, seller }, Date.now() / 1_000)
  if (watermark !== null) metrics.pollLag.set({ ...sync, seller }, (now(seller).getTime() - watermark.getTime()) / 1_000)
}
