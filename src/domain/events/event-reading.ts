import type { z } from 'zod'
import { settingsFaults } from '../campaigns/shipping-settings.ts'
import { publishedSpelling } from '../orders/carriers.ts'
import { normalSku } from '../values/text.ts'
import { isObject } from '../values/values.ts'
import type { Vocabulary } from '../values/vocabulary.ts'
import { maxEntries } from './event-bounds.ts'
import { invisibleCharacterFaults, unknownMemberFaults } from './event-members.ts'
import {
  acceptedSchema,
  correctedSchema,
  creditLineSchema,
  creditSchema,
  dispatchedSchema,
  type EventAddress,
  type EventFault,
  erpEventTypes,
  type InboundEvent,
  inboundEventType,
  inboundShippedSchema,
  isOrderEventType,
  lineRefSchema,
  type OrderEvent,
  type RawEvent,
  type ReturnEvent,
  returnAddressSchema,
  returnEventType,
  returnLineSchema,
  returnRefundedSchema,
  type SettingsEvent,
  sellerEventTypes,
  settingsAddressSchema,
  settingsDefinedSchema,
  settingsEventType,
  shippedAtSchema,
  text,
  unfulfillableSchema,
} from './event-shape.ts'

/** An event whose shape is right. */
export type EventContent = OrderEvent | ReturnEvent | SettingsEvent | InboundEvent

/** A parsed event: all that is known of it without its order. Parsed once, and passed on. */
export interface ReadEvent extends RawEvent {
  /** Its subject, parsed even if other members are invalid; null: unknown type, no purchase order, or an unreadable seller. */
  readonly address: EventAddress | null
  /** Null: its shape is wrong, and `faults` say how. */
  readonly content: EventContent | null
  /** The parcels of a shipment that are objects, or the replacement of a correction. */
  readonly parcels: readonly ReadParcel[]
  /** The line entries that are objects. */
  readonly entries: readonly ReadEntry[]
  /** Every fault that it has by itself, wherever and whenever it is looked at, and in the words of whichever marketplace. */
  readonly faults: readonly EventFault[]
}

/** A parcel, as far as it can be read. */
export interface ReadParcel {
  readonly path: string
  readonly shippedAt: string | null
  readonly carrier: string | null
  readonly hasTrackingUrl: boolean
}

/** A line entry, as far as it can be read. */
export interface ReadEntry {
  readonly path: string
  /** The line and its units; null: that cannot be read. */
  readonly line: z.infer<typeof lineRefSchema> | null
  /** What a credit asks for; null: it is none, or cannot be read. */
  readonly credit: z.infer<typeof creditLineSchema> | null
  /** What an entry asks for units of a return; null: it is about none, or cannot be read. */
  readonly returned: z.infer<typeof returnLineSchema> | null
  readonly intentToCancelOverride: boolean
  /** Why, where the entry says so. */
  readonly reason: string | null
}

/** What an event is checked against beside its shape. */
export interface EventOptions {
  /** The words of the marketplace: its reasons and its carriers. */
  readonly vocabulary: Vocabulary
  /** The marketplace's time for the seller: nothing can have been shipped later than now. Left out, that is not looked at. */
  readonly now?: Date
}

type Members = Readonly<Record<string, unknown>>
type Placed = readonly [path: string, members: Members]

// The guard, the queue and the acceptance parse the same event: all get the first result.
const readings = new WeakMap<RawEvent, ReadEvent>()

/** Parses an event, valid or not; once for each event, which must not be changed afterwards. */
export const readEvent = (event: RawEvent): ReadEvent => {
  const known = readings.get(event)
  if (known !== undefined) return known
  const read = readAnew(event)
  readings.set(event, read)
  return read
}

const readAnew = ({ type, data }: RawEvent): ReadEvent => {
  const tooMany = tooManyEntries(type, data)
  if (tooMany !== null)
    return { type, data, address: addressIn(type, data), content: null, parcels: [], entries: [], faults: [tooMany] }
  const shape = readShape(type, data)
  const content = shape.ok ? shape.event : null
  const rawParcels = listRawParcels(type, data)
  const rawEntries = listRawEntries(type, data, rawParcels)
  const entries = content === null ? rawEntries.map(([path, raw]) => buildEntry(type, path, raw)) : buildEntries(content)
  return {
    type,
    data,
    address: content === null ? addressIn(type, data) : addressOfContent(content),
    content,
    parcels: content === null ? rawParcels.map(buildParcel) : buildParcels(content),
    entries,
    faults: [
      ...(shape.ok ? [] : shape.faults),
      ...unknownMemberFaults(type, data),
      ...invisibleCharacterFaults(data),
      ...entryFaults(type, rawEntries),
    ],
  }
}

/** Every fault of an event that can be seen without what it is about; empty when it is right by itself. */
export const eventFaults = (event: ReadEvent, options: EventOptions): EventFault[] => {
  if (event.type === settingsEventType) return faultsWithRefusals(event, options)
  if (event.type === returnEventType) return [...event.faults, ...returnFaults(options)]
  if (event.type === inboundEventType) return [...event.faults, ...inboundFaults(event, options)]
  return [...event.faults, ...reasonFaults(event, options), ...event.parcels.flatMap((parcel) => parcelFaults(parcel, options))]
}

/** Faults of an event about shipping settings, with what the marketplace is known to refuse: that says in its own words what is wrong there. */
const faultsWithRefusals = ({ data, faults }: ReadEvent, { vocabulary }: EventOptions): EventFault[] => {
  const settings = isObject(data) ? data['simplifiedShippingSettings'] : undefined
  const refused = settingsFaults(settings, 'data.simplifiedShippingSettings', vocabulary)
  const under = (path: string): boolean => refused.some((fault) => path === fault.path || path.startsWith(`${fault.path}.`))
  return [...faults.filter(({ path }) => !under(path)), ...refused]
}

/** Not every marketplace can refund through a return. */
const returnFaults = ({ vocabulary }: EventOptions): EventFault[] => {
  if (vocabulary.returns !== null) return []
  const message = 'this marketplace has no refund through a return: refund these units through their order, by erp.credit.issued'
  return [{ path: 'type', message }]
}

/** Reasons that the marketplace does not accept. */
const reasonFaults = ({ type, entries }: ReadEvent, { vocabulary }: EventOptions): EventFault[] => {
  if (type === 'erp.shipment.dispatched') return []
  const reasons = type === 'erp.lines.unfulfillable' ? vocabulary.cancelReasons : vocabulary.refundReasons
  return entries.flatMap(({ path, reason }) =>
    reason === null || reasons.includes(reason)
      ? []
      : [{ path: `${path}.reason`, message: `must be one of ${reasons.join(', ')}` }],
  )
}

// Each entry may have several faults: thousands are not worth looking at one by one, which would hold up everything else.
const tooManyEntries = (type: string, data: unknown): EventFault | null => {
  if (type === settingsEventType) return null
  const key = type === 'erp.shipment.dispatched' ? 'parcels' : 'lines'
  const entries = countItems(data, key)
  const within = key === 'lines' || entries > maxEntries ? 0 : linesOfParcels(data)
  return entries + within > maxEntries
    ? { path: `data.${key}`, message: `holds ${entries + within} entries, at most ${maxEntries}` }
    : null
}

const countItems = (holder: unknown, key: string): number => {
  const list = isObject(holder) ? holder[key] : undefined
  return Array.isArray(list) ? list.length : 0
}

const linesOfParcels = (data: unknown): number =>
  listObjects(data, 'parcels', 'data').reduce((sum, [, parcel]) => sum + countItems(parcel, 'lines'), 0)

// ── shape ────────────────────────────────────────────────────────────────────────────────────────────────

type Shape = { readonly ok: true; readonly event: EventContent } | { readonly ok: false; readonly faults: EventFault[] }

const readShape = (type: string, data: unknown): Shape => {
  switch (type) {
    case 'erp.order.accepted':
      return readWith(acceptedSchema, data, (parsed) => ({ type, data: parsed }))
    case 'erp.shipment.dispatched':
      return readWith(dispatchedSchema, data, (parsed) => ({ type, data: parsed }))
    case 'erp.lines.unfulfillable':
      return readWith(unfulfillableSchema, data, (parsed) => ({ type, data: parsed }))
    case 'erp.credit.issued':
      return readWith(creditSchema, data, (parsed) => ({ type, data: parsed }))
    case 'erp.shipment.corrected':
      return readWith(correctedSchema, data, (parsed) => ({ type, data: parsed }))
    case returnEventType:
      return readWith(returnRefundedSchema, data, (parsed) => ({ type, data: parsed }))
    case settingsEventType:
      return readWith(settingsDefinedSchema, data, (parsed) => ({ type, data: parsed }))
    case inboundEventType:
      return readWith(inboundShippedSchema, data, (parsed) => ({ type, data: parsed }))
    default:
      return { ok: false, faults: [{ path: 'type', message: `must be one of ${erpEventTypes.join(', ')}` }] }
  }
}

const readWith = <Data>(schema: z.ZodType<Data>, data: unknown, wrap: (data: Data) => EventContent): Shape => {
  const result = schema.safeParse(data)
  if (result.success) return { ok: true, event: wrap(result.data) }
  if (!isObject(data)) return { ok: false, faults: [{ path: 'data', message: noObject(data) }] }
  const faults = result.error.issues.map((issue) => ({
    path: buildPath(issue.path),
    message: valueAt(data, issue.path) === undefined ? 'is missing' : issue.message,
  }))
  return { ok: false, faults }
}

/** Why data is not what an event needs; ERPs like to send JSON that was written out as a text. */
const noObject = (data: unknown): string => {
  if (data === undefined || data === null) return 'is missing'
  if (typeof data !== 'string') return `must be a JSON object, not ${Array.isArray(data) ? 'a list' : `a ${typeof data}`}`
  const advice = /^\s*\{/.test(data) ? ': send the object itself, not its JSON as a text (without the outer quotation marks)' : ''
  return `must be a JSON object, not a text${advice}`
}

// ── address ──────────────────────────────────────────────────────────────────────────────────────────────

const addressOfContent = ({ data }: EventContent): EventAddress => ({
  sellerId: data.sellerId ?? null,
  purchaseOrderId: 'purchaseOrderId' in data ? data.purchaseOrderId : null,
  returnOrderId: 'returnOrderId' in data ? data.returnOrderId : null,
})

const addressIn = (type: string, data: unknown): EventAddress | null => {
  if (sellerEventTypes.includes(type)) {
    const named = settingsAddressSchema.safeParse(data)
    return named.success ? { sellerId: named.data.sellerId ?? null, purchaseOrderId: null, returnOrderId: null } : null
  }
  if (type === returnEventType) {
    const named = returnAddressSchema.safeParse(data)
    if (!named.success) return null
    return { sellerId: named.data.sellerId ?? null, purchaseOrderId: null, returnOrderId: named.data.returnOrderId }
  }
  if (!isOrderEventType(type)) return null
  const named = acceptedSchema.safeParse(data)
  if (!named.success) return null
  return { sellerId: named.data.sellerId ?? null, purchaseOrderId: named.data.purchaseOrderId, returnOrderId: null }
}

// ── parcels and entries ──────────────────────────────────────────────────────────────────────────────────

const replacementPath = 'data.replacement'

const buildParcels = (content: EventContent): ReadParcel[] => {
  if (content.type === 'erp.shipment.corrected') {
    const { carrier, trackingUrl } = content.data.replacement
    return [{ path: replacementPath, shippedAt: null, carrier, hasTrackingUrl: (trackingUrl ?? null) !== null }]
  }
  if (content.type !== 'erp.shipment.dispatched') return []
  return content.data.parcels.map(({ shippedAt, carrier, trackingUrl }, index) => ({
    path: `data.parcels[${index}]`,
    shippedAt,
    carrier,
    hasTrackingUrl: (trackingUrl ?? null) !== null,
  }))
}

const buildParcel = ([path, raw]: Placed): ReadParcel => ({
  path,
  shippedAt: shippedAtSchema.safeParse(raw['shippedAt']).data ?? null,
  carrier: text.safeParse(raw['carrier']).data ?? null,
  hasTrackingUrl: (raw['trackingUrl'] ?? null) !== null,
})

const buildEntries = (content: EventContent): ReadEntry[] => {
  switch (content.type) {
    case 'erp.shipment.dispatched':
      return content.data.parcels.flatMap((parcel, parcelIndex) =>
        parcel.lines.map((line, index) => ({
          path: `data.parcels[${parcelIndex}].lines[${index}]`,
          line,
          credit: null,
          returned: null,
          intentToCancelOverride: line.intentToCancelOverride === true,
          reason: null,
        })),
      )
    case 'erp.lines.unfulfillable':
      return content.data.lines.map((line, index) => readLine(`data.lines[${index}]`, line, null, line.reason))
    case 'erp.credit.issued':
      return content.data.lines.map((line, index) => readLine(`data.lines[${index}]`, line, line, line.reason))
    case returnEventType:
      return content.data.lines.map((line, index) => ({ ...readLine(`data.lines[${index}]`, null, null, null), returned: line }))
    default:
      return []
  }
}

const readLine = (path: string, line: ReadEntry['line'], credit: ReadEntry['credit'], reason: string | null): ReadEntry => ({
  path,
  line,
  credit,
  returned: null,
  intentToCancelOverride: false,
  reason,
})

const buildEntry = (type: string, path: string, raw: Members): ReadEntry => ({
  path,
  line: type === returnEventType ? null : (lineRefSchema.safeParse(raw).data ?? null),
  credit: type === 'erp.credit.issued' ? (creditLineSchema.safeParse(raw).data ?? null) : null,
  returned: type === returnEventType ? (returnLineSchema.safeParse(raw).data ?? null) : null,
  intentToCancelOverride: raw['intentToCancelOverride'] === true,
  reason: text.safeParse(raw['reason']).data ?? null,
})

/** Faults of single entries beyond their shape: which line is meant. */
const entryFaults = (type: string, entries: readonly Placed[]): EventFault[] => {
  const faults: EventFault[] = []
  const named = new Set<string>()
  for (const [path, raw] of entries) {
    const number = type === returnEventType ? 'returnLineNumber' : 'lineNumber'
    const names = ([number, 'sku'] as const).filter((name) => (raw[name] ?? null) !== null)
    if (names.length !== 1) {
      faults.push({
        path,
        message: `must name the line by either ${number} or sku, ${names.length === 0 ? 'not by neither' : 'not by both'}`,
      })
    }
    const [name] = names
    if (type !== 'erp.shipment.dispatched') continue
    const parcel = path.slice(0, path.lastIndexOf('.'))
    const key = name === undefined ? null : `${parcel} ${name} ${normalSku(String(raw[name]))}`
    if (key !== null && names.length === 1 && named.has(key)) {
      faults.push({ path: `${path}.${name}`, message: 'stands in this parcel already; state the whole quantity once' })
    }
    if (key !== null) named.add(key)
  }
  return faults
}

/** Clocks differ; a shipment so much ahead of the marketplace's is taken as one of now. */
const aheadMs = 10 * 60_000

const futureFault = (path: string, shippedAt: string, now: Date | undefined): EventFault[] => {
  if (now === undefined || Date.parse(shippedAt) <= now.getTime() + aheadMs) return []
  return [{ path, message: `is ${shippedAt}, which lies in the future: it is ${now.toISOString()} at the marketplace` }]
}

/** Faults of an inbound shipment beyond its shape: a past time in the future, units expected or delivered before they left, and a repeated SKU. */
const inboundFaults = ({ content }: ReadEvent, { now }: EventOptions): EventFault[] => {
  if (content?.type !== inboundEventType) return []
  const { shippedAt, expectedBy, deliveredAt, lines } = content.data
  const faults = futureFault('data.shippedAt', shippedAt, now)
  if (expectedBy !== null && expectedBy !== undefined && expectedBy < shippedAt)
    faults.push({ path: 'data.expectedBy', message: `is ${expectedBy}, before the time of shipping, ${shippedAt}` })
  if (deliveredAt !== null && deliveredAt !== undefined) {
    faults.push(...futureFault('data.deliveredAt', deliveredAt, now))
    if (deliveredAt < shippedAt)
      faults.push({ path: 'data.deliveredAt', message: `is ${deliveredAt}, before the time of shipping, ${shippedAt}` })
  }
  const named = new Set<string>()
  for (const [index, { sku }] of lines.entries()) {
    if (named.has(sku))
      faults.push({ path: `data.lines[${index}].sku`, message: 'stands in this shipment already; state the whole quantity once' })
    named.add(sku)
  }
  return faults
}

/** Faults of a parcel beyond its shape: a shipment in the future, and a carrier that goes by no name (public facts 3.2). */
const parcelFaults = (
  { path, shippedAt, carrier, hasTrackingUrl }: ReadParcel,
  { now, vocabulary }: EventOptions,
): EventFault[] => {
  const { carriers } = vocabulary
  const faults = shippedAt === null ? [] : futureFault(`${path}.shippedAt`, shippedAt, now)
  const unknown = carriers !== null && carrier !== null && publishedSpelling(carriers, carrier) === null
  if (unknown && !hasTrackingUrl) {
    const message = `is missing; it is needed because ${carrier} is no carrier that the marketplace knows by name`
    faults.push({ path: `${path}.trackingUrl`, message })
  }
  return faults
}

// ── raw data ─────────────────────────────────────────────────────────────────────────────────────────────

const listRawParcels = (type: string, data: unknown): Placed[] => {
  if (type === 'erp.shipment.dispatched') return listObjects(data, 'parcels', 'data')
  const replacement = type === 'erp.shipment.corrected' && isObject(data) ? data['replacement'] : undefined
  return isObject(replacement) ? [[replacementPath, replacement]] : []
}

const listRawEntries = (type: string, data: unknown, parcels: readonly Placed[]): Placed[] => {
  if (sellerEventTypes.includes(type) || type === 'erp.shipment.corrected') return []
  if (type !== 'erp.shipment.dispatched') return listObjects(data, 'lines', 'data')
  return parcels.flatMap(([path, parcel]) => listObjects(parcel, 'lines', path))
}

/** The members of a list that are objects, each with its path. */
const listObjects = (holder: unknown, key: string, path: string): Placed[] => {
  const list = isObject(holder) ? holder[key] : undefined
  if (!Array.isArray(list)) return []
  return list.flatMap((entry: unknown, index): Placed[] => (isObject(entry) ? [[`${path}.${key}[${index}]`, entry]] : []))
}

const valueAt = (data: unknown, path: readonly PropertyKey[]): unknown => {
  let value = data
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = Reflect.get(value, key)
  }
  return value
}

const buildPath = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((all, key) => (typeof key === 'number' ? `${all}[${key}]` : `${all}.${String(key)}`), 'data')
