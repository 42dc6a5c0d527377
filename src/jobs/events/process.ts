import { checkEvent, type EventFault } from '../../domain/event-shape.ts'
import type { Database } from '../../store/database.ts'
import { type EventKey, lockReceivedEvents, putOffEvent, readStoredEvent, type StoredEvent } from '../../store/events.ts'
import { isDatabaseAway, retryOnDeadlock } from '../../store/faults.ts'
import { addressEvent, allFaults, type Decided, decideReceived, isOrder, lockForPlanning, unknownOrderFault } from './decide.ts'
import { type AcceptParts, rulesOf } from './parts.ts'
import { eventProblem, rejectReceived, sellerForTelling } from './reject.ts'
import { undecidableFaults } from './storable.ts'

/** A waiting event is looked at again after a twentieth of the time that it has waited, within these bounds. */
const shortestPatienceMs = 15_000
const longestPatienceMs = 60_000

/** Why an event still waits, and whose it is, if that can be told. */
interface Waits {
  readonly reason: string
  readonly sellerId: string | null
}

/**
 * Decides one waiting event, and with it all others that wait for the same subject, in the order in which they came; what an
 * `event.process` job does. `settled` as well when it does not wait, or does not exist; `later`: why it waits and when it is due again
 * is kept with it.
 */
export const processReceivedEvent = async (
  parts: AcceptParts,
  key: EventKey,
  signal: AbortSignal,
): Promise<'settled' | 'later'> => {
  const event = await readStoredEvent(parts.database, key)
  if (event === null || event.state !== 'received') return 'settled'
  try {
    const waits = await decideWithOthers(parts, event, signal)
    if (waits === null) return 'settled'
    await putOff(parts.database, event, waits)
    return 'later'
  } catch (error) {
    // One that fails each time must not stand before all others; the alarm of waiting events tells why.
    if (!isDatabaseAway(error)) {
      const why = error instanceof Error ? error.message : String(error)
      await putOff(parts.database, event, { reason: `looking at it failed: ${why}`, sellerId: null })
    }
    throw error
  }
}

const putOff = (database: Database, event: StoredEvent, waits: Waits): Promise<void> => {
  const waitedMs = Date.now() - event.receivedAt.getTime()
  const dueInMs = Math.round(Math.min(longestPatienceMs, Math.max(shortestPatienceMs, waitedMs / 20)))
  return putOffEvent(database, event, { ...waits, dueInMs })
}

const decideWithOthers = async (parts: AcceptParts, event: StoredEvent, signal: AbortSignal): Promise<Waits | null> => {
  const undecidable = undecidableFaults(event)
  if (undecidable.length > 0) return rejectAlone(parts, event, undecidable)
  const addressed = addressEvent(event, parts.sellers)
  if (!addressed.ok) {
    const wrong = addressed.unserved === null || checkEvent(event).length > 0
    if (wrong) return rejectAlone(parts, event, await allFaults(parts, event, addressed))
    // Another process may serve the seller, or this one once its settings have been read again.
    const reason = `no process that has looked at it serves seller ${addressed.unserved}`
    return { reason, sellerId: addressed.unserved }
  }
  const { key } = addressed
  const rules = rulesOf(parts, key.sellerId)
  const faults = checkEvent(event, rules)
  // An order is not worth a call when the event that names it is wrong by itself.
  if (isOrder(key) && faults.length === 0) {
    const found = await parts.fetcher.ensure(key, signal)
    if (found.presence === 'later') return { reason: found.reason, sellerId: key.sellerId }
    if (found.presence === 'unknown') faults.push(unknownOrderFault(key))
  }
  const decided = await retryOnDeadlock(() =>
    parts.database.transaction(async (tx): Promise<readonly Decided[]> => {
      const locked = await lockForPlanning(tx, key, rules)
      if (locked !== null) return decideReceived(tx, locked, parts.sellers)
      const waits = (await lockReceivedEvents(tx, key.purchaseOrderId)).some((one) => one.sequence === event.sequence)
      if (!waits || faults.length === 0) return []
      await rejectReceived(tx, event, { ...key, problem: eventProblem(faults) })
      return [{ state: 'rejected' }]
    }),
  )
  const due = decided.flatMap((one) => (one.state === 'accepted' ? one.commands : []))
  if (due.length > 0) parts.wake(due)
  const after = await readStoredEvent(parts.database, event)
  return after?.state === 'received' ? { reason: 'its order is stored no more', sellerId: key.sellerId } : null
}

/** An event that is wrong whatever comes. */
const rejectAlone = async (parts: AcceptParts, event: StoredEvent, faults: readonly EventFault[]): Promise<null> => {
  const sellerId = sellerForTelling(event, parts.sellers.only())
  const { purchaseOrderId } = event
  await parts.database.transaction((tx) =>
    rejectReceived(tx, event, { sellerId, purchaseOrderId, problem: eventProblem(faults) }),
  )
  return null
}
