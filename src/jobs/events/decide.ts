import type { CommandContent } from '../../domain/commands/command.ts'
import { maxIdLength } from '../../domain/events/event-bounds.ts'
import { eventFaults, type ReadEvent, readEvent } from '../../domain/events/event-reading.ts'
import { type EventFault, inboundEventType, returnEventType } from '../../domain/events/event-shape.ts'
import { planCommands, planInbound, planSettings } from '../../domain/events/events.ts'
import { planReturnRefund } from '../../domain/events/return-refunds.ts'
import type { InboundShipment } from '../../domain/inventory/inbound-receipts.ts'
import type { PurchaseOrder } from '../../domain/orders/order.ts'
import { countReturned } from '../../domain/orders/returned-units.ts'
import { buildLedgers, cancelsWholly, type LedgerCommand } from '../../domain/orders/units.ts'
import { noOrderId } from '../../domain/values/text.ts'
import { lockShippingSettings, readShippingSettings } from '../../store/campaigns/shipping-settings.ts'
import { readOrderWork } from '../../store/commands/command-ledgers.ts'
import { isAcknowledging } from '../../store/commands/command-queries.ts'
import { insertCommands } from '../../store/commands/command-steps.ts'
import { runPipelined } from '../../store/commit/query-batching.ts'
import type { SqlRunner, Transaction } from '../../store/db/database.ts'
import { type EventKey, lockWaitingEvents, type StoredEvent, settleEvent } from '../../store/events/events.ts'
import { storeInboundShipment } from '../../store/inventory/inbound-shipments.ts'
import type { OrderKey } from '../../store/orders/order-queries.ts'
import { lockOrder } from '../../store/orders/orders.ts'
import { findOrdersOfReturn, type ReturnKey, readReturnedLines } from '../../store/orders/returns.ts'
import { readOrder } from '../../store/orders/stored-orders.ts'
import { errorMessage } from '../../util/error-message.ts'
import type { OnlySeller } from '../sellers/serving.ts'
import { isFromInbox, storedHash } from './body-hash.ts'
import type { EventSellers } from './fetch-order.ts'
import {
  type AcceptParts,
  type Addressable,
  commonRules,
  type EventRules,
  findRules,
  onlySeller,
  type RuleParts,
} from './parts.ts'
import { eventProblem, rejectReceived } from './reject.ts'
import { undecidableFaults } from './storable.ts'

/** What a seller has once: its shipping settings, and its inbound shipments together. */
interface OwnSellerKey {
  readonly sellerId: string
  readonly purchaseOrderId: null
}

/** The subject of an event. */
export type SubjectKey = OrderKey | OwnSellerKey

/** Whether the subject is an order, which may have to be fetched. */
export const isOrder = (key: SubjectKey): key is OrderKey => key.purchaseOrderId !== null

/** The subject of an event, or why it cannot be determined. */
export type Addressed =
  | { readonly ok: true; readonly key: SubjectKey }
  | {
      readonly ok: false
      readonly faults: readonly EventFault[]
      /** The seller that this process does not serve, if that is the only fault; null: it is invalid in every process. */
      readonly unserved: string | null
      /** Why its seller cannot be determined yet, if that is the only fault; null: it can. */
      readonly unsure: string | null
      /** The return whose order is not known, because the return is not stored; left out: there is none. */
      readonly missing?: ReturnKey
    }

/**
 * Finds what an event is about; a seller that is not named is the one that was fixed when it was taken, or the only one that any process
 * serves (`onlySeller`).
 */
export const addressEvent = ({ address, sellerId: fixed }: Addressable, sellers: EventSellers, only: OnlySeller): Addressed => {
  // Without an address the shape is invalid; the check of the shape reports how.
  if (address === null) return { ok: false, faults: [], unserved: null, unsure: null }
  const faults: EventFault[] = []
  for (const name of ['purchaseOrderId', 'returnOrderId', 'sellerId'] as const) {
    if ((address[name]?.length ?? 0) > maxIdLength)
      faults.push({ path: `data.${name}`, message: `is longer than ${maxIdLength} characters` })
  }
  for (const name of ['purchaseOrderId', 'returnOrderId'] as const) {
    const noId = address[name] === null ? null : noOrderId(address[name])
    if (noId !== null) faults.push({ path: `data.${name}`, message: noId })
  }
  if (faults.length > 0) return { ok: false, faults, unserved: null, unsure: null }
  const sellerId = address.sellerId ?? fixed ?? (only.kind === 'one' ? only.sellerId : null)
  if (sellerId === null) {
    if (only.kind === 'unsure') return { ok: false, faults: [], unserved: null, unsure: only.reason }
    const message = 'is missing; it is needed because several sellers are served here'
    return { ok: false, faults: [{ path: 'data.sellerId', message }], unserved: null, unsure: null }
  }
  if (!sellers.has(sellerId)) {
    const message = `is ${sellerId}, a seller that this daemon does not serve`
    return { ok: false, faults: [{ path: 'data.sellerId', message }], unserved: sellerId, unsure: null }
  }
  return { ok: true, key: { sellerId, purchaseOrderId: address.purchaseOrderId } }
}

/** As {@link addressEvent}; an event that names a return is about the order of that return, as stored. */
export const addressStoredEvent = async (
  sql: SqlRunner,
  addressable: Addressable,
  sellers: EventSellers,
  only: OnlySeller,
): Promise<Addressed> => {
  const addressed = addressEvent(addressable, sellers, only)
  const returnOrderId = addressable.address?.returnOrderId ?? null
  if (!addressed.ok || returnOrderId === null) return addressed
  const { sellerId } = addressed.key
  const orders = await findOrdersOfReturn(sql, sellerId, returnOrderId)
  const wrong = { ok: false, faults: [], unserved: null, unsure: null } as const
  if (orders === null) {
    const unsure = `return ${returnOrderId} is not stored, so its order is not known here`
    return { ...wrong, unsure, missing: { sellerId, returnOrderId } }
  }
  const [purchaseOrderId, ...others] = orders
  const path = 'data.returnOrderId'
  if (purchaseOrderId === undefined)
    return { ...wrong, faults: [{ path, message: `is ${returnOrderId}, a return that names no order` }] }
  if (others.length > 0) {
    const message = `is ${returnOrderId}, a return of several orders (${orders.join(', ')}): refund each through its order, by erp.credit.issued`
    return { ...wrong, faults: [{ path, message }] }
  }
  return { ok: true, key: { sellerId, purchaseOrderId } }
}

/** The fault of an event whose return the marketplace does not know. */
export const unknownReturnFault = ({ sellerId, returnOrderId }: ReturnKey): EventFault => ({
  path: 'data.returnOrderId',
  message: `is ${returnOrderId}, which the marketplace does not know as a return of seller ${sellerId}`,
})

/** The fault of an event whose order the marketplace does not know. */
export const unknownOrderFault = (key: OrderKey): EventFault => ({
  path: 'data.purchaseOrderId',
  message: `is ${key.purchaseOrderId}, which the marketplace does not know as an order of seller ${key.sellerId}`,
})

/** Result of an event: commands, or all its faults. */
export type EventPlan =
  | {
      readonly ok: true
      readonly commands: readonly CommandContent[]
      /** The inbound shipment that the event states; left out: none. */
      readonly inbound?: InboundShipment
    }
  | { readonly ok: false; readonly faults: readonly EventFault[] }

/** A subject as it stands, locked or not. */
export interface PlannedSubject {
  readonly key: SubjectKey
  /** The stored order; null: the subject is the seller. */
  readonly order: PurchaseOrder | null
  /** Whether a command to acknowledge the order is pending or done; those of planned events count. */
  readonly acknowledging: boolean
  /** Whether commands, those of planned events included, cancel every unit of the order, or have done so. */
  readonly cancelling: boolean
  /** What an event comes to on it; commands count from then on, such as their units for the events that follow. */
  plan(event: ReadEvent): EventPlan
}

/** A subject that is locked until the transaction ends. */
export interface LockedSubject {
  /** Null when it is an order that is not stored. */
  readonly planned: PlannedSubject | null
  /** The events that wait for it, locked as well, in the order in which they came. */
  readonly waiting: readonly StoredEvent[]
}

/** Locks the subject, and then the events that wait for it, until the transaction ends. */
export const lockForPlanning = async (tx: Transaction, key: SubjectKey, rules: EventRules): Promise<LockedSubject> => {
  const [planned, waiting] = await runPipelined(
    tx,
    () => lockSubject(tx, key, rules),
    () => lockWaitingEvents(tx, key.purchaseOrderId),
  )
  return { planned, waiting }
}

const lockSubject = async (tx: Transaction, key: SubjectKey, rules: EventRules): Promise<PlannedSubject | null> => {
  if (isOrder(key))
    return planOnOrder(tx, key, async () => (await lockOrder(tx, key.sellerId, key.purchaseOrderId))?.value ?? null, rules)
  await lockShippingSettings(tx, key.sellerId)
  return planOnSeller(tx, key, rules)
}

/** Reads the subject without locking it, for what decides nothing; null when it is an order that is not stored. */
export const readForPlanning = async (sql: SqlRunner, key: SubjectKey, rules: EventRules): Promise<PlannedSubject | null> =>
  isOrder(key)
    ? planOnOrder(sql, key, () => readOrder(sql, key.sellerId, key.purchaseOrderId), rules)
    : planOnSeller(sql, key, rules)

const planOnSeller = async (sql: SqlRunner, key: OwnSellerKey, rules: EventRules): Promise<PlannedSubject> => {
  const existing = await readShippingSettings(sql, key.sellerId)
  return {
    key,
    order: null,
    acknowledging: false,
    cancelling: false,
    plan: (event) => {
      if (event.type === inboundEventType) {
        const inbound = planInbound(event, rules)
        return inbound.ok ? { ok: true, commands: [], inbound: inbound.shipment } : inbound
      }
      const plan = planSettings(event, existing, rules)
      return plan.ok ? { ok: true, commands: [plan.command] } : plan
    },
  }
}

/** `read` reads the order and may lock it first; what is asked with it is answered after it. */
const planOnOrder = async (
  sql: SqlRunner,
  key: OrderKey,
  read: () => Promise<PurchaseOrder | null>,
  rules: EventRules,
): Promise<PlannedSubject | null> => {
  const { sellerId, purchaseOrderId } = key
  const [order, [work, [isAcknowledged, returned]]] = await runPipelined(sql, read, () =>
    runPipelined(
      sql,
      () => readOrderWork(sql, sellerId, purchaseOrderId),
      () =>
        runPipelined(
          sql,
          () => isAcknowledging(sql, sellerId, purchaseOrderId),
          () => readReturnedLines(sql, sellerId, purchaseOrderId),
        ),
    ),
  )
  if (order === null) return null
  let ledgers: Parameters<typeof planCommands>[2] = buildLedgers(
    countReturned(order, returned),
    work.ledgerCommands,
    work.shadowSince,
  )
  let acknowledging = isAcknowledged
  const commands = [...work.ledgerCommands]
  return {
    key,
    order,
    get acknowledging() {
      return acknowledging
    },
    get cancelling() {
      return cancelsWholly(ledgers)
    },
    plan: (event) => {
      const options = { ...rules, acknowledging, commands }
      const plan =
        event.type === returnEventType
          ? planReturnRefund(event, order, ledgers, returned, options)
          : planCommands(event, order, ledgers, options)
      if (plan.ok) {
        ledgers = plan.ledgers
        commands.push(...plan.commands.map((command): LedgerCommand => ({ ...command, state: 'pending', baseline: null })))
        acknowledging ||= plan.commands.some(({ kind }) => kind === 'acknowledge')
      }
      return plan
    },
  }
}

/** Stores the plan of an event that is stored already. Returns its commands, which are due once that is committed. */
export const storePlan = async (
  tx: Transaction,
  { sellerId, purchaseOrderId }: SubjectKey,
  { source, id }: EventKey,
  { commands, inbound }: Extract<EventPlan, { readonly ok: true }>,
): Promise<readonly string[]> => {
  if (inbound !== undefined) await storeInboundShipment(tx, sellerId, inbound)
  return insertCommands(tx, { sellerId, purchaseOrderId, event: { source, id }, commands })
}

/** What became of a waiting event. */
export type Decided = { readonly fromInbox: boolean } & (
  | { readonly state: 'accepted'; readonly commands: readonly string[] }
  | { readonly state: 'rejected' }
)

/** Tells of rows of the SQL inbox that have been decided, and answers the commands that are due; after the commit. */
export const afterDecisions = ({ onInbox }: Pick<AcceptParts, 'onInbox'>, decided: readonly Decided[]): readonly string[] =>
  decided.flatMap((one) => {
    const accepted = one.state === 'accepted'
    if (one.fromInbox) onInbox?.(accepted ? 'accepted' : 'refused')
    return accepted ? one.commands : []
  })

/**
 * Decides the events that wait for a locked subject, in order of arrival. Each transaction that accepts an event about the subject does
 * this first, so that commands are in the order of their events. `known` is the event that was read before the lock was acquired.
 */
export const decideReceived = async (
  tx: Transaction,
  planned: PlannedSubject,
  waiting: readonly StoredEvent[],
  parts: Pick<AcceptParts, 'sellers' | 'only'>,
  known?: StoredEvent,
): Promise<readonly Decided[]> => {
  const decided: Decided[] = []
  // Nothing changes what an event says, so the one that was read before the lock is not read again.
  const events = waiting.map((event) => (event.sequence === known?.sequence && event.dataRemovedAt === null ? known : event))
  for (const { event, plan } of await planWaiting(tx, planned, events, parts)) {
    if (!plan.ok) {
      await rejectReceived(tx, event, { ...planned.key, problem: eventProblem(plan.faults) })
      decided.push({ fromInbox: isFromInbox(event), state: 'rejected' })
      continue
    }
    await settleEvent(tx, event, { bodyHash: storedHash(event), sellerId: planned.key.sellerId, problem: null })
    const commands = await storePlan(tx, planned.key, event, plan)
    decided.push({ fromInbox: isFromInbox(event), state: 'accepted', commands })
  }
  return decided
}

/** What the events that wait for a subject come to on it, in the order in which they came; nothing is written. */
export const planWaiting = async (
  sql: SqlRunner,
  subject: PlannedSubject,
  waiting: readonly StoredEvent[],
  parts: Pick<AcceptParts, 'sellers' | 'only'>,
): Promise<readonly { readonly event: StoredEvent; readonly plan: EventPlan }[]> => {
  if (waiting.length === 0) return []
  const events = waiting.map((event) => ({ event, read: readEvent(event) }))
  const only = await onlySeller(
    parts,
    sql,
    events.map(({ event, read }) => ({ address: read.address, sellerId: event.sellerId })),
  )
  const planned: { readonly event: StoredEvent; readonly plan: EventPlan }[] = []
  for (const { event, read } of events) {
    // What cannot be decided at all is ended by its own job.
    if (undecidableFaults(event, read).length > 0) continue
    const addressed = await addressStoredEvent(sql, { address: read.address, sellerId: event.sellerId }, parts.sellers, only)
    if (!addressed.ok || !sameSubject(addressed.key, subject.key)) continue
    planned.push({ event, plan: planOrFault(subject, read) })
  }
  return planned
}

/** Planning works out of what is known alone: what throws once throws each time, and must not stand before the events behind it for ever. */
const planOrFault = (locked: PlannedSubject, event: ReadEvent): EventPlan => {
  try {
    return locked.plan(event)
  } catch (error) {
    const message = `cannot be worked out: ${errorMessage(error)}`
    return { ok: false, faults: [{ path: 'data', message }] }
  }
}

/** Whether two keys identify the same subject. */
const sameSubject = (a: SubjectKey, b: SubjectKey): boolean =>
  a.sellerId === b.sellerId && a.purchaseOrderId === b.purchaseOrderId

/** Every fault of an event, with those that only show against what it is about, as far as that is stored; for an event that is wrong anyway. */
export const allFaults = async (parts: RuleParts, event: ReadEvent, addressed: Addressed): Promise<readonly EventFault[]> => {
  if (!addressed.ok) {
    const { missing } = addressed
    return [
      ...eventFaults(event, missing === undefined ? commonRules(parts) : findRules(parts, missing.sellerId)),
      ...addressed.faults,
    ]
  }
  const rules = findRules(parts, addressed.key.sellerId)
  const subject = await readForPlanning(parts.database, addressed.key, rules)
  const plan = subject?.plan(event)
  return plan === undefined || plan.ok ? eventFaults(event, rules) : plan.faults
}
