import type { Scheduler } from '../../queues/schedulers.ts'

/** Old data is removed once a day. The task checks hourly whether that is due, so that it is made up for after a downtime. */
const trimIntervalMs = 3_600_000
/** Interval of the search for commands and events that no process handles. */
const reviewIntervalMs = 300_000
/** Interval of the search for named orders that were never noted. */
const namedIntervalMs = 3_600_000
/** Interval of the check whether the marketplace's status is to be read: an alarm that was just raised needs it. */
const statusIntervalMs = 60_000
/** Interval at which the lags of the syncs are noted for trends. */
const figuresIntervalMs = 60_000
/** Interval of the check of deadlines. */
const alarmIntervalMs = 60_000

/** The schedulers of maintenance tasks; those of polls depend on the sellers (`createPollSchedule`). */
export const maintenanceSchedulers: readonly Scheduler[] = [
  { job: { name: 'maintenance.run', data: { task: 'trim' } }, everyMs: trimIntervalMs },
  { job: { name: 'maintenance.run', data: { task: 'review' } }, everyMs: reviewIntervalMs },
  { job: { name: 'maintenance.run', data: { task: 'named-orders' } }, everyMs: namedIntervalMs },
  { job: { name: 'maintenance.run', data: { task: 'alarms' } }, everyMs: alarmIntervalMs },
  { job: { name: 'maintenance.run', data: { task: 'figures' } }, everyMs: figuresIntervalMs },
  { job: { name: 'maintenance.run', data: { task: 'marketplace-status' } }, everyMs: statusIntervalMs },
]
