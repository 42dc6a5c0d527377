/**
 * The central terms, as data.
 *
 * - purchase order: the part of a customer order that one seller must fulfil; its identity is (seller, purchaseOrderId).
 * - order line: one item of a purchase order, with one or more units (specification, section 9, rule 1).
 * - unit: one piece of an order line. Every unit is acknowledged, then shipped or cancelled, and once shipped may be refunded.
 * - line status: number of units of a line in a state; the quantities of a line's statuses add up to the ordered units.
 * - charge: money of a whole line (all its units together), with its tax.
 */

/** A decimal as text, never a float: `"12.30"`. */
export type DecimalText = string

/** Tax of a charge, for all units of the line. */
export interface ChargeTax {
  readonly taxName: string
  readonly amount: DecimalText
  readonly currency: string
}

/** One charge of an order line, for all units of the line together. */
export interface Charge {
  readonly chargeType: string
  readonly chargeName: string
  readonly amount: DecimalText
  readonly currency: string
  readonly tax: ChargeTax | null
  /** Stands beside the tax and in its shape (public facts 2.5); absent on most charges. */
  readonly taxAndOtherFees?: ChargeTax | null
}

/** Number of units of a line in a state. `status` is an open set: unknown values are stored unchanged. */
export interface LineStatus {
  readonly status: string
  readonly quantity: number
  readonly cancellationReason: string | null
  readonly carrier: string | null
  readonly methodCode: string | null
  readonly trackingNumber: string | null
  readonly trackingUrl: string | null
  readonly shippedAt: Date | null
  readonly raw?: unknown
}

/** Units of a line that left in one parcel. It is kept when the marketplace no longer shows it, as after a refund. */
export interface Shipment {
  readonly carrier: string | null
  readonly methodCode: string | null
  readonly trackingNumber: string | null
  readonly trackingUrl: string | null
  readonly shippedAt: Date | null
  /** The most units that were seen in it. */
  readonly quantity: number
  /** Units that the marketplace shows in it now. */
  readonly shownQuantity: number
  /** The most units that were seen as delivered. */
  readonly deliveredQuantity: number
  /** When the last of them were; null: none were, or the time is not known. */
  readonly deliveredAt: Date | null
}

/**
 * A refund of a line, as it was noticed: money of one reason, or units, that an earlier version did not show. All refunds of a line add up to its refunded
 * units and money.
 */
export interface LineRefund {
  /** The marketplace's id; null: it shows none. */
  readonly refundId: string | null
  /** Null: the marketplace shows units without money. */
  readonly reason: string | null
  /** 0: the marketplace shows money without units. */
  readonly units: number
  /** Without taxes and fees. */
  readonly amount: DecimalText
  /** Taxes and fees. */
  readonly tax: DecimalText
  /** Null: it had happened when the order was first read, and the marketplace shows no date. */
  readonly refundedAt: Date | null
}

/**
 * Cumulative units of a line by state: a refunded unit is also shipped, a shipped unit is also
 * acknowledged; a cancelled unit is neither.
 */
export interface LineUnits {
  readonly acknowledged: number
  readonly shipped: number
  readonly cancelled: number
  readonly refunded: number
}

/** One order line as the marketplace reported it. */
export interface OrderLine {
  readonly lineNumber: string
  readonly sku: string | null
  readonly productName: string | null
  readonly unitOfMeasure: string | null
  readonly ordered: number
  readonly units: LineUnits
  readonly statuses: readonly LineStatus[]
  /** Of a record: the parcels that it shows. Of a stored line: also those that earlier versions showed. */
  readonly shipments: readonly Shipment[]
  readonly charges: readonly Charge[]
  /** Refunded money as reported by the marketplace, taxes and fees included; never negative, `"0"` if none. */
  readonly refundedAmount: DecimalText
  /** Reasons of the refunds that the marketplace reports, in its order. */
  readonly refundReasons: readonly string[]
  /** Of a record: what it shows, by reason. Of a stored line: the refunds as they were noticed, oldest first. */
  readonly refunds: readonly LineRefund[]
  readonly currency: string | null
  readonly intentToCancel: boolean
  readonly statusDate: Date | null
  readonly raw?: unknown
}

/**
 * One purchase order as the marketplace reported it. `raw`, here and in its parts: the marketplace's own JSON; an order that is read from our tables
 * comes without.
 */
export interface PurchaseOrder {
  readonly purchaseOrderId: string
  readonly customerOrderId: string | null
  readonly orderDate: Date | null
  readonly orderType: string | null
  /** Who stores and ships the goods, in a word of the marketplace; an open set. */
  readonly shipNodeType: string | null
  readonly methodCode: string | null
  readonly estimatedShipDate: Date | null
  readonly estimatedDeliveryDate: Date | null
  readonly customerName: string | null
  readonly customerEmail: string | null
  readonly customerPhone: string | null
  readonly shippingAddress: Readonly<Record<string, unknown>> | null
  readonly totalAmount: DecimalText | null
  readonly currency: string | null
  readonly lines: readonly OrderLine[]
  readonly raw?: unknown
}
