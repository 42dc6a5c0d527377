import { eventFaults, type ReadEvent, readEvent } from '../../domain/event-reading.ts'
import type { EventFault } from '../../domain/event-shape.ts'
import { messageOf } from '../../message-of.ts'
import type { Database } from '../../store/database.ts'
import { type EventKey, putOffEvent, readStoredEvent, type StoredEvent } from '../../store/events.ts'
import { isDatabaseAway, retryOnDeadlock } from '../../store/faults.ts'
import { isSellerServed } from '../../store/sellers.ts'
import type { OnlySeller } from '../serving.ts'
import { isFromInbox } from './body-hash.ts'
import {
  addressEvent,
  afterDecisions,
  allFaults,
  type Decided,
  decideReceived,
  isOrder,
  lockForPlanning,
  unknownOrderFault,
} from './decide.ts'
import { type AcceptParts, commonRules, onlySeller, rulesOf } from './parts.ts'
import { eventProblem, rejectReceived, sellerForTelling } from './reject.ts'
import { undecidableFaults } from './storable.ts'

/** A waiting event is looked at again after a twentieth of the time that it has waited, within these bounds. */
const shortestPatienceMs = 15_000
const longestPatienceMs = 60_000
/** Where it is known when the marketplace can be asked, it is looked at then, but for the first time after so long … */
const soonestLookMs = 100
/** … and each time after so many times what it has waited: many that wait for the same moment do not all come at each. */
const waitedTimes = 2
const defaultSettleTimeMs = 120_000

/** The seller of an event whom another process serves, which decides it. */
interface Elsewhere {
  readonly elsewhere: string
}

/** It still waits, and is due again in so many milliseconds. */
interface Later {
  readonly dueInMs: number
}

/** Why an event still waits, whose it is, if that can be told, and in how many milliseconds that ends, if that is known. */
interface Waits {
  readonly reason: string
  readonly sellerId: string | null
  readonly againInMs?: number | null
}

/**
 * Decides one waiting event, and with it all others that wait for the same subject, in the order in which they came; what an
 * `event.process` job does. `settled` as well when it does not wait, or does not exist; `dueInMs`: why it waits and when it is due again
 * is kept with it. `elsewhere`: another process serves its seller, and nothing was touched.
 */
export const processReceivedEvent = async (
  parts: AcceptParts,
  key: EventKey,
  signal: AbortSignal,
): Promise<'settled' | Later | Elsewhere> => {
  const event = await readStoredEvent(parts.database, key)
  if (event === null || event.state !== 'received') return 'settled'
  try {
    const waits = await decideWithOthers(parts, event, signal)
    if (waits === null) return 'settled'
    if ('elsewhere' in waits) return waits
    return { dueInMs: await putOff(parts.database, event, waits) }
  } catch (error) {
    // One that fails each time must not stand before all others; the alarm of waiting events tells why.
    if (!isDatabaseAway(error)) {
      const why = messageOf(error)
      await putOff(parts.database, event, { reason: `looking at it failed: ${why}`, sellerId: null })
    }
    throw error
  }
}

const dueInMsOf = (waitedMs: number, againInMs: number | null): number => {
  const patienceMs = Math.min(longestPatienceMs, Math.max(shortestPatienceMs, waitedMs / 20))
  if (againInMs === null) return Math.round(patienceMs)
  return Math.round(Math.min(patienceMs, Math.max(soonestLookMs, waitedTimes * waitedMs, againInMs)))
}

const putOff = async (database: Database, event: StoredEvent, { reason, sellerId, againInMs = null }: Waits): Promise<number> => {
  const dueInMs = dueInMsOf(event.waitedMs, againInMs)
  await putOffEvent(database, event, { reason, sellerId, dueInMs })
  return dueInMs
}

const decideWithOthers = async (
  parts: AcceptParts,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<Waits | Elsewhere | null> => {
  const read = readEvent(event)
  const addressable = { address: read.address, sellerId: event.sellerId }
  const only = await onlySeller(parts, parts.database, [addressable])
  const undecidable = undecidableFaults(event, read)
  if (undecidable.length > 0) return rejectAlone(parts, event, read, undecidable, only)
  const addressed = addressEvent(addressable, parts.sellers, only)
  if (!addressed.ok) {
    if (addressed.unserved !== null && (await isSellerServed(parts.database, addressed.unserved))) {
      return { elsewhere: addressed.unserved }
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
  const rules = rulesOf(parts, key.sellerId)
  const faults = eventFaults(read, rules)
  // An order is not worth a call when the event that names it is wrong by itself.
  if (isOrder(key) && faults.length === 0) {
    const found = await parts.fetcher.ensure(key, signal)
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
      return [{ fromInbox: isFromInbox(event), state: 'rejected' }]
    }),
  )
  const due = afterDecisions(parts, decided)
  if (due.length > 0) parts.wake(due)
  const after = await readStoredEvent(parts.database, event)
  return after?.state === 'received' ? { reason: 'its order is stored no more', sellerId: key.sellerId } : null
}

/** An event that is invalid in any case. */
const rejectAlone = async (
  parts: AcceptParts,
  event: StoredEvent,
  read: ReadEvent,
  faults: readonly EventFault[],
  only: OnlySeller,
): Promise<null> => {
  const sellerId = sellerForTelling(event, read, only.kind === 'one' ? only.sellerId : null)
  const { purchaseOrderId } = event
  await parts.database.transaction((tx) =>
    rejectReceived(tx, event, { sellerId, purchaseOrderId, problem: eventProblem(faults) }),
  )
  afterDecisions(parts, [{ fromInbox: isFromInbox(event), state: 'rejected' }])
  return null
}
