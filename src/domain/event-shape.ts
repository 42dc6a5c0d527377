import { Decimal } from 'decimal.js'
import { z } from 'zod'
import { publishedSpelling } from './carriers.ts'
import { maxTrackingNumberLength } from './event-bounds.ts'
import type { DecimalText } from './order.ts'
import { settingsFaults, shippingSettingsSchema } from './shipping-settings.ts'

const orderEventTypes = ['erp.order.accepted', 'erp.shipment.dispatched', 'erp.lines.unfulfillable', 'erp.credit.issued'] as const

/** The event type that concerns the seller's shipping settings. */
export const settingsEventType = 'erp.shipping-settings.defined'

/** Every event type (contract, "ERP events"). */
const erpEventTypes: readonly string[] = [...orderEventTypes, settingsEventType]

/** Where an event can stand: stored and waiting to be decided, turned into commands, or refused with a problem. */
export const eventStates = ['received', 'accepted', 'rejected'] as const

/** See {@link eventStates}. */
export type EventState = (typeof eventStates)[number]

/** An event type that concerns an order. */
export type OrderEventType = (typeof orderEventTypes)[number]

/** Cancel reasons that the marketplace takes (public facts 3.3). */
export const cancelReasons: readonly string[] = [
  'CUSTOMER_REQUESTED_SELLER_TO_CANCEL',
  'SELLER_CANCEL_PRICING_ERROR',
  'SELLER_CANCEL_OUT_OF_STOCK',
  'SELLER_CANCEL_FRAUD_STOP_SHIPMENT',
  'SELLER_CANCEL_ADDRESS_NOT_SERVICEABLE',
]

/** Refund reasons that the marketplace takes (public facts 3.4). */
export const refundReasons: readonly string[] = [
  'BillingError',
  'TaxExemptCustomer',
  'ItemNotAsAdvertised',
  'IncorrectItemReceived',
  'CancelledYetShipped',
  'ItemNotReceivedByCustomer',
  'IncorrectShippingPrice',
  'DamagedItem',
  'DefectiveItem',
  'CustomerChangedMind',
  'CustomerReceivedItemLate',
  'Missing Parts / Instructions',
  'Finance -> Goodwill',
  'Finance -> Rollback',
  'Buyer canceled',
  'Customer returned item',
  'General adjustment',
  'Merchandise not received',
  'Quality -> Missing Parts / Instructions',
  'Shipping & Delivery -> Damaged',
  'Shipping & Delivery -> Shipping Price Discrepancy',
  'Others',
]

/** One thing that is wrong with an event; the path starts at the event, such as `data.lines[0].quantity`. */
export interface EventFault {
  readonly path: string
  readonly message: string
}

/** What an event is checked against beside its order; what is left out is not looked at. */
export interface EventOptions {
  /** Passes on reasons that are not in the published lists. Off: they are faults, since the marketplace would refuse the whole request. */
  readonly openReasons?: boolean
  /** The marketplace's time for the seller: nothing can have been shipped later than now. */
  readonly now?: Date
  /** Carriers that the seller's marketplace knows by name; null: it publishes no list. */
  readonly carriers?: ReadonlySet<string> | null
}

/** An event about shipping settings whose shape is right. */
export interface SettingsEvent {
  readonly type: typeof settingsEventType
  readonly data: z.infer<typeof settingsDefinedSchema>
}

/** An event about an order whose shape is right; whether it fits the order is another question. */
export type OrderEvent =
  | { readonly type: 'erp.order.accepted'; readonly data: z.infer<typeof acceptedSchema> }
  | { readonly type: 'erp.shipment.dispatched'; readonly data: z.infer<typeof dispatchedSchema> }
  | { readonly type: 'erp.lines.unfulfillable'; readonly data: z.infer<typeof unfulfillableSchema> }
  | { readonly type: 'erp.credit.issued'; readonly data: z.infer<typeof creditSchema> }

/** What an event is about, read even from an event that has other faults. */
export interface EventAddress {
  readonly sellerId: string | null
  /** Null: it is about the seller's shipping settings. */
  readonly purchaseOrderId: string | null
}

const text = z.string().trim().min(1, 'must not be empty')
const quantitySchema = z.int('must be a whole number of units').positive('must be at least 1')

/** A line by its number (an ERP may hold it as a number) or by the seller's stock key; {@link entryFaults} checks that it is one of the two. */
const lineRefShape = {
  lineNumber: z
    .union([text, z.int().nonnegative().transform(String)], 'must be the line number, as text or as a whole number')
    .nullish(),
  sku: text.nullish(),
  quantity: quantitySchema,
}

/** An entry that names a line and its units. */
export const lineRefSchema = z.object(lineRefShape)
const cancelLineSchema = z.object({ ...lineRefShape, reason: text })
/** An entry of a credit. */
export const creditLineSchema = z.object({
  ...lineRefShape,
  reason: text,
  /** Without tax; given back on the product charge. */
  amount: z
    .union(
      [z.string().regex(/^\d{1,15}(\.\d{1,6})?$/), z.number().nonnegative().max(1e15).transform(plainDecimal)],
      'must be a positive decimal, as text ("12.30") or as a number',
    )
    .nullish(),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/, 'must be a currency code such as USD')
    .nullish(),
})

const earliestShipmentMs = Date.UTC(2000, 0, 1)
/** From here on an ISO text has more than four digits of the year, which not everything reads back. */
const latestShipmentMs = Date.UTC(9999, 11, 31)
/** Clocks differ; a shipment so much ahead of the marketplace's is taken as one of now. */
const aheadMs = 10 * 60_000

const shippedAtSchema = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 date and time with its offset, such as 2026-03-01T09:30:00Z' })
  .transform((shippedAt, context) => {
    const moment = new Date(shippedAt)
    if (moment.getTime() >= earliestShipmentMs && moment.getTime() < latestShipmentMs) return moment.toISOString()
    context.addIssue({ code: 'custom', message: 'must lie after the year 1999 and before the end of the year 9999' })
    return z.NEVER
  })
const trackingUrlSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).nullish()

const parcelSchema = z.object({
  carrier: text,
  trackingNumber: z
    .string()
    .regex(/^\S+$/, 'must not be empty and must not contain white space')
    .max(maxTrackingNumberLength, `must not be longer than ${maxTrackingNumberLength} characters`),
  trackingUrl: trackingUrlSchema,
  method: text.nullish(),
  shippedAt: shippedAtSchema,
  lines: z
    .array(
      z.object({
        ...lineRefShape,
        /** Ships units of a line although its buyer has asked to cancel it (public facts 3.2). */
        intentToCancelOverride: z.boolean('must be true or false').nullish(),
      }),
    )
    .min(1, 'must hold at least one line'),
})

const addressShape = {
  sellerId: text.nullish(),
  purchaseOrderId: z.union([text, z.int().positive().transform(String)], 'must be the purchase order id'),
}

/** `data` of `erp.order.accepted`. */
export const acceptedSchema = z.object(addressShape)
/** `data` of `erp.shipment.dispatched`. */
export const dispatchedSchema = z.object({
  ...addressShape,
  parcels: z.array(parcelSchema).min(1, 'must hold at least one parcel'),
})
/** `data` of `erp.lines.unfulfillable`. */
export const unfulfillableSchema = z.object({
  ...addressShape,
  lines: z.array(cancelLineSchema).min(1, 'must hold at least one line'),
})
/** `data` of `erp.credit.issued`. */
export const creditSchema = z.object({ ...addressShape, lines: z.array(creditLineSchema).min(1, 'must hold at least one line') })
/** `data` of `erp.shipping-settings.defined`. */
export const settingsDefinedSchema = z.object({ sellerId: text.nullish(), simplifiedShippingSettings: shippingSettingsSchema })

/**
 * Reads what an event is about, whatever else may be wrong with it.
 *
 * @returns null when the type is unknown, no purchase order is named, or the seller cannot be read; {@link checkEvent} then says why.
 */
export function addressOf(event: RawEvent): EventAddress | null {
  if (event.type === settingsEventType) {
    const named = z.object({ sellerId: text.nullish() }).safeParse(event.data)
    return named.success ? { sellerId: named.data.sellerId ?? null, purchaseOrderId: null } : null
  }
  if (!isOrderEventType(event.type)) return null
  const read = acceptedSchema.safeParse(event.data)
  return read.success ? { sellerId: read.data.sellerId ?? null, purchaseOrderId: read.data.purchaseOrderId } : null
}

/** Every fault of an event that can be seen without what it is about; empty when it is right by itself. */
export function checkEvent(event: RawEvent, options: EventOptions = {}): EventFault[] {
  const read = readEvent(event)
  return [...(read.ok ? [] : read.faults), ...entryFaults(event, options), ...parcelFaults(event, options)]
}

/** Whether events of this type concern an order. */
export function isOrderEventType(type: string): type is OrderEventType {
  return orderEventTypes.some((known) => known === type)
}

/** An event as it came. */
export type RawEvent = { readonly type: string; readonly data: unknown }

/** An event that could be read, or every fault of it. */
type ReadResult<Event> = { ok: true; event: Event } | { ok: false; faults: EventFault[] }

/** Reads an event of any type. */
function readEvent(event: RawEvent): ReadResult<OrderEvent | SettingsEvent> {
  return event.type === settingsEventType ? readSettingsEvent(event) : readOrderEvent(event)
}

/** Reads an event about shipping settings, or says every fault of it: of its shape, and what the marketplace is known to refuse. */
export function readSettingsEvent({ data }: RawEvent): ReadResult<SettingsEvent> {
  const result = read(settingsDefinedSchema, data, (parsed): SettingsEvent => ({ type: settingsEventType, data: parsed }))
  const settings = isRecord(data) ? data['simplifiedShippingSettings'] : undefined
  const refused = settingsFaults(settings, 'data.simplifiedShippingSettings')
  if (refused.length === 0) return result
  // A refusal says in its own words what is wrong with the shape there.
  const under = (path: string): boolean => refused.some((fault) => path === fault.path || path.startsWith(`${fault.path}.`))
  return { ok: false, faults: [...(result.ok ? [] : result.faults.filter(({ path }) => !under(path))), ...refused] }
}

/** Reads an event about an order, or says every fault of its shape. */
export function readOrderEvent(event: RawEvent): ReadResult<OrderEvent> {
  const { type, data } = event
  switch (type) {
    case 'erp.order.accepted':
      return read(acceptedSchema, data, (parsed) => ({ type, data: parsed }))
    case 'erp.shipment.dispatched':
      return read(dispatchedSchema, data, (parsed) => ({ type, data: parsed }))
    case 'erp.lines.unfulfillable':
      return read(unfulfillableSchema, data, (parsed) => ({ type, data: parsed }))
    case 'erp.credit.issued':
      return read(creditSchema, data, (parsed) => ({ type, data: parsed }))
    default:
      return { ok: false, faults: [{ path: 'type', message: `must be one of ${erpEventTypes.join(', ')}` }] }
  }
}

function read<Data, Event>(schema: z.ZodType<Data>, data: unknown, wrap: (data: Data) => Event): ReadResult<Event> {
  const result = schema.safeParse(data)
  if (result.success) return { ok: true, event: wrap(result.data) }
  const faults = result.error.issues.map((issue) => ({
    path: pathOf(issue.path),
    message: valueAt(data, issue.path) === undefined ? 'is missing' : issue.message,
  }))
  return { ok: false, faults }
}

/** Faults of single entries beyond their shape: which line is meant, and the reason. */
export function entryFaults(event: RawEvent, options: EventOptions): EventFault[] {
  const faults: EventFault[] = []
  const named = new Set<string>()
  const reasons = event.type === 'erp.lines.unfulfillable' ? cancelReasons : refundReasons
  for (const [path, raw] of rawEntries(event)) {
    const names = (['lineNumber', 'sku'] as const).filter((name) => (raw[name] ?? null) !== null)
    if (names.length !== 1) {
      faults.push({
        path,
        message: `must name the line by either lineNumber or sku, ${names.length === 0 ? 'not by neither' : 'not by both'}`,
      })
    }
    const [name] = names
    if (event.type === 'erp.shipment.dispatched') {
      const parcel = path.slice(0, path.lastIndexOf('.'))
      const key = name === undefined ? null : `${parcel} ${name} ${String(raw[name]).trim()}`
      if (key !== null && names.length === 1 && named.has(key)) {
        faults.push({ path: `${path}.${name}`, message: 'stands in this parcel already; state the whole quantity once' })
      }
      if (key !== null) named.add(key)
      continue
    }
    const { reason } = raw
    if (typeof reason === 'string' && reason.trim() !== '' && !options.openReasons && !reasons.includes(reason.trim())) {
      faults.push({ path: `${path}.reason`, message: `must be one of ${reasons.join(', ')}` })
    }
  }
  return faults
}

/** Faults of single parcels beyond their shape: a shipment in the future, and a carrier that goes by no name (public facts 3.2). */
export function parcelFaults(event: RawEvent, { now, carriers }: EventOptions): EventFault[] {
  if (event.type !== 'erp.shipment.dispatched') return []
  return listOf(event.data, 'parcels', 'data').flatMap(([path, parcel]) => {
    const faults: EventFault[] = []
    const shippedAt = shippedAtSchema.safeParse(parcel['shippedAt'])
    if (now !== undefined && shippedAt.success && Date.parse(shippedAt.data) > now.getTime() + aheadMs) {
      const message = `is ${shippedAt.data}, which lies in the future: it is ${now.toISOString()} at the marketplace`
      faults.push({ path: `${path}.shippedAt`, message })
    }
    const carrier = text.safeParse(parcel['carrier'])
    const unknown = carriers != null && carrier.success && publishedSpelling(carriers, carrier.data) === null
    if (unknown && (parcel['trackingUrl'] ?? null) === null) {
      const message = `is missing; it is needed because ${carrier.data} is no carrier that the marketplace knows by name`
      faults.push({ path: `${path}.trackingUrl`, message })
    }
    return faults
  })
}

/** Every line entry of an event with its path, as far as there are any. */
export function rawEntries(event: RawEvent): [path: string, entry: Record<string, unknown>][] {
  if (event.type === settingsEventType) return []
  if (event.type !== 'erp.shipment.dispatched') return listOf(event.data, 'lines', 'data')
  return listOf(event.data, 'parcels', 'data').flatMap(([path, parcel]) => listOf(parcel, 'lines', path))
}

/** The members of a list that are objects, each with its path. */
function listOf(holder: unknown, key: string, path: string): [path: string, entry: Record<string, unknown>][] {
  const list = isRecord(holder) ? holder[key] : undefined
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown, index): [string, Record<string, unknown>][] =>
    isRecord(entry) ? [[`${path}.${key}[${index}]`, entry]] : [],
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  let value = data
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.reduce<string>((all, key) => (typeof key === 'number' ? `${all}[${key}]` : `${all}.${String(key)}`), 'data')
}

/** `1e-7` and the like written out. */
function plainDecimal(value: number): DecimalText {
  return new Decimal(value).toFixed()
}
