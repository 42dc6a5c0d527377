import type { ParsedRecord } from '../../../src/clients/record.ts'
import type { OrderLine, PurchaseOrder } from '../../../src/domain/order.ts'
import type { AcceptParts } from '../../../src/jobs/events/accept.ts'
import { createOrderFetcher, type EventSellers } from '../../../src/jobs/events/fetch-order.ts'
import type { Database } from '../../../src/store/database.ts'
import { storeOrder } from '../../../src/store/orders.ts'

/** A line of so many units, in state Created, a dollar each. */
export const line = (lineNumber: string, sku: string, ordered: number, units: Partial<OrderLine['units']> = {}): OrderLine => ({
  lineNumber,
  sku,
  productName: `Product ${sku}`,
  unitOfMeasure: 'EACH',
  ordered,
  units: { acknowledged: ordered, shipped: 0, cancelled: 0, refunded: 0, ...units },
  statuses: [],
  charges: [{ chargeType: 'PRODUCT', chargeName: 'ItemPrice', amount: `${ordered}.00`, currency: 'USD', tax: null }],
  refundedAmount: '0',
  refundReasons: [],
  currency: 'USD',
  intentToCancel: false,
  statusDate: null,
  raw: {},
})

/** An order of these lines. */
export const order = (purchaseOrderId: string, lines: readonly OrderLine[]): PurchaseOrder => ({
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
})

/** Stores an order as if a sync had brought it. */
export const seed = (database: Database, sellerId: string, stored: PurchaseOrder): Promise<unknown> =>
  database.transaction((tx) =>
    storeOrder(tx, sellerId, new Date('2026-03-01T11:00:00Z'), {
      key: stored.purchaseOrderId,
      value: stored,
      rawText: JSON.stringify({ purchaseOrderId: stored.purchaseOrderId, lines: stored.lines }),
    }),
  )

/** A marketplace that answers with the orders it is given, counts questions, and fails when told to. */
export const marketplace = () => {
  const orders = new Map<string, PurchaseOrder>()
  const state = { asked: 0, failure: null as Error | null }
  return {
    state,
    orders,
    get: async (purchaseOrderId: string) => {
      state.asked += 1
      if (state.failure !== null) throw state.failure
      const found = orders.get(purchaseOrderId)
      if (found === undefined) return null
      const record: ParsedRecord<PurchaseOrder> = {
        ok: true,
        key: purchaseOrderId,
        value: found,
        rawText: JSON.stringify({ purchaseOrderId, lines: found.lines }),
      }
      return { record, observedAt: new Date('2026-03-01T12:00:00Z'), correlationId: 'c-1', httpStatus: 200 }
    },
  }
}

/** What events need, around a marketplace of the test's own. The clock of pauses moves only when told. */
export const parts = (
  database: Database,
  shop: ReturnType<typeof marketplace>,
  sellerIds: readonly string[] = ['s-1'],
  more: Partial<AcceptParts> = {},
): AcceptParts & { readonly woken: string[]; readonly clock: { nowMs: number } } => {
  const woken: string[] = []
  const clock = { nowMs: 1_000_000 }
  const log = { warn: () => undefined, error: () => undefined }
  const sellers: EventSellers = {
    only: () => (sellerIds.length === 1 ? (sellerIds[0] ?? null) : null),
    has: (sellerId) => sellerIds.includes(sellerId),
  }
  return {
    database,
    sellers,
    woken,
    clock,
    fetcher: createOrderFetcher({ database, ordersOf: () => shop, log, secondAskMs: 5, now: () => clock.nowMs }),
    wake: (commandIds) => woken.push(...commandIds),
    ...more,
  }
}
