import { eventFaults, type ReadEvent, readEvent } from '../../domain/events/event-reading.ts'
import type { EventFault } from '../../domain/events/event-shape.ts'
import { inSpan } from '../../observability/trace.ts'
import type { Database, Transaction } from '../../store/db/database.ts'
import { isDatabaseUnavailable, retryOnDeadlock } from '../../store/db/errors.ts'
import { type EventKey, postponeEvent, readStoredEvent, type StoredEvent } from '../../store/events/events.ts'
import { nameOrders } from '../../store/orders/named-orders.ts'
import type { ReturnKey } from '../../store/orders/returns.ts'
import { isSellerServed } from '../../store/sellers/sellers.ts'
import { errorMessage } from '../../util/error-message.ts'
import type { OnlySeller } from '../sellers/serving.ts'
import { isFromInbox } from './body-hash.ts'
import {
  addressStoredEvent,
  afterDecisions,
  allFaults,
  type Decided,
  decideReceived,
  isOrder,
  lockForPlanning,
  type SubjectKey,
  unknownOrderFault,
  unknownReturnFault,
} from './decide.ts'
import { type AcceptParts, commonRules, findRules, onlySeller } from './parts.ts'
import { eventProblem, findReportedSeller, rejectReceived } from './reject.ts'
import { undecidableFaults } from './storable.ts'

/** A waiting event is read again after a twentieth of its waiting time, within these bounds. */
const minTimeoutMs = 15_000
const maxTimeoutMs = 60_000
/** If the time of the next possible request is known, the event is read then, but not before this delay … */
const minDelayMs = 100
/** … and not before its waiting time times this factor: many events that wait for the same time are spread. */
const waitedFactor = 2
const defaultSettleTimeMs = 120_000

/** The seller of an event that another process serves; that process decides the event. */
interface ServedByOther {
  readonly servedByOther: string
}

/** The event still waits, and is due again in this number of milliseconds. */
interface Later {
  readonly dueInMs: number
}

/** Why an event still waits, its seller if known, and in how many milliseconds the wait ends, if known. */
interface Waits {
  readonly reason: string
  readonly sellerId: string | null
  readonly againInMs?: number | null
}

/**
 * Decides one waiting event, and all others that wait for the same subject, in order of arrival; the work of an `event.process` job.
 * `settled` also if it does not wait, or does not exist. `dueInMs`: it still waits; the reason and the time are stored with it.
 * `servedByOther`: another process serves its seller, and nothing was changed.
 */
export const processReceivedEvent = async (
  parts: AcceptParts,
  key: EventKey,
  signal: AbortSignal,
): Promise<'settled' | Later | ServedByOther> => {
  const event = await readStoredEvent(parts.database, key)
  if (event === null || event.state !== 'received') return 'settled'
  try {
    const decide = () => decideWithOthers(parts, event, signal)
    const waits =
      event.trace === null ? await decide() : await inSpan('decide event', { kind: 'internal', parent: event.trace }, decide)
    if (waits === null) return 'settled'
    if ('servedByOther' in waits) return waits
    return { dueInMs: await postpone(parts.database, event, waits) }
  } catch (error) {
    // An event that fails each time must not block all others; the alarm of waiting events states the reason.
    if (!isDatabaseUnavailable(error)) {
      const why = errorMessage(error)
      await postpone(parts.database, event, { reason: `processing failed: ${why}`, sellerId: null })
    }
    throw error
  }
}

const computeDueInMs = (waitedMs: number, againInMs: number | null): number => {
  const maxDelayMs = Math.min(maxTimeoutMs, Math.max(minTimeoutMs, waitedMs / 20))
  if (againInMs === null) return Math.round(maxDelayMs)
  return Math.round(Math.min(maxDelayMs, Math.max(minDelayMs, waitedFactor * waitedMs, againInMs)))
}

const postpone = async (
  database: Database,
  event: StoredEvent,
  { reason, sellerId, againInMs = null }: Waits,
): Promise<number> => {
  const dueInMs = computeDueInMs(event.waitedMs, againInMs)
  await postponeEvent(database, event, { reason, sellerId, dueInMs })
  return dueInMs
}

const decideWithOthers = async (
  parts: AcceptParts,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<Waits | ServedByOther | null> => {
  const read = readEvent(event)
  const addressable = { address: read.address, sellerId: event.sellerId }
  const only = await onlySeller(parts, parts.database, [addressable])
  const undecidable = undecidableFaults(event, read)
  if (undecidable.length > 0) return rejectAlone(parts, event, read, undecidable, only)
  let addressed = await addressStoredEvent(parts.database, addressable, parts.sellers, only)
  if (!addressed.ok && addressed.missing !== undefined) {
    const { missing } = addressed
    const faults = eventFaults(read, findRules(parts, missing.sellerId))
    if (faults.length > 0) return rejectAlone(parts, event, read, faults, only)
    const waits = await findReturn(parts, event, missing, signal)
    if (waits === 'unknown') return rejectAlone(parts, event, read, [unknownReturnFault(missing)], only)
    if (waits !== null) return waits
    addressed = await addressStoredEvent(parts.database, addressable, parts.sellers, only)
  }
  if (!addressed.ok) {
    if (addressed.unserved !== null && (await isSellerServed(parts.database, addressed.unserved))) {
      return { servedByOther: addressed.unserved }
    }
    const shapeless = eventFaults(read, commonRules(parts)).length > 0
    if (addressed.unsure !== null && !shapeless) return { reason: addressed.unsure, sellerId: null }
    const wrong = addressed.unserved === null || shapeless
    if (wrong) return rejectAlone(parts, event, read, await allFaults(parts, read, addressed), only)
    // Another process may serve the seller, or this one once its settings have been read again.
    const reason = `no process that has looked at it serves seller ${addressed.unserved}`
    return { reason, sellerId: addressed.unserved }
  }
  const { key } = addressed
  const rules = findRules(parts, key.sellerId)
  const faults = eventFaults(read, rules)
  // An order is not worth a call when the event that names it is wrong by itself.
  if (isOrder(key) && faults.length === 0) {
    const found = await parts.fetcher.ensure(key, signal)
    if (found.presence !== 'stored') await parts.database.transaction(async (tx) => nameOrder(tx, event, key))
    if (found.presence === 'later') return { reason: found.reason, sellerId: key.sellerId, againInMs: found.againInMs }
    if (found.presence === 'unknown') {
      // A node that lags denies an order to everybody who asks it within that time, however often.
      if (event.waitedMs < (parts.settleTimeMs ?? defaultSettleTimeMs)) {
        const reason = `the marketplace reports that it has no order ${key.purchaseOrderId}; this is confirmed by a second request`
        return { reason, sellerId: key.sellerId }
      }
      faults.push(unknownOrderFault(key))
    }
  }
  const decided = await retryOnDeadlock(() =>
    parts.database.transaction(async (tx): Promise<readonly Decided[]> => {
      const { planned, waiting } = await lockForPlanning(tx, key, rules)
      if (planned !== null) return decideReceived(tx, planned, waiting, parts, event)
      const waits = waiting.some((one) => one.sequence === event.sequence)
      if (!waits || faults.length === 0) return []
      await rejectReceived(tx, event, { ...key, problem: eventProblem(faults) })
      nameOrder(tx, event, key)
      return [{ fromInbox: isFromInbox(event), state: 'rejected' }]
    }),
  )
  const due = afterDecisions(parts, decided)
  if (due.length > 0) parts.onStored(due)
  const after = await readStoredEvent(parts.database, event)
  return after?.state === 'received' ? { reason: 'its order is stored no more', sellerId: key.sellerId } : null
}

/** Notes the order of an event, if it is not stored. */
const nameOrder = (tx: Transaction, { receivedAt }: StoredEvent, { sellerId, purchaseOrderId }: SubjectKey): void =>
  nameOrders(tx, sellerId, 'events', [{ purchaseOrderId, at: receivedAt }])

/** Has a return fetched that is not stored. Null: it is stored. */
const findReturn = async (
  { returns, settleTimeMs = defaultSettleTimeMs }: AcceptParts,
  event: StoredEvent,
  key: ReturnKey,
  signal: AbortSignal,
): Promise<Waits | 'unknown' | null> => {
  const { sellerId, returnOrderId } = key
  if (returns === undefined) return { reason: `return ${returnOrderId} is not stored; a sync of returns brings it`, sellerId }
  const found = await returns.ensure(key, signal)
  if (found.presence === 'stored') return null
  if (found.presence === 'later') return { reason: found.reason, sellerId, againInMs: found.againInMs }
  if (event.waitedMs >= settleTimeMs) return 'unknown'
  return {
    reason: `the marketplace reports that it has no return ${returnOrderId}; this is confirmed by a second request`,
    sellerId,
  }
}

/** An event that is invalid in any case. */
const rejectAlone = async (
  parts: AcceptParts,
  event: StoredEvent,
  read: ReadEvent,
  faults: readonly EventFault[],
  only: OnlySeller,
): Promise<null> => {
  const sellerId = findReportedSeller(event, read, only.kind === 'one' ? only.sellerId : null)
  const { purchaseOrderId } = event
  await parts.database.transaction(async (tx) => {
    await rejectReceived(tx, event, { sellerId, purchaseOrderId, problem: eventProblem(faults) })
    if (parts.sellers.has(sellerId)) nameOrder(tx, event, { sellerId, purchaseOrderId })
  })
  afterDecisions(parts, [{ fromInbox: isFromInbox(event), state: 'rejected' }])
  return null
}
