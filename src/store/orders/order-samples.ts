import type { SqlRunner } from '../db/database.ts'
import { sampleNewest } from '../versioned/newest-sample.ts'

/** Ids of open orders after this one, sorted. Orders that have been missing for more than a week are excluded, so that they are not requested for ever. */
export const listOpenOrders = async (
  sql: SqlRunner,
  sellerId: string,
  afterPurchaseOrderId: string,
  limit: number,
): Promise<readonly string[]> => {
  const rows = await sql.query<{ purchase_order_id: string }>(
    `SELECT purchase_order_id FROM warehouse.orders
     WHERE seller_id = $1 AND open AND purchase_order_id > $2
       AND (missing_since IS NULL OR missing_since > now() - interval '7 days')
     ORDER BY purchase_order_id LIMIT $3::int`,
    sellerId,
    afterPurchaseOrderId,
    limit,
  )
  return rows.map((row) => row.purchase_order_id)
}

/** Times of creation of a sample of the newest stored orders, newest first: of one node type, of the last `days`, with `waiting` only unacknowledged ones. */
export const sampleOrderTimes = async (
  sql: SqlRunner,
  sellerId: string,
  wanted: { readonly shipNodeType: string | null; readonly days: number; readonly waiting: boolean },
): Promise<readonly Date[]> => {
  const rows = await sql.query<{ wanted: Date }>(
    sampleNewest(
      'order_date',
      'order_date',
      `warehouse.orders o
       WHERE seller_id = $1 AND missing_since IS NULL AND ($2::text IS NULL OR ship_node_type = $2)
         AND order_date > now() - make_interval(days => $3::int)
         AND (NOT $4::boolean OR EXISTS (SELECT FROM warehouse.order_line_statuses s WHERE s.seller_id = o.seller_id
           AND s.purchase_order_id = o.purchase_order_id AND s.status = $5::text))`,
    ),
    sellerId,
    wanted.shipNodeType,
    wanted.days,
    wanted.waiting,
    sql.findVocabulary(sellerId).statuses.findWord('created'),
  )
  return rows.map(({ wanted }) => wanted)
}

/** A sample of the newest orders that the marketplace has and that are not skipped. */
export const sampleOrderIds = async (sql: SqlRunner, sellerId: string, days: number): Promise<readonly string[]> => {
  const rows = await sql.query<{ wanted: string }>(
    sampleNewest(
      'purchase_order_id',
      'order_date',
      `warehouse.orders o
       WHERE seller_id = $1 AND missing_since IS NULL AND order_date > now() - make_interval(days => $2::int)
         AND NOT EXISTS (SELECT FROM tallyman.quarantined_records q WHERE q.seller_id = o.seller_id AND q.resource = 'orders'
           AND q.record_key = o.purchase_order_id AND q.skipped IS NOT NULL AND q.state IN ('open', 'dismissed'))`,
    ),
    sellerId,
    days,
  )
  return rows.map(({ wanted }) => wanted)
}
