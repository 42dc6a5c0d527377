import { publishedSpelling } from '../../domain/carriers.ts'
import { noOrderId } from '../../domain/text.ts'
import type {
  CancelBody,
  RefundBody,
  RefundBodyCharge,
  RefundBodyTax,
  RequestLine,
  RequestQuantity,
  ShipBody,
} from '../contract/orders.ts'
import type {
  CancelRequest,
  OrderRequests,
  RefundCharge,
  RefundRequest,
  Shipment,
  ShipRequest,
  WireRequest,
} from '../interface.ts'
import { exactJsonNumber } from '../json.ts'
import type { Profile, QuantityField, WriteOperationName } from '../profiles/profile.ts'

/** The dialect in which writes are worded. */
export type RequestDialect = Pick<
  Profile,
  'refundQuantity' | 'unitOfMeasurement' | 'shipSellerOrderId' | 'refundMode' | 'carriers'
> & {
  readonly quantityField: QuantityField
}

const MAX_SELLER_ORDER_ID = 30

/**
 * Path of a purchase order, or of one of its operations.
 *
 * @throws RangeError when the id can be none, so that another path would be asked for
 */
export function orderPath(purchaseOrderId: string, action?: string): string {
  const wrong = purchaseOrderId === '' ? 'must not be empty' : noOrderId(purchaseOrderId)
  if (wrong !== null) throw new RangeError(`the id of a purchase order ${wrong}`)
  const path = `/v3/orders/${encodeURIComponent(purchaseOrderId)}`
  return action === undefined ? path : `${path}/${action}`
}

function wireRequest(
  operation: WriteOperationName,
  purchaseOrderId: string,
  action: string,
  body: WireRequest['body'],
): WireRequest {
  return { operation, purchaseOrderId, path: orderPath(purchaseOrderId, action), body }
}

/** Writes of purchase orders in one dialect. Pure. The units are always stated (MLMQ rules 3 to 5). */
export function createOrderRequests(dialect: RequestDialect): OrderRequests {
  function units(quantity: number): { readonly quantity: RequestQuantity } | { readonly statusQuantity: RequestQuantity } {
    if (!Number.isSafeInteger(quantity) || quantity < 1)
      throw new RangeError('a request needs a whole number of units, at least 1')
    const stated = { unitOfMeasurement: dialect.unitOfMeasurement, amount: String(quantity) }
    return dialect.quantityField === 'quantity' ? { quantity: stated } : { statusQuantity: stated }
  }

  function momentMs(moment: Date): number {
    if (Number.isNaN(moment.getTime())) throw new RangeError('a request needs the time at which the units were shipped')
    return moment.getTime()
  }

  function carrierName(carrier: string): { readonly carrier: string } | { readonly otherCarrier: string } {
    if (dialect.carriers === null) return { carrier }
    const published = publishedSpelling(dialect.carriers, carrier)
    return published === null ? { otherCarrier: carrier } : { carrier: published }
  }

  function shipLine(purchaseOrderId: string, lineNumber: string, shipments: readonly Shipment[]): RequestLine {
    return {
      lineNumber,
      ...(shipments.some((shipment) => shipment.intentToCancelOverride === true) ? { intentToCancelOverride: true } : {}),
      ...(dialect.shipSellerOrderId ? { sellerOrderId: purchaseOrderId.slice(0, MAX_SELLER_ORDER_ID) } : {}),
      orderLineStatuses: {
        orderLineStatus: shipments.map((shipment) => ({
          status: 'Shipped',
          ...units(shipment.quantity),
          trackingInfo: {
            shipDateTime: momentMs(shipment.shippedAt),
            carrierName: carrierName(shipment.carrier),
            ...(shipment.methodCode === null ? {} : { methodCode: shipment.methodCode }),
            trackingNumber: shipment.trackingNumber,
            ...(shipment.trackingUrl === null ? {} : { trackingURL: shipment.trackingUrl }),
          },
        })),
      },
    }
  }

  function ship({ purchaseOrderId, lines }: ShipRequest): WireRequest {
    const body: ShipBody = {
      orderShipment: {
        orderLines: { orderLine: lines.map((line) => shipLine(purchaseOrderId, line.lineNumber, line.shipments)) },
      },
    }
    return wireRequest('orders.ship', purchaseOrderId, 'shipping', body)
  }

  function cancel({ purchaseOrderId, lines }: CancelRequest): WireRequest {
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

  function refundCharge(reason: string, charge: RefundCharge): RefundBodyCharge {
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

  function refundTax({ taxName, amount, currency }: NonNullable<RefundCharge['tax']>): RefundBodyTax {
    return { taxName, taxAmount: { currency, amount: exactJsonNumber(amount) } }
  }

  function refund({ purchaseOrderId, lines }: RefundRequest): WireRequest {
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
    cancel,
    refund,
  }
}
