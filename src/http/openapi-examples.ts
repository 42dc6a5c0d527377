import type { z } from 'zod'
import { type ChangeType, changeTypes } from '../domain/changes/catalogue.ts'
import {
  acceptedSchema,
  creditSchema,
  dispatchedSchema,
  settingsDefinedSchema,
  unfulfillableSchema,
} from '../domain/event-shape.ts'

/** A type of ERP event for the document. */
interface ErpEventKind {
  readonly description: string
  readonly data: z.ZodType
  readonly example: object
}

const purchaseOrderId = '1796277083022'
const line = { sku: 'MUG-BLUE', quantity: 2 }

/** Every type of ERP event, with an example of its data. */
export const erpEventKinds: Readonly<Record<string, ErpEventKind>> = {
  'erp.order.accepted': {
    description: 'The ERP takes the order: acknowledge it.',
    data: acceptedSchema,
    example: { purchaseOrderId },
  },
  'erp.shipment.dispatched': {
    description: 'Parcels have left: ship their units.',
    data: dispatchedSchema,
    example: {
      purchaseOrderId,
      parcels: [{ carrier: 'UPS', trackingNumber: '1Z999AA10123456784', shippedAt: '2026-03-01T09:30:00Z', lines: [line] }],
    },
  },
  'erp.lines.unfulfillable': {
    description: 'Units cannot be delivered: cancel them.',
    data: unfulfillableSchema,
    example: { purchaseOrderId, lines: [{ ...line, reason: 'SELLER_CANCEL_OUT_OF_STOCK' }] },
  },
  'erp.credit.issued': {
    description: 'The buyer gets money back: refund it.',
    data: creditSchema,
    example: { purchaseOrderId, lines: [{ ...line, reason: 'DamagedItem' }] },
  },
  'erp.shipping-settings.defined': {
    description: "The seller's account-level shipping settings: create them.",
    data: settingsDefinedSchema,
    example: { simplifiedShippingSettings: { accountConfigs: { shippingPriority: 'PRICE', carrierConfigs: [] } } },
  },
}

/** A change of a type as the feed shows it. */
export const changeExample = (type: ChangeType) => {
  const { ids, example } = changeTypes[type]
  const carried: readonly string[] = ids
  const idOf = (name: string, id: string): string | null => (carried.includes(name) ? id : null)
  return {
    seq: '4711',
    sellerId: 'seller-1',
    type,
    purchaseOrderId: idOf('purchaseOrderId', purchaseOrderId),
    lineNumber: idOf('lineNumber', '1'),
    returnOrderId: idOf('returnOrderId', '188600142000000000'),
    commandId: idOf('commandId', '6f1d9a52-0d0c-4a2e-9a53-5c2d7a3f9a11'),
    data: example,
    occurredAt: '2026-03-01T09:30:00.000Z',
  }
}
