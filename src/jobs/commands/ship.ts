import type { Shipment } from '../../clients/marketplace/order-requests.ts'
import { ordersEndpoint } from '../../clients/marketplace/orders.ts'
import type { CommandDefinition } from './definition.ts'

/** Reports units as shipped, one shipment for each line of each parcel (specification, section 9, rule 3). Tracking numbers are our identifying marks. */
export const ship: CommandDefinition<'ship'> = {
  kind: 'ship',
  operation: ordersEndpoint.operations.ship,
  readsOrderFirst: false,
  goalReached: () => false,
  request: (prepare, purchaseOrderId, payload) => {
    const lines = new Map<string, Shipment[]>()
    for (const parcel of payload.parcels) {
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
    return prepare.ship({ purchaseOrderId, lines: [...lines].map(([lineNumber, shipments]) => ({ lineNumber, shipments })) })
  },
}
