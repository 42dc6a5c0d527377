/** A day in milliseconds. */
export const dayMs = 86_400_000

/** What the engine goes by; defaults in {@link defaultSyncSettings}. */
export interface SyncSettings {
  readonly pageSize: number
  /** A window ends this much before the marketplace's now: the newest changes are not in its lists yet (public facts 10, no. 19). */
  readonly lagMs: number
  /** A window begins this much before the watermark, for what is reported late (public facts 11). */
  readonly lookBackMs: number
  /** The marketplace answers nothing older (public facts 2.4). */
  readonly oldestDays: number
  /** Most records that one query can page through (public facts 2.4). */
  readonly maxPerQuery: number
  /** A run gives its worker back after so many pages, or after so long, and goes on in its next run: others wait for their turn. */
  readonly maxPagesPerRun: number
  readonly turnMs: number
  /** No window has so many pages: paging has gone astray. */
  readonly pageCap: number
  /** A run holds its stream for so long, and renews that while it lasts: what a process that was killed was reading is free after so long. */
  readonly leaseMs: number
  /** Progress over pages without changes is written down at most this often. */
  readonly persistEveryMs: number
  /** Open orders that one step of the sweep reads again. */
  readonly sweepStep: number
  /** Length of a backfill's windows. */
  readonly backfillSliceMs: number
  /** How far back by creation date orders and returns are read again and again, for what is listed later than the look-back. */
  readonly rereadDepthMs: number
}

/** Defaults, in the terms of the public facts named above. */
export const defaultSyncSettings: SyncSettings = {
  pageSize: 200,
  lagMs: 2 * 60_000,
  lookBackMs: 30 * 60_000,
  oldestDays: 180,
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
