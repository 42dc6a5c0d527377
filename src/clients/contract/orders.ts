import { z } from 'zod'
import { buildList, identifier, lenient, numberLike, text, timestampLike } from './lenient.ts'
import { describePublished } from './published.ts'

/**
 * Orders on the wire (specification, section 9; public facts, section 2). Other fields are dropped, since the record's own JSON keeps them; an address keeps all
 * its fields. Nothing is converted here; `../marketplace/orders/order-record.ts` maps orders to the domain form.
 */

const amount = z.object({ currency: lenient(z.string()), amount: numberLike })

/** Units with their unit of measurement; the amount is text. */
export const wireQuantity = z.object({ unitOfMeasurement: lenient(z.string()), amount: numberLike })

const wireTax = z.object({ taxName: lenient(z.string()), taxAmount: amount.nullish() }).nullish()

/** Money with its tax and fees, for all units of the line. Fees have the shape of a tax (public facts, section 2.5). */
export const wireCharge = z.object({
  chargeType: lenient(z.string()),
  chargeName: lenient(z.string()),
  chargeAmount: amount,
  tax: wireTax,
  taxAndOtherFees: wireTax,
})

/** The shipment of a parcel. */
export const wireTrackingInfo = z.object({
  shipDateTime: lenient(timestampLike),
  carrierName: lenient(z.union([z.string(), z.object({ carrier: lenient(z.string()), otherCarrier: lenient(z.string()) })])),
  methodCode: lenient(z.string()),
  trackingNumber: lenient(text),
  trackingURL: lenient(z.string()),
})

/** The units in one state, under `statusQuantity` or `quantity`. */
export const wireOrderLineStatus = z.object({
  status: z.string(),
  statusQuantity: wireQuantity.nullish(),
  quantity: wireQuantity.nullish(),
  cancellationReason: lenient(z.string()),
  trackingInfo: lenient(wireTrackingInfo),
})

/** Refunded money. */
export const wireRefund = z.object({
  refundId: lenient(text),
  refundComments: lenient(z.string()),
  refundCharges: z
    .object({
      refundCharge: buildList(z.object({ refundReason: lenient(z.string()), charge: wireCharge.nullish() })).nullish(),
    })
    .nullish(),
})

/** One line of an order. `lineNumber` is text and need not start at 1. */
export const wireOrderLine = z.object({
  lineNumber: identifier,
  item: lenient(z.object({ productName: lenient(z.string()), sku: lenient(text) })),
  charges: z.object({ charge: buildList(wireCharge).nullish() }).nullish(),
  orderLineQuantity: wireQuantity,
  statusDate: lenient(timestampLike),
  orderLineStatuses: z.object({ orderLineStatus: buildList(wireOrderLineStatus).nullish() }).nullish(),
  refund: buildList(wireRefund).nullish(),
  refunds: z.object({ refund: buildList(wireRefund).nullish() }).nullish(),
  intentToCancel: z.unknown().optional(),
})

/** One purchase order. */
export const wireOrder = z.object({
  purchaseOrderId: identifier,
  customerOrderId: lenient(text),
  customerEmailId: lenient(z.string()),
  orderType: lenient(z.string()),
  orderDate: lenient(timestampLike),
  shippingInfo: lenient(
    z.object({
      phone: lenient(text),
      estimatedDeliveryDate: lenient(timestampLike),
      estimatedShipDate: lenient(timestampLike),
      methodCode: lenient(z.string()),
      postalAddress: lenient(z.looseObject({ name: lenient(z.string()) })),
    }),
  ),
  orderLines: z.object({ orderLine: buildList(wireOrderLine) }),
  orderSummary: lenient(
    z.object({ totalAmount: lenient(z.object({ currencyAmount: numberLike, currencyUnit: lenient(z.string()) })) }),
  ),
  shipNode: lenient(z.object({ type: lenient(z.string()) })),
})

/** A page of orders, its records cut out; a page that still contains some is unreadable. */
export const wireOrderPage = z.looseObject({
  list: z.looseObject({
    meta: lenient(
      z.looseObject({ totalCount: lenient(numberLike), limit: lenient(numberLike), nextCursor: lenient(z.string()) }),
    ),
    elements: z.looseObject({ order: z.array(z.unknown()).max(0).nullish() }).nullish(),
  }),
})

/** An order on the wire. */
export type WireOrder = z.infer<typeof wireOrder>
/** A line of an order on the wire. */
export type WireOrderLine = z.infer<typeof wireOrderLine>
/** The units of a line in one state, on the wire. */
export type WireOrderLineStatus = z.infer<typeof wireOrderLineStatus>
/** A charge on the wire. */
export type WireCharge = z.infer<typeof wireCharge>
/** A refund on the wire. */
export type WireRefund = z.infer<typeof wireRefund>

/** Units of a request; `amount` is text, as in answers. */
export type RequestQuantity = {
  readonly unitOfMeasurement: string
  readonly amount: string
}

/** A status entry of a request. Its units are in the quantity field of the profile. */
export type RequestLineStatus = {
  readonly status: 'Shipped' | 'Cancelled' | 'Refund'
  readonly quantity?: RequestQuantity
  readonly statusQuantity?: RequestQuantity
  readonly cancellationReason?: string
  readonly trackingInfo?: {
    /** Epoch milliseconds. */
    readonly shipDateTime: number
    readonly carrierName: { readonly carrier: string } | { readonly otherCarrier: string }
    readonly methodCode?: string
    readonly trackingNumber: string
    readonly trackingURL?: string
  }
  /** In a request that changes the tracking of shipped units: the number that they have now (public facts, section 3.2). */
  readonly currentTrackingInfo?: { readonly trackingNumber: string }
}

/** A line of a ship or cancel request. */
export type RequestLine = {
  readonly lineNumber: string
  /** In a ship request: ship although the buyer has requested to cancel the line (public facts, section 3.2). */
  readonly intentToCancelOverride?: boolean
  readonly sellerOrderId?: string
  readonly orderLineStatuses: { readonly orderLineStatus: readonly RequestLineStatus[] }
}

/** Body of `POST /v3/orders/{po}/shipping`. */
export type ShipBody = {
  readonly orderShipment: {
    /** Present: the tracking of shipped units is changed, and no unit is shipped (public facts, section 3.2). */
    readonly processMode?: 'PARTIAL_UPDATE'
    readonly orderLines: { readonly orderLine: readonly RequestLine[] }
  }
}

/** Body of `POST /v3/orders/{po}/cancel`. */
export type CancelBody = { readonly orderCancellation: { readonly orderLines: { readonly orderLine: readonly RequestLine[] } } }

/** Tax, or fees, of a refunded charge: a negative number. */
export type RefundBodyTax = {
  readonly taxName: string
  readonly taxAmount: { readonly currency: string; readonly amount: number }
}

/** Money of a refund request: negative numbers, in the form of the charges of orders (public facts, sections 2.5 and 3.4). */
export type RefundBodyCharge = {
  readonly refundReason: string
  readonly charge: {
    readonly chargeType: string
    readonly chargeName: string
    readonly chargeAmount: { readonly currency: string; readonly amount: number }
    readonly tax?: RefundBodyTax
    readonly taxAndOtherFees?: RefundBodyTax
  }
}

/** A line of a refund request. */
export type RefundBodyLine = {
  readonly lineNumber: string
  readonly isFullRefund?: boolean
  readonly orderLineStatuses?: { readonly orderLineStatus: readonly RequestLineStatus[] }
  readonly refunds: {
    readonly refund: readonly { readonly refundCharges: { readonly refundCharge: readonly RefundBodyCharge[] } }[]
  }
}

/** Body of `POST /v3/orders/{po}/refund`. */
export type RefundBody = {
  readonly orderRefund: {
    readonly purchaseOrderId: string
    readonly orderLines: { readonly orderLine: readonly RefundBodyLine[] }
  }
}

const line = 'orderLines.orderLine[]'
const status = `${line}.orderLineStatuses.orderLineStatus[]`

/** What is published about an order (public facts, sections 2.5, 2.6 and 13). */
export const publishedOrder = describePublished(wireOrder, {
  also: {
    '': [
      'originalCustomerOrderID',
      'buyerId',
      'mart',
      'isGuest',
      'paymentTypes',
      'pickupPersons',
      'isWCPOrder',
      'miscAttributes',
    ],
    shippingInfo: ['carrierMethodName'],
    'shippingInfo.postalAddress': ['address1', 'address2', 'city', 'state', 'postalCode', 'country', 'addressType'],
    orderSummary: ['orderSubTotals'],
    shipNode: ['name', 'id'],
    [line]: [
      ...[
        'returnOrderId',
        'originalCarrierMethod',
        'referenceLineId',
        'configId',
        'sellerOrderId',
        'fulfillment',
        'serialNumbers',
      ],
      ...['incentiveInfo', 'serviceInfo', 'miscAttributes'],
    ],
    [`${line}.item`]: ['condition', 'imageUrl', 'weight'],
    [status]: ['returnCenterAddress'],
    [`${status}.trackingInfo`]: ['carrierMethodCode'],
  },
  values: {
    orderType: ['REGULAR', 'REPLACEMENT', 'PREORDER'],
    'shippingInfo.methodCode': ['Standard', 'Express', 'OneDay', 'Freight', 'WhiteGlove', 'Value'],
    'shippingInfo.postalAddress.addressType': ['RESIDENTIAL', 'OFFICE'],
    'shipNode.type': ['SellerFulfilled', 'WFSFulfilled', '3PLFulfilled'],
    [`${status}.status`]: ['Created', 'Acknowledged', 'Shipped', 'Delivered', 'Cancelled', 'Canceled', 'Refund', 'Refunded'],
  },
})
