import type { CommandContent } from '../../domain/command.ts'
import { addressOf, checkEvent, type EventFault } from '../../domain/event-shape.ts'
import { planCommands, planSettings } from '../../domain/events.ts'
import { raiseAlarm } from '../../store/alarms.ts'
import { isAcknowledging } from '../../store/command-queries.ts'
import { insertCommands, readLedgers } from '../../store/commands.ts'
import type { Transaction } from '../../store/database.ts'
import {
  type EventProblem,
  type IncomingEvent,
  lockReceivedEvents,
  maxPurchaseOrderIdLength,
  type StoredEvent,
  settleEvent,
} from '../../store/events.ts'
import { lockOrder, readOrder } from '../../store/orders.ts'
import { lockShippingSettings, readShippingSettings } from '../../store/shipping-settings.ts'
import { bodyHash } from './body-hash.ts'
import type { EventSellers, OrderKey } from './fetch-order.ts'
import { type AcceptParts, type EventRules, rulesOf } from './parts.ts'

/** The shipping settings of a seller. */
interface SettingsKey {
  readonly sellerId: string
  readonly purchaseOrderId: null
}

/** What an event is about. */
export type SubjectKey = OrderKey | SettingsKey

/** Whether the subject is an order, which may have to be fetched. */
export const isOrder = (key: SubjectKey): key is OrderKey => key.purchaseOrderId !== null

/** What an event is about, or why that cannot be told. */
export type Addressed =
  | { readonly ok: true; readonly key: SubjectKey }
  | { readonly ok: false; readonly faults: readonly EventFault[] }

/** Finds what an event is about; a seller that is not named is the only one there is. */
export const addressEvent = (event: IncomingEvent, sellers: EventSellers): Addressed => {
  const address = addressOf(event)
  // Without an address the shape is at fault, and whoever checks the shape says how.
  if (address === null) return { ok: false, faults: [] }
  const faults: EventFault[] = []
  if ((address.purchaseOrderId?.length ?? 0) > maxPurchaseOrderIdLength) {
    faults.push({ path: 'data.purchaseOrderId', message: `is longer than ${maxPurchaseOrderIdLength} characters` })
  }
  const sellerId = address.sellerId ?? sellers.only()
  if (sellerId === null) {
    faults.push({ path: 'data.sellerId', message: 'is missing; it is needed because this daemon serves several sellers' })
  } else if (!sellers.has(sellerId)) {
    faults.push({ path: 'data.sellerId', message: `is ${sellerId}, a seller that this daemon does not serve` })
  }
  if (sellerId === null || faults.length > 0) return { ok: false, faults }
  return { ok: true, key: { sellerId, purchaseOrderId: address.purchaseOrderId } }
}

/** The fault of an event whose order the marketplace does not know. */
export const unknownOrderFault = (key: OrderKey): EventFault => ({
  path: 'data.purchaseOrderId',
  message: `is ${key.purchaseOrderId}, which the marketplace does not know as an order of seller ${key.sellerId}`,
})

/** The problem that is kept with a rejected event and shown to whoever asks for it. */
export const eventProblem = (faults: readonly EventFault[]): EventProblem => ({
  type: 'urn:tallyman:problem:invalid-event',
  title: 'The event is wrong',
  status: 422,
  detail: faults.length === 1 ? 'One thing is wrong with the event.' : `${faults.length} things are wrong with the event.`,
  code: 'invalid-event',
  errors: faults,
})

/** What an event comes to: commands, or every fault. */
export type EventPlan =
  | { readonly ok: true; readonly commands: readonly CommandContent[] }
  | { readonly ok: false; readonly faults: readonly EventFault[] }

/** A subject that is locked. */
export interface LockedSubject {
  readonly key: SubjectKey
  /** What an event comes to on it; commands count from then on, such as their units for the events that follow. */
  plan(event: IncomingEvent): EventPlan
}

/** Locks the subject until the transaction ends; null when it is an order that is not stored. */
export const lockForPlanning = async (tx: Transaction, key: SubjectKey, rules: EventRules): Promise<LockedSubject | null> => {
  if (!isOrder(key)) {
    await lockShippingSettings(tx, key.sellerId)
    const existing = await readShippingSettings(tx, key.sellerId)
    return {
      key,
      plan: (event) => {
        const plan = planSettings(event, existing)
        return plan.ok ? { ok: true, commands: [plan.command] } : plan
      },
    }
  }
  const order = await lockOrder(tx, key.sellerId, key.purchaseOrderId)
  if (order === null) return null
  let ledgers: Parameters<typeof planCommands>[2] = await readLedgers(tx, key.sellerId, order)
  let acknowledging = await isAcknowledging(tx, key.sellerId, key.purchaseOrderId)
  return {
    key,
    plan: (event) => {
      const plan = planCommands(event, order, ledgers, { ...rules, acknowledging })
      if (plan.ok) {
        ledgers = plan.ledgers
        acknowledging ||= plan.commands.some(({ kind }) => kind === 'acknowledge')
      }
      return plan
    },
  }
}

/** Stores the commands of an event that is stored already. */
export const storeCommands = (
  tx: Transaction,
  { sellerId, purchaseOrderId }: SubjectKey,
  { source, id }: IncomingEvent,
  commands: readonly CommandContent[],
): Promise<string[]> => insertCommands(tx, { sellerId, purchaseOrderId, event: { source, id }, commands })

/** What became of a waiting event. */
export type Decided = { readonly state: 'accepted'; readonly commands: readonly string[] } | { readonly state: 'rejected' }

/** Refuses a waiting event for good: the reason is kept with it, told as a change, and raised as an alarm. */
export const rejectReceived = async (
  tx: Transaction,
  event: StoredEvent,
  key: { readonly sellerId: string; readonly purchaseOrderId: string | null },
  faults: readonly EventFault[],
): Promise<void> => {
  const problem = eventProblem(faults)
  const settled = await settleEvent(tx, event, { bodyHash: bodyHash(event), sellerId: key.sellerId, problem })
  if (!settled) return
  await raiseAlarm(
    tx,
    { sellerId: key.sellerId, kind: 'event-rejected', subject: `${event.source} ${event.id}` },
    `ERP event ${event.id} of ${event.source} was rejected after it had been taken: ${faults.map(({ path, message }) => `${path} ${message}`).join('; ')}; mend it and send it again under a new id`,
  )
  tx.tell({
    sellerId: key.sellerId,
    type: 'event.rejected',
    purchaseOrderId: key.purchaseOrderId ?? undefined,
    data: {
      source: event.source,
      id: event.id,
      type: event.type,
      errors: faults.map(({ path, message }) => ({ path, message })),
    },
  })
}

/** Seller of an event in changes and alarms, as well as it can be told: both need one even when the event names none that is known. */
export const sellerForTelling = (event: IncomingEvent, sellers: EventSellers): string =>
  addressOf(event)?.sellerId ?? sellers.only() ?? ''

/**
 * Decides the events that wait for a locked subject, in the order in which they came. Whoever accepts an event about it does
 * this first, so that commands follow their events.
 */
export const decideReceived = async (
  tx: Transaction,
  locked: LockedSubject,
  sellers: EventSellers,
): Promise<readonly Decided[]> => {
  const decided: Decided[] = []
  for (const event of await lockReceivedEvents(tx, locked.key.purchaseOrderId)) {
    const addressed = addressEvent(event, sellers)
    if (!addressed.ok || !sameSubject(addressed.key, locked.key)) continue
    const plan = locked.plan(event)
    if (!plan.ok) {
      await rejectReceived(tx, event, locked.key, plan.faults)
      decided.push({ state: 'rejected' })
      continue
    }
    await settleEvent(tx, event, { bodyHash: bodyHash(event), sellerId: locked.key.sellerId, problem: null })
    decided.push({ state: 'accepted', commands: await storeCommands(tx, locked.key, event, plan.commands) })
  }
  return decided
}

/** Whether two keys name one subject. */
const sameSubject = (a: SubjectKey, b: SubjectKey): boolean =>
  a.sellerId === b.sellerId && a.purchaseOrderId === b.purchaseOrderId

/** Every fault of an event, with those that only show against what it is about, as far as that is stored; for an event that is wrong anyway. */
export const allFaults = async (
  parts: Pick<AcceptParts, 'database' | 'rules'>,
  event: IncomingEvent,
  addressed: Addressed,
): Promise<readonly EventFault[]> => {
  if (!addressed.ok) return [...checkEvent(event), ...addressed.faults]
  const { key } = addressed
  const { database } = parts
  const rules = rulesOf(parts, key.sellerId)
  const shape = checkEvent(event, rules)
  if (!isOrder(key)) {
    const plan = planSettings(event, await readShippingSettings(database, key.sellerId))
    return plan.ok ? shape : plan.faults
  }
  const order = await readOrder(database, key.sellerId, key.purchaseOrderId)
  if (order === null) return shape
  const acknowledging = await isAcknowledging(database, key.sellerId, key.purchaseOrderId)
  const plan = planCommands(event, order, await readLedgers(database, key.sellerId, order), { ...rules, acknowledging })
  return plan.ok ? shape : plan.faults
}
