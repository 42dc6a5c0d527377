import type { Database } from '../../store/db/database.ts'
import { findUnnotedOrders, nameOrders } from '../../store/orders/named-orders.ts'

/**
 * Notes orders of these sellers that stored records name and that were never noted: the records were stored by an earlier version, or before the orders
 * were removed by a restore. Returns their number.
 */
export const noteNamedOrders = async (database: Database, sellerIds: readonly string[], now: Date): Promise<number> => {
  if (sellerIds.length === 0) return 0
  const unnoted = await findUnnotedOrders(database, sellerIds, now)
  const groups = Map.groupBy(unnoted, ({ sellerId, source }) => JSON.stringify([sellerId, source]))
  for (const orders of groups.values()) {
    const [first] = orders
    if (first !== undefined) await database.transaction(async (tx) => nameOrders(tx, first.sellerId, first.source, orders))
  }
  return unnoted.length
}
