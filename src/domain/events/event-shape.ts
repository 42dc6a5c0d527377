import { Decimal } from 'decimal.js'
import { z } from 'zod'
import { shippingSettingsSchema } from '../campaigns/shipping-settings.ts'
import type { DecimalText } from '../orders/order.ts'
import { normalSku } from '../values/text.ts'
import { maxInboundLength, maxInboundUnits, maxTrackingNumberLength } from './event-bounds.ts'

const orderEventTypes = [
  'erp.order.accepted',
  'erp.shipment.dispatched',
  'erp.lines.unfulfillable',
  'erp.credit.issued',
  'erp.shipment.corrected',
] as const

/** The event type that refunds units through their return. */
export const returnEventType = 'erp.return.refunded'

/** The event type that concerns the seller's shipping settings. */
export const settingsEventType = 'erp.shipping-settings.defined'

/** The event type that states what was sent to the marketplace's fulfillment centers. It has no command. */
export const inboundEventType = 'erp.inbound.shipped'

/** The event types that concern a seller, not an order. */
export const sellerEventTypes: readonly string[] = [settingsEventType, inboundEventType]

/** Every event type (docs/events.md). */
export const erpEventTypes: readonly string[] = [...orderEventTypes, returnEventType, ...sellerEventTypes]

/** States of an event: stored and not decided yet, accepted with its commands, or rejected with a problem. */
export const eventStates = ['received', 'accepted', 'rejected'] as const

/** See {@link eventStates}. */
export type EventState = (typeof eventStates)[number]

/** An event type that concerns an order. */
export type OrderEventType = (typeof orderEventTypes)[number]

/** One fault of an event; the path starts at the event, such as `data.lines[0].quantity`. */
export interface EventFault {
  readonly path: string
  readonly message: string
}

/** An event about shipping settings whose shape is right. */
export interface SettingsEvent {
  readonly type: typeof settingsEventType
  readonly data: z.infer<typeof settingsDefinedSchema>
}

/** An event about an inbound shipment whose shape is right. */
export interface InboundEvent {
  readonly type: typeof inboundEventType
  readonly data: z.infer<typeof inboundShippedSchema>
}

/** An event that refunds units through their return, whose shape is right. */
export interface ReturnEvent {
  readonly type: typeof returnEventType
  readonly data: z.infer<typeof returnRefundedSchema>
}

/** An event about an order with a valid shape; whether it is valid for the order is checked separately. */
export type OrderEvent =
  | { readonly type: 'erp.order.accepted'; readonly data: z.infer<typeof acceptedSchema> }
  | { readonly type: 'erp.shipment.dispatched'; readonly data: z.infer<typeof dispatchedSchema> }
  | { readonly type: 'erp.lines.unfulfillable'; readonly data: z.infer<typeof unfulfillableSchema> }
  | { readonly type: 'erp.credit.issued'; readonly data: z.infer<typeof creditSchema> }
  | { readonly type: 'erp.shipment.corrected'; readonly data: z.infer<typeof correctedSchema> }

/** The subject of an event, read even from an event that has other faults. */
export interface EventAddress {
  readonly sellerId: string | null
  /** Null: it concerns the seller's shipping settings, an inbound shipment, or the order of a return. */
  readonly purchaseOrderId: string | null
  /** The return that it concerns; null: none. Its order is known once the return is stored. */
  readonly returnOrderId: string | null
}

/** A text that is not blank. */
export const text = z.string().trim().min(1, 'must not be empty')
const quantitySchema = z.int('must be a whole number of units').positive('must be at least 1')

/** A line by its number (an ERP may hold it as a number) or by the seller's stock key; `readEvent` checks that it is one of the two. */
const lineRefShape = {
  lineNumber: z
    .union([text, z.int().nonnegative().transform(String)], 'must be the line number, as text or as a whole number')
    .nullish(),
  sku: text.transform(normalSku).nullish(),
  quantity: quantitySchema,
}

/** An entry that names a line and its units. */
export const lineRefSchema = z.object(lineRefShape)
/** An entry of units that cannot be fulfilled. */
export const unfulfillableLineSchema = z.object({ ...lineRefShape, reason: text })
/** `1e-7` and the like written out. */
const plainDecimal = (value: number): DecimalText => new Decimal(value).toFixed()

const amountMessage =
  'must be an amount of money without tax, as text ("12.30") or as a number: no sign, at most 15 digits before the point and 6 after it'

const moneyShape = {
  /** Without tax; given back on the product charge. */
  amount: z
    .union(
      [
        z.string().regex(/^\d{1,15}(\.\d{1,6})?$/, amountMessage),
        z.number().nonnegative(amountMessage).max(1e15, amountMessage).transform(plainDecimal),
      ],
      amountMessage,
    )
    .nullish(),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/, 'must be a currency code such as USD')
    .nullish(),
}

/** An entry of a credit. */
export const creditLineSchema = z.object({ ...lineRefShape, reason: text, ...moneyShape })

/** An entry of units that are refunded through their return. */
export const returnLineSchema = z.object({
  returnLineNumber: z
    .union(
      [
        z.int().nonnegative(),
        z
          .string()
          .regex(/^\d{1,9}$/)
          .transform(Number),
      ],
      'must be the line number of the return, a whole number',
    )
    .nullish(),
  sku: lineRefShape.sku,
  quantity: quantitySchema,
  reason: text.nullish(),
  ...moneyShape,
})

const earliestShipmentMs = Date.UTC(2000, 0, 1)
/** From here on an ISO text has a year of more than four digits, which not all parsers accept. */
const latestShipmentMs = Date.UTC(9999, 11, 31)

/** When something happened: an ISO text in UTC. */
export const shippedAtSchema = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 date and time with its offset, such as 2026-03-01T09:30:00Z' })
  .transform((shippedAt, context) => {
    const moment = new Date(shippedAt)
    if (moment.getTime() >= earliestShipmentMs && moment.getTime() < latestShipmentMs) return moment.toISOString()
    context.addIssue({ code: 'custom', message: 'must lie after the year 1999 and before the end of the year 9999' })
    return z.NEVER
  })
const trackingUrlSchema = z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).nullish()

/** An entry of a parcel. */
export const shippedLineSchema = z.object({
  ...lineRefShape,
  /** Ships units of a line although its buyer has asked to cancel it (public facts 3.2). */
  intentToCancelOverride: z.boolean('must be true or false').nullish(),
})

const trackingNumberSchema = z
  .string()
  .regex(/^\S+$/, 'must not be empty and must not contain white space')
  .max(maxTrackingNumberLength, `must not be longer than ${maxTrackingNumberLength} characters`)

/** One parcel of a shipment. */
export const parcelSchema = z.object({
  carrier: text,
  trackingNumber: trackingNumberSchema,
  trackingUrl: trackingUrlSchema,
  method: text.nullish(),
  shippedAt: shippedAtSchema,
  lines: z.array(shippedLineSchema).min(1, 'must hold at least one line'),
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
  lines: z.array(unfulfillableLineSchema).min(1, 'must hold at least one line'),
})
/** `data` of `erp.credit.issued`. */
export const creditSchema = z.object({ ...addressShape, lines: z.array(creditLineSchema).min(1, 'must hold at least one line') })
/** What a parcel's wrong tracking number is replaced by. */
export const replacementSchema = z.object({
  carrier: text,
  trackingNumber: trackingNumberSchema,
  trackingUrl: trackingUrlSchema,
})
/** `data` of `erp.shipment.corrected`. */
export const correctedSchema = z.object({
  ...addressShape,
  /** The wrong one, which was reported before. It is only compared. */
  trackingNumber: text.max(maxTrackingNumberLength, `must not be longer than ${maxTrackingNumberLength} characters`),
  replacement: replacementSchema,
})
/** The return that an event is about. */
export const returnAddressSchema = z.object({
  sellerId: text.nullish(),
  returnOrderId: z.union([text, z.int().positive().transform(String)], 'must be the id of the return'),
})
/** `data` of `erp.return.refunded`. */
export const returnRefundedSchema = returnAddressSchema.extend({
  lines: z.array(returnLineSchema).min(1, 'must hold at least one line'),
})
/** Whose shipping settings an event is about. */
export const settingsAddressSchema = z.object({ sellerId: text.nullish() })
/** `data` of `erp.shipping-settings.defined`. */
export const settingsDefinedSchema = settingsAddressSchema.extend({ simplifiedShippingSettings: shippingSettingsSchema })

/** An entry of an inbound shipment. */
export const inboundLineSchema = z.object({
  sku: text.max(maxInboundLength, `must not be longer than ${maxInboundLength} characters`).transform(normalSku),
  quantity: quantitySchema.max(maxInboundUnits, `must be at most ${maxInboundUnits}`),
})
/** `data` of `erp.inbound.shipped`. */
export const inboundShippedSchema = settingsAddressSchema.extend({
  shipmentId: z
    .union([text, z.int().positive().transform(String)], 'must be the id of the shipment, as in the inventory log')
    .refine((id) => id.length <= maxInboundLength, `must not be longer than ${maxInboundLength} characters`),
  shippedAt: shippedAtSchema,
  expectedBy: shippedAtSchema.nullish(),
  deliveredAt: shippedAtSchema.nullish(),
  lines: z.array(inboundLineSchema).min(1, 'must hold at least one line'),
})

/** Whether events of this type concern an order. */
export const isOrderEventType = (type: string): type is OrderEventType => orderEventTypes.some((known) => known === type)

/** An event as received. */
export type RawEvent = { readonly type: string; readonly data: unknown }
