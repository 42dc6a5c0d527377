import { toUtcDay } from '../values/calendar.ts'
import { noOrderId, unstorable } from '../values/text.ts'

/** The sources that name orders by id, besides the lists of orders. */
export const namingSources = ['returns', 'inventory-log', 'settlements', 'events', 'notifications'] as const
/** One of {@link namingSources}. */
export type NamingSource = (typeof namingSources)[number]

/** An order that a record names. */
export interface NamedOrder {
  /** Null and empty: the record names none. */
  readonly purchaseOrderId: string | null
  /** The time of the record; its day is shown. */
  readonly at: Date
}

/** A named order with a checked id. */
export interface CheckedName {
  readonly purchaseOrderId: string
  /** `YYYY-MM-DD`, UTC. */
  readonly day: string
  /** Why it is never requested; null: it is requested. */
  readonly fault: string | null
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** The marketplace provides orders of this number of days (public facts 2.4): orders that older records name are not requested. */
export const orderReachDays = 180
/** Maximum length of the id of an order. */
export const maxOrderIdLength = 100
/** The reason of an order with a malformed id. */
export const malformedReason = 'this is not the id of a purchase order'
/** The reason of an order that the marketplace has repeatedly denied. */
export const unknownReason = 'the marketplace does not know this order'
/** The answer to a request: the marketplace has no such order. */
export const deniedAnswer = 'none'
/** The reason of an order that only old records name. */
export const oldReason = `it was named more than ${orderReachDays} days ago, and the marketplace no longer provides such orders`
/** The answer to a request: it is stored. */
export const storedAnswer = 'stored'

/**
 * Time until an order is requested after it was named, in milliseconds. Lists show most orders in the meantime; an event and a notification have their order
 * fetched at once by jobs of their own.
 */
export const requestDelayMs = 10_000

/** The orders that records name, each once, sorted by id, with the earliest day. Left out: texts that are too long, or cannot be stored. */
export const listNamedOrders = (orders: readonly NamedOrder[]): readonly CheckedName[] => {
  const times = new Map<string, number>()
  for (const { purchaseOrderId, at } of orders) {
    const atMs = at.getTime()
    if (purchaseOrderId === null || purchaseOrderId === '' || purchaseOrderId.length > maxOrderIdLength) continue
    if (unstorable(purchaseOrderId) !== null) continue
    times.set(purchaseOrderId, Math.min(times.get(purchaseOrderId) ?? atMs, atMs))
  }
  return [...times]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([purchaseOrderId, atMs]) => ({
      purchaseOrderId,
      day: toUtcDay(new Date(atMs)),
      fault: noOrderId(purchaseOrderId) === null ? null : malformedReason,
    }))
}

/** The ids of orders among shipment ids of the inventory log. Other shipments have ids of another form. */
export const shipmentOrderId = /^[0-9]{9,20}$/

/** The order that an entry of the inventory log names: units left for it. Null: none. */
export const findOrderOfEntry = ({
  changedUnits,
  shipmentId,
}: {
  readonly changedUnits: number
  readonly shipmentId: string | null
}): string | null => (changedUnits < 0 && shipmentId !== null && shipmentOrderId.test(shipmentId) ? shipmentId : null)

/** Delays after the first answers, in milliseconds. After five denials within 45 minutes an order is explained. */
const firstDelaysMs = [minuteMs, 4 * minuteMs, 10 * minuteMs, 30 * minuteMs]
const maxDelayMs = 7 * dayMs

/** What a request by id means for a named order. */
export interface NamedVerdict {
  /** Its state if it is not stored. */
  readonly state: 'missing' | 'explained'
  readonly answer: string
  /** It is requested again after this number of milliseconds. */
  readonly delayMs: number
}

/**
 * Judges the answer of the `asks`th request. A denial counts as an explanation when it is repeated; the order is requested again even then, at growing
 * intervals up to a week. An order that cannot be read stays missing.
 */
export const judgeAnswer = (answer: string, asks: number): NamedVerdict => {
  const explained = answer === deniedAnswer && asks > firstDelaysMs.length
  const doublings = Math.min(asks - firstDelaysMs.length - 1, 10)
  return {
    state: explained ? 'explained' : 'missing',
    answer: explained ? unknownReason : answer,
    delayMs: firstDelaysMs[asks - 1] ?? Math.min(maxDelayMs, hourMs * 2 ** doublings),
  }
}
