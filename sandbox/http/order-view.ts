import { type Cents, jsonAmount } from '../core/money.ts'
import type { Charge, Entry, Line, NamedAmount, Order, RefundedCharge } from '../rules/model.ts'
import { isFullyCancelled, putUnits } from '../rules/units.ts'

/** What a reader may ask for besides the order itself, and how refunds are shown. */
export interface ViewOptions {
  readonly productInfo: boolean
  readonly replacementInfo: boolean
  /** Whether refunded units stay in their former state, so that only the charges show them. */
  readonly refundsAsMoney: boolean
  /** Whether amounts given back are shown as positive numbers, as one official example has them. */
  readonly positiveRefunds: boolean
  /** Whether it has the fields of 2026 (public facts, section 13). */
  readonly liveFields: boolean
}

/**
 * An order as it goes over the wire (public facts, section 2.5). Units in a state are shown as `statusQuantity`
 * under every profile: that is what the published answers show, and readers take either name.
 */
export const viewOrder = (order: Order, options: ViewOptions): Record<string, unknown> => {
  const cancelled = order.lines.every(isFullyCancelled)
  const { buyer } = order
  return {
    purchaseOrderId: order.purchaseOrderId,
    customerOrderId: order.customerOrderId,
    customerEmailId: buyer.email,
    ...(options.replacementInfo
      ? { orderType: order.orderType ?? 'REGULAR', originalCustomerOrderID: order.originalCustomerOrderId ?? null }
      : {}),
    orderDate: order.createdAt,
    shippingInfo: {
      // The live service blanks the phone once nothing is left to deliver.
      phone: cancelled ? '0000000000' : buyer.phone,
      estimatedDeliveryDate: order.deliverBy,
      estimatedShipDate: order.shipBy,
      methodCode: order.methodCode,
      postalAddress: {
        name: buyer.name,
        address1: buyer.address1,
        address2: buyer.address2,
        city: buyer.city,
        state: buyer.state,
        postalCode: buyer.postalCode,
        country: 'USA',
        addressType: buyer.addressType,
      },
    },
    orderLines: { orderLine: order.lines.map((line) => viewLine(order, line, options)) },
    paymentTypes: ['CREDITCARD'],
    orderSummary: viewSummary(order),
    shipNode: { type: order.shipNodeType, name: `${order.shipNodeType} node`, id: '10000001' },
    ...(options.liveFields ? { isWCPOrder: false, miscAttributes: [{ name: 'SHIPPING_TIER', value: order.methodCode }] } : {}),
  }
}

const viewLine = (order: Order, line: Line, options: ViewOptions): Record<string, unknown> => {
  const cancelled = isFullyCancelled(line)
  return {
    lineNumber: line.lineNumber,
    item: {
      productName: line.item.productName,
      sku: line.item.sku,
      condition: line.item.condition,
      ...(options.productInfo ? { imageUrl: line.item.imageUrl, weight: { value: line.item.weightPounds, unit: 'Pounds' } } : {}),
    },
    charges: { charge: line.charges.map((charge) => viewCharge(order, charge, cancelled ? 0 : 1)) },
    orderLineQuantity: quantity(line.ordered),
    statusDate: line.statusDate,
    orderLineStatuses: { orderLineStatus: shownEntries(line, options).map(viewEntry) },
    refund: line.refunds.length === 0 ? null : viewRefund(order, line.refunds, options),
    ...(line.sellerOrderId === null ? {} : { sellerOrderId: line.sellerOrderId }),
    ...(line.intentToCancelAt === null ? {} : { intentToCancel: new Date(line.intentToCancelAt).toISOString() }),
    fulfillment: {
      fulfillmentOption: 'S2H',
      shipMethod: order.methodCode.toUpperCase(),
      storeId: null,
      pickUpDateTime: order.deliverBy,
      pickUpBy: null,
      shippingProgramType: order.shippingProgramType ?? null,
    },
  }
}

/** The former state of refunded units is not shown, unless they are shown as if they were still in it. */
const shownEntries = (line: Line, { refundsAsMoney }: ViewOptions): readonly Entry[] => {
  const shown: Line = { ...line, entries: [] }
  for (const entry of line.entries) {
    const { before, ...plain } = entry
    const kept = { state: before?.state ?? 'Shipped', quantity: entry.quantity }
    if (entry.state !== 'Refund' || !refundsAsMoney) putUnits(shown, plain)
    else putUnits(shown, before?.parcel === undefined ? kept : { ...kept, parcel: before.parcel })
  }
  return shown.entries
}

const quantity = (units: number): { unitOfMeasurement: string; amount: string } => ({
  unitOfMeasurement: 'EACH',
  amount: String(units),
})

const money = (order: Order, cents: Cents): { currency: string; amount: number } => ({
  currency: order.currency,
  amount: jsonAmount(cents),
})

/** A charge whose amounts are multiplied by `factor`; fees are shown only if there are any. */
const viewCharge = (order: Order, charge: Charge, factor: -1 | 0 | 1): Record<string, unknown> => {
  const shown = (cents: Cents): Record<string, unknown> => money(order, cents === 0 ? 0 : cents * factor)
  const part = ({ name, amount }: NamedAmount): Record<string, unknown> => ({ taxName: name, taxAmount: shown(amount) })
  return {
    chargeType: charge.type,
    chargeName: charge.name,
    chargeAmount: shown(charge.amount),
    tax: charge.tax === null ? null : part(charge.tax),
    ...(charge.fees == null ? {} : { taxAndOtherFees: part(charge.fees) }),
  }
}

const viewEntry = (entry: Entry): Record<string, unknown> => {
  const { parcel } = entry
  return {
    status: entry.state,
    statusQuantity: quantity(entry.quantity),
    cancellationReason: entry.cancellationReason ?? null,
    trackingInfo:
      parcel === undefined
        ? null
        : {
            shipDateTime: parcel.shippedAt,
            carrierName: parcel.carrier === null ? { otherCarrier: parcel.otherCarrier } : { carrier: parcel.carrier },
            methodCode: parcel.methodCode,
            trackingNumber: parcel.trackingNumber,
            trackingURL: parcel.trackingUrl,
          },
  }
}

const viewRefund = (order: Order, refunds: readonly RefundedCharge[], options: ViewOptions): Record<string, unknown> => {
  const refundId = refunds.findLast((one) => one.refundId !== null)?.refundId ?? null
  return {
    ...(refundId === null ? {} : { refundId }),
    refundComments: refunds.findLast((one) => one.comments !== null)?.comments ?? null,
    refundCharges: {
      refundCharge: refunds.map((one) => ({
        refundReason: one.reason,
        charge: viewCharge(order, one, options.positiveRefunds ? 1 : -1),
      })),
    },
  }
}

const viewSummary = (order: Order): Record<string, unknown> => {
  const charges = order.lines.flatMap((line) => (isFullyCancelled(line) ? [] : line.charges))
  const sum = (part: (charge: Charge) => Cents): Cents => charges.reduce((total, charge) => total + part(charge), 0)
  const amount = (cents: Cents): Record<string, unknown> => ({ currencyAmount: jsonAmount(cents), currencyUnit: order.currency })
  const types = new Set(['PRODUCT', 'SHIPPING', ...charges.map(({ type }) => type)])
  const fees = sum(({ fees }) => fees?.amount ?? 0)
  const subTotals = [
    ...[...types].map((type) => ({ subTotalType: type, cents: sum((one) => (one.type === type ? one.amount : 0)) })),
    { subTotalType: 'TAX', cents: sum(({ tax }) => tax?.amount ?? 0) },
    ...(fees === 0 ? [] : [{ subTotalType: 'FEES', cents: fees }]),
  ]
  return {
    totalAmount: amount(subTotals.reduce((total, one) => total + one.cents, 0)),
    orderSubTotals: subTotals.map(({ subTotalType, cents }) => ({ subTotalType, totalAmount: amount(cents) })),
  }
}
