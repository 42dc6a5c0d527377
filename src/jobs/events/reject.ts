import { createHash } from 'node:crypto'
import { maxFaultsKept, maxIdLength } from '../../domain/events/event-bounds.ts'
import { type ReadEvent, readEvent } from '../../domain/events/event-reading.ts'
import type { EventFault } from '../../domain/events/event-shape.ts'
import { raiseAlarm } from '../../store/alarms/alarms.ts'
import type { Database, Transaction } from '../../store/db/database.ts'
import {
  type EventKey,
  type EventProblem,
  type RejectionRequest,
  type RejectionResult,
  readStoredEvent,
  type StoredEvent,
  settleEvent,
} from '../../store/events/events.ts'
import { recordAct } from '../../store/keys/audit.ts'
import { storedHash } from './body-hash.ts'

const longestText = 500
const longestMessage = 2_000
const faultsInMessage = 5
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

const personsProblem = ({ actor, reason }: RejectionRequest): EventProblem => ({
  type: 'urn:tallyman:problem:event-rejected-by-person',
  title: 'An operator has rejected the event',
  status: 422,
  detail: `${actor}: ${reason}`,
  code: 'event-rejected-by-person',
  errors: [],
})

const buildSubject = ({ source, id }: EventKey): string => {
  const subject = `${source} ${id}`
  if (Buffer.byteLength(subject) <= longestSubjectBytes) return subject
  return `${clipped(subject, longestSubjectBytes / 5)} ${createHash('sha256').update(subject).digest('hex')}`
}

/** Name of an event in messages. */
export const formatEventName = ({ source, id }: EventKey): string =>
  `${clipped(id, longestText) || '(empty id)'} of ${clipped(source, longestText) || '(empty source)'}`

const findReason = ({ detail, errors }: EventProblem): string => {
  if (errors.length === 0) return detail
  const parts = errors.slice(0, faultsInMessage).map(({ path, message }) => `${path} ${message}`)
  if (errors.length > parts.length) parts.push(`${errors.length - parts.length} more`)
  return parts.join('; ')
}

/** Seller of an event in changes and alarms, as far as known; empty: unknown. Both need a seller even if the event names no known one. */
export const findReportedSeller = (
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
  by: RejectionRequest | null,
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
  const why = `ERP event ${formatEventName(event)} was rejected after it had been taken: ${findReason(rejection.problem)}`
  await raiseAlarm(
    tx,
    { sellerId: rejection.sellerId, kind: 'event-rejected', subject: buildSubject(event) },
    `${clipped(why, longestMessage)}; correct it and send it again with a new id`,
  )
}

/**
 * An operator rejects a waiting event: it creates no command. Stored with who and why, and recorded as a change; without an alarm.
 * Its source and id stay reserved.
 */
export const rejectByPerson = (database: Database, key: EventKey, by: RejectionRequest): Promise<RejectionResult> =>
  database.transaction(async (tx): Promise<RejectionResult> => {
    const event = await readStoredEvent(tx, key)
    if (event === null) return { ok: false, fault: 'not-found' }
    const sellerId = findReportedSeller(event, readEvent(event), null)
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
