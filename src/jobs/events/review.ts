import { readEvent } from '../../domain/event-reading.ts'
import { raiseAlarm, resolveAlarmsOfOthers } from '../../store/alarms.ts'
import type { Database } from '../../store/database.ts'
import { type LongWaiting, longWaitingEvents, tellWaitingAfterMs } from '../../store/event-queries.ts'
import { endlessEvents } from '../../store/events.ts'
import { isFromInbox } from './body-hash.ts'
import type { AcceptParts } from './parts.ts'
import { eventProblem, expiredProblem, nameOfEvent, rejectReceived, sellerForTelling } from './reject.ts'
import { undecidableFaults } from './storable.ts'

/** Maximum number of days that an event waits. */
const longestDays = 7
const longestMs = longestDays * 86_400_000
const mostAtOnce = 500
const namedInAlarm = 3
const longestReason = 300

const alarm = { kind: 'event-waiting', subject: 'events' } as const

const messageOf = ({ count, first, sellerId }: LongWaiting): string => {
  const named = first.map((event) => {
    const why = event.waitsFor ?? `no process has looked at it: is seller ${sellerId} configured in one?`
    return `${nameOfEvent(event)} since ${event.receivedAt.toISOString()} (${why.slice(0, longestReason).toWellFormed()})`
  })
  if (count > first.length) named.push(`${count - first.length} more`)
  const events = count === 1 ? '1 ERP event has' : `${count} ERP events have`
  return `${events} waited for more than ${tellWaitingAfterMs / 60_000} minutes: ${named.join('; ')}. Each continues automatically, and is rejected after ${longestDays} days; \`tallyman events list --state received\` shows them, \`tallyman events reject\` ends one`
}

/** Raises an alarm for each seller whose events have waited for long, and resolves those of all others. */
export const reviewWaitingEvents = async (database: Database): Promise<number> => {
  const waiting = await longWaitingEvents(database, namedInAlarm)
  for (const one of waiting) await raiseAlarm(database, { ...alarm, sellerId: one.sellerId }, messageOf(one))
  await resolveAlarmsOfOthers(
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
  const endless = await endlessEvents(database, longestMs, mostAtOnce)
  for (const event of endless) {
    const read = readEvent(event)
    const faults = undecidableFaults(event, read)
    const problem = faults.length > 0 ? eventProblem(faults) : expiredProblem(longestDays, event.waitsFor)
    const rejection = { sellerId: sellerForTelling(event, read, null), purchaseOrderId: event.purchaseOrderId, problem }
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
