import { publishedSpelling } from '../../../domain/orders/carriers.ts'
import type { DecimalText } from '../../../domain/orders/order.ts'
import { noOrderId } from '../../../domain/values/text.ts'
import type {
  CancelBody,
  RefundBody,
  RefundBodyCharge,
  RefundBodyTax,
  RequestLine,
  RequestQuantity,
  ShipBody,
} from '../../contract/orders.ts'
import type { JsonValue } from '../../http/json.ts'
import { exactJsonNumber } from '../../http/json.ts'
import type { Profile, QuantityField } from '../profiles/profile.ts'

/** A write request. It contains only JSON values, since it is stored as the intent. */
export interface WireRequest {
  readonly operation: 'orders.acknowledge' | 'orders.ship' | 'orders.cancel' | 'orders.refund'
  readonly purchaseOrderId: string
  readonly path: string
  readonly body: JsonValue | null
}

/** Units of a line in one parcel. */
export interface Shipment {
  readonly quantity: number
  readonly carrier: string
  readonly trackingNumber: string
  readonly trackingUrl: string | null
  readonly methodCode: string | null
  readonly shippedAt: Date
  /** Ship although the buyer has requested to cancel the line. It applies to the line if one of its shipments has it. */
  readonly intentToCancelOverride?: boolean | undefined
}

/** Units to report as shipped, one shipment for each line of each parcel. */
export interface ShipRequest {
  readonly purchaseOrderId: string
  readonly lines: readonly { readonly lineNumber: string; readonly shipments: readonly Shipment[] }[]
}

/** Shipped units that get another tracking number. The units, the carrier and the time are stated once more. */
export interface CorrectionRequest extends ShipRequest {
  /** The number that is replaced, as the marketplace shows it. */
  readonly trackingNumber: string
}

/** Units to cancel. */
export interface CancelRequest {
  readonly purchaseOrderId: string
  readonly lines: readonly { readonly lineNumber: string; readonly quantity: number; readonly reason: string }[]
}

interface RefundTax {
  readonly taxName: string
  readonly amount: DecimalText
  readonly currency: string
}

/** Money of one charge to be refunded: negative decimals. */
export interface RefundCharge {
  readonly chargeType: string
  readonly chargeName: string
  readonly amount: DecimalText
  readonly currency: string
  readonly tax: RefundTax | null
  readonly taxAndOtherFees?: RefundTax | undefined
}

/** Units to refund, with the money of exactly those units. */
export interface RefundRequest {
  readonly purchaseOrderId: string
  readonly lines: readonly {
    readonly lineNumber: string
    readonly quantity: number
    readonly reason: string
    readonly charges: readonly RefundCharge[]
  }[]
}

/** Builds the requests of writes of a purchase order. Pure. Throws RangeError for a quantity below 1 or an amount that is no exact JSON number. */
export interface OrderRequests {
  acknowledge(purchaseOrderId: string): WireRequest
  ship(request: ShipRequest): WireRequest
  correct(request: CorrectionRequest): WireRequest
  cancel(request: CancelRequest): WireRequest
  refund(request: RefundRequest): WireRequest
}

/** The dialect of write requests. */
export type RequestDialect = Pick<
  Profile,
  'refundQuantity' | 'unitOfMeasurement' | 'shipSellerOrderId' | 'refundMode' | 'vocabulary'
> & {
  readonly quantityField: QuantityField
}

const maxSellerOrderId = 30

/**
 * Path of a purchase order, or of one of its operations.
 *
 * @throws RangeError for an invalid id, which would result in another path
 */
export const orderPath = (purchaseOrderId: string, action?: string): string => {
  const wrong = purchaseOrderId === '' ? 'must not be empty' : noOrderId(purchaseOrderId)
  if (wrong !== null) throw new RangeError(`the id of a purchase order ${wrong}`)
  const path = `/v3/orders/${encodeURIComponent(purchaseOrderId)}`
  return action === undefined ? path : `${path}/${action}`
}

const wireRequest = (
  operation: WireRequest['operation'],
  purchaseOrderId: string,
  action: string,
  body: WireRequest['body'],
): WireRequest => ({ operation, purchaseOrderId, path: orderPath(purchaseOrderId, action), body })

/** Builds writes of purchase orders in one dialect. Pure. The units are always explicit (MLMQ rules 3 to 5). */
export const createOrderRequests = (dialect: RequestDialect): OrderRequests => {
  const units = (quantity: number): { readonly quantity: RequestQuantity } | { readonly statusQuantity: RequestQuantity } => {
    if (!Number.isSafeInteger(quantity) || quantity < 1)
      throw new RangeError('a request needs a whole number of units, at least 1')
    const stated = { unitOfMeasurement: dialect.unitOfMeasurement, amount: String(quantity) }
    return dialect.quantityField === 'quantity' ? { quantity: stated } : { statusQuantity: stated }
  }

  const toEpochMs = (shippedAt: Date): number => {
    if (Number.isNaN(shippedAt.getTime())) throw new RangeError('a request needs the time at which the units were shipped')
    return shippedAt.getTime()
  }

  const carrierName = (carrier: string): { readonly carrier: string } | { readonly otherCarrier: string } => {
    const { carriers } = dialect.vocabulary
    if (carriers === null) return { carrier }
    const published = publishedSpelling(carriers, carrier)
    return published === null ? { otherCarrier: carrier } : { carrier: published }
  }

  /** `replaced`: the tracking number that the units have now; null: they are not shipped yet. */
  const shipLine = (
    purchaseOrderId: string,
    { lineNumber, shipments }: ShipRequest['lines'][number],
    replaced: string | null,
  ): RequestLine => ({
    lineNumber,
    ...(shipments.some((shipment) => shipment.intentToCancelOverride === true) ? { intentToCancelOverride: true } : {}),
    ...(dialect.shipSellerOrderId ? { sellerOrderId: purchaseOrderId.slice(0, maxSellerOrderId) } : {}),
    orderLineStatuses: {
      orderLineStatus: shipments.map((shipment) => ({
        status: 'Shipped',
        ...units(shipment.quantity),
        trackingInfo: {
          shipDateTime: toEpochMs(shipment.shippedAt),
          carrierName: carrierName(shipment.carrier),
          ...(shipment.methodCode === null ? {} : { methodCode: shipment.methodCode }),
          trackingNumber: shipment.trackingNumber,
          ...(shipment.trackingUrl === null ? {} : { trackingURL: shipment.trackingUrl }),
        },
        ...(replaced === null ? {} : { currentTrackingInfo: { trackingNumber: replaced } }),
      })),
    },
  })

  const ship = ({ purchaseOrderId, lines }: ShipRequest): WireRequest => {
    const body: ShipBody = {
      orderShipment: {
        orderLines: { orderLine: lines.map((line) => shipLine(purchaseOrderId, line, null)) },
      },
    }
    return wireRequest('orders.ship', purchaseOrderId, 'shipping', body)
  }

  const correct = ({ purchaseOrderId, trackingNumber, lines }: CorrectionRequest): WireRequest => {
    const body: ShipBody = {
      orderShipment: {
        processMode: 'PARTIAL_UPDATE',
        orderLines: { orderLine: lines.map((line) => shipLine(purchaseOrderId, line, trackingNumber)) },
      },
    }
    return wireRequest('orders.ship', purchaseOrderId, 'shipping', body)
  }

  const cancel = ({ purchaseOrderId, lines }: CancelRequest): WireRequest => {
    const body: CancelBody = {
      orderCancellation: {
        orderLines: {
          orderLine: lines.map(({ lineNumber, quantity, reason }) => ({
            lineNumber,
            orderLineStatuses: { orderLineStatus: [{ status: 'Cancelled', cancellationReason: reason, ...units(quantity) }] },
          })),
        },
      },
    }
    return wireRequest('orders.cancel', purchaseOrderId, 'cancel', body)
  }

  const refundCharge = (reason: string, charge: RefundCharge): RefundBodyCharge => {
    const { chargeType, chargeName, amount, currency, tax, taxAndOtherFees } = charge
    return {
      refundReason: reason,
      charge: {
        chargeType,
        chargeName,
        chargeAmount: { currency, amount: exactJsonNumber(amount) },
        ...(tax === null ? {} : { tax: refundTax(tax) }),
        ...(taxAndOtherFees === undefined ? {} : { taxAndOtherFees: refundTax(taxAndOtherFees) }),
      },
    }
  }

  const refundTax = ({ taxName, amount, currency }: NonNullable<RefundCharge['tax']>): RefundBodyTax => ({
    taxName,
    taxAmount: { currency, amount: exactJsonNumber(amount) },
  })

  const refund = ({ purchaseOrderId, lines }: RefundRequest): WireRequest => {
    const body: RefundBody = {
      orderRefund: {
        purchaseOrderId,
        orderLines: {
          orderLine: lines.map(({ lineNumber, quantity, reason, charges }) => {
            const stated = units(quantity)
            return {
              lineNumber,
              ...(dialect.refundMode ? { isFullRefund: false } : {}),
              ...(dialect.refundQuantity
                ? { orderLineStatuses: { orderLineStatus: [{ status: 'Refund' as const, ...stated }] } }
                : {}),
              refunds: { refund: [{ refundCharges: { refundCharge: charges.map((charge) => refundCharge(reason, charge)) } }] },
            }
          }),
        },
      },
    }
    return wireRequest('orders.refund', purchaseOrderId, 'refund', body)
  }

  return {
    acknowledge: (purchaseOrderId) => wireRequest('orders.acknowledge', purchaseOrderId, 'acknowledge', null),
    ship,
    correct,
    cancel,
    refund,
  }
}
