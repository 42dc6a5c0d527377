import type { PurchaseOrder } from '../../src/domain/orders/order.ts'
import type { ReturnOrder } from '../../src/domain/orders/return.ts'
import type { Database } from '../../src/store/db/database.ts'
import { findDifferingOrders, type StoredOrders, storeDifferingOrders, storeOrder } from '../../src/store/orders/orders.ts'
import { findDifferingReturns, storeDifferingReturns } from '../../src/store/orders/returns.ts'
import { readOrder } from '../../src/store/orders/stored-orders.ts'
import type { StorableRecord } from '../../src/store/versioned/versions.ts'

/** One page of records of a seller, all observed at once. */
interface RecordPage<T> {
  readonly sellerId: string
  readonly records: readonly StorableRecord<T>[]
  readonly observedAt: Date
}

/** Stores a page as a sync does: a page without changes opens no transaction. */
export const storeOrders = async (database: Database, page: RecordPage<PurchaseOrder>): Promise<StoredOrders> => {
  const differing = await findDifferingOrders(database, page.sellerId, page.records)
  if (differing.length === 0) return { changed: 0, fresh: [] }
  return database.transaction((tx) => storeDifferingOrders(tx, page.sellerId, page.observedAt, differing))
}

/** As {@link storeOrders}, for returns; answers how many were written. */
export const storeReturns = async (database: Database, page: RecordPage<ReturnOrder>): Promise<number> => {
  const differing = await findDifferingReturns(database, page.sellerId, page.records)
  if (differing.length === 0) return 0
  return database.transaction((tx) => storeDifferingReturns(tx, page.sellerId, page.observedAt, differing))
}

/** Stores an order that was read on 1 March 2026. */
export const seedOrder = (database: Database, sellerId: string, order: PurchaseOrder): Promise<unknown> =>
  database.transaction((tx) =>
    storeOrder(tx, sellerId, new Date('2026-03-01T11:00:00Z'), {
      key: order.purchaseOrderId,
      value: order,
      rawText: JSON.stringify({ purchaseOrderId: order.purchaseOrderId, lines: order.lines }),
    }),
  )

interface RawParts {
  readonly raw: unknown
  readonly lines: readonly { readonly raw: unknown; readonly statuses: readonly unknown[] | null }[]
}
/** An order as it is read, with the marketplace's own JSON of each part, which is not read with it. */
export const readWithRaw = async (database: Database, sellerId: string, purchaseOrderId: string): Promise<PurchaseOrder> => {
  const [order, [parts]] = await Promise.all([
    readOrder(database, sellerId, purchaseOrderId),
    database.query<RawParts>(
      `SELECT o.raw, (SELECT json_agg(json_build_object('raw', l.raw, 'statuses', (SELECT json_agg(s.raw ORDER BY s.position)
           FROM warehouse.order_line_statuses s
           WHERE (s.seller_id, s.purchase_order_id, s.line_number) = (l.seller_id, l.purchase_order_id, l.line_number))) ORDER BY l.line_index)
         FROM warehouse.order_lines l WHERE (l.seller_id, l.purchase_order_id) = (o.seller_id, o.purchase_order_id)) AS lines
       FROM warehouse.orders o WHERE (o.seller_id, o.purchase_order_id) = ($1, $2)`,
      sellerId,
      purchaseOrderId,
    ),
  ])
  if (order === null || parts === undefined) throw new Error(`order ${purchaseOrderId} is not stored`)
  const lines = order.lines.map((line, index) => ({
    ...line,
    raw: parts.lines[index]?.raw,
    statuses: line.statuses.map((status, position) => ({ ...status, raw: parts.lines[index]?.statuses?.[position] })),
  }))
  return { ...order, lines, raw: parts.raw }
}
