import { refuseContent } from '../core/errors.ts'
import type { Line, Order } from './model.ts'

/** The line of a request. Throws a refusal in the marketplace's format if the order has no such line. */
export const findLine = (order: Order, lineNumber: string): Line => {
  const line = order.lines.find((candidate) => candidate.lineNumber === lineNumber)
  if (line === undefined) {
    throw refuseContent(`Unable to process this request. The Line: ${lineNumber} of PO: ${order.purchaseOrderId} does not exist`)
  }
  return line
}

/** Marketplace-fulfilled orders are shipped and cancelled by the marketplace alone (public facts, section 2.4). */
export const refuseMarketplaceFulfilled = (order: Order, verb: string): void => {
  if (order.shipNodeType === 'WFSFulfilled') {
    throw refuseContent(
      `Unable to process this request. PO: ${order.purchaseOrderId} is fulfilled by the marketplace and cannot be ${verb} by the seller`,
    )
  }
}
