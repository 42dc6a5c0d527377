import type { SettlementComponent, SettlementMovement } from '../../domain/settlements/movement.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'

/** Stands for rows that name no order. */
export const noOrder = ''

/** A row of a report, as far as it must be compared. */
interface ComparedRow {
  readonly purchaseOrderId: string | null
  readonly movement: SettlementMovement
  readonly component: SettlementComponent
}

/**
 * Notes the orders of rows that were written: they are compared with their orders after the report was read. Waits for no answer of Postgres. The update of a
 * row that is noted already waits for a review of the order, so that none misses the written rows.
 */
export const noteSettlementOrders = (tx: Pick<Transaction, 'send'>, sellerId: string, rows: readonly ComparedRow[]): void => {
  const orders = new Set(
    rows
      .filter(
        ({ movement, component, purchaseOrderId }) => movement !== 'summary' && (purchaseOrderId || component === 'unknown'),
      )
      .map(({ purchaseOrderId }) => purchaseOrderId ?? noOrder),
  )
  if (orders.size === 0) return
  tx.send(
    `INSERT INTO tallyman.settlement_orders AS n (seller_id, purchase_order_id) SELECT $1, t.id FROM unnest($2::text[]) AS t(id) ORDER BY t.id
     ON CONFLICT (seller_id, purchase_order_id) DO UPDATE SET noted_at = now(), waiting = false`,
    sellerId,
    [...orders],
  )
}

/** As {@link noteSettlementOrders}, for stored rows by their keys. */
export const noteOrdersOfRows = (tx: Pick<Transaction, 'send'>, sellerId: string, lineKeys: readonly string[]): void => {
  if (lineKeys.length === 0) return
  tx.send(
    `INSERT INTO tallyman.settlement_orders AS n (seller_id, purchase_order_id)
     SELECT DISTINCT $1, coalesce(s.purchase_order_id, '${noOrder}') FROM warehouse.settlement_lines s
     WHERE s.seller_id = $1 AND s.line_key = ANY ($2::text[]) AND s.movement <> 'summary'
       AND (s.purchase_order_id <> '' OR s.component = 'unknown')
     ORDER BY 2
     ON CONFLICT (seller_id, purchase_order_id) DO UPDATE SET noted_at = now(), waiting = false`,
    sellerId,
    lineKeys,
  )
}

/**
 * SQL: the stream `s` has read a part of the reports, and not all of them. One that searches and compares is not reading: otherwise two streams that end at the
 * same time would leave the comparison to each other.
 */
const isReading = `coalesce(s.cursor LIKE '{"dates":%', false)`

/** Whether another stream is reading reports of a seller: then it compares their rows when it has read all of them. */
export const isReadByOthers = async (sql: SqlRunner, sellerId: string, stream: string): Promise<boolean> => {
  const rows = await sql.query(
    `SELECT FROM tallyman.sync_states s
     WHERE s.seller_id = $1 AND s.resource = 'settlements' AND s.stream <> $2 AND ${isReading} AND s.failures = 0 LIMIT 1`,
    sellerId,
    stream,
  )
  return rows.length > 0
}

/** Whether orders of a seller are to be compared. */
export const hasSettlementOrders = async (sql: SqlRunner, sellerId: string): Promise<boolean> => {
  const rows = await sql.query('SELECT FROM tallyman.settlement_orders WHERE seller_id = $1 AND NOT waiting LIMIT 1', sellerId)
  return rows.length > 0
}

/** Shipped units that are searched for unpaid ones. */
export interface DueSearch {
  /** ISO 8601: when the units were shipped. */
  readonly from: string
  readonly before: string
  /** ISO 8601: when the search began. What is stored later is searched for by the next one. */
  readonly begunAt: string
}

/** The due search of a stream that has read its reports; null: some rows cannot be read, or are being read. */
export const planDueSearch = async (sql: SqlRunner, sellerId: string, stream: string): Promise<DueSearch | null> => {
  const [period] = await sql.query<{
    readonly from: string | null
    readonly before: string | null
    readonly whole: boolean
    readonly now: Date
  }>(
    `SELECT min(period_start)::text AS from, max(period_start)::text AS before, now() AS now,
       NOT EXISTS (SELECT FROM tallyman.quarantined_records q WHERE q.seller_id = $1 AND q.resource = 'settlements' AND q.state = 'open')
       AND NOT EXISTS (SELECT FROM tallyman.sync_states s
         WHERE s.seller_id = $1 AND s.resource = 'settlements' AND s.stream <> $2 AND ${isReading}) AS whole
     FROM warehouse.settlement_lines WHERE seller_id = $1 AND movement = 'summary' AND missing_since IS NULL`,
    sellerId,
    stream,
  )
  if (period?.whole !== true || period.from === null || period.before === null) return null
  const { calendar } = sql.findVocabulary(sellerId)
  return {
    from: calendar.midnight(period.from).toISOString(),
    before: calendar.midnight(period.before).toISOString(),
    begunAt: period.now.toISOString(),
  }
}

/** Shipments that one transaction searches. */
const partSize = 20_000

/** A shipment becomes visible at most this long after the time that it was stored with. */
const storeMargin = `interval '10 minutes'`

/** SQL: shipments `s` of the search that no earlier one has covered; parameters $1 to $3: the seller, from, before. */
const unsearched = `warehouse.shipments s WHERE s.seller_id = $1 AND s.shipped_at >= $2::timestamptz AND s.shipped_at < $3::timestamptz
  AND NOT EXISTS (SELECT FROM tallyman.settlement_periods k WHERE k.seller_id = $1 AND s.shipped_at >= k.due_from AND s.shipped_at < k.due_before
    AND s.first_seen_at < k.checked_at - ${storeMargin})`

/** The last order of the next part of a search, by id, after this one; null: it is the last part. */
export const findPartEnd = async (
  sql: SqlRunner,
  sellerId: string,
  { from, before }: DueSearch,
  after: string,
  shipments = partSize,
): Promise<string | null> => {
  const [row] = await sql.query<{ readonly id: string }>(
    `SELECT s.purchase_order_id AS id FROM ${unsearched} AND s.purchase_order_id > $4 ORDER BY 1 OFFSET $5::int LIMIT 1`,
    sellerId,
    from,
    before,
    after,
    shipments - 1,
  )
  return row?.id ?? null
}

/** SQL: the order line `l` has shipped units that no row has paid. OFFSET 0 forces one lookup for each order, regardless of statistics. */
const isUnpaid = `l.shipped > coalesce((SELECT sum(r.quantity)
  FROM (SELECT * FROM warehouse.settlement_lines r WHERE r.seller_id = l.seller_id AND r.purchase_order_id = l.purchase_order_id OFFSET 0) r
  WHERE r.movement = 'sale' AND r.component = 'price' AND r.missing_since IS NULL
    AND (r.sku IS NULL OR l.sku IS NULL OR lower(r.sku) = lower(l.sku))), 0)`

const noteAgain = 'ON CONFLICT (seller_id, purchase_order_id) DO UPDATE SET waiting = false'

/**
 * Notes the orders of a part of a search, after the first id up to the second one (null: to the end), whose payment is due and not complete. Units are due when
 * they were shipped before the newest report began, because payment may come a report later.
 */
export const noteDuePart = async (
  tx: Transaction,
  sellerId: string,
  { from, before }: DueSearch,
  after: string,
  upTo: string | null,
): Promise<void> => {
  await tx.execute(
    `INSERT INTO tallyman.settlement_orders (seller_id, purchase_order_id)
     SELECT DISTINCT u.seller_id, u.purchase_order_id
     FROM (SELECT s.* FROM ${unsearched} AND s.purchase_order_id > $4 AND ($5::text IS NULL OR s.purchase_order_id <= $5::text)) u
     JOIN warehouse.order_lines l USING (seller_id, purchase_order_id, line_number)
     WHERE ${isUnpaid}
     ORDER BY 2 ${noteAgain}`,
    sellerId,
    from,
    before,
    after,
    upTo,
  )
}

/** Ends a search: later ones leave out what it has covered. */
export const endDueSearch = async (tx: Transaction, sellerId: string, { from, before, begunAt }: DueSearch): Promise<void> => {
  await tx.execute(
    `INSERT INTO tallyman.settlement_periods (seller_id, due_from, due_before, checked_at)
     VALUES ($1, $2::timestamptz, $3::timestamptz, $4::timestamptz)
     ON CONFLICT (seller_id) DO UPDATE SET due_from = excluded.due_from, due_before = excluded.due_before, checked_at = excluded.checked_at`,
    sellerId,
    from,
    before,
    begunAt,
  )
}

/** Notes orders with open differences, and orders whose rows were stored before them. */
export const noteKnownSettlements = async (tx: Transaction, sellerId: string): Promise<void> => {
  await tx.execute(
    `INSERT INTO tallyman.settlement_orders (seller_id, purchase_order_id)
     SELECT DISTINCT seller_id, coalesce(purchase_order_id, '${noOrder}') FROM warehouse.settlement_differences
     WHERE seller_id = $1 AND state = 'open' ORDER BY 2 ${noteAgain}`,
    sellerId,
  )
  await tx.execute(
    `UPDATE tallyman.settlement_orders n SET waiting = false
     WHERE n.seller_id = $1 AND n.waiting
       AND EXISTS (SELECT FROM warehouse.orders o WHERE o.seller_id = n.seller_id AND o.purchase_order_id = n.purchase_order_id)`,
    sellerId,
  )
}

/** Takes orders to compare, by id, at most `limit`. Until the transaction ends, no other one compares them. */
export const takeSettlementOrders = async (tx: Transaction, sellerId: string, limit: number): Promise<readonly string[]> => {
  const rows = await tx.query<{ readonly id: string }>(
    `SELECT purchase_order_id AS id FROM tallyman.settlement_orders WHERE seller_id = $1 AND NOT waiting ORDER BY 1 LIMIT $2::int FOR UPDATE`,
    sellerId,
    limit,
  )
  return rows.map(({ id }) => id)
}

/** Removes compared orders; those that are not stored wait. */
export const endSettlementOrders = async (
  tx: Transaction,
  sellerId: string,
  compared: readonly string[],
  unknown: readonly string[],
): Promise<void> => {
  await tx.execute(
    `WITH removed AS (DELETE FROM tallyman.settlement_orders WHERE seller_id = $1 AND purchase_order_id = ANY ($2::text[]))
     UPDATE tallyman.settlement_orders SET waiting = true WHERE seller_id = $1 AND purchase_order_id = ANY ($3::text[])`,
    sellerId,
    compared,
    unknown,
  )
}
