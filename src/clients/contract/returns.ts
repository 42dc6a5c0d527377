import { z } from 'zod'
import { identifier, lenient, momentLike, numberLike, text } from './lenient.ts'

/**
 * Returns on the wire (specification, section 9; public facts, section 4). Loose throughout: unknown fields are kept. Line numbers
 * are integers here, dates ISO text, unlike those of orders.
 */

/** Units: an object with `measurementValue` (or `amount`), or the bare number. */
export const wireReturnQuantity = z.union([
  numberLike,
  z.looseObject({ unitOfMeasure: lenient(z.string()), measurementValue: lenient(numberLike), amount: lenient(numberLike) }),
])

/** Where so many units are; the specification does not show its shape, so a bare word is read as the status. */
export const wireTrackingStatus = z.union([
  z.string(),
  z.looseObject({
    status: lenient(z.string()),
    statusTime: lenient(momentLike),
    currentRefundStatus: lenient(z.string()),
    quantity: lenient(wireReturnQuantity),
  }),
])

/** Through which channel so many units can be refunded; a bare word is read as the channel's name. */
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
  quantity: wireReturnQuantity.nullish(),
  refundedQty: lenient(numberLike),
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
  returnOrderDate: lenient(momentLike),
  returnByDate: lenient(momentLike),
  totalRefundAmount: lenient(z.looseObject({ currencyAmount: numberLike, currencyUnit: lenient(z.string()) })),
  returnOrderLines: z.array(wireReturnLine),
})

/** A page of returns, its records cut out (one that still holds any was not understood); unlike a page of orders it is not wrapped in `list`. */
export const wireReturnPage = z.looseObject({
  meta: lenient(z.looseObject({ totalCount: lenient(numberLike), limit: lenient(numberLike), nextCursor: lenient(z.string()) })),
  returnOrders: z.array(z.unknown()).max(0).nullish(),
})

/** A return as it stands on the wire. */
export type WireReturn = z.infer<typeof wireReturn>
/** A line of a return as it stands on the wire. */
export type WireReturnLine = z.infer<typeof wireReturnLine>
