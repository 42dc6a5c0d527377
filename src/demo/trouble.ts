import { randomUUID } from 'node:crypto'
import got from 'got'

/** An event as the daemon accepts it. */
interface IncomingEvent {
  readonly source: string
  readonly id: string
  readonly type: string
  readonly data: unknown
}

/** What was made, to be looked at in the console. */
export interface Trouble {
  /** An order whose shipment was interrupted after two of four units: its command is held within a few minutes. */
  readonly heldOrder: string
  /** An order that is late. An event reported more units of it than it has, and was rejected. */
  readonly lateOrder: string
}

/** Dependencies of {@link makeTrouble}. */
export interface TroubleParts {
  readonly sandboxUrl: string
  readonly sellerId: string
  acceptEvents(events: readonly IncomingEvent[], signal: AbortSignal): Promise<{ readonly ok: boolean }>
}

/** Not the source of the demonstration ERP, which leaves orders with events of others alone. */
const source = 'demonstration-trouble'
const quantity = 4
const sku = 'TROUBLE-KETTLE'
const lateByMs = 4 * 86_400_000

/**
 * Makes trouble in the sandbox: an order whose shipment is held, a late order with a rejected event, and a return that cannot be read, which goes to
 * quarantine. @throws when the sandbox does not answer
 */
export const makeTrouble = async (
  { sandboxUrl, sellerId, acceptEvents }: TroubleParts,
  signal: AbortSignal,
): Promise<Trouble> => {
  const control = got.extend({ prefixUrl: `${sandboxUrl}/_sandbox`, responseType: 'json', retry: { limit: 0 }, signal })
  const now = new Date()
  const place = async (purchaseOrderId: string, createdFrom: Date): Promise<void> => {
    const lines = [{ sku, quantity, unitPrice: '24.00' }]
    await control.post('orders', { json: { sellerId, purchaseOrderId, createdFrom: createdFrom.toISOString(), lines } })
  }
  const dispatch = (purchaseOrderId: string, units: number): IncomingEvent => {
    const trackingNumber = `1Z${randomUUID().replaceAll('-', '').slice(0, 16).toUpperCase()}`
    const parcel = { carrier: 'UPS', trackingNumber, shippedAt: now.toISOString(), lines: [{ sku, quantity: units }] }
    const data = { sellerId, purchaseOrderId, parcels: [parcel] }
    return { source, id: randomUUID(), type: 'erp.shipment.dispatched', data }
  }
  const accept = (purchaseOrderId: string): IncomingEvent => ({
    ...{ source, id: randomUUID(), type: 'erp.order.accepted' },
    data: { sellerId, purchaseOrderId },
  })
  const send = async (events: readonly IncomingEvent[]): Promise<void> => {
    const result = await acceptEvents(events, signal)
    if (!result.ok) throw new Error(`the daemon refused an event: ${JSON.stringify(result)}`)
  }
  const [heldOrder, lateOrder] = [`97${now.getTime()}`, `98${now.getTime()}`]
  const shipment = { sellerId, operation: 'orders.ship', purchaseOrderId: heldOrder }
  await control.post('faults/next', {
    json: [
      { ...shipment, fault: 'partialEffect', units: quantity / 2 },
      { ...shipment, fault: 'serverErrorAfter' },
      { sellerId, operation: 'returns.list', fault: 'malformedRecord', times: 1_000 },
      { sellerId, operation: 'orders.get', purchaseOrderId: lateOrder, fault: 'serverErrorBefore' },
    ],
  })
  await place(lateOrder, new Date(now.getTime() - lateByMs))
  // The order cannot be read at once: the event waits, and is rejected when the order shows fewer units.
  await send([dispatch(lateOrder, quantity * 2)])
  await place(heldOrder, now)
  await send([accept(heldOrder), accept(lateOrder), dispatch(heldOrder, quantity)])
  return { heldOrder, lateOrder }
}
