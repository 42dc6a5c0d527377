import type { Cents } from '../core/money.ts'

/** States of units (public facts, section 2.6), with their bit in an order's `states` column. */
export const bitsOfStates = { Created: 1, Acknowledged: 2, Shipped: 4, Delivered: 8, Cancelled: 16, Refund: 32 } as const
export type UnitState = keyof typeof bitsOfStates

export const shipNodeTypes = ['SellerFulfilled', 'WFSFulfilled', '3PLFulfilled'] as const
export type ShipNodeType = (typeof shipNodeTypes)[number]

/** One box on its way; times are epoch milliseconds of the virtual clock. */
export interface Parcel {
  shippedAt: number
  carrier: string | null
  otherCarrier: string | null
  methodCode: string
  trackingNumber: string
  trackingUrl: string | null
}

/** Type of the order, shown only on request (public facts, section 2.3). */
export const orderTypes = ['REGULAR', 'REPLACEMENT', 'PREORDER'] as const
export type OrderType = (typeof orderTypes)[number]

export const shippingProgramTypes = ['TWO_DAY', 'ONE_DAY', 'THREE_DAY'] as const
export type ShippingProgramType = (typeof shippingProgramTypes)[number]

/** Number of units of a line in a state. The quantities of a line's entries add up to `ordered`. */
export interface Entry {
  state: UnitState
  quantity: number
  cancellationReason?: string
  parcel?: Parcel
  /** Of refunded units: their former state, for answers that show the money only. */
  before?: { readonly state: 'Shipped' | 'Delivered'; readonly parcel?: Parcel }
}

/** An amount of its own beside a charge. */
export interface NamedAmount {
  readonly name: string
  readonly amount: Cents
}

/** Money for all units of the line together. A discount is negative. */
export interface Charge {
  /** `PRODUCT`, `SHIPPING`, or any other word. */
  readonly type: string
  readonly name: string
  readonly amount: Cents
  readonly tax: NamedAmount | null
  /** `taxAndOtherFees`, of the same form as the tax (public facts, section 2.5): more money, not the tax again. */
  readonly fees?: NamedAmount | null
}

/** The parts of a charge, each refunded up to what it was. */
export const chargeParts = ['amount', 'tax', 'fees'] as const
export type ChargePart = (typeof chargeParts)[number]

/** Money given back: positive cents, of one charge of the line. */
export interface RefundedCharge extends Charge {
  readonly reason: string
  readonly refundId: string | null
  readonly comments: string | null
}

export interface Item {
  readonly sku: string
  readonly productName: string
  readonly condition: string
  readonly imageUrl: string
  readonly weightPounds: string
}

export interface Line {
  readonly lineNumber: string
  readonly item: Item
  readonly ordered: number
  readonly charges: readonly Charge[]
  entries: Entry[]
  statusDate: number
  /** When the buyer asked to cancel; `null` when not. */
  intentToCancelAt: number | null
  refunds: RefundedCharge[]
  sellerOrderId: string | null
}

export interface Buyer {
  readonly name: string
  readonly email: string
  readonly phone: string
  readonly address1: string
  readonly address2: string | null
  readonly city: string
  readonly state: string
  readonly postalCode: string
  readonly addressType: string
}

/** A purchase order as the sandbox keeps it. */
export interface Order {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly customerOrderId: string
  readonly createdAt: number
  readonly shipNodeType: ShipNodeType
  readonly methodCode: string
  readonly shipBy: number
  readonly deliverBy: number
  /** Left out: a regular order. */
  readonly orderType?: OrderType
  readonly originalCustomerOrderId?: string
  readonly shippingProgramType?: ShippingProgramType | null
  readonly currency: string
  readonly buyer: Buyer
  /** Whether things happen to the order by themselves: deliveries, buyers, returns, auto-cancel. */
  readonly alive: boolean
  readonly lines: Line[]
}

/** What happened to units, to be written down with who did it. */
export interface EffectDraft {
  readonly lineNumber: string
  /** `corrected`: shipped units got the tracking number of the effect; none moved. */
  readonly kind: 'acknowledged' | 'shipped' | 'corrected' | 'delivered' | 'cancelled' | 'refunded'
  readonly quantity: number
  readonly from: UnitState | null
  /** Money given back, positive cents; only of `refunded`. */
  readonly amount?: Cents
  readonly currency?: string
  readonly trackingNumber?: string
}

/** Who did it, and in which request. */
export interface Actor {
  readonly by: 'seller' | 'buyer' | 'marketplace' | 'carrier'
  readonly correlationId: string | null
  readonly requestId: string | null
}
