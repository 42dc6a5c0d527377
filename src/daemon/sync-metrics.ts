import { isBackfill } from '../jobs/sync/resource.ts'
import type { SyncRunReport } from '../jobs/sync/run.ts'
import type { Metrics } from '../observability/metrics.ts'

/** What is measured of the syncs of this process. */
export interface SyncMetrics {
  /** Counts a run, by its resource and stream; backfills of a resource are one. */
  countRun(report: SyncRunReport): void
  /** How far behind the syncs are by now, also those that have not run lately. */
  refreshLags(): void
}

/** `nowOf`: a seller's time at the marketplace; null: this process does not serve it. */
export const createSyncMetrics = (metrics: Metrics, nowOf: (sellerId: string) => Date | null): SyncMetrics => {
  const seen = new Map<string, { readonly labels: { resource: string; stream: string; seller: string }; readonly upTo: Date }>()

  const refreshLags = (): void => {
    for (const [name, { labels, upTo }] of seen) {
      const now = nowOf(labels.seller)
      if (now !== null) {
        metrics.pollLag.set(labels, (now.getTime() - upTo.getTime()) / 1_000)
        continue
      }
      metrics.pollLag.remove(labels)
      seen.delete(name)
    }
  }

  return {
    refreshLags,
    countRun: ({ sellerId: seller, resource, run, watermark, stream }) => {
      const sync = { resource, stream: isBackfill(stream) ? 'backfill' : stream }
      metrics.pollRuns.inc({ ...sync, outcome: run.error === null ? 'done' : 'failed' })
      metrics.pollRecords.inc({ ...sync, outcome: 'seen' }, run.seen)
      metrics.pollRecords.inc({ ...sync, outcome: 'changed' }, run.changed)
      metrics.pollRecords.inc({ ...sync, outcome: 'quarantined' }, run.quarantined)
      const labels = { ...sync, seller }
      if (run.error === null) metrics.pollLastSuccess.set(labels, Date.now() / 1_000)
      if (watermark !== null) seen.set(JSON.stringify(labels), { labels, upTo: watermark })
    },
  }
}
