/** Wire records as the marketplace writes them, for tests of the clients. */

/** A line of a sample order, in the words of the wire. */
export const wireLine = (lineNumber: string, units: number, overrides: Readonly<Record<string, unknown>> = {}) => ({
  lineNumber,
  item: { productName: `Enamel mug, set of four, number ${lineNumber}`, sku: `MUG-${lineNumber}`, condition: 'New' },
  charges: {
    charge: [
      {
        chargeType: 'PRODUCT',
        chargeName: 'ItemPrice',
        chargeAmount: { currency: 'USD', amount: 30.3 },
        tax: { taxName: 'Tax1', taxAmount: { currency: 'USD', amount: 2.5 } },
      },
      { chargeType: 'SHIPPING', chargeName: 'Shipping', chargeAmount: { currency: 'USD', amount: 4 }, tax: null },
    ],
  },
  orderLineQuantity: { unitOfMeasurement: 'EACH', amount: String(units) },
  statusDate: 1_760_000_000_000,
  orderLineStatuses: {
    orderLineStatus: [
      { status: 'Created', statusQuantity: { unitOfMeasurement: 'EACH', amount: String(units) }, trackingInfo: null },
    ],
  },
  refund: null,
  fulfillment: {
    fulfillmentOption: 'S2H',
    shipMethod: 'STANDARD',
    pickUpDateTime: 1_760_100_000_000,
    shippingProgramType: null,
  },
  ...overrides,
})

/** A sample order. */
export const wireOrderSample = (purchaseOrderId: string, overrides: Readonly<Record<string, unknown>> = {}) => ({
  purchaseOrderId,
  customerOrderId: `40${purchaseOrderId}`,
  customerEmailId: 'relay-7731@relay.example',
  orderDate: 1_760_000_000_000,
  shippingInfo: {
    phone: '5550100100',
    estimatedDeliveryDate: 1_760_500_000_000,
    estimatedShipDate: 1_760_200_000_000,
    methodCode: 'Standard',
    postalAddress: {
      name: 'Ada Example',
      address1: '1 Quay Street',
      address2: null,
      city: 'Portland',
      state: 'OR',
      postalCode: '97201',
      country: 'USA',
      addressType: 'RESIDENTIAL',
    },
  },
  orderLines: { orderLine: [wireLine('1', 3), wireLine('2', 1), wireLine('4', 2)] },
  orderSummary: { totalAmount: { currencyAmount: 110.4, currencyUnit: 'USD' } },
  shipNode: { type: 'SellerFulfilled', name: 'Dock 7', id: 'N-7' },
  ...overrides,
})

/** A page of orders as text. */
export const wirePageText = (orders: readonly unknown[], nextCursor?: string): string => {
  const meta = { totalCount: orders.length, limit: 200, ...(nextCursor === undefined ? {} : { nextCursor }) }
  return JSON.stringify({ list: { meta, elements: { order: orders } } })
}

/** A sample return. */
export const wireReturnSample = (returnOrderId: string, overrides: Readonly<Record<string, unknown>> = {}) => ({
  returnOrderId,
  customerOrderId: '5001',
  returnType: 'REFUND',
  refundMode: 'POST_DELIVERY',
  returnOrderDate: '2025-11-02T08:15:30.123Z',
  returnByDate: '2025-12-02T08:15:30.123Z',
  totalRefundAmount: { currencyAmount: 21.87, currencyUnit: 'USD' },
  returnOrderLines: [
    {
      returnOrderLineNumber: 1,
      salesOrderLineNumber: 1,
      purchaseOrderId: '108000000001',
      purchaseOrderLineNumber: 1,
      returnReason: 'DAMAGED',
      item: { sku: 'MUG-1', productName: 'Enamel mug', condition: 'New' },
      quantity: { unitOfMeasure: 'EACH', measurementValue: 3 },
      refundedQty: 1,
      currentTrackingStatuses: [
        {
          status: 'IN_TRANSIT',
          statusTime: '2025-11-03T01:00:00.000Z',
          quantity: { unitOfMeasure: 'EACH', measurementValue: 2 },
        },
        { status: 'DELIVERED', currentRefundStatus: 'REFUND_INITIATED', quantity: { measurementValue: 1 } },
      ],
      refundChannels: [
        { refundChannelName: 'SELLER_MANUAL_REFUND', quantity: { measurementValue: 2 } },
        { refundChannelName: 'SomethingNew', quantity: 1 },
      ],
      status: 'INITIATED',
    },
  ],
  ...overrides,
})
