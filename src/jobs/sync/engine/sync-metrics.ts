import type { Metrics } from '../../../observability/metrics.ts'
import { isBackfill } from './resource.ts'
import type { SyncRunReport } from './run.ts'

/** Measures the syncs of this process. */
export interface SyncMetrics {
  /** Counts a run by its resource and stream; all backfills of a resource count as one stream. */
  countRun(report: SyncRunReport): void
  /** Updates the lags, also of syncs that have not run lately; removes those of sellers that this process no longer serves. */
  refreshLags(): void
}

/** `findNow`: the marketplace's time for a seller; null: this process does not serve the seller. */
export const createSyncMetrics = (metrics: Metrics, findNow: (sellerId: string) => Date | null): SyncMetrics => {
  type Labels = { resource: string; stream: string; seller: string }
  const seen = new Map<string, { readonly labels: Labels; readonly upTo: Date }>()
  const succeeded = new Map<string, Labels>()

  const refreshLags = (): void => {
    for (const [name, { labels, upTo }] of seen) {
      const now = findNow(labels.seller)
      if (now !== null) {
        metrics.pollLag.set(labels, (now.getTime() - upTo.getTime()) / 1_000)
        continue
      }
      metrics.pollLag.remove(labels)
      seen.delete(name)
    }
    for (const [name, labels] of succeeded) {
      if (findNow(labels.seller) !== null) continue
      metrics.pollLastSuccess.remove(labels)
      succeeded.delete(name)
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
      const name = JSON.stringify(labels)
      if (run.error === null) {
        metrics.pollLastSuccess.set(labels, Date.now() / 1_000)
        succeeded.set(name, labels)
      }
      if (watermark !== null) seen.set(name, { labels, upTo: watermark })
    },
  }
}
