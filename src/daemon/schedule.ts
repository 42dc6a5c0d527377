import type { StreamInterval } from '../jobs/sync/syncs.ts'
import type { Scheduler } from '../queues/schedulers.ts'

/** Old data goes once a day; whether that is due is asked this often, so that a day without a process is made up for. */
const trimIntervalMs = 3_600_000
/** Work that nobody does is looked for this often. */
const reviewIntervalMs = 300_000
/** What has a deadline is looked at this often. */
const alarmIntervalMs = 60_000

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

/** The schedulers of the upkeep. Streams have none: see `createPolls`. */
export const schedulers: readonly Scheduler[] = [
  { job: { name: 'housekeeping.run', data: { task: 'trim' } }, everyMs: trimIntervalMs },
  { job: { name: 'housekeeping.run', data: { task: 'review' } }, everyMs: reviewIntervalMs },
  { job: { name: 'housekeeping.run', data: { task: 'alarms' } }, everyMs: alarmIntervalMs },
]
