import { z } from 'zod'
import { reportedParcel } from '../support/events.ts'
import type { History, PlannedEvent } from './history.ts'
import type { Posted } from './record.ts'

const cancelReasons = ['SELLER_CANCEL_OUT_OF_STOCK', 'SELLER_CANCEL_PRICING_ERROR'] as const
const refundReasons = ['DamagedItem', 'CustomerChangedMind'] as const

const lineNumber = (line: number): string => String(line + 1)
const decimal = (cents: number): string => (cents / 100).toFixed(2)

/** How orders, returns and sellers of a play are called. */
export interface Names {
  readonly sellerId: string
  readonly purchaseOrderId: (place: number) => string
  readonly returnOrderId: (place: number) => string
}

/** The number of a parcel; 0: of the units of line 0 that were shipped before the history. */
const trackingNumber = (purchaseOrderId: string, number: number): string =>
  number === 0 ? `OLD${purchaseOrderId}0` : `1Z${purchaseOrderId}${number}`

/** An event as the ERP posts it. The lines of a return are numbered in their order. */
export const buildEvent = (event: PlannedEvent, history: History, names: Names): { type: string; data: object } => {
  const { sellerId } = names
  const purchaseOrderId = names.purchaseOrderId(event.order)
  const address = { sellerId, purchaseOrderId }
  switch (event.type) {
    case 'accepted':
      return { type: 'erp.order.accepted', data: address }
    case 'dispatched': {
      const parcels = event.parcels.map(({ tracking, lines }) =>
        reportedParcel(
          trackingNumber(purchaseOrderId, tracking),
          ...lines.map(({ line, units }) => ({ lineNumber: lineNumber(line), quantity: units })),
        ),
      )
      return { type: 'erp.shipment.dispatched', data: { ...address, parcels } }
    }
    case 'unfulfillable': {
      const lines = event.lines.map(({ line, units, reason }) => ({
        lineNumber: lineNumber(line),
        quantity: units,
        reason: cancelReasons[reason % cancelReasons.length],
      }))
      return { type: 'erp.lines.unfulfillable', data: { ...address, lines } }
    }
    case 'credit': {
      const lines = event.lines.map(({ line, units, reason, cents }) => ({
        lineNumber: lineNumber(line),
        quantity: units,
        reason: refundReasons[reason % refundReasons.length],
        ...(cents === null ? {} : { amount: decimal(cents), currency: 'USD' }),
      }))
      return { type: 'erp.credit.issued', data: { ...address, lines } }
    }
    case 'return refunded': {
      const returned = history.returns[event.return]
      const lines = event.lines.map(({ line, units, bySku }) => ({
        ...(bySku ? { sku: `SKU-${(returned?.lines[line]?.line ?? 0) + 1}` } : { returnLineNumber: line + 1 }),
        quantity: units,
      }))
      return { type: 'erp.return.refunded', data: { sellerId, returnOrderId: names.returnOrderId(event.return), lines } }
    }
    case 'corrected': {
      const replacement = { carrier: 'UPS', trackingNumber: trackingNumber(purchaseOrderId, event.to) }
      const wrong = trackingNumber(purchaseOrderId, event.tracking)
      return { type: 'erp.shipment.corrected', data: { ...address, trackingNumber: wrong, replacement } }
    }
  }
}

const namedSchema = z.object({
  purchaseOrderId: z.string().nullable().default(null),
  returnOrderId: z.string().nullable().default(null),
  trackingNumber: z.string().optional(),
  replacement: z.object({ trackingNumber: z.string() }).optional(),
})

/** What the data of an event names. */
export const namedIn = (data: object): Pick<Posted, 'purchaseOrderId' | 'returnOrderId' | 'correction'> => {
  const { purchaseOrderId, returnOrderId, trackingNumber: wrong, replacement } = namedSchema.parse(data)
  const correction = wrong === undefined || replacement === undefined ? null : { wrong, right: replacement.trackingNumber }
  return { purchaseOrderId, returnOrderId, correction }
}
