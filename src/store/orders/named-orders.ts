import type { SqlRunner, Transaction } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

/** The sources that mention orders by id. */
export const namingSources = ['returns', 'inventory-log', 'events'] as const
/** See {@link namingSources}. */
export type NamingSource = (typeof namingSources)[number]

/** The orders that a source mentioned on a day (UTC), and how many of them are stored. */
export interface NamedDay {
  readonly sellerId: string
  readonly source: NamingSource
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly named: number
  readonly stored: number
  readonly missing: number
  /** The first of the missing ones. */
  readonly missingIds: readonly string[]
}

// $1 sellers (null: all), $2 days back. A shipment of the log names an order only if units left and its id looks like an order's.
const named = `
  SELECT l.seller_id, 'returns' AS source, (coalesce(r.return_order_date, r.first_seen_at) AT TIME ZONE 'UTC')::date AS day,
    l.purchase_order_id
  FROM warehouse.returns r JOIN warehouse.return_lines l USING (seller_id, return_order_id)
  WHERE ($1::text[] IS NULL OR r.seller_id = ANY ($1::text[])) AND l.purchase_order_id <> ''
    AND coalesce(r.return_order_date, r.first_seen_at) >= now() - make_interval(days => $2::int)
  UNION
  SELECT e.seller_id, 'inventory-log', (e.transaction_time AT TIME ZONE 'UTC')::date, e.shipment_id
  FROM warehouse.inventory_log_entries e
  WHERE ($1::text[] IS NULL OR e.seller_id = ANY ($1::text[])) AND e.changed_units < 0 AND e.shipment_id ~ '^[0-9]{9,20}$'
    AND e.transaction_time >= now() - make_interval(days => $2::int)
  UNION
  SELECT e.seller_id, 'events', (e.received_at AT TIME ZONE 'UTC')::date, tallyman.normal_id(e.data -> 'purchaseOrderId')
  FROM tallyman.erp_event e
  WHERE e.seller_id IS NOT NULL AND ($1::text[] IS NULL OR e.seller_id = ANY ($1::text[])) AND tallyman.normal_id(e.data -> 'purchaseOrderId') IS NOT NULL
    AND e.received_at >= now() - make_interval(days => $2::int)`

/** Maximum length of a requested id; longer ones are not purchase orders. */
const maxIdLength = 100

/**
 * Ids (after `after`, sorted) of mentioned orders that are not stored and were not requested recently. An order that the marketplace does not have is
 * requested again after an hour, with a doubled wait each time, up to a week.
 */
export const findNamedOrdersToRequest = async (
  sql: SqlRunner,
  sellerId: string,
  { after, days, limit }: { readonly after: string; readonly days: number; readonly limit: number },
): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `SELECT DISTINCT n.purchase_order_id AS id FROM (${named}) n
     WHERE n.purchase_order_id > $3 AND length(n.purchase_order_id) <= ${maxIdLength}
       AND NOT EXISTS (SELECT FROM warehouse.orders o WHERE o.seller_id = n.seller_id AND o.purchase_order_id = n.purchase_order_id)
       AND NOT EXISTS (SELECT FROM tallyman.named_orders a
         WHERE a.seller_id = n.seller_id AND a.purchase_order_id = n.purchase_order_id AND a.ask_again_at > ${dueNow})
     ORDER BY 1 LIMIT $4::int`,
    toSellerIds(sellerId),
    days,
    after,
    limit,
  )
  return rows.map((row) => row.id)
}

/** The result of requesting an order by its id: `stored`, `none`, or why it could not be read. */
export interface NamedAnswer {
  readonly purchaseOrderId: string
  readonly answer: string
}

/** Stores that orders were requested, and when they are requested again. */
export const recordNamedRequests = async (tx: Transaction, sellerId: string, answers: readonly NamedAnswer[]): Promise<void> => {
  if (answers.length === 0) return
  await tx.execute(
    `INSERT INTO tallyman.named_orders AS n (seller_id, purchase_order_id, asked_at, ask_again_at, asks, answer)
     SELECT $1, t."purchaseOrderId", now(), now() + interval '1 hour', 1, t.answer
     FROM jsonb_to_recordset($2::jsonb) AS t("purchaseOrderId" text, answer text) ORDER BY 2
     ON CONFLICT (seller_id, purchase_order_id) DO UPDATE
     SET asked_at = now(), asks = n.asks + 1, answer = excluded.answer,
       ask_again_at = now() + least(interval '7 days', interval '1 hour' * power(2, least(n.asks, 10)))`,
    sellerId,
    JSON.stringify(answers),
  )
}

/** Mentioned orders by seller, source and day, newest first. */
export const countNamedByDay = (sql: SqlRunner, sellerId: SellerFilter, days: number): Promise<readonly NamedDay[]> =>
  sql.query<NamedDay>(
    `SELECT n.seller_id AS "sellerId", n.source, n.day::text AS day, count(*)::int AS named, count(o.purchase_order_id)::int AS stored,
       (count(*) - count(o.purchase_order_id))::int AS missing,
       coalesce((array_agg(n.purchase_order_id ORDER BY n.purchase_order_id) FILTER (WHERE o.purchase_order_id IS NULL))[1:20], '{}')
         AS "missingIds"
     FROM (${named}) n LEFT JOIN warehouse.orders o ON o.seller_id = n.seller_id AND o.purchase_order_id = n.purchase_order_id
     GROUP BY 1, 2, 3 ORDER BY 1, 3 DESC, 2`,
    toSellerIds(sellerId),
    days,
  )
