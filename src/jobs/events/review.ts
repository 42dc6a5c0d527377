import { readEvent } from '../../domain/events/event-reading.ts'
import { raiseAlarm, resolveAlarmsExcept } from '../../store/alarms/alarms.ts'
import type { Database } from '../../store/db/database.ts'
import { alarmWaitingAfterMs, findLongWaitingEvents, type LongWaiting } from '../../store/events/event-queries.ts'
import { findEndlessEvents } from '../../store/events/events.ts'
import { isFromInbox } from './body-hash.ts'
import type { AcceptParts } from './parts.ts'
import { eventProblem, expiredProblem, findReportedSeller, formatEventName, rejectReceived } from './reject.ts'
import { undecidableFaults } from './storable.ts'

/** Maximum number of days that an event waits. */
const longestDays = 7
const longestMs = longestDays * 86_400_000
const maxAtOnce = 500
const namedInAlarm = 3
const longestReason = 300

const alarm = { kind: 'event-waiting', subject: 'events' } as const

const errorMessage = ({ count, first, sellerId }: LongWaiting): string => {
  const named = first.map((event) => {
    const why = event.waitsFor ?? `no process has looked at it: is seller ${sellerId} configured in one?`
    return `${formatEventName(event)} since ${event.receivedAt.toISOString()} (${why.slice(0, longestReason).toWellFormed()})`
  })
  if (count > first.length) named.push(`${count - first.length} more`)
  const events = count === 1 ? '1 ERP event has' : `${count} ERP events have`
  return `${events} waited for more than ${alarmWaitingAfterMs / 60_000} minutes: ${named.join('; ')}. Each continues automatically, and is rejected after ${longestDays} days; \`tallyman events list --state received\` shows them, \`tallyman events reject\` ends one`
}

/** Raises an alarm for each seller whose events have waited for long, and resolves those of all others. */
export const reviewWaitingEvents = async (database: Database): Promise<number> => {
  const waiting = await findLongWaitingEvents(database, namedInAlarm)
  for (const one of waiting) await raiseAlarm(database, { ...alarm, sellerId: one.sellerId }, errorMessage(one))
  await resolveAlarmsExcept(
    database,
    alarm,
    waiting.map(({ sellerId }) => sellerId),
  )
  return waiting.reduce((sum, { count }) => sum + count, 0)
}

/**
 * No event waits for ever: rejects, each with an alarm, those that have waited for seven days, and rows of the SQL inbox that no job can
 * name. Then tells of the others that wait for long. Answers how many of each.
 *
 * @throws AggregateError after all others have been looked at, when some could not be
 */
export const reviewEvents = async (
  database: Database,
  { onInbox }: Pick<AcceptParts, 'onInbox'> = {},
): Promise<{ readonly waiting: number; readonly rejected: number }> => {
  const failures: unknown[] = []
  const endless = await findEndlessEvents(database, longestMs, maxAtOnce)
  for (const event of endless) {
    const read = readEvent(event)
    const faults = undecidableFaults(event, read)
    const problem = faults.length > 0 ? eventProblem(faults) : expiredProblem(longestDays, event.waitsFor)
    const rejection = { sellerId: findReportedSeller(event, read, null), purchaseOrderId: event.purchaseOrderId, problem }
    try {
      await database.transaction((tx) => rejectReceived(tx, event, rejection))
      if (isFromInbox(event)) onInbox?.('refused')
    } catch (error) {
      failures.push(error)
    }
  }
  const waiting = await reviewWaitingEvents(database)
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} events could not be rejected`)
  return { waiting, rejected: endless.length }
}
