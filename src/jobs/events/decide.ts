import type { CommandContent } from '../../domain/command.ts'
import { maxIdLength } from '../../domain/event-bounds.ts'
import { eventFaults, type ReadEvent, readEvent } from '../../domain/event-reading.ts'
import type { EventFault } from '../../domain/event-shape.ts'
import { planCommands, planSettings } from '../../domain/events.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { noOrderId } from '../../domain/text.ts'
import { cancelsWholly, ledgersOf } from '../../domain/units.ts'
import { messageOf } from '../../message-of.ts'
import { readOrderWork } from '../../store/command-ledgers.ts'
import { isAcknowledging } from '../../store/command-queries.ts'
import { insertNewCommands } from '../../store/command-steps.ts'
import type { DueCommand } from '../../store/commands.ts'
import type { SqlRunner, Transaction } from '../../store/database.ts'
import { type EventKey, lockReceivedEvents, type StoredEvent, settleEvent } from '../../store/events.ts'
import type { OrderKey } from '../../store/order-queries.ts'
import { lockOrder } from '../../store/orders.ts'
import { lockShippingSettings, readShippingSettings } from '../../store/shipping-settings.ts'
import { readOrder } from '../../store/stored-orders.ts'
import { atOnce } from '../../store/together.ts'
import type { OnlySeller } from '../serving.ts'
import { isFromInbox, storedHash } from './body-hash.ts'
import type { EventSellers } from './fetch-order.ts'
import { type AcceptParts, type Addressable, commonRules, type EventRules, onlySeller, type RuleParts, rulesOf } from './parts.ts'
import { eventProblem, rejectReceived } from './reject.ts'
import { undecidableFaults } from './storable.ts'

/** The shipping settings of a seller. */
interface SettingsKey {
  readonly sellerId: string
  readonly purchaseOrderId: null
}

/** The subject of an event. */
export type SubjectKey = OrderKey | SettingsKey

/** Whether the subject is an order, which may have to be fetched. */
export const isOrder = (key: SubjectKey): key is OrderKey => key.purchaseOrderId !== null

/** The subject of an event, or why it cannot be determined. */
export type Addressed =
  | { readonly ok: true; readonly key: SubjectKey }
  | {
      readonly ok: false
      readonly faults: readonly EventFault[]
      /** The seller whom this process does not serve, where that is all that is wrong; null: it is wrong wherever it is looked at. */
      readonly unserved: string | null
      /** Why it cannot be told yet whose it is, where that is all that is wrong; null: it can. */
      readonly unsure: string | null
    }

/**
 * Finds what an event is about; a seller that is not named is the one that was fixed when it was taken, or the only one that any process
 * serves (`onlySeller`).
 */
export const addressEvent = ({ address, sellerId: fixed }: Addressable, sellers: EventSellers, only: OnlySeller): Addressed => {
  // Without an address the shape is at fault, and whoever checks the shape says how.
  if (address === null) return { ok: false, faults: [], unserved: null, unsure: null }
  const faults: EventFault[] = []
  for (const name of ['purchaseOrderId', 'sellerId'] as const) {
    if ((address[name]?.length ?? 0) > maxIdLength)
      faults.push({ path: `data.${name}`, message: `is longer than ${maxIdLength} characters` })
  }
  const noId = address.purchaseOrderId === null ? null : noOrderId(address.purchaseOrderId)
  if (noId !== null) faults.push({ path: 'data.purchaseOrderId', message: noId })
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

/** The fault of an event whose order the marketplace does not know. */
export const unknownOrderFault = (key: OrderKey): EventFault => ({
  path: 'data.purchaseOrderId',
  message: `is ${key.purchaseOrderId}, which the marketplace does not know as an order of seller ${key.sellerId}`,
})

/** Result of an event: commands, or all its faults. */
export type EventPlan =
  | { readonly ok: true; readonly commands: readonly CommandContent[] }
  | { readonly ok: false; readonly faults: readonly EventFault[] }

/** A subject as it stands, locked or not. */
export interface PlannedSubject {
  readonly key: SubjectKey
  /** The stored order; null: the subject is the seller's shipping settings. */
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
  const [planned, waiting] = await atOnce(
    tx,
    () => lockSubject(tx, key, rules),
    () => lockReceivedEvents(tx, key.purchaseOrderId),
  )
  return { planned, waiting }
}

const lockSubject = async (tx: Transaction, key: SubjectKey, rules: EventRules): Promise<PlannedSubject | null> => {
  if (isOrder(key))
    return planOnOrder(tx, key, async () => (await lockOrder(tx, key.sellerId, key.purchaseOrderId))?.value ?? null, rules)
  await lockShippingSettings(tx, key.sellerId)
  return planOnSettings(tx, key, rules)
}

/** Reads the subject without locking it, for what decides nothing; null when it is an order that is not stored. */
export const readForPlanning = async (sql: SqlRunner, key: SubjectKey, rules: EventRules): Promise<PlannedSubject | null> =>
  isOrder(key)
    ? planOnOrder(sql, key, () => readOrder(sql, key.sellerId, key.purchaseOrderId), rules)
    : planOnSettings(sql, key, rules)

const planOnSettings = async (sql: SqlRunner, key: SettingsKey, rules: EventRules): Promise<PlannedSubject> => {
  const existing = await readShippingSettings(sql, key.sellerId)
  return {
    key,
    order: null,
    acknowledging: false,
    cancelling: false,
    plan: (event) => {
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
  const [order, [work, isAcknowledged]] = await atOnce(sql, read, () =>
    atOnce(
      sql,
      () => readOrderWork(sql, sellerId, purchaseOrderId),
      () => isAcknowledging(sql, sellerId, purchaseOrderId),
    ),
  )
  if (order === null) return null
  let ledgers: Parameters<typeof planCommands>[2] = ledgersOf(order, work.ledgerCommands)
  let acknowledging = isAcknowledged
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
      const plan = planCommands(event, order, ledgers, { ...rules, acknowledging })
      if (plan.ok) {
        ledgers = plan.ledgers
        acknowledging ||= plan.commands.some(({ kind }) => kind === 'acknowledge')
      }
      return plan
    },
  }
}

/** Stores the commands of an event that is stored already; they are due once that is committed. */
export const storeCommands = async (
  tx: Transaction,
  { sellerId, purchaseOrderId }: SubjectKey,
  { source, id }: EventKey,
  commands: readonly CommandContent[],
): Promise<readonly DueCommand[]> => {
  const stored = await insertNewCommands(tx, { sellerId, purchaseOrderId, event: { source, id }, commands })
  return stored.map((command) => ({ ...command, sellerId }))
}

/** What became of a waiting event. */
export type Decided = { readonly fromInbox: boolean } & (
  | { readonly state: 'accepted'; readonly commands: readonly DueCommand[] }
  | { readonly state: 'rejected' }
)

/** Tells of rows of the SQL inbox that have been decided, and answers the commands that are due; after the commit. */
export const afterDecisions = ({ onInbox }: Pick<AcceptParts, 'onInbox'>, decided: readonly Decided[]): readonly DueCommand[] =>
  decided.flatMap((one) => {
    const accepted = one.state === 'accepted'
    if (one.fromInbox) onInbox?.(accepted ? 'accepted' : 'refused')
    return accepted ? one.commands : []
  })

/**
 * Decides the events that wait for a locked subject, in the order in which they came. Whoever accepts an event about it does
 * this first, so that commands follow their events. `known` is the one that was read before the lock was taken.
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
    const commands = await storeCommands(tx, planned.key, event, plan.commands)
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
  return events.flatMap(({ event, read }) => {
    // What cannot be decided at all is ended by its own job.
    if (undecidableFaults(event, read).length > 0) return []
    const addressed = addressEvent({ address: read.address, sellerId: event.sellerId }, parts.sellers, only)
    if (!addressed.ok || !sameSubject(addressed.key, subject.key)) return []
    return [{ event, plan: planOrFault(subject, read) }]
  })
}

/** Planning works out of what is known alone: what throws once throws each time, and must not stand before the events behind it for ever. */
const planOrFault = (locked: PlannedSubject, event: ReadEvent): EventPlan => {
  try {
    return locked.plan(event)
  } catch (error) {
    const message = `cannot be worked out: ${messageOf(error)}`
    return { ok: false, faults: [{ path: 'data', message }] }
  }
}

/** Whether two keys identify the same subject. */
const sameSubject = (a: SubjectKey, b: SubjectKey): boolean =>
  a.sellerId === b.sellerId && a.purchaseOrderId === b.purchaseOrderId

/** Every fault of an event, with those that only show against what it is about, as far as that is stored; for an event that is wrong anyway. */
export const allFaults = async (parts: RuleParts, event: ReadEvent, addressed: Addressed): Promise<readonly EventFault[]> => {
  if (!addressed.ok) return [...eventFaults(event, commonRules(parts)), ...addressed.faults]
  const rules = rulesOf(parts, addressed.key.sellerId)
  const subject = await readForPlanning(parts.database, addressed.key, rules)
  const plan = subject?.plan(event)
  return plan === undefined || plan.ok ? eventFaults(event, rules) : plan.faults
}
