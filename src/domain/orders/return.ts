import type { DecimalText } from './order.ts'

/** Tracking status of a number of units of a returned line (specification, section 9, rule 6). All values are open sets. */
export interface ReturnTrackingStatus {
  readonly status: string | null
  readonly statusTime: Date | null
  readonly currentRefundStatus: string | null
  readonly quantity: number | null
  readonly raw: unknown
}

/** Channel through which a number of units can be or have been refunded (specification, section 9, rule 6). */
export interface ReturnRefundChannel {
  readonly refundChannelName: string | null
  readonly quantity: number | null
  readonly raw: unknown
}

/** One line of a return. Its numbers are integers, unlike those of an order line. */
export interface ReturnLine {
  readonly returnOrderLineNumber: number
  readonly purchaseOrderId: string | null
  readonly purchaseOrderLineNumber: string | null
  readonly salesOrderLineNumber: string | null
  readonly sku: string | null
  readonly productName: string | null
  readonly quantity: number
  readonly unitOfMeasure: string | null
  readonly refundedQuantity: number | null
  /** Who bears the refund, the seller or the marketplace; an open set (public facts, section 15). */
  readonly refundCoveredBy: string | null
  readonly returnReason: string | null
  /** Goods that are refunded through their order only, such as HAZMAT (public facts 4.3); null: ordinary goods. */
  readonly exceptionItemType: string | null
  readonly status: string | null
  readonly trackingStatuses: readonly ReturnTrackingStatus[]
  readonly refundChannels: readonly ReturnRefundChannel[]
  readonly raw: unknown
}

/** One return order as the marketplace reported it. */
export interface ReturnOrder {
  readonly returnOrderId: string
  readonly customerOrderId: string | null
  readonly returnType: string | null
  readonly refundMode: string | null
  readonly returnOrderDate: Date | null
  readonly returnByDate: Date | null
  readonly totalRefundAmount: DecimalText | null
  readonly currency: string | null
  readonly lines: readonly ReturnLine[]
  readonly raw: unknown
}
