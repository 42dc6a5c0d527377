import { compareInbound, type InboundComparison, type InboundShipment } from '../../domain/inventory/inbound-receipts.ts'
import { findMovementKind, type LogMovement } from '../../domain/inventory/log-reasons.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { markTable } from '../versioned/table-marks.ts'
import { lockSkus, recordListedSkus } from './inventory-skus.ts'
import { readReasons } from './log-reasons.ts'

markTable('warehouse.inbound_shipment_lines', {
  none: `seller_id shipment_id sku sent_units shipped_at expected_by delivered_at received_units difference first_received_at complete_at
    log_read_up_to state late first_seen_at changed_at`,
})

/** Identity of a SKU in an inbound shipment. */
export interface InboundLineKey {
  readonly sellerId: string
  readonly shipmentId: string
  readonly sku: string
}

/** A SKU in an inbound shipment: what was sent, and what was received. */
export interface InboundLine extends InboundLineKey, InboundComparison {
  readonly sentUnits: number
  /** receivedUnits minus sentUnits. */
  readonly difference: number
  readonly shippedAt: Date
  readonly expectedBy: Date
  /** As the event states; null: it does not. */
  readonly deliveredAt: Date | null
  /** Up to when the log of the SKU was read when the two were compared; null: never. */
  readonly logReadUpTo: Date | null
  readonly firstSeenAt: Date
  readonly changedAt: Date
}

const columns = `l.seller_id AS "sellerId", l.shipment_id AS "shipmentId", l.sku, l.sent_units AS "sentUnits", l.received_units::float8 AS "receivedUnits",
  l.difference::float8 AS difference, l.shipped_at AS "shippedAt", l.expected_by AS "expectedBy",
  l.delivered_at AS "deliveredAt", l.first_received_at AS "firstReceivedAt", l.complete_at AS "completeAt", l.log_read_up_to AS "logReadUpTo", l.state, l.late, l.first_seen_at AS "firstSeenAt", l.changed_at AS "changedAt"`

/**
 * Stores what was sent in a shipment, in place of what an earlier event stated of it, and compares it with the log. Makes the logs of its SKUs due.
 * Locks the SKUs.
 */
export const storeInboundShipment = async (
  tx: Transaction,
  sellerId: string,
  { shipmentId, shippedAt, expectedBy, deliveredAt, lines }: InboundShipment,
): Promise<void> => {
  const skus = lines.map(({ sku }) => sku).sort()
  const reported = skus.map((sku) => ({ sku, gtin: null, moved: true, units: null }))
  await recordListedSkus(tx, sellerId, shippedAt, reported, 'inbound')
  await lockSkus(tx, sellerId, skus)
  await tx.execute(
    'DELETE FROM warehouse.inbound_shipment_lines WHERE seller_id = $1 AND shipment_id = $2 AND sku <> ALL ($3::text[])',
    sellerId,
    shipmentId,
    skus,
  )
  await tx.execute(
    `INSERT INTO warehouse.inbound_shipment_lines AS l (seller_id, shipment_id, sku, sent_units, shipped_at, expected_by, delivered_at)
     SELECT $1, $2, t.sku, t.quantity, $4::timestamptz, $5::timestamptz, $6::timestamptz FROM json_to_recordset($3::json) AS t(sku text, quantity int)
     ON CONFLICT (seller_id, shipment_id, sku) DO UPDATE
     SET sent_units = excluded.sent_units, shipped_at = excluded.shipped_at, expected_by = excluded.expected_by,
       delivered_at = excluded.delivered_at, changed_at = now()
     WHERE (l.sent_units, l.shipped_at, l.expected_by, l.delivered_at)
       IS DISTINCT FROM (excluded.sent_units, excluded.shipped_at, excluded.expected_by, excluded.delivered_at)`,
    sellerId,
    shipmentId,
    JSON.stringify(lines),
    shippedAt.toISOString(),
    expectedBy.toISOString(),
    deliveredAt?.toISOString() ?? null,
  )
  await reviewInbound(tx, sellerId, skus)
}

interface ReviewedLine extends InboundLine {
  /** Up to when the log of the SKU is read now. */
  readonly readNow: Date | null
  readonly isUnknown: boolean
}

// A SKU whose log cannot be read either is unknown too.
const isUnknownSku = `(s.log_read_up_to IS NOT NULL OR s.log_fault IS NOT NULL)
  AND NOT EXISTS (SELECT FROM warehouse.inventory_log_entries x WHERE x.seller_id = l.seller_id AND x.sku = l.sku)
  AND NOT EXISTS (SELECT FROM warehouse.order_lines x WHERE x.seller_id = l.seller_id AND x.sku = l.sku)
  AND NOT EXISTS (SELECT FROM warehouse.reconciliation_rows x WHERE x.seller_id = l.seller_id AND x.sku = l.sku)
  AND NOT EXISTS (SELECT FROM warehouse.stock_on_hand x WHERE x.seller_id = l.seller_id AND x.sku = l.sku)`

interface ReceiptRow extends LogMovement {
  readonly sku: string
  readonly shipmentId: string
  readonly at: Date
}

const lineName = ({ shipmentId, sku }: Pick<InboundLine, 'shipmentId' | 'sku'>): string => JSON.stringify([shipmentId, sku])

/** The entries of the log that name the shipments of these lines. */
const readReceipts = (tx: Transaction, sellerId: string, lines: readonly InboundLine[]): Promise<ReceiptRow[]> =>
  tx.query<ReceiptRow>(
    `SELECT e.sku, e.shipment_id AS "shipmentId", e.transaction_time AS at, e.changed_units AS "changedUnits",
       e.transaction_location AS "transactionLocation", e.transaction_reason_code AS "transactionReasonCode",
       e.transaction_reason_description AS "transactionReasonDescription", e.transaction_type AS "transactionType"
     FROM json_to_recordset($2::json) AS a(sku text, "shipmentId" text)
     JOIN warehouse.inventory_log_entries e ON e.seller_id = $1 AND e.sku = a.sku AND e.shipment_id = a."shipmentId" AND e.missing_since IS NULL`,
    sellerId,
    JSON.stringify(lines.map(({ sku, shipmentId }) => ({ sku, shipmentId }))),
  )

/**
 * Compares the inbound shipments of these SKUs with the log again, and writes what differs. Receipts are the entries that the report counts as other
 * adjustments: sales, returns, losses and damages that name the shipment are not. Call it under the locks of the SKUs.
 */
export const reviewInbound = async (tx: Transaction, sellerId: string, skus: readonly string[]): Promise<void> => {
  const lines = await tx.query<ReviewedLine>(
    `SELECT ${columns}, s.log_read_up_to AS "readNow", coalesce(${isUnknownSku}, false) AS "isUnknown"
     FROM warehouse.inbound_shipment_lines l LEFT JOIN tallyman.inventory_skus s ON s.seller_id = l.seller_id AND s.sku = l.sku
     WHERE l.seller_id = $1 AND l.sku = ANY ($2::text[])`,
    sellerId,
    skus,
  )
  if (lines.length === 0) return
  const reasons = await readReasons(tx, sellerId)
  const entries = await readReceipts(tx, sellerId, lines)
  const receipts = Map.groupBy(
    entries.filter((entry) => findMovementKind(entry, reasons) === 'other'),
    lineName,
  )
  const compared = lines.map(({ sku, shipmentId, sentUnits: units, expectedBy, readNow: logReadUpTo, isUnknown }) => ({
    ...{ sku, shipmentId, logReadUpTo },
    ...compareInbound(
      { units, expectedBy, logReadUpTo, isUnknown },
      (receipts.get(lineName({ sku, shipmentId })) ?? []).map(({ changedUnits, at }) => ({ units: changedUnits, at })),
    ),
  }))
  await tx.execute(
    `UPDATE warehouse.inbound_shipment_lines l
     SET received_units = t."receivedUnits", first_received_at = t."firstReceivedAt", complete_at = t."completeAt", state = t.state, late = t.late, log_read_up_to = t."logReadUpTo",
       changed_at = CASE WHEN (l.received_units, l.complete_at, l.state, l.late) IS DISTINCT FROM (t."receivedUnits", t."completeAt", t.state, t.late)
         THEN now() ELSE l.changed_at END
     FROM json_to_recordset($2::json) AS t(sku text, "shipmentId" text, "receivedUnits" bigint, "firstReceivedAt" timestamptz, "completeAt" timestamptz, state text, late boolean,
       "logReadUpTo" timestamptz)
     WHERE l.seller_id = $1 AND l.shipment_id = t."shipmentId" AND l.sku = t.sku
       AND (l.received_units, l.first_received_at, l.complete_at, l.state, l.late, l.log_read_up_to)
         IS DISTINCT FROM (t."receivedUnits", t."firstReceivedAt", t."completeAt", t.state, t.late, t."logReadUpTo")`,
    sellerId,
    JSON.stringify(compared),
  )
}

/** Which lines to list; null: any. */
export interface InboundFilter {
  readonly sellerId: SellerFilter
  readonly shipmentId: string | null
  readonly sku: string | null
  /** Any of these states. */
  readonly states: readonly InboundLine['state'][] | null
  readonly late: boolean | null
}

/** The lines of inbound shipments by seller, shipment and SKU, after this key. */
export const listInboundLines = async (
  sql: SqlRunner,
  filter: InboundFilter,
  after: InboundLineKey | null,
  limit: number,
): Promise<ListPage<InboundLine, InboundLineKey>> => {
  const rows = await sql.query<InboundLine>(
    `SELECT ${columns} FROM warehouse.inbound_shipment_lines l
     WHERE ($1::text[] IS NULL OR l.seller_id = ANY ($1::text[])) AND ($2::text IS NULL OR l.shipment_id = $2::text)
       AND ($3::text IS NULL OR l.sku = $3::text) AND ($4::text[] IS NULL OR l.state = ANY ($4::text[])) AND ($5::boolean IS NULL OR l.late = $5::boolean)
       AND ($6::text IS NULL OR (l.seller_id, l.shipment_id, l.sku) > ($6::text, $7::text, $8::text))
     ORDER BY l.seller_id, l.shipment_id, l.sku LIMIT $9::int`,
    toSellerIds(filter.sellerId),
    filter.shipmentId,
    filter.sku,
    filter.states,
    filter.late,
    after?.sellerId ?? null,
    after?.shipmentId ?? null,
    after?.sku ?? null,
    limit + 1,
  )
  return buildPage(rows, limit, ({ sellerId, shipmentId, sku }) => ({ sellerId, shipmentId, sku }))
}

/** Short inbound shipments of a seller that nobody has dealt with, and those with a SKU that is not known. */
export interface OpenInbound {
  readonly sellerId: string
  /** Shipments. */
  readonly count: number
  readonly missingUnits: number
  readonly unknownSkus: number
}

/**
 * Inbound shipments with a SKU that is short or not known, by seller. A line counts until its claim is filed, refused or expired, and only if its units were
 * expected within this time.
 */
export const findOpenInbound = (sql: SqlRunner, withinMs: number): Promise<readonly OpenInbound[]> =>
  sql.query<OpenInbound>(
    `SELECT l.seller_id AS "sellerId", count(DISTINCT l.shipment_id)::int AS count,
       coalesce(sum(-l.difference) FILTER (WHERE l.state = 'short'), 0)::float8 AS "missingUnits",
       (count(*) FILTER (WHERE l.state = 'unknown-sku'))::int AS "unknownSkus"
     FROM warehouse.inbound_shipment_lines l
     WHERE l.difference < 0 AND l.state IN ('short', 'unknown-sku') AND l.expected_by > now() - make_interval(secs => $1::float8 / 1000)
       AND NOT EXISTS (SELECT FROM warehouse.claims c WHERE c.seller_id = l.seller_id AND c.shipment_id = l.shipment_id AND c.sku = l.sku
         AND c.state NOT IN ('open', 'withdrawn'))
     GROUP BY l.seller_id ORDER BY 1`,
    withinMs,
  )
