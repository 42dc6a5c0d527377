import type { OrderLine, PurchaseOrder } from '../../src/domain/orders/order.ts'

/** What a buyer pays for a line: for the item or, under any other type, for its shipping. */
export const charge = (amount: string, tax: string | null = null, chargeType = 'PRODUCT', currency = 'USD') => {
  const chargeName = chargeType === 'PRODUCT' ? 'ItemPrice' : 'Shipping'
  return {
    chargeType,
    chargeName,
    amount,
    currency,
    tax: tax === null ? null : { taxName: `${chargeName} Tax`, amount: tax, currency },
  }
}

/** A line of so many units, acknowledged, a dollar each. `units` says which of them went further. */
export const orderLine = (
  lineNumber: string,
  sku: string | null,
  ordered: number,
  units: Partial<OrderLine['units']> = {},
  more: Partial<OrderLine> = {},
): OrderLine => ({
  lineNumber,
  sku,
  productName: sku === null ? null : `Product ${sku}`,
  unitOfMeasure: 'EACH',
  ordered,
  units: { acknowledged: ordered, shipped: 0, cancelled: 0, refunded: 0, ...units },
  statuses: [],
  shipments: [],
  charges: [charge(`${ordered}.00`)],
  refundedAmount: '0',
  refundReasons: [],
  refunds: [],
  currency: 'USD',
  intentToCancel: false,
  statusDate: null,
  raw: {},
  ...more,
})

/** An order of these lines, as a client reads it. */
export const purchaseOrder = (
  purchaseOrderId: string,
  lines: readonly OrderLine[],
  more: Partial<PurchaseOrder> = {},
): PurchaseOrder => ({
  purchaseOrderId,
  customerOrderId: `C-${purchaseOrderId}`,
  orderDate: new Date('2026-03-01T10:00:00Z'),
  orderType: 'REGULAR',
  shipNodeType: 'SellerFulfilled',
  methodCode: 'Standard',
  estimatedShipDate: new Date('2026-03-03T10:00:00Z'),
  estimatedDeliveryDate: null,
  customerName: 'A Buyer',
  customerEmail: null,
  customerPhone: null,
  shippingAddress: null,
  totalAmount: '10.00',
  currency: 'USD',
  lines,
  raw: {},
  ...more,
})
