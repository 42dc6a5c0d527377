import {
  judgeAnswer,
  listNamedOrders,
  malformedReason,
  maxOrderIdLength,
  type NamedOrder,
  type NamingSource,
  oldReason,
  orderReachDays,
  requestDelayMs,
  shipmentOrderId,
  storedAnswer,
} from '../../domain/orders/named-orders.ts'
import { addDays, toUtcDay } from '../../domain/values/calendar.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { pausesAfterFailure, type SyncKey } from '../sync/sync-states.ts'

/** SQL: the order of a row `n` is stored. */
const isStored = `EXISTS (SELECT FROM warehouse.orders o WHERE o.seller_id = n.seller_id AND o.purchase_order_id = n.purchase_order_id)`

/** SQL: today, UTC. */
const today = `(now() AT TIME ZONE 'UTC')::date`

/**
 * Notes that a source names orders; those that are not stored are requested by their ids. Call it in the transaction that stores the records, after their
 * rows are locked. It waits for no answer of Postgres, and sends nothing if no order is named. A malformed id is noted as explained, and never requested. An order
 * that was explained is requested again.
 */
export const nameOrders = (
  tx: Pick<Transaction, 'send'>,
  sellerId: string,
  source: NamingSource,
  orders: readonly NamedOrder[],
): void => {
  const named = listNamedOrders(orders)
  if (named.length === 0) return
  tx.send(
    `INSERT INTO tallyman.named_orders AS n (seller_id, purchase_order_id, source, named_on, named_at, state, answer, asks, ask_again_at)
     SELECT $1, t."purchaseOrderId", $2, t.day, now(), CASE WHEN t.fault IS NULL THEN 'missing' ELSE 'explained' END, t.fault, 0,
       CASE WHEN t.fault IS NULL THEN now() + $3::int * interval '1 millisecond' ELSE 'infinity' END
     FROM jsonb_to_recordset($4::jsonb) AS t("purchaseOrderId" text, day date, fault text)
     WHERE t.day >= ${today} - ${orderReachDays}
       AND NOT EXISTS (SELECT FROM warehouse.orders o WHERE o.seller_id = $1 AND o.purchase_order_id = t."purchaseOrderId")
     ORDER BY t."purchaseOrderId"
     ON CONFLICT (seller_id, purchase_order_id) DO UPDATE
     SET source = excluded.source, named_on = excluded.named_on, named_at = excluded.named_at, state = excluded.state, answer = NULL, asks = 0,
       ask_again_at = excluded.ask_again_at
     WHERE n.state = 'explained' AND excluded.state = 'missing'`,
    sellerId,
    source,
    requestDelayMs,
    JSON.stringify(named),
  )
}

/** Requests wait this long for the first complete reading of the lists of orders, which shows most of them. */
const firstListsWait = `interval '15 minutes'`

/** SQL: the order of a row `n` may be requested now. */
const isDue = `(n.state <> 'stored' AND n.ask_again_at <= ${dueNow} AND (n.named_at <= now() - ${firstListsWait} OR
  (SELECT bool_and(l.watermark IS NOT NULL) FROM tallyman.sync_states l
   WHERE l.seller_id = n.seller_id AND l.resource = 'orders' AND l.stream LIKE 'changed:%')))`

/** The stream that requests named orders by their ids. */
export const namedStream = { resource: 'orders', stream: 'named' } as const

/** Sellers with named orders that may be requested now, as keys of the stream that does it; none whose stream runs, or pauses after a failure. */
export const findDueNamedOrders = async (sql: SqlRunner): Promise<readonly SyncKey[]> => {
  const rows = await sql.query<{ sellerId: string }>(
    `SELECT DISTINCT n.seller_id AS "sellerId" FROM tallyman.named_orders n
     WHERE ${isDue} AND NOT EXISTS (SELECT FROM tallyman.sync_states s
       WHERE s.seller_id = n.seller_id AND s.resource = $1 AND s.stream = $2 AND (s.lease_until > now() OR ${pausesAfterFailure('s')}))`,
    namedStream.resource,
    namedStream.stream,
  )
  return rows.map(({ sellerId }) => ({ sellerId, ...namedStream }))
}

/** A named order to request. */
export interface NamedToRequest {
  readonly purchaseOrderId: string
  /** Number of earlier requests. */
  readonly asks: number
}

/** Named orders of a seller that may be requested now, sorted by id, after `after`. Due ones that are stored by now are settled without a request. */
export const takeNamedOrders = (
  sql: SqlRunner,
  sellerId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly NamedToRequest[]> =>
  sql.query<NamedToRequest>(
    `WITH shown AS MATERIALIZED (
       SELECT n.purchase_order_id FROM tallyman.named_orders n
       WHERE n.seller_id = $1 AND n.state <> 'stored' AND n.ask_again_at <= ${dueNow} AND ${isStored}
       ORDER BY n.purchase_order_id FOR UPDATE OF n
     ), settled AS (
       UPDATE tallyman.named_orders SET state = 'stored', answer = '${storedAnswer}'
       WHERE seller_id = $1 AND purchase_order_id IN (SELECT purchase_order_id FROM shown)
     )
     SELECT n.purchase_order_id AS "purchaseOrderId", n.asks FROM tallyman.named_orders n
     WHERE n.seller_id = $1 AND n.purchase_order_id > $2 AND ${isDue} AND NOT ${isStored}
     ORDER BY 1 LIMIT $3::int`,
    sellerId,
    after,
    limit,
  )

/** The answer to the request of a named order: `stored`, `none`, or why it could not be read. */
export interface NamedAnswer extends NamedToRequest {
  readonly answer: string
}

/** Stores what requests have shown; call it after their orders were stored, in the same transaction. */
export const recordNamedAnswers = async (tx: Transaction, sellerId: string, answers: readonly NamedAnswer[]): Promise<void> => {
  if (answers.length === 0) return
  const verdicts = answers.map(({ purchaseOrderId, asks, answer }) => ({
    purchaseOrderId,
    asks: asks + 1,
    ...judgeAnswer(answer, asks + 1),
  }))
  await tx.execute(
    `WITH given AS MATERIALIZED (
       SELECT t.* FROM jsonb_to_recordset($2::jsonb) AS t("purchaseOrderId" text, asks int, state text, answer text, "delayMs" float8)
       JOIN tallyman.named_orders n ON n.seller_id = $1 AND n.purchase_order_id = t."purchaseOrderId"
       ORDER BY n.purchase_order_id FOR UPDATE OF n
     )
     UPDATE tallyman.named_orders n SET asked_at = now(), asks = g.asks, answer = CASE WHEN ${isStored} THEN '${storedAnswer}' ELSE g.answer END,
       state = CASE WHEN ${isStored} THEN 'stored' ELSE g.state END,
       ask_again_at = CASE WHEN n.named_on < ${today} - ${orderReachDays} THEN 'infinity' ELSE now() + g."delayMs" * interval '1 millisecond' END
     FROM given g WHERE n.seller_id = $1 AND n.purchase_order_id = g."purchaseOrderId"`,
    sellerId,
    JSON.stringify(verdicts),
  )
}

/** Which named orders to count. Days are `YYYY-MM-DD`, UTC, both included. */
export interface NamedFilter {
  readonly sellerId: SellerFilter
  readonly from: string
  readonly to: string
  /** Null: all sources. */
  readonly source: NamingSource | null
}

/** SQL: the day (UTC) of a time. */
const utcDay = (time: string): string => `(${time} AT TIME ZONE 'UTC')::date`
const dayStart = (day: string): string => `(${day}::date::timestamp AT TIME ZONE 'UTC')`
/** SQL: the time is within the filter's days. */
const within = (time: string): string => `${time} >= ${dayStart('$2')} AND ${time} < ${dayStart('$3')} + interval '1 day'`
/** SQL: the row is of a seller and a source of the filter. */
const matches = (row: string, source: string): string =>
  `($1::text[] IS NULL OR ${row}.seller_id = ANY ($1::text[])) AND coalesce($4::text = '${source}', true)`

// $1 sellers (null: all), $2 and $3 first and last day, $4 source (null: all).
const named = `
  SELECT l.seller_id, 'returns' AS source, ${utcDay('coalesce(r.return_order_date, r.first_seen_at)')} AS day, l.purchase_order_id
  FROM warehouse.returns r JOIN warehouse.return_lines l USING (seller_id, return_order_id)
  WHERE ${matches('r', 'returns')} AND l.purchase_order_id <> '' AND ${within('coalesce(r.return_order_date, r.first_seen_at)')}
  UNION
  SELECT e.seller_id, 'inventory-log', ${utcDay('e.transaction_time')}, e.shipment_id
  FROM warehouse.inventory_log_entries e
  WHERE ${matches('e', 'inventory-log')} AND e.changed_units < 0 AND e.shipment_id ~ '${shipmentOrderId.source}' AND ${within('e.transaction_time')}
  UNION
  SELECT l.seller_id, 'settlements', coalesce(l.posted_on, l.report_date), l.purchase_order_id
  FROM warehouse.settlement_lines l
  WHERE ${matches('l', 'settlements')} AND l.purchase_order_id <> '' AND coalesce(l.posted_on, l.report_date) BETWEEN $2::date AND $3::date
  UNION
  SELECT e.seller_id, 'events', ${utcDay('e.received_at')}, tallyman.normal_id(e.data -> 'purchaseOrderId')
  FROM tallyman.erp_event e
  WHERE e.seller_id IS NOT NULL AND ${matches('e', 'events')} AND tallyman.normal_id(e.data -> 'purchaseOrderId') IS NOT NULL AND ${within('e.received_at')}
  UNION
  SELECT n.seller_id, 'notifications', ${utcDay('n.received_at')}, n.record_id
  FROM tallyman.notifications n
  WHERE n.resource = 'orders' AND n.record_id <> '' AND ${matches('n', 'notifications')} AND ${within('n.received_at')}`

const parameters = ({ sellerId, from, to, source }: NamedFilter) => [toSellerIds(sellerId), from, to, source] as const

/** The orders that a source named on a day (UTC), and what has become of them. */
export interface NamedDay {
  readonly sellerId: string
  readonly source: NamingSource
  /** `YYYY-MM-DD`. */
  readonly day: string
  readonly named: number
  readonly stored: number
  readonly missing: number
  readonly explained: number
  /** The first of the missing ones, by id. */
  readonly missingIds: readonly string[]
  /** The first of the explained ones, by id, with the reason why each is not stored. */
  readonly explanations: readonly { readonly purchaseOrderId: string; readonly reason: string }[]
}

/** Maximum number of ids of a day and a source. */
export const maxShownIds = 100

/** Named orders by seller, source and day, newest first. */
export const countNamedByDay = (sql: SqlRunner, filter: NamedFilter): Promise<readonly NamedDay[]> =>
  sql.query<NamedDay>(
    `WITH judged AS (
       SELECT n.*, o.purchase_order_id IS NOT NULL AS stored, CASE
           WHEN o.purchase_order_id IS NOT NULL THEN NULL
           WHEN a.state = 'explained' THEN a.answer
           WHEN length(n.purchase_order_id) > ${maxOrderIdLength} THEN '${malformedReason}'
           WHEN a.state IS NULL AND n.day < ${today} - ${orderReachDays} THEN '${oldReason}'
         END AS reason
       FROM (${named}) n
       LEFT JOIN warehouse.orders o ON o.seller_id = n.seller_id AND o.purchase_order_id = n.purchase_order_id
       LEFT JOIN tallyman.named_orders a ON a.seller_id = n.seller_id AND a.purchase_order_id = n.purchase_order_id
     )
     SELECT seller_id AS "sellerId", source, day::text AS day, count(*)::int AS named, (count(*) FILTER (WHERE stored))::int AS stored,
       (count(*) FILTER (WHERE NOT stored AND reason IS NULL))::int AS missing, count(reason)::int AS explained,
       coalesce((array_agg(purchase_order_id ORDER BY purchase_order_id) FILTER (WHERE NOT stored AND reason IS NULL))[1:${maxShownIds}], '{}')
         AS "missingIds",
       to_json(coalesce((array_agg(json_build_object('purchaseOrderId', left(purchase_order_id, ${maxOrderIdLength}), 'reason', reason)
         ORDER BY purchase_order_id) FILTER (WHERE reason IS NOT NULL))[1:${maxShownIds}], '{}')) AS explanations
     FROM judged GROUP BY 1, 2, 3 ORDER BY 1, 3 DESC, 2`,
    ...parameters(filter),
  )

/** A named order that has never been noted, such as one of a record that an earlier version has stored. */
export interface UnnotedOrder {
  readonly sellerId: string
  readonly source: NamingSource
  readonly purchaseOrderId: string
  readonly at: Date
}

/** Named orders of these sellers that are neither stored nor noted. Reads all records that may name an order: for maintenance. */
export const findUnnotedOrders = (sql: SqlRunner, sellerIds: readonly string[], now: Date): Promise<readonly UnnotedOrder[]> =>
  sql.query<UnnotedOrder>(
    `SELECT n.seller_id AS "sellerId", n.source, n.purchase_order_id AS "purchaseOrderId", n.day::timestamp AT TIME ZONE 'UTC' AS at
     FROM (${named}) n
     WHERE length(n.purchase_order_id) <= ${maxOrderIdLength} AND NOT ${isStored} AND NOT EXISTS (SELECT FROM tallyman.named_orders a
       WHERE a.seller_id = n.seller_id AND a.purchase_order_id = n.purchase_order_id)`,
    ...parameters({
      sellerId: sellerIds,
      from: addDays(toUtcDay(now), -orderReachDays),
      to: addDays(toUtcDay(now), 1),
      source: null,
    }),
  )

/** Orders of a seller that have been missing for a time. */
export interface MissingOrders {
  readonly sellerId: string
  readonly count: number
  /** The first of them, by id. */
  readonly ids: readonly string[]
  readonly since: Date
}

/** Named orders that have not been stored for this number of milliseconds, and that nothing explains. */
export const findMissingOrders = (sql: SqlRunner, forMs: number): Promise<readonly MissingOrders[]> =>
  sql.query<MissingOrders>(
    `SELECT n.seller_id AS "sellerId", count(*)::int AS count, (array_agg(n.purchase_order_id ORDER BY n.purchase_order_id))[1:5] AS ids,
       min(n.named_at) AS since
     FROM tallyman.named_orders n
     WHERE n.state = 'missing' AND n.named_at <= now() - $1::float8 * interval '1 millisecond' AND NOT ${isStored}
     GROUP BY 1 ORDER BY 1`,
    forMs,
  )
