import { z } from 'zod'
import {
  acceptedSchema,
  creditLineSchema,
  creditSchema,
  dispatchedSchema,
  parcelSchema,
  settingsDefinedSchema,
  settingsEventType,
  shippedLineSchema,
  unfulfillableLineSchema,
  unfulfillableSchema,
} from '../domain/event-shape.ts'
import { erpEventKinds } from './openapi-examples.ts'

// For the OpenAPI document: what an event is, from the schemas that it is read with. A body is validated explicitly, after its signature.

const exactly = <Shape extends z.core.$ZodLooseShape>(schema: z.ZodObject<Shape>) => z.strictObject(schema.shape)
const listOf = <Item extends z.ZodType>(item: Item) => z.array(item).min(1)

const acceptedData = exactly(acceptedSchema).meta({ id: 'OrderAccepted', description: 'Acknowledges the order.' })
const dispatchedData = exactly(dispatchedSchema)
  .extend({ parcels: listOf(exactly(parcelSchema).extend({ lines: listOf(exactly(shippedLineSchema)) })) })
  .meta({ id: 'ShipmentDispatched', description: 'Ships the units of each parcel. A line is named by lineNumber or by sku.' })
const unfulfillableData = exactly(unfulfillableSchema)
  .extend({ lines: listOf(exactly(unfulfillableLineSchema)) })
  .meta({ id: 'LinesUnfulfillable', description: 'Cancels units.' })
const creditData = exactly(creditSchema)
  .extend({ lines: listOf(exactly(creditLineSchema)) })
  .meta({ id: 'CreditIssued', description: 'Refunds units; without `amount` everything that was charged for them.' })
const settingsData = exactly(settingsDefinedSchema).meta({
  id: 'ShippingSettingsDefined',
  description: "Creates the seller's account-level shipping settings.",
})

const eventOf = <Type extends string, Data extends z.ZodType>(type: Type, data: Data) =>
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
    .meta({ examples: [{ specversion: '1.0', id: 'erp-4711', source: '/erp', type, data: erpEventKinds[type]?.example }] })

/** An ERP event in structured mode. Attributes that are not listed are extensions of CloudEvents; members of `data` are all listed. */
export const cloudEventSchema = z
  .union([
    eventOf('erp.order.accepted', acceptedData),
    eventOf('erp.shipment.dispatched', dispatchedData),
    eventOf('erp.lines.unfulfillable', unfulfillableData),
    eventOf('erp.credit.issued', creditData),
    eventOf(settingsEventType, settingsData),
  ])
  .meta({
    id: 'CloudEvent',
    description: 'CloudEvents 1.0. Unknown members of `data` are refused; extension attributes are allowed.',
  })

/** The data of an ERP event, alone. */
export const eventDataSchema = z
  .union([acceptedData, dispatchedData, unfulfillableData, creditData, settingsData])
  .meta({ description: 'Binary mode: the data alone.' })
