import type { SqlRunner } from './database.ts'
import { spreadNewest } from './spread-newest.ts'

/**
 * Ids of open orders after this one, in the order of ids. An order that has been missing for longer than a week is left out: it
 * will not come back by itself, and asking for it daily would never end.
 */
export const openOrdersAfter = async (
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

/**
 * When some of the newest stored orders were created, spread among them, the newest first: of one node type, of these days, and with
 * `waiting` only such as nobody had acknowledged when they were seen last.
 */
export const storedMoments = async (
  sql: SqlRunner,
  sellerId: string,
  wanted: { readonly shipNodeType: string | null; readonly days: number; readonly waiting: boolean },
): Promise<readonly Date[]> => {
  const rows = await sql.query<{ wanted: Date }>(
    spreadNewest(
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
    sql.vocabularyOf(sellerId).statuses.wordOf('created'),
  )
  return rows.map(({ wanted }) => wanted)
}

/** A few of the newest orders that the marketplace has and that are not passed over, spread over time. */
export const knownOrderIds = async (sql: SqlRunner, sellerId: string, days: number): Promise<readonly string[]> => {
  const rows = await sql.query<{ wanted: string }>(
    spreadNewest(
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
