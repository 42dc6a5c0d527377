import { orderReachDays } from '../../../domain/orders/named-orders.ts'

/** A day in milliseconds. */
export const dayMs = 86_400_000

/** Settings of the sync engine; defaults in {@link defaultSyncSettings}. */
export interface SyncSettings {
  readonly pageSize: number
  /** A window ends this long before the marketplace's now: the newest changes are not in its lists yet (public facts 10, no. 19). */
  readonly lagMs: number
  /** A window begins this long before the watermark, since some changes are listed late (public facts 11). */
  readonly lookBackMs: number
  /** The marketplace lists nothing older (public facts 2.4). */
  readonly oldestDays: number
  /** Maximum number of records that one query can page through (public facts 2.4). */
  readonly maxPerQuery: number
  /** A run releases its worker after this many pages, or after `turnMs`, and continues in its next run, so that other jobs can run. */
  readonly maxPagesPerRun: number
  readonly turnMs: number
  /** Maximum number of pages of a window: more mean that its cursors loop. */
  readonly pageCap: number
  /** Time of the lease of a stream; a run renews it. After a crash the stream is free after this time. */
  readonly leaseMs: number
  /** Minimum time between two writes of the progress over pages without changes. */
  readonly persistEveryMs: number
  /** Number of open orders that one step of the sweep reads again. */
  readonly sweepStep: number
  /** Length of a backfill's windows. */
  readonly backfillSliceMs: number
  /** Orders and returns created within this time are read again regularly, since some are listed later than the look-back. */
  readonly rereadDepthMs: number
}

/** Default settings, from the public facts named above. */
export const defaultSyncSettings: SyncSettings = {
  pageSize: 200,
  lagMs: 2 * 60_000,
  lookBackMs: 30 * 60_000,
  oldestDays: orderReachDays,
  maxPerQuery: 10_000,
  maxPagesPerRun: 200,
  turnMs: 15_000,
  pageCap: 1_200,
  leaseMs: 20_000,
  persistEveryMs: 10_000,
  sweepStep: 50,
  backfillSliceMs: 10 * dayMs,
  rereadDepthMs: 45 * dayMs,
}
