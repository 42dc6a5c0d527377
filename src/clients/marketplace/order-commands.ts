import type { ShipPayload } from '../../domain/command.ts'
import type { Operations } from '../endpoint.ts'
import type { CarriedCommands } from '../order-commands.ts'
import type { OrderRequests, Shipment, ShipRequest, WireRequest } from './order-requests.ts'

/** The writes of orders. */
type Writes = Operations & { readonly [Kind in keyof OrderRequests]: Operations[string] }

/** One shipment for each line of each parcel (specification, section 9, rule 3). Tracking numbers are our identifying marks. */
const shipRequest = (purchaseOrderId: string, { parcels }: ShipPayload): ShipRequest => {
  const lines = new Map<string, Shipment[]>()
  for (const parcel of parcels) {
    for (const { lineNumber, quantity, intentToCancelOverride } of parcel.lines) {
      const shipments = lines.get(lineNumber) ?? []
      lines.set(lineNumber, shipments)
      shipments.push({
        quantity,
        carrier: parcel.carrier,
        trackingNumber: parcel.trackingNumber,
        trackingUrl: parcel.trackingUrl,
        methodCode: parcel.method,
        shippedAt: new Date(parcel.shippedAt),
        intentToCancelOverride,
      })
    }
  }
  return { purchaseOrderId, lines: [...lines].map(([lineNumber, shipments]) => ({ lineNumber, shipments })) }
}

/** Every kind of command, worded in one dialect. */
export const createOrderCommands = (writes: Writes, prepare: OrderRequests): Required<CarriedCommands<WireRequest>> => {
  return {
    // The whole order (public facts 3.1), without a body.
    acknowledge: { operation: writes.acknowledge, request: (purchaseOrderId) => prepare.acknowledge(purchaseOrderId) },
    ship: {
      operation: writes.ship,
      request: (purchaseOrderId, payload) => prepare.ship(shipRequest(purchaseOrderId, payload)),
    },
    // Specification, section 9, rules 4 and 5.
    cancel: {
      operation: writes.cancel,
      request: (purchaseOrderId, { lines }) => prepare.cancel({ purchaseOrderId, lines }),
    },
    refund: {
      operation: writes.refund,
      request: (purchaseOrderId, { lines }) => prepare.refund({ purchaseOrderId, lines }),
    },
  }
}
