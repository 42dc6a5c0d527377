import type { PurchaseOrder } from '../../src/domain/order.ts'
import type { ReturnOrder } from '../../src/domain/return.ts'
import type { Database } from '../../src/store/database.ts'
import { findDifferingOrders, type StoredOrders, storeDifferingOrders, storeOrder } from '../../src/store/orders.ts'
import { findDifferingReturns, storeDifferingReturns } from '../../src/store/returns.ts'
import type { StorableRecord } from '../../src/store/versions.ts'

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
