import type { PurchaseOrder } from '../orders/order.ts'
import type { ReturnOrder } from '../orders/return.ts'

/** Replacement of a raw record whose buyer was erased. Nothing of it is kept, since its fields with a buyer's data cannot be known. */
export const erasedRaw: Readonly<Record<string, unknown>> = { erased: true }

/** {@link erasedRaw} as JSON text. */
export const erasedRawText = JSON.stringify(erasedRaw)

/** An order without its buyer: units, money, dates, ids and states are kept. */
export const redactOrder = (order: PurchaseOrder): PurchaseOrder => ({
  ...order,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  shippingAddress: null,
  lines: order.lines.map((line) => ({
    ...line,
    statuses: line.statuses.map((status) => ({ ...status, trackingUrl: null, raw: erasedRaw })),
    shipments: line.shipments.map((shipment) => ({ ...shipment, trackingUrl: null })),
    raw: erasedRaw,
  })),
  raw: erasedRaw,
})

/** A return without its buyer: units, money, dates, ids and states are kept. */
export const redactReturn = (order: ReturnOrder): ReturnOrder => ({
  ...order,
  lines: order.lines.map((line) => ({
    ...line,
    trackingStatuses: line.trackingStatuses.map((status) => ({ ...status, raw: erasedRaw })),
    refundChannels: line.refundChannels.map((channel) => ({ ...channel, raw: erasedRaw })),
    raw: erasedRaw,
  })),
  raw: erasedRaw,
})
