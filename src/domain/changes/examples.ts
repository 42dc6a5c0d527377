// Examples of the data of changes. No rule uses them, so they may contain terms of a marketplace.

/** Example of `header`. */
export const header = {
  customerOrderId: '5281956426648',
  orderDate: '2026-03-01T09:30:00.000Z',
  orderType: 'REGULAR',
  shipNodeType: 'SellerFulfilled',
  methodCode: 'Standard',
  estimatedShipDate: '2026-03-03T07:00:00.000Z',
  estimatedDeliveryDate: '2026-03-06T07:00:00.000Z',
  totalAmount: '27.98',
  currency: 'USD',
}

/** Example of `line`. */
export const line = {
  ordered: 2,
  acknowledged: 2,
  shipped: 0,
  cancelled: 0,
  refunded: 0,
  refundedAmount: '0',
  intentToCancel: false,
  statuses: [{ status: 'Acknowledged', quantity: 2, cancellationReason: null, carrier: null, trackingNumber: null }],
}

/** Example of `shippedLine`. */
export const shippedLine = {
  ...line,
  shipped: 2,
  statuses: [{ status: 'Shipped', quantity: 2, cancellationReason: null, carrier: 'UPS', trackingNumber: '1Z999AA10123456784' }],
}

/** Example of `returnLine`. */
export const returnLine = {
  quantity: 1,
  refundedQuantity: null,
  refundCoveredBy: null,
  status: 'INITIATED',
  trackingStatuses: [{ status: 'INITIATED', currentRefundStatus: 'NOT_ELIGIBLE', quantity: 1 }],
  refundChannels: [{ refundChannelName: 'ELECTRONIC_REFUND', quantity: 1 }],
}

/** Example of `settings`. */
export const settings = {
  shippingPriority: 'PRICE',
  migrateFreeShippingOffers: false,
  charges: [
    {
      carrierName: 'FedEx',
      carrierService: 'FedEx Ground',
      shippingMethod: null,
      regionCode: 'C',
      states: null,
      addressType: 'STREET',
      rateModelType: 'PER_SHIPMENT_PRICING',
      unitOfMeasure: 'LB',
      shippingAndHandling: { amount: '4.99', currency: 'USD' },
      chargePerItem: null,
      chargePerWeight: { amount: '0.50', currency: 'USD' },
    },
  ],
}

/** Example of `terms`. */
export const terms = {
  name: 'Spring',
  startDate: '2026-03-01',
  endDate: null,
  dailyBudget: '100.00',
  totalBudget: '3000.00',
  targetRoas: null,
}

/** Example of `node`. */
export const node = { itemCount: 812, attributes: null }
/** Example of `place`. */
export const place = { level: 2, path: ['Home', 'Kitchen'] }
/** Example of `target`. */
export const target = {
  name: 'Kitchen',
  taxonPath: ['Home', 'Kitchen'],
  isDisabled: false,
  reach: ['TIER_3'],
  reachBands: ['MID'],
}
/** Example of `targetName`. */
export const targetName = { tactic: 'contextual', id: '4711' } as const
/** Example of `channel`. */
export const channel = {
  orderChannelName: 'Web shop',
  boxCatalogType: 'PLAIN',
  shippingMethods: 'STANDARD, EXPEDITED',
  active: true,
}
/** Example of `channelName`. */
export const channelName = { orderChannelId: '1001' }
/** Example of `entry`. */
export const entry = {
  changedUnits: -2,
  transactionTime: '2026-03-02T10:00:00.000Z',
  transactionLocation: 'SELLABLE',
  transactionReasonCode: '310',
  transactionType: 'SALE',
}
/** Example of `report`. */
export const report = {
  beginningQuantity: 100,
  endingQuantity: 97,
  sold: 3,
  returned: 0,
  lost: 0,
  found: 0,
  damaged: 0,
  otherAdjustments: 0,
}
/** Example of `difference`. */
export const difference = { id: '12', sku: 'MUG-BLUE', gtin: '00012345678905', month: '2026-02', kind: 'lost' } as const
/** Example of `found`. */
export const found = {
  ...difference,
  reportUnits: 1,
  expectedUnits: 3,
  difference: -2,
  logVerdict: 'extra',
  value: '27.98',
  currency: 'USD',
} as const

/** Example of an alarm. */
export const alarm = {
  alarmId: '17',
  kind: 'ship-by',
  severity: 'warning',
  concerns: 'warehouse',
  title: 'Orders must be shipped',
  subject: 'orders',
  count: 12,
  dueAt: '2026-03-02T07:00:00.000Z',
} as const
