import type { Charge, LineStatus, OrderLine, PurchaseOrder } from '../src/domain/orders/order.ts'
import { shownShipments } from '../src/domain/orders/shipments.ts'
import type { StorableRecord } from '../src/store/versioned/versions.ts'

/** Small, quick, seeded: the same orders in every run. */
const random = (seed: number) => {
  let state = seed >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * below)
  }
}

const filler = 'Machine-washable, pre-shrunk, double-stitched at every seam; ships flat in a recyclable sleeve. '

const rawLine = (order: number, index: number, quantity: number, shipped: number, roll: (below: number) => number) => {
  const price = (roll(9_000) + 100) / 100
  const entry = (status: string, amount: number) => ({
    status,
    statusQuantity: { unitOfMeasurement: 'EACH', amount: String(amount) },
    cancellationReason: null,
    trackingInfo:
      status === 'Shipped'
        ? {
            shipDateTime: 1_780_000_000_000 + order * 1_000,
            carrierName: { otherCarrier: null, carrier: 'UPS' },
            methodCode: 'Standard',
            carrierMethodCode: 67,
            trackingNumber: `1Z${order}${index}`,
            trackingURL: `https://www.example.com/track?number=1Z${order}${index}`,
          }
        : null,
    returnCenterAddress: null,
  })
  return {
    lineNumber: String(index + 1),
    item: {
      productName: `Product ${roll(5_000)}, ${filler.repeat(3)}`,
      sku: `SKU-${roll(5_000)}`,
      condition: 'New',
      imageUrl: `https://i.example.com/images/${roll(1_000_000)}.jpeg`,
      weight: { value: '1.5', unit: 'Pounds' },
    },
    charges: {
      charge: [
        {
          chargeType: 'PRODUCT',
          chargeName: 'ItemPrice',
          chargeAmount: { currency: 'USD', amount: price },
          tax: { taxName: 'Tax1', taxAmount: { currency: 'USD', amount: Math.round(price * 8) / 100 } },
        },
        { chargeType: 'SHIPPING', chargeName: 'Shipping', chargeAmount: { currency: 'USD', amount: 4.99 }, tax: null },
      ],
    },
    orderLineQuantity: { unitOfMeasurement: 'EACH', amount: String(quantity) },
    statusDate: 1_780_000_000_000 + order * 1_000,
    orderLineStatuses: {
      orderLineStatus: [
        ...(shipped > 0 ? [entry('Shipped', shipped)] : []),
        ...(shipped < quantity ? [entry('Acknowledged', quantity - shipped)] : []),
      ],
    },
    refund: null,
    originalCarrierMethod: null,
    referenceLineId: null,
    fulfillment: {
      fulfillmentOption: 'S2H',
      shipMethod: 'STANDARD',
      storeId: null,
      pickUpDateTime: 1_780_400_000_000,
      pickUpBy: null,
      shippingProgramType: null,
    },
    serialNumbers: [],
    intentToCancel: null,
    configId: null,
    sellerOrderId: null,
  }
}

const rawOrder = (order: number, version: number) => {
  const roll = random(order + 1)
  const lines = Array.from({ length: 2 }, (_, index) => {
    const quantity = 1 + roll(4)
    return rawLine(order, index, quantity, version === 0 ? 0 : Math.min(version, quantity), roll)
  })
  return {
    purchaseOrderId: String(108_900_000_000_000 + order),
    customerOrderId: String(200_000_000_000_000 + order),
    customerEmailId: `${order.toString(36)}@relay.example.com`,
    orderDate: 1_780_000_000_000 + order * 60_000,
    buyerId: null,
    mart: null,
    isGuest: false,
    shippingInfo: {
      phone: '5550100123',
      estimatedDeliveryDate: 1_780_500_000_000,
      estimatedShipDate: 1_780_200_000_000,
      methodCode: 'Standard',
      postalAddress: {
        name: `Buyer ${order}`,
        address1: `${order} Main Street`,
        address2: null,
        city: 'Springfield',
        state: 'IL',
        postalCode: '62701',
        country: 'USA',
        addressType: 'RESIDENTIAL',
      },
    },
    orderLines: { orderLine: lines },
    paymentTypes: ['CREDITCARD'],
    orderSummary: {
      totalAmount: { currencyAmount: 123.45, currencyUnit: 'USD' },
      orderSubTotals: [{ subTotalType: 'SUBTOTAL', totalAmount: { currencyAmount: 110.1, currencyUnit: 'USD' } }],
    },
    pickupPersons: [],
    shipNode: { type: 'SellerFulfilled', name: 'Main warehouse', id: '6600' },
  }
}

type RawOrder = ReturnType<typeof rawOrder>
type RawLine = RawOrder['orderLines']['orderLine'][number]

const status = (raw: RawLine['orderLineStatuses']['orderLineStatus'][number]): LineStatus => ({
  status: raw.status,
  quantity: Number(raw.statusQuantity.amount),
  cancellationReason: null,
  carrier: raw.trackingInfo?.carrierName.carrier ?? null,
  methodCode: raw.trackingInfo?.methodCode ?? null,
  trackingNumber: raw.trackingInfo?.trackingNumber ?? null,
  trackingUrl: raw.trackingInfo?.trackingURL ?? null,
  shippedAt: raw.trackingInfo === null ? null : new Date(raw.trackingInfo.shipDateTime),
  raw,
})

const line = (raw: RawLine): OrderLine => {
  const statuses = raw.orderLineStatuses.orderLineStatus.map(status)
  const shipped = statuses.filter((entry) => entry.status === 'Shipped').reduce((sum, entry) => sum + entry.quantity, 0)
  return {
    lineNumber: raw.lineNumber,
    sku: raw.item.sku,
    productName: raw.item.productName,
    unitOfMeasure: 'EACH',
    ordered: Number(raw.orderLineQuantity.amount),
    units: { acknowledged: Number(raw.orderLineQuantity.amount), shipped, cancelled: 0, refunded: 0 },
    statuses,
    shipments: shownShipments(statuses),
    charges: raw.charges.charge.map(
      (charge): Charge => ({
        chargeType: charge.chargeType,
        chargeName: charge.chargeName,
        amount: String(charge.chargeAmount.amount),
        currency: charge.chargeAmount.currency,
        tax:
          charge.tax === null
            ? null
            : {
                taxName: charge.tax.taxName,
                amount: String(charge.tax.taxAmount.amount),
                currency: charge.tax.taxAmount.currency,
              },
      }),
    ),
    refundedAmount: '0',
    refundReasons: [],
    refunds: [],
    currency: 'USD',
    intentToCancel: false,
    statusDate: new Date(raw.statusDate),
    raw,
  }
}

/** One order of about 4 KB JSON with two lines of one to four units; each version has shipped one unit more of each line. */
export const generateOrder = (order: number, version: number): StorableRecord<PurchaseOrder> => {
  const raw = rawOrder(order, version)
  const address = raw.shippingInfo.postalAddress
  const value: PurchaseOrder = {
    purchaseOrderId: raw.purchaseOrderId,
    customerOrderId: raw.customerOrderId,
    orderDate: new Date(raw.orderDate),
    orderType: null,
    shipNodeType: raw.shipNode.type,
    methodCode: raw.shippingInfo.methodCode,
    estimatedShipDate: new Date(raw.shippingInfo.estimatedShipDate),
    estimatedDeliveryDate: new Date(raw.shippingInfo.estimatedDeliveryDate),
    customerName: address.name,
    customerEmail: raw.customerEmailId,
    customerPhone: raw.shippingInfo.phone,
    shippingAddress: address,
    totalAmount: String(raw.orderSummary.totalAmount.currencyAmount),
    currency: 'USD',
    lines: raw.orderLines.orderLine.map(line),
    raw,
  }
  return { key: raw.purchaseOrderId, value, rawText: JSON.stringify(raw) }
}
