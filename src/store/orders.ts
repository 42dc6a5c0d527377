import type { Charge, LineStatus, OrderLine, PurchaseOrder } from '../domain/order.ts'
import { progressOf } from '../domain/progress.ts'
import type { Database, SqlRunner, Transaction } from './database.ts'
import { holdErasuresBack, withoutErasedOrders } from './erased-records.ts'
import { isOpen, mergeOrder, orderChanges, orderSeen } from './order-merge.ts'
import { spreadNewest } from './spread-newest.ts'
import {
  type DifferingRecord,
  distinctRecords,
  findDiffering,
  jsonArray,
  jsonObject,
  pathsWithin,
  type RecordPage,
  type StorableRecord,
  type StoredPage,
} from './versions.ts'

// ── reading ──────────────────────────────────────────────────────────────────────────────────────────────

interface OrderRow {
  readonly purchase_order_id: string
  readonly customer_order_id: string | null
  readonly order_date: Date | null
  readonly order_type: string | null
  readonly ship_node_type: string | null
  readonly method_code: string | null
  readonly estimated_ship_date: Date | null
  readonly estimated_delivery_date: Date | null
  readonly customer_name: string | null
  readonly customer_email: string | null
  readonly customer_phone: string | null
  readonly shipping_address: Readonly<Record<string, unknown>> | null
  readonly total_amount: string | null
  readonly currency: string | null
  readonly raw: unknown
  readonly lines: readonly LineRow[] | null
}

interface LineRow extends Omit<OrderLine, 'units' | 'statuses' | 'charges' | 'statusDate' | 'refundReasons'> {
  readonly acknowledged: number
  readonly shipped: number
  readonly cancelled: number
  readonly refunded: number
  readonly charges: readonly Charge[]
  readonly refundReasons: readonly string[]
  readonly statusDate: string | null
  readonly statuses: readonly StatusRow[] | null
}

interface StatusRow extends Omit<LineStatus, 'shippedAt'> {
  readonly shippedAt: string | null
}

const selectOrders = `
  SELECT o.purchase_order_id, o.customer_order_id, o.order_date, o.order_type, o.ship_node_type, o.method_code,
    o.estimated_ship_date, o.estimated_delivery_date, o.customer_name, o.customer_email, o.customer_phone,
    o.shipping_address, o.total_amount::text, o.currency, o.raw,
    (SELECT json_agg(json_build_object(
        'lineNumber', l.line_number, 'sku', l.sku, 'productName', l.product_name, 'unitOfMeasure', l.unit_of_measure,
        'ordered', l.ordered, 'acknowledged', l.acknowledged, 'shipped', l.shipped, 'cancelled', l.cancelled,
        'refunded', l.refunded, 'refundedAmount', l.refunded_amount::text, 'currency', l.currency, 'charges', l.charges,
        'refundReasons', l.refund_reasons, 'intentToCancel', l.intent_to_cancel, 'statusDate', l.status_date, 'raw', l.raw,
        'statuses', (SELECT json_agg(json_build_object(
            'status', s.status, 'quantity', s.quantity, 'cancellationReason', s.cancellation_reason, 'carrier', s.carrier,
            'methodCode', s.method_code, 'trackingNumber', s.tracking_number, 'trackingUrl', s.tracking_url,
            'shippedAt', s.shipped_at, 'raw', s.raw) ORDER BY s.position)
          FROM warehouse.order_line_statuses s
          WHERE s.seller_id = l.seller_id AND s.purchase_order_id = l.purchase_order_id AND s.line_number = l.line_number))
        ORDER BY l.line_index, l.line_number)
      FROM warehouse.order_lines l
      WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id) AS lines
  FROM warehouse.orders o
  WHERE o.seller_id = $1 AND o.purchase_order_id = ANY($2::text[])`

const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text))

const toLine = ({ acknowledged, shipped, cancelled, refunded, ...line }: LineRow): OrderLine => ({
  ...line,
  units: { acknowledged, shipped, cancelled, refunded },
  statusDate: toDate(line.statusDate),
  statuses: (line.statuses ?? []).map((status) => ({ ...status, shippedAt: toDate(status.shippedAt) })),
})

const toOrder = (row: OrderRow): PurchaseOrder => ({
  purchaseOrderId: row.purchase_order_id,
  customerOrderId: row.customer_order_id,
  orderDate: row.order_date,
  orderType: row.order_type,
  shipNodeType: row.ship_node_type,
  methodCode: row.method_code,
  estimatedShipDate: row.estimated_ship_date,
  estimatedDeliveryDate: row.estimated_delivery_date,
  customerName: row.customer_name,
  customerEmail: row.customer_email,
  customerPhone: row.customer_phone,
  shippingAddress: row.shipping_address,
  totalAmount: row.total_amount,
  currency: row.currency,
  lines: (row.lines ?? []).map(toLine),
  raw: row.raw,
})

const readOrders = async (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderIds: readonly string[],
): Promise<Map<string, PurchaseOrder>> => {
  const rows = await sql.query<OrderRow>(selectOrders, sellerId, purchaseOrderIds)
  return new Map(rows.map((row) => [row.purchase_order_id, toOrder(row)]))
}

/** An order as it is stored: charges as first seen, lines in the marketplace's order. Null when it is not stored. */
export const readOrder = async (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<PurchaseOrder | null> =>
  (await readOrders(sql, sellerId, [purchaseOrderId])).get(purchaseOrderId) ?? null

// ── locking ──────────────────────────────────────────────────────────────────────────────────────────────

interface LockedRow {
  readonly purchase_order_id: string
  readonly raw_hash: string
  readonly observed_at: Date
  readonly missing: boolean
  /** Views that were behind have come for so long; null: none. */
  readonly behind_ms: number | null
}

const lockOrders = (tx: Transaction, sellerId: string, purchaseOrderIds: readonly string[]): Promise<LockedRow[]> =>
  tx.query<LockedRow>(
    `SELECT purchase_order_id, encode(raw_hash, 'hex') AS raw_hash, observed_at, missing_since IS NOT NULL AS missing,
       (extract(epoch FROM now() - behind_since) * 1000)::float8 AS behind_ms
     FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[])
     ORDER BY purchase_order_id FOR UPDATE`,
    sellerId,
    purchaseOrderIds,
  )

/**
 * Locks an order's row until the transaction ends and reads the order as it then is; null when it is not stored. Whoever
 * reserves, sends or stores units of an order holds this lock.
 */
export const lockOrder = async (tx: Transaction, sellerId: string, purchaseOrderId: string): Promise<PurchaseOrder | null> => {
  const [locked] = await lockOrders(tx, sellerId, [purchaseOrderId])
  // Read by a statement of its own: one that waited for the lock would still see the lines from before the wait.
  return locked === undefined ? null : readOrder(tx, sellerId, purchaseOrderId)
}

// ── writing ──────────────────────────────────────────────────────────────────────────────────────────────

// An unchanged record leaves no trace here: even `ON CONFLICT … DO UPDATE … WHERE false` would lock its row and write to the log. One row
// of arrays, not a row for each order: half the work of a page without changes is carrying rows.
const probe = `
  SELECT array_agg(purchase_order_id) AS keys,
    array_agg(CASE WHEN missing_since IS NULL AND behind_since IS NULL THEN encode(raw_hash, 'hex') ELSE '' END) AS hashes
  FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[])`

/** Those records of a page whose text differs from what is stored, or that were thought missing. Reads only. */
export const findDifferingOrders = (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<PurchaseOrder>[],
): Promise<readonly DifferingRecord<PurchaseOrder>[]> => findDiffering(sql, probe, sellerId, records)

const orderColumns = [
  'customer_order_id text',
  'order_date timestamptz',
  'order_type text',
  'ship_node_type text',
  'method_code text',
  'estimated_ship_date timestamptz',
  'estimated_delivery_date timestamptz',
  'customer_name text',
  'customer_email text',
  'customer_phone text',
  'shipping_address jsonb',
  'total_amount numeric',
  'currency text',
  'open boolean',
  'raw jsonb',
] as const
const lineColumns = [
  'line_index int',
  'sku text',
  'product_name text',
  'unit_of_measure text',
  'ordered int',
  'acknowledged int',
  'shipped int',
  'cancelled int',
  'refunded int',
  'refunded_amount numeric',
  'currency text',
  'charges jsonb',
  'refund_reasons jsonb',
  'intent_to_cancel boolean',
  'status_date timestamptz',
] as const
const statusColumns = [
  'status text',
  'quantity int',
  'cancellation_reason text',
  'carrier text',
  'method_code text',
  'tracking_number text',
  'tracking_url text',
  'shipped_at timestamptz',
] as const

const names = (columns: readonly string[]): string[] => columns.map((column) => column.slice(0, column.indexOf(' ')))
const list = (columns: readonly string[], prefix = ''): string =>
  names(columns)
    .map((name) => prefix + name)
    .join(', ')
const assign = (columns: readonly string[], from: string): string =>
  names(columns)
    .map((name) => `${name} = ${from}.${name}`)
    .join(', ')

// Writes new orders and new versions of known ones with all that hangs on them. $1 seller, $2 observed at, $3 orders,
// $4 lines, $5 statuses, $6 ids of known orders (so that no statistics can talk the planner into reading the whole table). Known orders are locked by the caller. Answers the new orders that someone else has stored meanwhile:
// nothing of those was written.
const writeOrders = `
  WITH reported AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($3::jsonb) AS t(purchase_order_id text, known boolean, raw_hash text, ${orderColumns.join(', ')})
  ), inserted AS (
    INSERT INTO warehouse.orders (seller_id, purchase_order_id, ${list(orderColumns)}, raw_hash, observed_at, first_seen_at, changed_at)
    SELECT $1, purchase_order_id, ${list(orderColumns)}, decode(raw_hash, 'hex'), $2::timestamptz, now(), now()
    FROM reported WHERE NOT known
    ON CONFLICT DO NOTHING
    RETURNING purchase_order_id
  ), superseded AS (
    INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
    SELECT $1, 'orders', purchase_order_id, o.raw_hash, o.raw, o.changed_at, now()
    FROM warehouse.orders o JOIN reported r USING (purchase_order_id)
    WHERE o.seller_id = $1 AND o.purchase_order_id = ANY($6::text[]) AND o.raw_hash <> decode(r.raw_hash, 'hex')
    ON CONFLICT DO NOTHING
  ), updated AS (
    UPDATE warehouse.orders o
    SET ${assign(orderColumns, 'r')}, raw_hash = decode(r.raw_hash, 'hex'), observed_at = GREATEST(o.observed_at, $2::timestamptz),
      missing_since = NULL, behind_since = NULL, changed_at = now()
    FROM reported r
    WHERE o.seller_id = $1 AND o.purchase_order_id = ANY($6::text[]) AND o.purchase_order_id = r.purchase_order_id
    RETURNING o.purchase_order_id
  ), written AS (
    SELECT purchase_order_id FROM inserted UNION ALL SELECT purchase_order_id FROM updated
  ), reported_lines AS MATERIALIZED (
    SELECT t.*, coalesce(t.own_raw, r.raw #> t.raw_path) AS raw
    FROM jsonb_to_recordset($4::jsonb) AS t(purchase_order_id text, line_number text, status_count int, raw_path text[], own_raw jsonb,
      ${lineColumns.join(', ')})
    JOIN reported r USING (purchase_order_id)
    WHERE t.purchase_order_id IN (SELECT purchase_order_id FROM written)
  ), lines AS (
    INSERT INTO warehouse.order_lines AS l (seller_id, purchase_order_id, line_number, ${list(lineColumns)}, raw, first_seen_at, changed_at)
    SELECT $1, purchase_order_id, line_number, ${list(lineColumns)}, raw, now(), now() FROM reported_lines
    ON CONFLICT (seller_id, purchase_order_id, line_number) DO UPDATE
    SET ${assign(lineColumns, 'excluded')}, raw = excluded.raw, changed_at = now()
    WHERE (${list(lineColumns, 'l.')}, l.raw) IS DISTINCT FROM (${list(lineColumns, 'excluded.')}, excluded.raw)
  ), statuses AS (
    INSERT INTO warehouse.order_line_statuses AS s (seller_id, purchase_order_id, line_number, position, ${list(statusColumns)}, raw,
      first_seen_at, changed_at)
    SELECT $1, t.purchase_order_id, t.line_number, t.position, ${list(statusColumns, 't.')}, coalesce(t.own_raw, r.raw #> t.raw_path),
      now(), now()
    FROM jsonb_to_recordset($5::jsonb) AS t(purchase_order_id text, line_number text, position int, raw_path text[], own_raw jsonb,
      ${statusColumns.join(', ')})
    JOIN reported r USING (purchase_order_id)
    WHERE t.purchase_order_id IN (SELECT purchase_order_id FROM written)
    ON CONFLICT (seller_id, purchase_order_id, line_number, position) DO UPDATE SET ${assign(statusColumns, 'excluded')},
      raw = excluded.raw,
      first_seen_at = CASE WHEN (s.status, s.tracking_number) IS NOT DISTINCT FROM (excluded.status, excluded.tracking_number)
        THEN s.first_seen_at ELSE now() END,
      changed_at = now()
    WHERE (${list(statusColumns, 's.')}, s.raw) IS DISTINCT FROM (${list(statusColumns, 'excluded.')}, excluded.raw)
  ), vanished AS (
    DELETE FROM warehouse.order_line_statuses s USING reported_lines l
    WHERE s.seller_id = $1 AND s.purchase_order_id = ANY($6::text[]) AND s.purchase_order_id = l.purchase_order_id
      AND s.line_number = l.line_number AND s.position >= l.status_count
  )
  SELECT r.purchase_order_id FROM reported r
  WHERE NOT r.known AND r.purchase_order_id NOT IN (SELECT purchase_order_id FROM inserted)`

interface Write {
  readonly record: DifferingRecord<PurchaseOrder>
  /** As it is to be stored. */
  readonly order: PurchaseOrder
  /** As it is stored; null for a new one. */
  readonly before: PurchaseOrder | null
}

const orderText = ({ record, order, before }: Write): string =>
  jsonObject(
    {
      purchase_order_id: record.key,
      known: before !== null,
      raw_hash: record.hash,
      customer_order_id: order.customerOrderId,
      order_date: order.orderDate,
      order_type: order.orderType,
      ship_node_type: order.shipNodeType,
      method_code: order.methodCode,
      estimated_ship_date: order.estimatedShipDate,
      estimated_delivery_date: order.estimatedDeliveryDate,
      customer_name: order.customerName,
      customer_email: order.customerEmail,
      customer_phone: order.customerPhone,
      shipping_address: order.shippingAddress,
      total_amount: order.totalAmount,
      currency: order.currency,
      open: isOpen(order),
    },
    { raw: record.rawText },
  )

type Paths = ReadonlyMap<unknown, readonly string[]>

// A raw part that stands within the raw order is named by its path; only one from elsewhere is sent.
const rawPart = (raw: unknown, paths: Paths) => {
  const path = paths.get(raw)
  return path === undefined ? { own_raw: raw } : { raw_path: path }
}

const lineText = (purchaseOrderId: string, line: OrderLine, index: number, paths: Paths): string =>
  JSON.stringify({
    purchase_order_id: purchaseOrderId,
    line_number: line.lineNumber,
    status_count: line.statuses.length,
    line_index: index,
    sku: line.sku,
    product_name: line.productName,
    unit_of_measure: line.unitOfMeasure,
    ordered: line.ordered,
    acknowledged: line.units.acknowledged,
    shipped: line.units.shipped,
    cancelled: line.units.cancelled,
    refunded: line.units.refunded,
    refunded_amount: line.refundedAmount,
    currency: line.currency,
    charges: line.charges,
    refund_reasons: line.refundReasons,
    intent_to_cancel: line.intentToCancel,
    status_date: line.statusDate,
    ...rawPart(line.raw, paths),
  })

const statusText = (purchaseOrderId: string, lineNumber: string, status: LineStatus, position: number, paths: Paths): string =>
  JSON.stringify({
    purchase_order_id: purchaseOrderId,
    line_number: lineNumber,
    position,
    status: status.status,
    quantity: status.quantity,
    cancellation_reason: status.cancellationReason,
    carrier: status.carrier,
    method_code: status.methodCode,
    tracking_number: status.trackingNumber,
    tracking_url: status.trackingUrl,
    shipped_at: status.shippedAt,
    ...rawPart(status.raw, paths),
  })

const write = async (tx: Transaction, sellerId: string, observedAt: Date, writes: readonly Write[]): Promise<Set<string>> => {
  const lines: string[] = []
  const statuses: string[] = []
  for (const { record, order } of writes) {
    const paths = pathsWithin(order.raw)
    for (const [index, line] of order.lines.entries()) {
      lines.push(lineText(record.key, line, index, paths))
      for (const [position, status] of line.statuses.entries()) {
        statuses.push(statusText(record.key, line.lineNumber, status, position, paths))
      }
    }
  }
  const missed = await tx.query<{ purchase_order_id: string }>(
    writeOrders,
    sellerId,
    observedAt.toISOString(),
    jsonArray(writes.map(orderText)),
    jsonArray(lines),
    jsonArray(statuses),
    writes.flatMap(({ record, before }) => (before === null ? [] : [record.key])),
  )
  return new Set(missed.map((row) => row.purchase_order_id))
}

/** A view that shows less than is stored is believed when nothing better has come for so long. */
const behindBelievedAfterMs = 86_400_000

/**
 * What to do with a view of a stored order. What it shows decides before its time: units that were shipped, cancelled or refunded stay so,
 * therefore a view that shows fewer is late, and one that shows more is newer, whatever the clocks of the marketplace's nodes say.
 */
const judgeView = (
  record: DifferingRecord<PurchaseOrder>,
  before: PurchaseOrder,
  stored: LockedRow,
  observedAt: Date,
): 'write' | 'skip' | 'behind' => {
  const { order } = progressOf(before, record.value)
  if (order === 'ahead') return 'write'
  const newer = stored.observed_at <= observedAt
  if (!newer) return 'skip'
  if (order === 'behind' || order === 'mixed') {
    if (stored.behind_ms === null) return 'behind'
    return stored.behind_ms >= behindBelievedAfterMs ? 'write' : 'skip'
  }
  return stored.raw_hash !== record.hash || stored.missing || stored.behind_ms !== null ? 'write' : 'skip'
}

const noteBehind = async (tx: Transaction, sellerId: string, purchaseOrderIds: readonly string[]): Promise<void> => {
  if (purchaseOrderIds.length === 0) return
  await tx.execute(
    `UPDATE warehouse.orders SET behind_since = now() WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[]) AND behind_since IS NULL`,
    sellerId,
    purchaseOrderIds,
  )
}

// Locks the known ones, then looks again: what was found before the lock may have changed since.
const prepare = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  reported: readonly DifferingRecord<PurchaseOrder>[],
): Promise<Write[]> => {
  const known = reported.filter((record) => record.known).map((record) => record.key)
  if (known.length < reported.length) await holdErasuresBack(tx, sellerId)
  const locked = new Map(
    known.length === 0 ? [] : (await lockOrders(tx, sellerId, known)).map((row) => [row.purchase_order_id, row]),
  )
  const records = await withoutErasedOrders(tx, sellerId, reported)
  const differing = records.flatMap((record) => {
    const stored = locked.get(record.key)
    const same = stored?.raw_hash === record.hash && !stored.missing && stored.behind_ms === null
    return stored === undefined || same ? [] : [record.key]
  })
  const before = differing.length === 0 ? new Map<string, PurchaseOrder>() : await readOrders(tx, sellerId, differing)
  const behind: string[] = []
  const writes = records.flatMap((record): Write[] => {
    const row = locked.get(record.key)
    if (row === undefined) return [{ record, order: record.value, before: null }]
    const stored = before.get(record.key)
    if (stored === undefined) return []
    const verdict = judgeView(record, stored, row, observedAt)
    if (verdict === 'behind') behind.push(record.key)
    return verdict === 'write' ? [{ record, order: mergeOrder(stored, record.value), before: stored }] : []
  })
  await noteBehind(tx, sellerId, behind)
  return writes
}

/**
 * Stores records that {@link findDifferingOrders} found, by one statement, and tells what has changed. An older observation, or
 * one that shows less than is known, never overwrites a newer one; the version that is replaced is kept in `tallyman.superseded_versions`.
 */
export const storeDifferingOrders = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<PurchaseOrder>[],
): Promise<Omit<StoredPage<PurchaseOrder>, 'seen'>> => {
  const fresh: PurchaseOrder[] = []
  let changed = 0
  let rest = records
  // Orders that someone else stores at the same moment are known in the next round, where they are locked.
  while (rest.length > 0) {
    const writes = await prepare(tx, sellerId, observedAt, rest)
    if (writes.length === 0) break
    const missed = await write(tx, sellerId, observedAt, writes)
    for (const { record, order, before } of writes) {
      if (missed.has(record.key)) continue
      changed += 1
      if (before === null) {
        fresh.push(order)
        tx.tell(orderSeen(sellerId, order))
      } else for (const change of orderChanges(sellerId, before, order)) tx.tell(change)
    }
    rest = rest.filter((record) => missed.has(record.key)).map((record) => ({ ...record, known: true }))
  }
  return { changed, fresh }
}

/** Stores a page within a transaction under way. */
export const storeOrdersIn = async (tx: Transaction, page: RecordPage<PurchaseOrder>): Promise<StoredPage<PurchaseOrder>> => {
  const differing = await findDifferingOrders(tx, page.sellerId, page.records)
  const stored = await storeDifferingOrders(tx, page.sellerId, page.observedAt, differing)
  return { seen: distinctRecords(page.records).length, ...stored }
}

/** Stores a page in a transaction of its own; a page without changes opens none and writes nothing. */
export const storeOrders = async (database: Database, page: RecordPage<PurchaseOrder>): Promise<StoredPage<PurchaseOrder>> => {
  const differing = await findDifferingOrders(database, page.sellerId, page.records)
  const seen = new Set(page.records.map((record) => record.key)).size
  if (differing.length === 0) return { seen, changed: 0, fresh: [] }
  return {
    seen,
    ...(await database.transaction((tx) => storeDifferingOrders(tx, page.sellerId, page.observedAt, differing))),
  }
}

/** Stores one order within a transaction under way, by the same rules; for answers of writes and read-backs. */
export const storeOrder = async (
  tx: Transaction,
  { sellerId, order, rawText, observedAt }: { sellerId: string; order: PurchaseOrder; rawText: string; observedAt: Date },
): Promise<{ readonly changed: boolean }> => {
  const records = [{ key: order.purchaseOrderId, value: order, rawText }]
  const { changed } = await storeOrdersIn(tx, { sellerId, records, observedAt })
  return { changed: changed > 0 }
}

// ── the sweep ────────────────────────────────────────────────────────────────────────────────────────────

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
           AND s.purchase_order_id = o.purchase_order_id AND s.status = 'Created'))`,
    ),
    sellerId,
    wanted.shipNodeType,
    wanted.days,
    wanted.waiting,
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

/** Notes orders that the marketplace says it does not have, and tells it once; they are never deleted. Answers how many are newly noted. */
export const noteMissingOrders = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  purchaseOrderIds: readonly string[],
): Promise<number> => {
  if (purchaseOrderIds.length === 0) return 0
  const rows = await tx.query<{ purchase_order_id: string }>(
    `UPDATE warehouse.orders SET missing_since = now()
     WHERE (seller_id, purchase_order_id) IN (
       SELECT seller_id, purchase_order_id FROM warehouse.orders
       WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[]) AND missing_since IS NULL AND observed_at <= $3::timestamptz
       ORDER BY purchase_order_id FOR UPDATE)
     RETURNING purchase_order_id`,
    sellerId,
    purchaseOrderIds,
    observedAt.toISOString(),
  )
  for (const row of rows) {
    tx.tell({ sellerId, type: 'order.missing', purchaseOrderId: row.purchase_order_id, data: {} })
  }
  return rows.length
}
