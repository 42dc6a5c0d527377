import { type Cents, jsonAmount } from '../core/money.ts'
import type { Charge, Entry, Line, Order, RefundedCharge } from '../rules/model.ts'
import { isFullyCancelled } from '../rules/units.ts'

/** What a reader may ask for besides the order itself. */
export interface ViewOptions {
  readonly productInfo: boolean
  readonly replacementInfo: boolean
}

/**
 * An order as it goes over the wire (public facts, section 2.5). Units that stand in a state are told as `statusQuantity`
 * under every profile: that is what the published answers show, and readers take either name.
 */
export function viewOrder(order: Order, options: ViewOptions): Record<string, unknown> {
  const cancelled = order.lines.every(isFullyCancelled)
  const { buyer } = order
  return {
    purchaseOrderId: order.purchaseOrderId,
    customerOrderId: order.customerOrderId,
    customerEmailId: buyer.email,
    ...(options.replacementInfo ? { orderType: 'REGULAR', originalCustomerOrderID: null } : {}),
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
  }
}

function viewLine(order: Order, line: Line, options: ViewOptions): Record<string, unknown> {
  const cancelled = isFullyCancelled(line)
  return {
    lineNumber: line.lineNumber,
    item: {
      productName: line.item.productName,
      sku: line.item.sku,
      condition: line.item.condition,
      ...(options.productInfo ? { imageUrl: line.item.imageUrl, weight: { value: line.item.weightPounds, unit: 'Pounds' } } : {}),
    },
    charges: { charge: line.charges.map((charge) => viewCharge(order, charge, cancelled)) },
    orderLineQuantity: quantity(line.ordered),
    statusDate: line.statusDate,
    orderLineStatuses: { orderLineStatus: line.entries.map(viewEntry) },
    refund: line.refunds.length === 0 ? null : viewRefund(order, line.refunds),
    ...(line.sellerOrderId === null ? {} : { sellerOrderId: line.sellerOrderId }),
    ...(line.intentToCancelAt === null ? {} : { intentToCancel: new Date(line.intentToCancelAt).toISOString() }),
    fulfillment: {
      fulfillmentOption: 'S2H',
      shipMethod: order.methodCode.toUpperCase(),
      storeId: null,
      pickUpDateTime: order.deliverBy,
      pickUpBy: null,
      shippingProgramType: null,
    },
  }
}

function quantity(units: number): { unitOfMeasurement: string; amount: string } {
  return { unitOfMeasurement: 'EACH', amount: String(units) }
}

function money(order: Order, cents: Cents): { currency: string; amount: number } {
  return { currency: order.currency, amount: jsonAmount(cents) }
}

function viewCharge(order: Order, charge: Charge, cancelled: boolean): Record<string, unknown> {
  return {
    chargeType: charge.type,
    chargeName: charge.name,
    chargeAmount: money(order, cancelled ? 0 : charge.amount),
    tax: charge.tax === null ? null : { taxName: charge.tax.name, taxAmount: money(order, cancelled ? 0 : charge.tax.amount) },
  }
}

function viewEntry(entry: Entry): Record<string, unknown> {
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

function viewRefund(order: Order, refunds: readonly RefundedCharge[]): Record<string, unknown> {
  const refundId = refunds.findLast((one) => one.refundId !== null)?.refundId ?? null
  return {
    ...(refundId === null ? {} : { refundId }),
    refundComments: refunds.findLast((one) => one.comments !== null)?.comments ?? null,
    refundCharges: {
      refundCharge: refunds.map((one) => ({
        refundReason: one.reason,
        charge: {
          chargeType: one.type,
          chargeName: one.name,
          chargeAmount: money(order, -one.amount),
          tax: one.tax === null ? null : { taxName: one.tax.name, taxAmount: money(order, -one.tax.amount) },
        },
      })),
    },
  }
}

function viewSummary(order: Order): Record<string, unknown> {
  const sum = (type: 'PRODUCT' | 'SHIPPING', part: (charge: Charge) => Cents): Cents =>
    order.lines.reduce(
      (total, line) =>
        isFullyCancelled(line)
          ? total
          : total + line.charges.reduce((sub, one) => (one.type === type ? sub + part(one) : sub), 0),
      0,
    )
  const tax = (charge: Charge): Cents => charge.tax?.amount ?? 0
  const subTotals = [
    { subTotalType: 'PRODUCT', cents: sum('PRODUCT', (charge) => charge.amount) },
    { subTotalType: 'SHIPPING', cents: sum('SHIPPING', (charge) => charge.amount) },
    { subTotalType: 'TAX', cents: sum('PRODUCT', tax) + sum('SHIPPING', tax) },
  ]
  const amount = (cents: Cents): Record<string, unknown> => ({ currencyAmount: jsonAmount(cents), currencyUnit: order.currency })
  return {
    totalAmount: amount(subTotals.reduce((total, one) => total + one.cents, 0)),
    orderSubTotals: subTotals.map(({ subTotalType, cents }) => ({ subTotalType, totalAmount: amount(cents) })),
  }
}
