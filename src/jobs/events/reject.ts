import { createHash } from 'node:crypto'
import { maxFaultsKept, maxIdLength } from '../../domain/event-bounds.ts'
import { type ReadEvent, readEvent } from '../../domain/event-reading.ts'
import type { EventFault } from '../../domain/event-shape.ts'
import { raiseAlarm } from '../../store/alarms.ts'
import { recordAct } from '../../store/audit.ts'
import type { Database, Transaction } from '../../store/database.ts'
import {
  type EventKey,
  type EventProblem,
  type PersonsReason,
  type PersonsRejection,
  readStoredEvent,
  type StoredEvent,
  settleEvent,
} from '../../store/events.ts'
import { storedHash } from './body-hash.ts'

const longestText = 500
const longestMessage = 2_000
const toldInMessage = 5
/** An index row of Postgres holds 2.7 kB, seller and kind included. */
const longestSubjectBytes = 1_000

/** A text truncated to a length without splitting a surrogate pair, which cannot be stored. */
const clipped = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`

const clippedFaults = (faults: readonly EventFault[]): readonly EventFault[] =>
  faults
    .slice(0, maxFaultsKept)
    .map(({ path, message }) => ({ path: clipped(path, longestText), message: clipped(message, longestText) }))

const counted = (faults: readonly EventFault[]): string => {
  if (faults.length === 1) return 'The event has one fault.'
  const all = `The event has ${faults.length} faults`
  return faults.length > maxFaultsKept ? `${all}; the first ${maxFaultsKept} are listed.` : `${all}.`
}

/** The problem that is stored with a rejected event and shown in its answers: the first faults, each truncated. */
export const eventProblem = (faults: readonly EventFault[]): EventProblem => ({
  type: 'urn:tallyman:problem:invalid-event',
  title: 'The event is invalid',
  status: 422,
  detail: counted(faults),
  code: 'invalid-event',
  errors: clippedFaults(faults),
})

/** The problem of an event that has waited for the maximum time. */
export const expiredProblem = (days: number, waitsFor: string | null): EventProblem => ({
  type: 'urn:tallyman:problem:event-expired',
  title: 'The event has waited for too long',
  status: 422,
  detail: clipped(`It could not be decided within ${days} days: ${waitsFor ?? 'no process has looked at it'}.`, longestMessage),
  code: 'event-expired',
  errors: [],
})

const personsProblem = ({ actor, reason }: PersonsReason): EventProblem => ({
  type: 'urn:tallyman:problem:event-rejected-by-person',
  title: 'An operator has rejected the event',
  status: 422,
  detail: `${actor}: ${reason}`,
  code: 'event-rejected-by-person',
  errors: [],
})

const subjectOf = ({ source, id }: EventKey): string => {
  const subject = `${source} ${id}`
  if (Buffer.byteLength(subject) <= longestSubjectBytes) return subject
  return `${clipped(subject, longestSubjectBytes / 5)} ${createHash('sha256').update(subject).digest('hex')}`
}

/** Name of an event in messages. */
export const nameOfEvent = ({ source, id }: EventKey): string =>
  `${clipped(id, longestText) || '(empty id)'} of ${clipped(source, longestText) || '(empty source)'}`

const reasonOf = ({ detail, errors }: EventProblem): string => {
  if (errors.length === 0) return detail
  const told = errors.slice(0, toldInMessage).map(({ path, message }) => `${path} ${message}`)
  if (errors.length > told.length) told.push(`${errors.length - told.length} more`)
  return told.join('; ')
}

/** Seller of an event in changes and alarms, as well as it can be told: both need one even when the event names none that is known. */
export const sellerForTelling = (
  event: Pick<StoredEvent, 'sellerId'>,
  { address }: Pick<ReadEvent, 'address'>,
  only: string | null,
): string => {
  const named = event.sellerId ?? address?.sellerId ?? null
  return named !== null && named.length <= maxIdLength ? named : (only ?? '')
}

/** Details of a rejected event: its seller, its order, and the reason. */
export interface Rejection {
  readonly sellerId: string
  readonly purchaseOrderId: string | null
  readonly problem: EventProblem
}

/** Ends a waiting event; answers false when it no longer waits. */
const settleRejected = async (
  tx: Transaction,
  event: StoredEvent,
  { sellerId, purchaseOrderId, problem }: Rejection,
  by: PersonsReason | null,
): Promise<boolean> => {
  const settled = await settleEvent(tx, event, {
    bodyHash: storedHash(event),
    sellerId: sellerId === '' ? null : sellerId,
    problem,
  })
  if (!settled) return false
  tx.record({
    sellerId,
    type: 'event.rejected',
    purchaseOrderId: purchaseOrderId ?? undefined,
    data: {
      source: clipped(event.source, longestMessage),
      id: clipped(event.id, longestMessage),
      type: clipped(event.type, longestText),
      code: problem.code,
      errors: problem.errors.map(({ path, message }) => ({ path, message })),
      ...(by === null ? {} : { actor: by.actor, reason: by.reason }),
    },
  })
  return true
}

/** Rejects a waiting event finally: the reason is stored with it, recorded as a change, and raised as an alarm. */
export const rejectReceived = async (tx: Transaction, event: StoredEvent, rejection: Rejection): Promise<void> => {
  if (!(await settleRejected(tx, event, rejection, null))) return
  const why = `ERP event ${nameOfEvent(event)} was rejected after it had been taken: ${reasonOf(rejection.problem)}`
  await raiseAlarm(
    tx,
    { sellerId: rejection.sellerId, kind: 'event-rejected', subject: subjectOf(event) },
    `${clipped(why, longestMessage)}; correct it and send it again with a new id`,
  )
}

/**
 * An operator rejects a waiting event: it creates no command. Stored with who and why, and recorded as a change; without an alarm.
 * Its source and id stay reserved.
 */
export const rejectByPerson = (database: Database, key: EventKey, by: PersonsReason): Promise<PersonsRejection> =>
  database.transaction(async (tx): Promise<PersonsRejection> => {
    const event = await readStoredEvent(tx, key)
    if (event === null) return { ok: false, fault: 'not-found' }
    const sellerId = sellerForTelling(event, readEvent(event), null)
    const rejection = { sellerId, purchaseOrderId: event.purchaseOrderId, problem: personsProblem(by) }
    if (await settleRejected(tx, event, rejection, by)) {
      const subject = clipped(`${event.source} ${event.id}`, longestMessage)
      await recordAct(tx, {
        by,
        action: 'event.rejected',
        sellerId: sellerId === '' ? null : sellerId,
        subject,
        reason: by.reason,
      })
      return { ok: true, state: 'rejected' }
    }
    const decided = await readStoredEvent(tx, key)
    return { ok: false, fault: 'not-waiting', state: decided?.state ?? event.state }
  })
