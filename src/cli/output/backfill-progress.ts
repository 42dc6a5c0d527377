import { z } from 'zod'

/** A stream of a sync as `GET /v1/syncs` shows it. */
export const syncStreamSchema = z.looseObject({
  sellerId: z.string(),
  resource: z.string(),
  stream: z.string(),
  running: z.boolean(),
  windowsPending: z.number(),
  failures: z.number(),
  lastError: z.string().nullish(),
  lastStartedAt: z.string().nullish(),
  lastSuccessAt: z.string().nullish(),
  totals: z.looseObject({
    windowsTotal: z.number(),
    windowsDone: z.number(),
    seen: z.number(),
    changed: z.number(),
    quarantined: z.number(),
    windowSeen: z.number(),
    windowTotal: z.number().nullable(),
    skipped: z.number().default(0),
    outOfReachBefore: z.string().nullish(),
  }),
})
/** See {@link syncStreamSchema}. */
export type SyncStream = z.infer<typeof syncStreamSchema>

/** Combined progress of several streams. `done` is a fraction from 0 to 1. */
export interface BackfillProgress {
  readonly done: number
  readonly finished: boolean
  readonly windowsDone: number
  readonly windowsTotal: number
  readonly seen: number
  readonly changed: number
  readonly quarantined: number
  /** Parts that could not be read and were skipped; they are retried. */
  readonly skipped: number
  /** ISO; the requested time before this is older than what the marketplace serves. */
  readonly outOfReachBefore: string | null
  /** Why a stream makes no progress now; it is retried automatically. */
  readonly trouble: string | null
}

/** Adds up the streams of a backfill. */
export const computeProgress = (streams: readonly SyncStream[]): BackfillProgress => {
  const sum = (pick: (stream: SyncStream) => number) => streams.reduce((total, stream) => total + pick(stream), 0)
  const windowsTotal = sum(({ totals }) => totals.windowsTotal)
  const windowsDone = sum(({ totals }) => totals.windowsDone)
  // The pages that were read of the current window count as a part of that window.
  const parts = sum(({ totals, windowsPending }) =>
    windowsPending === 0 || totals.windowTotal === null || totals.windowTotal === 0
      ? 0
      : Math.min(1, totals.windowSeen / totals.windowTotal),
  )
  const finished = streams.length > 0 && streams.every((stream) => stream.windowsPending === 0)
  const failing = streams.find((stream) => stream.failures > 0 && (stream.lastError ?? null) !== null)
  return {
    done: finished ? 1 : windowsTotal === 0 ? 0 : Math.min(0.999, (windowsDone + parts) / windowsTotal),
    finished,
    windowsDone,
    windowsTotal,
    seen: sum(({ totals }) => totals.seen),
    changed: sum(({ totals }) => totals.changed),
    quarantined: sum(({ totals }) => totals.quarantined),
    skipped: sum(({ totals }) => totals.skipped),
    outOfReachBefore:
      streams
        .flatMap(({ totals }) => totals.outOfReachBefore ?? [])
        .sort()
        .at(-1) ?? null,
    trouble: failing === undefined ? null : `seller ${failing.sellerId}: ${failing.lastError}`,
  }
}

/** After a failure a stream is retried within this time, in milliseconds (`findUnfinishedSyncs` of the store). */
const maxRetryDelayMs = 600_000

/**
 * Measures for how long no process has worked on a backfill, in milliseconds. Work on other streams of the same sellers, and the delay after a failure,
 * are not idle time.
 */
export const createIdleTime = (startedAtMs: number) => {
  let previousStarts = ''
  let activeAtMs = startedAtMs
  return (all: readonly SyncStream[], ours: readonly SyncStream[], nowMs: number): number => {
    const unfinished = ours.filter(({ windowsPending }) => windowsPending > 0)
    const streamsOfSellers = all.filter(({ sellerId }) => unfinished.some((stream) => stream.sellerId === sellerId))
    const starts = streamsOfSellers
      .map(({ resource, stream, lastStartedAt }) => `${resource} ${stream} ${lastStartedAt}`)
      .join('\n')
    if (starts !== previousStarts || streamsOfSellers.some(({ running }) => running)) activeAtMs = nowMs
    previousStarts = starts
    return Math.max(0, nowMs - activeAtMs - (unfinished.some(({ failures }) => failures > 0) ? maxRetryDelayMs : 0))
  }
}
