import { z } from 'zod'
import { buildList, identifier, lenient, numberLike, text, timestampLike } from './lenient.ts'
import { describePublished } from './published.ts'

/**
 * Returns on the wire (specification, section 9; public facts, section 4). Loose: unknown fields are kept. Unlike in orders, line numbers are integers, and dates
 * are ISO text.
 */

/** Units: an object with `measurementValue` (or `amount`), or the bare number. */
export const wireReturnQuantity = z.union([
  numberLike,
  z.looseObject({ unitOfMeasure: lenient(z.string()), measurementValue: lenient(numberLike), amount: lenient(numberLike) }),
])

/** The status of units. The specification does not show its shape, so a plain text is read as the status. */
export const wireTrackingStatus = z.union([
  z.string(),
  z.looseObject({
    status: lenient(z.string()),
    statusTime: lenient(timestampLike),
    currentRefundStatus: lenient(z.string()),
    quantity: lenient(wireReturnQuantity),
  }),
])

/** The channel through which units can be refunded. A plain text is read as its name. */
export const wireRefundChannel = z.union([
  z.string(),
  z.looseObject({ refundChannelName: lenient(z.string()), quantity: lenient(wireReturnQuantity) }),
])

/** One line of a return. */
export const wireReturnLine = z.looseObject({
  returnOrderLineNumber: numberLike,
  salesOrderLineNumber: lenient(text),
  purchaseOrderId: lenient(text),
  purchaseOrderLineNumber: lenient(text),
  returnReason: lenient(z.string()),
  item: lenient(z.looseObject({ sku: lenient(text), productName: lenient(z.string()) })),
  exceptionItemType: lenient(z.string()),
  quantity: wireReturnQuantity.nullish(),
  refundedQty: lenient(numberLike),
  refundCoveredBy: lenient(z.string()),
  status: lenient(z.string()),
  currentTrackingStatuses: z.unknown().optional(),
  refundChannels: z.unknown().optional(),
})

/** One return order. */
export const wireReturn = z.looseObject({
  returnOrderId: identifier,
  customerOrderId: lenient(text),
  returnType: lenient(z.string()),
  refundMode: lenient(z.string()),
  returnOrderDate: lenient(timestampLike),
  returnByDate: lenient(timestampLike),
  totalRefundAmount: lenient(z.looseObject({ currencyAmount: numberLike, currencyUnit: lenient(z.string()) })),
  returnOrderLines: buildList(wireReturnLine),
})

/** A page of returns, its records cut out (a page that still contains some is unreadable); unlike a page of orders, it is not wrapped in `list`. */
export const wireReturnPage = z.looseObject({
  meta: lenient(z.looseObject({ totalCount: lenient(numberLike), limit: lenient(numberLike), nextCursor: lenient(z.string()) })),
  returnOrders: z.array(z.unknown()).max(0).nullish(),
})

/** Body of `POST /v3/returns/{returnOrderId}/refund` (public facts, section 4.3). It states units; the marketplace works out their money. */
export type RefundReturnBody = {
  readonly customerOrderId: string
  readonly refundLines: readonly {
    readonly returnOrderLineNumber: number
    readonly quantity: { readonly unitOfMeasure: string; readonly measurementValue: number }
  }[]
}

/** A return on the wire. */
export type WireReturn = z.infer<typeof wireReturn>
/** A line of a return on the wire. */
export type WireReturnLine = z.infer<typeof wireReturnLine>

const line = 'returnOrderLines[]'

/** What is published about a return (specification, section "Order, return and refund fields"; public facts, sections 4.2, 14 and 15). */
export const publishedReturn = describePublished(wireReturn, {
  parts: {
    [`${line}.currentTrackingStatuses`]: buildList(wireTrackingStatus),
    [`${line}.refundChannels`]: buildList(wireRefundChannel),
  },
  also: {
    '': ['customerEmailId', 'customerName', 'replacementCustomerOrderId', 'returnLineGroups', 'returnChannel', 'miscAttributes'],
    [line]: [
      ...[
        'sellerOrderId',
        'isReturnForException',
        'rechargeReason',
        'returnCancellationReason',
        'charges',
        'unitPrice',
        'chargeTotals',
      ],
      ...[
        'cancellableQty',
        'rechargeableQty',
        'isKeepIt',
        'isFastReplacement',
        'lastItem',
        'returnExpectedFlag',
        'itemReturnSettings',
      ],
      ...[
        'refundChannel',
        'returnTrackingDetail',
        'statusTime',
        'currentDeliveryStatus',
        'currentRefundStatus',
        'miscAttributes',
      ],
      'isWFSEnabled',
    ],
    [`${line}.item`]: ['condition', 'itemWeight'],
  },
  values: {
    returnType: ['REFUND', 'REPLACEMENT', 'PREORDER'],
    [`${line}.exceptionItemType`]: ['HAZMAT', 'OTHER', 'FREIGHT'],
    [`${line}.returnReason`]: [
      ...[
        'ARRIVED_LATE',
        'AUTO_RETURN',
        'BOUGHT_ANOTHER_SIZE_OR_COLOR',
        'BOUGHT_SOMEWHERE_ELSE',
        'DAMAGED',
        'DEFECTIVE',
        'DUPLICATE_ITEM',
      ],
      ...[
        'INADEQUATE_QUALITY',
        'INCORRECT_ITEM',
        'LOST_AFTER_DELIVERY',
        'LOST_IN_TRANSIT',
        'LOWER_PRICE',
        'MISSING_PARTS',
        'POOR_FIT',
      ],
      ...['NOT_AS_DESCRIBED', 'NO_LONGER_WANTED', 'RETURN_TO_SENDER', 'SHIPPING_BOX_DAMAGED', 'TRIED_TO_CANCEL', 'WRONG_SIZE'],
    ],
    [`${line}.currentTrackingStatuses[].status`]: [
      ...[
        'INITIATED',
        'RETURN_INITIATED',
        'RETURN_IN_TRANSIT',
        'DELIVERED',
        'DELIVERED_AT_RETURN_CENTER',
        'COMPLETED',
        'REFUND_INITIATED',
      ],
      ...['REFUND_ISSUED', 'RETURN_CANCELLED', 'INTRANSIT_AFTER_INVOICE', 'DELIVERED_AFTER_INVOICE', 'IN_TRANSIT', 'RECEIVED'],
    ],
  },
})
