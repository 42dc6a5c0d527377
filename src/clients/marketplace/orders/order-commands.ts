import type { CorrectionPayload, ShipPayload } from '../../../domain/commands/command.ts'
import type { Operations } from '../../http/endpoint.ts'
import type { SupportedCommands } from '../../http/order-commands.ts'
import type { Profile } from '../profiles/profile.ts'
import type { CorrectionRequest, OrderRequests, Shipment, ShipRequest, WireRequest } from './order-requests.ts'

/** The writes of orders. */
type Writes = Operations & { readonly [Kind in Exclude<keyof OrderRequests, 'correct'>]: Operations[string] }

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

/** The same request with the new tracking, for units that are shipped already (public facts, section 3.2). */
const correctionRequest = (
  purchaseOrderId: string,
  { trackingNumber, replacement, lines }: CorrectionPayload,
): CorrectionRequest => ({
  purchaseOrderId,
  trackingNumber,
  lines: lines.map(({ lineNumber, quantity, shippedAt, method, intentToCancelOverride }) => ({
    lineNumber,
    shipments: [{ ...replacement, quantity, methodCode: method, shippedAt: new Date(shippedAt), intentToCancelOverride }],
  })),
})

/** The commands of this marketplace: every kind, but not every profile has corrections. */
export type SupportedOrderCommands = Required<Omit<SupportedCommands<WireRequest>, 'correct-shipment'>> &
  Pick<SupportedCommands<WireRequest>, 'correct-shipment'>

/** Every kind of command in one dialect. */
export const createOrderCommands = (
  writes: Writes,
  prepare: OrderRequests,
  { correctsShipments }: Pick<Profile, 'correctsShipments'>,
): SupportedOrderCommands => {
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
    ...(correctsShipments
      ? {
          'correct-shipment': {
            operation: writes.ship,
            request: (purchaseOrderId, payload) => prepare.correct(correctionRequest(purchaseOrderId, payload)),
          },
        }
      : {}),
  }
}
