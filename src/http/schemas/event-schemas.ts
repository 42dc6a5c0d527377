import { z } from 'zod'
import {
  acceptedSchema,
  correctedSchema,
  creditLineSchema,
  creditSchema,
  dispatchedSchema,
  inboundEventType,
  inboundLineSchema,
  inboundShippedSchema,
  parcelSchema,
  replacementSchema,
  returnEventType,
  returnLineSchema,
  returnRefundedSchema,
  settingsDefinedSchema,
  settingsEventType,
  shippedLineSchema,
  unfulfillableLineSchema,
  unfulfillableSchema,
} from '../../domain/events/event-shape.ts'
import { erpEventKinds, eventExample } from './openapi-examples.ts'

// Schemas of events for the OpenAPI document, built of the schemas that parse them. A body is validated in the route, after its signature.

const toStrict = <Shape extends z.core.$ZodLooseShape>(schema: z.ZodObject<Shape>) => z.strictObject(schema.shape)
const nonEmptyArray = <Item extends z.ZodType>(item: Item) => z.array(item).min(1)

const acceptedData = toStrict(acceptedSchema).meta({ id: 'OrderAccepted', description: 'Acknowledges the order.' })
const dispatchedData = toStrict(dispatchedSchema)
  .extend({ parcels: nonEmptyArray(toStrict(parcelSchema).extend({ lines: nonEmptyArray(toStrict(shippedLineSchema)) })) })
  .meta({ id: 'ShipmentDispatched', description: 'Ships the units of each parcel. A line is named by lineNumber or by sku.' })
const unfulfillableData = toStrict(unfulfillableSchema)
  .extend({ lines: nonEmptyArray(toStrict(unfulfillableLineSchema)) })
  .meta({ id: 'LinesUnfulfillable', description: 'Cancels units.' })
const creditData = toStrict(creditSchema)
  .extend({ lines: nonEmptyArray(toStrict(creditLineSchema)) })
  .meta({ id: 'CreditIssued', description: 'Refunds units; without `amount`, the charges of the units.' })
const correctedData = toStrict(correctedSchema)
  .extend({ replacement: toStrict(replacementSchema) })
  .meta({ id: 'ShipmentCorrected', description: 'Replaces the tracking number of shipped units. No unit moves.' })
const returnData = toStrict(returnRefundedSchema)
  .extend({ lines: nonEmptyArray(toStrict(returnLineSchema)) })
  .meta({
    id: 'ReturnRefunded',
    description:
      'Refunds units through their return. A line is named by returnLineNumber or by sku; `amount`, if named, must be the product charge of the units.',
  })
const settingsData = toStrict(settingsDefinedSchema).meta({
  id: 'ShippingSettingsDefined',
  description: "Creates the seller's account-level shipping settings.",
})

const inboundData = toStrict(inboundShippedSchema)
  .extend({ lines: nonEmptyArray(toStrict(inboundLineSchema)) })
  .meta({
    id: 'InboundShipped',
    description: 'States what was sent to a fulfillment center, to be compared with the inventory log. It becomes no command.',
  })

const buildEvent = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
  z
    .looseObject({
      specversion: z.literal('1.0'),
      id: z.string().min(1).max(1_000).meta({ description: 'Unique within the source, for ever.' }),
      source: z.string().min(1).max(1_000).meta({ description: 'A URI reference that names the sender.' }),
      type: z.literal(type),
      time: z.string().optional(),
      datacontenttype: z.string().optional(),
      data,
    })
    .meta({ examples: [eventExample(type, erpEventKinds[type]?.example)] })

/** An ERP event in structured mode. Other attributes are extensions of CloudEvents; other members of `data` are refused. */
export const cloudEventSchema = z
  .union([
    buildEvent('erp.order.accepted', acceptedData),
    buildEvent('erp.shipment.dispatched', dispatchedData),
    buildEvent('erp.lines.unfulfillable', unfulfillableData),
    buildEvent('erp.credit.issued', creditData),
    buildEvent('erp.shipment.corrected', correctedData),
    buildEvent(returnEventType, returnData),
    buildEvent(settingsEventType, settingsData),
    buildEvent(inboundEventType, inboundData),
  ])
  .meta({
    id: 'CloudEvent',
    description: 'CloudEvents 1.0. Unknown members of `data` are refused; extension attributes are allowed.',
  })

/** The data of an ERP event, alone. */
export const eventDataSchema = z
  .union([acceptedData, dispatchedData, unfulfillableData, creditData, correctedData, returnData, settingsData, inboundData])
  .meta({ description: 'Binary mode: the data alone.' })
