/** An event of an ERP, its source left to whoever sends it. */
export interface ErpEvent {
  readonly id: string
  readonly type: string
  readonly data: object
}

/** An order as an event names it; the seller may be left out where there is only one. */
export interface NamedOrder {
  readonly sellerId?: string
  readonly purchaseOrderId: string
}

/** Units of a line, named by its number or its SKU. */
type Units = { readonly quantity: number } & ({ readonly lineNumber: string } | { readonly sku: string })

/** A parcel as an event tells of it. */
export interface ToldParcel {
  readonly carrier: string
  readonly trackingNumber: string
  readonly shippedAt: string
  readonly lines: readonly Units[]
}

/** A parcel with units of lines. */
export const reportedParcel = (trackingNumber: string, ...lines: readonly Units[]): ToldParcel => ({
  carrier: 'UPS',
  trackingNumber,
  shippedAt: '2026-11-20T10:00:00Z',
  lines,
})

/** The acceptance of an order. Told twice it is the same event, unless an id is given. */
export const accepted = (order: NamedOrder, id = `${order.purchaseOrderId}-accept`): ErpEvent => ({
  id,
  type: 'erp.order.accepted',
  data: { ...order },
})

/** The dispatch of parcels of an order. */
export const buildDispatch = (order: NamedOrder, id: string, ...parcels: readonly ToldParcel[]): ErpEvent => ({
  id,
  type: 'erp.shipment.dispatched',
  data: { ...order, parcels },
})

/** The dispatch of one parcel, known by its number, with units of line 1. Told twice it is the same event. */
export const dispatched = (order: NamedOrder, parcel: number, quantity: number): ErpEvent =>
  buildDispatch(
    order,
    `${order.purchaseOrderId}-ship-${parcel}`,
    reportedParcel(`1Z${order.purchaseOrderId}${parcel}`, { lineNumber: '1', quantity }),
  )

/** The event as a CloudEvent in structured mode. */
export const cloudEvent = (event: ErpEvent, source = 'urn:erp') => ({ specversion: '1.0', source, ...event })
