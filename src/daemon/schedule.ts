import type { StreamInterval } from '../jobs/sync/syncs.ts'
import type { JobToEnqueue } from '../queues/jobs.ts'
import type { Scheduler } from '../queues/schedulers.ts'

/** Old data goes once a day; whether that is due is asked this often, so that a day without a process is made up for. */
const trimIntervalMs = 3_600_000
/** Work that nobody does is looked for this often. */
const reviewIntervalMs = 300_000
/** The looks of a start are spread by this much each. */
const firstLookSpreadMs = 100

/** A stream of a seller that runs by itself. */
export interface ScheduledStream extends StreamInterval {
  readonly sellerId: string
  readonly resource: string
}

/** What the schedule follows from. */
export interface ScheduleParts {
  readonly sellerIds: readonly string[]
  /** The resources that a seller has. */
  readonly resourcesOf: (sellerId: string) => readonly string[]
  /** The streams of a resource that run by themselves. */
  readonly intervalsOf: (resource: string) => readonly StreamInterval[]
}

/** Every stream that runs by itself. */
export const scheduleOf = ({ sellerIds, resourcesOf, intervalsOf }: ScheduleParts): readonly ScheduledStream[] =>
  sellerIds.flatMap((sellerId) =>
    resourcesOf(sellerId).flatMap((resource) => intervalsOf(resource).map((interval) => ({ sellerId, resource, ...interval }))),
  )

const syncJob = ({ sellerId, resource, stream }: ScheduledStream): JobToEnqueue => ({
  name: 'sync.run',
  data: { sellerId, resource, stream },
})

/** The schedulers of a schedule, upkeep included. */
export const schedulersOf = (schedule: readonly ScheduledStream[]): readonly Scheduler[] => [
  { job: { name: 'housekeeping.run', data: { task: 'trim' } }, everyMs: trimIntervalMs },
  { job: { name: 'housekeeping.run', data: { task: 'review' } }, everyMs: reviewIntervalMs },
  ...schedule.map((scheduled) => ({ job: syncJob(scheduled), everyMs: scheduled.everyMs })),
]

/** How far behind a stream is; null: it has never succeeded. */
export interface StreamLag {
  readonly sellerId: string
  readonly resource: string
  readonly stream: string
  readonly lagMs: number | null
}

const nameOf = ({ sellerId, resource, stream }: Omit<StreamLag, 'lagMs'>): string => JSON.stringify([sellerId, resource, stream])

/**
 * What a start looks at: schedulers are spread over their whole interval, so everything runs once, spread as well.
 * What was read again not long ago is not read again because of a restart.
 */
export const firstLook = (schedule: readonly ScheduledStream[], lags: readonly StreamLag[]): readonly JobToEnqueue[] => {
  const lagOf = new Map(lags.map((lag) => [nameOf(lag), lag.lagMs]))
  return schedule
    .filter((scheduled) => {
      const lagMs = lagOf.get(nameOf(scheduled)) ?? null
      return !(scheduled.restsAfterRestart && lagMs !== null && lagMs < scheduled.everyMs)
    })
    .map((scheduled, place) => ({ ...syncJob(scheduled), delayMs: Math.min(place * firstLookSpreadMs, scheduled.everyMs) }))
}
