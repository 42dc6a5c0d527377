import { createHash } from 'node:crypto'
import type {
  MarketplaceNotification,
  NotifiedRecord,
  NotifiedResource,
  ShipmentHoldReason,
} from '../../domain/sync/notification.ts'
import { noOrderId, unstorable } from '../../domain/values/text.ts'
import { isObject } from '../../domain/values/values.ts'
import { type WireNotification, wireNotification } from '../contract/notifications.ts'

/** The id of a record fits into an index, and so does the id of an event. */
const maxIdLength = 100
/** A notification names few records; more are left to the polls. */
const maxRecords = 100

/** Result of reading a notification. `unreadable`: its type is known, but it names no record. `other`: nothing is read for its type. */
export type ReadNotification =
  | { readonly kind: 'known'; readonly notification: MarketplaceNotification }
  | { readonly kind: 'unreadable' | 'other'; readonly eventType: string }
  | { readonly kind: 'malformed' }

/** Order events of {@link orderUpdates}, which are also sent as single events until 2026-12-15 (public facts, section 15). */
const orderEvents: Readonly<Record<string, ShipmentHoldReason | null>> = {
  PO_CREATED: null,
  PO_LINE_AUTOCANCELLED: null,
  INTENT_TO_CANCEL: 'intent-to-cancel',
  FRAUD_CANCEL: 'fraud-cancel',
}
const orderUpdates = 'ORDER_UPDATES'
const reportStatus = 'REPORT_STATUS'
const returnPrefix = 'RETURN_'

type Id = string | number | null | undefined

/** An id of a record; null: it cannot be one. A number beyond the exact ones is another id. */
const readId = (id: Id): string | null => {
  if (id === null || id === undefined || (typeof id === 'number' && !Number.isSafeInteger(id))) return null
  const text = String(id).trim()
  if (text === '' || text.length > maxIdLength || unstorable(text) !== null || noOrderId(text) !== null) return null
  return text
}

const listRecords = (resource: NotifiedResource, ids: readonly Id[]): readonly NotifiedRecord[] =>
  [...new Set(ids.flatMap((id) => readId(id) ?? []))].slice(0, maxRecords).map((recordId) => ({ resource, recordId }))

type Payload = NonNullable<WireNotification['payload']>

/** What a notification of this type makes be read; null: nothing. */
const classify = (
  eventType: string,
  payload: Payload | null,
): Pick<MarketplaceNotification, 'eventType' | 'records' | 'hold'> | null => {
  if (eventType === orderUpdates || Object.hasOwn(orderEvents, eventType)) {
    const named = eventType === orderUpdates ? (payload?.subEventType ?? '') : eventType
    const isKnown = Object.hasOwn(orderEvents, named)
    // An order event that is not known yet is a change of the order as well.
    const records = listRecords('orders', [payload?.order?.purchaseOrderId ?? payload?.purchaseOrderId])
    return { eventType: isKnown ? named : eventType, records, hold: isKnown ? (orderEvents[named] ?? null) : null }
  }
  if (eventType.startsWith(returnPrefix)) {
    const ids = [...(payload?.returnOrders ?? []).map(({ returnOrderId }) => returnOrderId), payload?.returnOrderId]
    return { eventType, records: listRecords('returns', ids), hold: null }
  }
  if (eventType === reportStatus) return { eventType, records: listRecords('reconciliation', [payload?.requestId]), hold: null }
  return null
}

/** Reads a notification. `body`: its bytes as received. */
export const readNotification = (body: Uint8Array): ReadNotification => {
  const parsed = wireNotification.safeParse(parseJson(body))
  if (!parsed.success) return { kind: 'malformed' }
  const { source, payload } = parsed.data
  const eventType = source.eventType.slice(0, maxIdLength)
  const known = classify(eventType, payload ?? null)
  if (known === null) return { kind: 'other', eventType }
  if (known.records.length === 0) return { kind: 'unreadable', eventType }
  // Without a usable id, only a delivery of the same bytes counts as a repeated one.
  const eventId = readId(source.eventId) ?? `sha256:${createHash('sha256').update(body).digest('base64url')}`
  return { kind: 'known', notification: { ...known, eventId } }
}

/** The JSON of a body; null: it is none. */
const parseJson = (body: Uint8Array): object | null => {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}
