import { checkEvent } from '../../domain/event-shape.ts'
import { type EventKey, lockReceivedEvents, readStoredEvent, receivedEvents, type StoredEvent } from '../../store/events.ts'
import { retryOnDeadlock } from '../../store/faults.ts'
import { readOrder } from '../../store/orders.ts'
import type { AcceptParts } from './accept.ts'
import {
  addressEvent,
  allFaults,
  type Decided,
  decideReceived,
  lockForPlanning,
  rejectReceived,
  sameOrder,
  sellerForTelling,
  unknownOrderFault,
} from './decide.ts'

/** What one pass over the waiting events came to. */
export interface ProcessResult {
  readonly accepted: number
  readonly rejected: number
  /** Events that still wait, because the marketplace cannot be asked about their order now. */
  readonly waiting: number
}

/** What processing needs. */
export interface ProcessParts extends AcceptParts {
  readonly log: { error(fields: object, message: string): void }
}

const pageSize = 500
/** So many orders may fail in a row (a fault of ours) before the pass gives up: then it is not about the orders. */
const maxFailuresInARow = 3

/**
 * One pass over the events that wait: rows of the SQL inbox, and posted events whose order could not be fetched. Events of one
 * order are decided in the order in which they came; those of another order never wait for them.
 *
 * Runs when `tallyman_erp_event` is notified, and unasked now and then. Several passes at once do no harm.
 */
export const processReceivedEvents = async (parts: ProcessParts, signal: AbortSignal): Promise<ProcessResult> => {
  const result = { accepted: 0, rejected: 0, waiting: 0 }
  const waitingOrders = new Set<string>()
  let failuresInARow = 0
  let after = 0n
  for (;;) {
    const page = await receivedEvents(parts.database, after, pageSize)
    for (const [name, events] of groupByOrder(parts, page)) {
      if (signal.aborted) return result
      if (waitingOrders.has(name)) {
        result.waiting += events.length
        continue
      }
      try {
        const decided = await decideGroup(parts, events, signal)
        if (decided === 'later') {
          waitingOrders.add(name)
          result.waiting += events.length
          continue
        }
        for (const { state } of decided) result[state] += 1
        failuresInARow = 0
      } catch (error) {
        failuresInARow += 1
        if (failuresInARow >= maxFailuresInARow) throw error
        const [first] = events
        parts.log.error(
          { err: error, event_source: first?.source, event_id: first?.id },
          'an ERP event could not be processed; it is tried again',
        )
      }
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return result
    after = last.sequence
  }
}

/**
 * Decides one waiting event, and with it all others that wait for its order, in the order in which they came; what an
 * `event.process` job does. `settled` as well when it does not wait, or does not exist.
 */
export const processReceivedEvent = async (
  parts: AcceptParts,
  key: EventKey,
  signal: AbortSignal,
): Promise<'settled' | 'later'> => {
  const event = await readStoredEvent(parts.database, key)
  if (event === null || event.state !== 'received') return 'settled'
  return (await decideGroup(parts, [event], signal)) === 'later' ? 'later' : 'settled'
}

/** Events of one order together, in their sequence; an event without an order stands alone. */
const groupByOrder = (parts: ProcessParts, events: readonly StoredEvent[]): ReadonlyMap<string, readonly StoredEvent[]> => {
  const groups = new Map<string, StoredEvent[]>()
  for (const event of events) {
    const addressed = addressEvent(event, parts.sellers)
    const name = JSON.stringify(
      addressed.ok ? [addressed.key.sellerId, addressed.key.purchaseOrderId] : ['event', event.source, event.id],
    )
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [event])
    else group.push(event)
  }
  return groups
}

const decideGroup = async (
  parts: AcceptParts,
  events: readonly StoredEvent[],
  signal: AbortSignal,
): Promise<readonly Decided[] | 'later'> => {
  const [first] = events
  if (first === undefined) return []
  const addressed = addressEvent(first, parts.sellers)
  if (!addressed.ok) return rejectAlone(parts, first)
  const { key } = addressed
  // An order is not worth a call when everything that names it is wrong by itself.
  const sound = events.some((event) => checkEvent(event).length === 0)
  const presence = sound ? await parts.fetcher.ensure(key, signal) : null
  if (presence?.presence === 'later') return 'later'
  const decided = await retryOnDeadlock(() =>
    parts.database.transaction(async (tx) => {
      const locked = await lockForPlanning(tx, key)
      if (locked !== null) return decideReceived(tx, locked, parts.sellers)
      // Decided from what has been checked: an event that came in meanwhile waits for the next pass.
      const checked = new Set(events.map((event) => event.sequence))
      const rejected: Decided[] = []
      for (const event of await lockReceivedEvents(tx, key.purchaseOrderId)) {
        const own = addressEvent(event, parts.sellers)
        if (!own.ok || !sameOrder(own.key, key) || !checked.has(event.sequence)) continue
        const faults = checkEvent(event)
        if (presence?.presence === 'unknown') faults.push(unknownOrderFault(key))
        if (faults.length === 0) continue
        await rejectReceived(tx, event, key, faults)
        rejected.push({ state: 'rejected' })
      }
      return rejected
    }),
  )
  const due = decided.flatMap((one) => (one.state === 'accepted' ? one.commands : []))
  if (due.length > 0) parts.wake(due)
  return decided
}

/** An event that names no order of ours is wrong whatever comes. */
const rejectAlone = async (parts: AcceptParts, event: StoredEvent): Promise<readonly Decided[]> => {
  const faults = await allFaults(parts.database, event, addressEvent(event, parts.sellers), readOrder)
  await parts.database.transaction((tx) =>
    rejectReceived(tx, event, { sellerId: sellerForTelling(event, parts.sellers), purchaseOrderId: null }, faults),
  )
  return [{ state: 'rejected' }]
}
