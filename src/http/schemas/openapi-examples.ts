import type { z } from 'zod'
import { type ChangeType, changeTypes } from '../../domain/changes/catalogue.ts'
import {
  acceptedSchema,
  correctedSchema,
  creditSchema,
  dispatchedSchema,
  inboundShippedSchema,
  returnRefundedSchema,
  settingsDefinedSchema,
  unfulfillableSchema,
} from '../../domain/events/event-shape.ts'

/** A type of ERP event for the document. */
interface ErpEventKind {
  readonly description: string
  readonly data: z.ZodType
  readonly example: object
}

const purchaseOrderId = '1796277083022'
/** A placeholder: no order has this id, so a request that is sent unchanged gets 422 with this reason. */
const placeholderOrderId = 'PURCHASE-ORDER-ID'
const line = { sku: 'MUG-BLUE', quantity: 2 }

/** Every type of ERP event, with an example of its data. */
export const erpEventKinds: Readonly<Record<string, ErpEventKind>> = {
  'erp.order.accepted': {
    description: 'The ERP accepts the order: acknowledge it.',
    data: acceptedSchema,
    example: { purchaseOrderId: placeholderOrderId },
  },
  'erp.shipment.dispatched': {
    description: 'Parcels have left: ship their units.',
    data: dispatchedSchema,
    example: {
      purchaseOrderId: placeholderOrderId,
      parcels: [{ carrier: 'UPS', trackingNumber: '1Z999AA10123456784', shippedAt: '2026-03-01T09:30:00Z', lines: [line] }],
    },
  },
  'erp.lines.unfulfillable': {
    description: 'Units cannot be delivered: cancel them.',
    data: unfulfillableSchema,
    example: { purchaseOrderId: placeholderOrderId, lines: [{ ...line, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
  },
  'erp.credit.issued': {
    description: 'The buyer gets money back: refund it.',
    data: creditSchema,
    example: { purchaseOrderId: placeholderOrderId, lines: [{ ...line, reason: 'DamagedItem' }] },
  },
  'erp.shipment.corrected': {
    description: 'The tracking number of a parcel was wrong: replace it.',
    data: correctedSchema,
    example: {
      purchaseOrderId: placeholderOrderId,
      trackingNumber: '1Z999AA10123456784',
      replacement: { carrier: 'UPS', trackingNumber: '1Z999AA10123456795' },
    },
  },
  'erp.return.refunded': {
    description: 'Returned units have been checked: refund them through their return.',
    data: returnRefundedSchema,
    example: { returnOrderId: 'RETURN-ORDER-ID', lines: [line] },
  },
  'erp.shipping-settings.defined': {
    description: "The seller's account-level shipping settings: create them.",
    data: settingsDefinedSchema,
    example: { simplifiedShippingSettings: { accountConfigs: { shippingPriority: 'PRICE', carrierConfigs: [] } } },
  },
  'erp.inbound.shipped': {
    description: 'Units were sent to a fulfillment center: compare them with its receipts.',
    data: inboundShippedSchema,
    example: { shipmentId: '4711000WFA', shippedAt: '2026-03-01T09:30:00Z', lines: [{ sku: 'KETTLE-RED', quantity: 40 }] },
  },
}

/** An example of an event of this type. No ERP has its source, so its id collides with no sent event. */
export const eventExample = (type: string, data: object | undefined) => ({
  specversion: '1.0',
  id: `${type}-1`,
  source: '/openapi-example',
  type,
  data,
})

/** The example of a request: an acknowledgement, because it changes the least. */
export const requestExample = eventExample('erp.order.accepted', erpEventKinds['erp.order.accepted']?.example)

/** An example of a change of this type, as the feed shows it. */
export const changeExample = (type: ChangeType) => {
  const { ids, example } = changeTypes[type]
  const present: readonly string[] = ids
  const findId = (name: string, id: string): string | null => (present.includes(name) ? id : null)
  return {
    seq: '4711',
    sellerId: 'seller-1',
    type,
    purchaseOrderId: findId('purchaseOrderId', purchaseOrderId),
    lineNumber: findId('lineNumber', '1'),
    returnOrderId: findId('returnOrderId', '188600142000000000'),
    commandId: findId('commandId', '6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11'),
    data: example,
    occurredAt: '2026-03-01T09:30:00.000Z',
  }
}
