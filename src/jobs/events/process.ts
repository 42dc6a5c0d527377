import { checkEvent } from '../../domain/event-shape.ts'
import { type EventKey, lockReceivedEvents, readStoredEvent, type StoredEvent } from '../../store/events.ts'
import { retryOnDeadlock } from '../../store/faults.ts'
import {
  addressEvent,
  allFaults,
  type Decided,
  decideReceived,
  isOrder,
  lockForPlanning,
  rejectReceived,
  sellerForTelling,
  unknownOrderFault,
} from './decide.ts'
import { type AcceptParts, rulesOf } from './parts.ts'

/**
 * Decides one waiting event, and with it all others that wait for the same subject, in the order in which they came; what an
 * `event.process` job does. `settled` as well when it does not wait, or does not exist.
 */
export const processReceivedEvent = async (
  parts: AcceptParts,
  key: EventKey,
  signal: AbortSignal,
): Promise<'settled' | 'later'> => {
  const event = await readStoredEvent(parts.database, key)
  if (event === null || event.state !== 'received') return 'settled'
  return (await decideWithOthers(parts, event, signal)) === 'later' ? 'later' : 'settled'
}

const decideWithOthers = async (
  parts: AcceptParts,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<readonly Decided[] | 'later'> => {
  const addressed = addressEvent(event, parts.sellers)
  if (!addressed.ok) return rejectAlone(parts, event)
  const { key } = addressed
  const rules = rulesOf(parts, key.sellerId)
  const faults = checkEvent(event, rules)
  // An order is not worth a call when the event that names it is wrong by itself.
  if (isOrder(key) && faults.length === 0) {
    const { presence } = await parts.fetcher.ensure(key, signal)
    if (presence === 'later') return 'later'
    if (presence === 'unknown') faults.push(unknownOrderFault(key))
  }
  const decided = await retryOnDeadlock(() =>
    parts.database.transaction(async (tx): Promise<readonly Decided[]> => {
      const locked = await lockForPlanning(tx, key, rules)
      if (locked !== null) return decideReceived(tx, locked, parts.sellers)
      const waits = (await lockReceivedEvents(tx, key.purchaseOrderId)).some((one) => one.sequence === event.sequence)
      if (!waits || faults.length === 0) return []
      await rejectReceived(tx, event, key, faults)
      return [{ state: 'rejected' }]
    }),
  )
  const due = decided.flatMap((one) => (one.state === 'accepted' ? one.commands : []))
  if (due.length > 0) parts.wake(due)
  return decided
}

/** An event about nothing of ours is wrong whatever comes. */
const rejectAlone = async (parts: AcceptParts, event: StoredEvent): Promise<readonly Decided[]> => {
  const faults = await allFaults(parts, event, addressEvent(event, parts.sellers))
  await parts.database.transaction((tx) =>
    rejectReceived(tx, event, { sellerId: sellerForTelling(event, parts.sellers), purchaseOrderId: null }, faults),
  )
  return [{ state: 'rejected' }]
}
