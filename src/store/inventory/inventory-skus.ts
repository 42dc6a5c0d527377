import type { LogPass } from '../../domain/inventory/inventory-log-pass.ts'
import { entriesOfOneCall, type LogState } from '../../domain/inventory/inventory-log-schedule.ts'
import { normalSku } from '../../domain/values/text.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { selectLastUnitPrices } from '../orders/unit-price.ts'

// ── the SKUs ─────────────────────────────────────────────────────────────────────────────────────────────

/** A SKU of the fulfillment service, with its GTIN if it is known. */
export interface InventorySku {
  readonly sku: string
  readonly gtin: string | null
}

/** A SKU with its spelling at the marketplace. */
interface SpeltSku {
  readonly sku: string
  /** The spelling for requests; absent or null: as `sku`. */
  readonly marketplaceSku?: string | null
}

/** The marketplace's spellings of those of these SKUs that differ from the normal form; for requests. */
export const readMarketplaceSpellings = async (
  { prisma }: SqlRunner,
  sellerId: string,
  skus: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const rows = await prisma.inventorySku.findMany({
    where: { sellerId, sku: { in: [...skus] }, marketplaceSku: { not: null } },
    select: { sku: true, marketplaceSku: true },
  })
  return new Map(rows.map(({ sku, marketplaceSku }) => [sku, marketplaceSku ?? sku]))
}

/** SKUs after this one, sorted; for reading all of them in batches. */
export const listInventorySkus = (
  { prisma }: SqlRunner,
  sellerId: string,
  afterSku: string,
  limit: number,
): Promise<readonly InventorySku[]> =>
  prisma.inventorySku.findMany({
    where: { sellerId, sku: { gt: afterSku } },
    orderBy: { sku: 'asc' },
    take: limit,
    select: { sku: true, gtin: true },
  })

/**
 * Adds the SKUs of the settings, which count as moved now, so that their logs are read soon. Known ones stay unchanged. A SKU that the settings no longer
 * name stays, because its log is stored.
 */
export const recordConfiguredSkus = async (
  sql: SqlRunner,
  sellers: readonly { readonly sellerId: string; readonly skus: readonly string[] }[],
): Promise<void> => {
  const configured = sellers.flatMap(({ sellerId, skus }) => skus.map((name) => ({ sellerId, sku: normalSku(name), name })))
  if (configured.length === 0) return
  await sql.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, marketplace_sku, source, log_moved_at)
     SELECT t.seller_id, t.sku, nullif(min(t.name), t.sku), 'settings', now()
     FROM unnest($1::text[], $2::text[], $3::text[]) AS t(seller_id, sku, name) GROUP BY t.seller_id, t.sku ORDER BY t.seller_id, t.sku
     ON CONFLICT DO NOTHING`,
    configured.map(({ sellerId }) => sellerId),
    configured.map(({ sku }) => sku),
    configured.map(({ name }) => name),
  )
}

/** SQL: the normal form of a GTIN, as `gtin14`. */
export const gtin14Sql = (gtin: string): string =>
  `CASE WHEN ${gtin} ~ '^[0-9]{8,14}$' THEN lpad(${gtin}, 14, '0') ELSE ${gtin} END`

/** SQL: the SKUs of GTINs (14 digits) of the seller `$1`, from logs and reports with both. GTINs of several SKUs are omitted. */
export const knownGtins = `SELECT gtin, min(sku) AS sku FROM (
    SELECT sku, ${gtin14Sql('gtin')} AS gtin FROM tallyman.inventory_skus WHERE seller_id = $1 AND gtin IS NOT NULL
  ) s WHERE ${gtin14Sql('sku')} <> gtin GROUP BY gtin HAVING count(*) = 1`

/** The result of {@link knownGtins}. */
export const readSkusByGtin = async (sql: SqlRunner, sellerId: string): Promise<ReadonlyMap<string, string>> => {
  const rows = await sql.query<{ gtin: string; sku: string }>(knownGtins, sellerId)
  return new Map(rows.map(({ gtin, sku }) => [gtin, sku]))
}

/** Up to when the log of a SKU is stored, on the marketplace's clock; null: it was never read. */
export const logReadUpTo = async ({ prisma }: SqlRunner, sellerId: string, sku: string): Promise<Date | null> => {
  const where = { sellerId_sku: { sellerId, sku } }
  return (await prisma.inventorySku.findUnique({ where, select: { logReadUpTo: true } }))?.logReadUpTo ?? null
}

/** A SKU of the reconciliation report, or of the list of the stock on hand. */
export interface ReportedSku extends InventorySku, SpeltSku {
  /** Its row is new or changed, and has moved units: the log is read now. */
  readonly moved: boolean
  /** The number of moved units, in any direction; null: unknown. */
  readonly units: number | null
}

/**
 * Adds the SKUs of a report, of the stock on hand or of inbound shipments, and makes the logs of moved ones due. `at` is on the marketplace's clock. Known SKUs that have not moved are not written.
 * Locks these SKUs in sorted order.
 */
export const recordListedSkus = async (
  sql: SqlRunner,
  sellerId: string,
  at: Date,
  skus: readonly ReportedSku[],
  source: 'report' | 'stock' | 'inbound' = 'report',
): Promise<void> => {
  if (skus.length === 0) return
  await sql.execute(
    `WITH reported AS MATERIALIZED (
       SELECT sku, max("marketplaceSku") AS marketplace_sku, max(gtin) AS gtin, bool_or(moved) AS moved, max(units) AS units
       FROM jsonb_to_recordset($3::jsonb) AS t(sku text, "marketplaceSku" text, gtin text, moved boolean, units bigint) GROUP BY sku
     ), price AS MATERIALIZED (${selectLastUnitPrices('(SELECT $1::text AS seller_id, sku FROM reported WHERE moved)', '$4')})
     INSERT INTO tallyman.inventory_skus AS s (seller_id, sku, marketplace_sku, gtin, source, log_moved_at, stake)
     SELECT $1, r.sku, r.marketplace_sku, r.gtin, $5::text, CASE WHEN r.moved THEN $2::timestamptz END,
       CASE WHEN r.moved THEN round(r.units * coalesce(p.amount / p.units, 1), 2) END
     FROM reported r LEFT JOIN price p ON p.sku = r.sku ORDER BY r.sku
     ON CONFLICT (seller_id, sku) DO UPDATE
     SET gtin = coalesce(s.gtin, excluded.gtin), marketplace_sku = coalesce(s.marketplace_sku, excluded.marketplace_sku),
       log_moved_at = greatest(s.log_moved_at, excluded.log_moved_at),
       log_due_at = CASE WHEN excluded.log_moved_at IS NULL THEN s.log_due_at END, stake = coalesce(excluded.stake, s.stake)
     WHERE excluded.log_moved_at IS NOT NULL OR (s.gtin IS NULL AND excluded.gtin IS NOT NULL)`,
    sellerId,
    at.toISOString(),
    JSON.stringify(skus),
    sql.findVocabulary(sellerId).productCharge,
    source,
  )
}

/** Maximum number of SKUs of one run; the next run continues. */
const differingPerRun = 2_000

/** SQL: an open discrepancy that an entry of the log can settle, so that the log is read in full every day while it is open. */
const dependsOnLog = (discrepancy: string): string =>
  `(${discrepancy}.log_verdict IS NOT NULL OR ${discrepancy}.kind = 'carry-over')`

/**
 * Makes a full reading of logs due, because an entry may be reported later than any look-back. Each SKU with a new discrepancy is read once, so that no claim is
 * made before; SKUs whose discrepancy depends on the log are read every day while it is open. The highest values first. `at` is on the marketplace's clock.
 */
export const requestDifferingLogs = async (sql: SqlRunner, sellerId: string, at: Date): Promise<void> => {
  await sql.execute(
    `WITH differing AS MATERIALIZED (
       SELECT d.sku, max(d.first_seen_at) AS since, bool_or(${dependsOnLog('d')}) AS daily, sum(d.value) AS value
       FROM warehouse.inventory_discrepancies d WHERE d.seller_id = $1 AND d.state = 'open' GROUP BY d.sku
     ), chosen AS MATERIALIZED (
       SELECT s.sku FROM differing d JOIN tallyman.inventory_skus s ON s.seller_id = $1 AND s.sku = d.sku
       WHERE s.log_read_up_to IS NOT NULL AND s.log_pass IS NULL AND s.log_fault IS NULL
         AND (s.log_full_at IS NULL OR s.log_full_at < d.since
           OR d.daily AND (s.log_full_at < now() - interval '1 day' OR s.log_full_due_at <= $2::timestamptz))
         AND (s.log_due_at IS NOT NULL OR s.log_full_due_at IS NULL OR s.log_full_due_at > $2::timestamptz)
       ORDER BY d.value DESC NULLS LAST, s.sku LIMIT $3::int
     ), locked AS MATERIALIZED (
       SELECT s.sku FROM tallyman.inventory_skus s WHERE s.seller_id = $1 AND s.sku IN (SELECT sku FROM chosen) ORDER BY s.sku FOR UPDATE SKIP LOCKED
     )
     UPDATE tallyman.inventory_skus s SET log_due_at = NULL, log_full_due_at = $2::timestamptz FROM locked l WHERE s.seller_id = $1 AND s.sku = l.sku`,
    sellerId,
    at.toISOString(),
    differingPerRun,
  )
}

/** Changes that one statement searches for orders. */
const changesPerStatement = 20_000

// The change feed has ascending numbers without gaps: the changes between the mark and the counter are all new ones.
const feedSpan = `
    SELECT coalesce(m.changes_seq, 0) AS after, least(c.last_seq, coalesce(m.changes_seq, 0) + $5::int) AS upto, c.last_seq
    FROM tallyman.change_counter c LEFT JOIN tallyman.inventory_order_marks m ON m.seller_id = $1`
const ordersOfFeed = `
    SELECT DISTINCT c.purchase_order_id FROM span JOIN warehouse.changes c ON c.seq > span.after AND c.seq <= span.upto
    WHERE c.seller_id = $1 AND c.purchase_order_id IS NOT NULL AND c.type LIKE 'order%'`
// If retention has removed changes after the mark, any order may have changed: all orders are read once, and then the feed.
const removedSpan = `
    SELECT coalesce(m.changes_seq, 0) AS after, p.removed_up_to AS upto, p.removed_up_to AS last_seq
    FROM tallyman.retention_passes p LEFT JOIN tallyman.inventory_order_marks m ON m.seller_id = $1
    WHERE p.data = 'changes' AND p.removed_up_to > coalesce(m.changes_seq, 0)`
const allOrders = 'SELECT o.purchase_order_id FROM span JOIN warehouse.orders o ON o.seller_id = $1'

const searchOrders = (span: string, touched: string): string => `
  WITH span AS MATERIALIZED (${span}
  ), touched AS (${touched}
  ), noted AS (
    INSERT INTO tallyman.inventory_skus AS s (seller_id, sku, marketplace_sku, source, log_moved_at)
    SELECT $1, l.sku, nullif(max(l.raw #>> '{item,sku}'), l.sku), 'orders', $2::timestamptz
    FROM touched t
    JOIN warehouse.orders o ON o.seller_id = $1 AND o.purchase_order_id = t.purchase_order_id AND o.ship_node_type = $3::text
    JOIN warehouse.order_lines l ON l.seller_id = $1 AND l.purchase_order_id = t.purchase_order_id AND l.sku <> ''
    GROUP BY l.sku ORDER BY l.sku
    ON CONFLICT (seller_id, sku) DO UPDATE SET log_due_at = NULL, log_moved_at = greatest(s.log_moved_at, excluded.log_moved_at),
      marketplace_sku = coalesce(excluded.marketplace_sku, s.marketplace_sku)
  ), priced AS (
    UPDATE tallyman.claim_rows c SET price_amount = p.amount, price_units = p.units, currency = p.currency
    FROM (${selectLastUnitPrices(
      `(SELECT DISTINCT l.seller_id, l.sku FROM touched t JOIN warehouse.order_lines l
      ON l.seller_id = $1 AND l.purchase_order_id = t.purchase_order_id AND l.sku <> '')`,
      '$4',
    )}) p
    WHERE c.seller_id = $1 AND c.sku = p.sku AND c.price_amount IS NULL
      AND c.lost + c.damaged + c.found + c.unexplained + c.uncertain > 0
  ), marked AS (
    INSERT INTO tallyman.inventory_order_marks AS m (seller_id, changes_seq) SELECT $1, upto FROM span WHERE upto > after
    ON CONFLICT (seller_id) DO UPDATE SET changes_seq = excluded.changes_seq
  )
  SELECT upto < last_seq AS more FROM span`
const searchFeed = searchOrders(feedSpan, ordersOfFeed)
const searchAll = searchOrders(removedSpan, allOrders)

/**
 * Adds the SKUs of changed orders that the fulfillment service ships, and makes their logs due, because an order is the first sign of a movement. Sets the
 * prices of their claims without one. It reads only new changes of the feed, or all orders once if retention has removed some of these. Without news it
 * writes nothing. `at` is on the marketplace's clock.
 */
export const recordOrderSkus = async (sql: SqlRunner, sellerId: string, at: Date): Promise<void> => {
  const { shipNodes, productCharge } = sql.findVocabulary(sellerId)
  const common = [sellerId, at.toISOString(), shipNodes.marketplace, productCharge]
  await sql.query(searchAll, ...common)
  for (;;) {
    const [row] = await sql.query<{ more: boolean }>(searchFeed, ...common, changesPerStatement)
    if (row?.more !== true) return
  }
}

/** Locks SKUs in sorted order. Acquire these locks before those of discrepancies. */
export const lockSkus = async (tx: Transaction, sellerId: string, skus: readonly string[]): Promise<void> => {
  await tx.execute(
    'SELECT 1 FROM tallyman.inventory_skus WHERE seller_id = $1 AND sku = ANY ($2::text[]) ORDER BY sku FOR UPDATE',
    sellerId,
    skus,
  )
}

// ── due logs ─────────────────────────────────────────────────────────────────────────────────────────────

/** A SKU whose log is due. Times are on the marketplace's clock. */
export interface DueSku extends InventorySku, SpeltSku, LogState {
  /** The newest known sign of a movement. */
  readonly movedAt: Date | null
  /** The report and its log differ. */
  readonly differs: boolean
  /** The state of an interrupted read. */
  readonly pass: LogPass | null
  /** Why the last read failed; null: it succeeded. */
  readonly fault: string | null
}

interface DueRow extends Omit<DueSku, 'pass'> {
  readonly pass: PassRow | null
}

/** A pass as JSON. */
interface PassRow extends Omit<LogPass, 'window' | 'until' | 'seen' | 'known'> {
  readonly from: string
  readonly to: string
  readonly until: string
  readonly seen: readonly string[]
  readonly known: readonly string[]
}

const toPass = ({ from, to, until, seen, known, ...rest }: PassRow): LogPass => ({
  ...rest,
  window: { from: new Date(from), to: new Date(to) },
  until: new Date(until),
  seen: new Set(seen),
  known: new Set(known),
})

const fromPass = ({ window, until, seen, known, ...rest }: LogPass): PassRow => ({
  ...rest,
  from: window.from.toISOString(),
  to: window.to.toISOString(),
  until: until.toISOString(),
  seen: [...seen],
  known: [...known],
})

/** Which SKUs to choose. */
export interface DueRequest {
  /** SKUs that are due by then. */
  readonly by: Date
  /** Excluded SKUs, whose last read is being stored. */
  readonly except: readonly string[]
  /** Only SKUs with a known GTIN. The logs of others cannot be requested; `warehouse.inventory_log_freshness` shows them. */
  readonly withGtin: boolean
  readonly limit: number
}

// In the order of the index: those that are due now (most recently read first, so never-read ones last), then by due time. Two scans with a limit each,
// because one scan over both would read to the end of the index.
const chooseDue = `
  WITH due AS (
    (SELECT * FROM tallyman.inventory_skus
     WHERE seller_id = $1 AND log_due_at IS NULL AND sku <> ALL ($3::text[]) AND (NOT $4::boolean OR gtin IS NOT NULL)
     ORDER BY log_due_at NULLS FIRST, log_read_up_to DESC NULLS LAST, stake DESC NULLS LAST, sku LIMIT $5::int)
    UNION ALL
    (SELECT * FROM tallyman.inventory_skus
     WHERE seller_id = $1 AND log_due_at <= $2::timestamptz AND sku <> ALL ($3::text[]) AND (NOT $4::boolean OR gtin IS NOT NULL)
     ORDER BY log_due_at NULLS FIRST, log_read_up_to DESC NULLS LAST, stake DESC NULLS LAST, sku LIMIT $5::int)
    ORDER BY log_due_at NULLS FIRST, log_read_up_to DESC NULLS LAST, stake DESC NULLS LAST, sku LIMIT $5::int
  )
  SELECT d.sku, d.marketplace_sku AS "marketplaceSku", d.gtin, d.log_read_up_to AS "readUpTo", d.log_read_at AS "readAt", d.log_full_due_at AS "fullDueAt", d.log_moved_at AS "movedAt",
    EXISTS (SELECT 1 FROM warehouse.inventory_discrepancies x WHERE x.seller_id = $1 AND x.sku = d.sku AND x.state = 'open'
      AND ${dependsOnLog('x')}) AS differs, d.log_pass AS pass, d.log_fault AS fault,
    (SELECT e.transaction_time FROM warehouse.inventory_log_entries e WHERE e.seller_id = $1 AND e.sku = d.sku
     ORDER BY e.transaction_time DESC OFFSET $6::int LIMIT 1) AS "pageFrom"
  FROM due d
  ORDER BY d.log_due_at NULLS FIRST, d.log_read_up_to DESC NULLS LAST, d.stake DESC NULLS LAST, d.sku`

/** SKUs whose log is due, by priority: moved ones, those with an incomplete past, never-read ones, then the others by due time. */
export const findDueSkus = async (sql: SqlRunner, sellerId: string, request: DueRequest): Promise<readonly DueSku[]> => {
  const { by, except, withGtin, limit } = request
  const rows = await sql.query<DueRow>(chooseDue, sellerId, by.toISOString(), except, withGtin, limit, entriesOfOneCall - 1)
  return rows.map((row) => ({ ...row, pass: row.pass === null ? null : toPass(row.pass) }))
}

/** A SKU other than these: the most recently read one, otherwise any; null: there is none. */
export const findOtherSku = async (
  sql: SqlRunner,
  sellerId: string,
  except: readonly string[],
  withGtin: boolean,
): Promise<(InventorySku & SpeltSku) | null> => {
  const [other] = await sql.query<InventorySku & SpeltSku>(
    `SELECT sku, marketplace_sku AS "marketplaceSku", gtin FROM tallyman.inventory_skus
     WHERE seller_id = $1 AND sku <> ALL ($2::text[]) AND (NOT $3::boolean OR gtin IS NOT NULL)
     ORDER BY log_read_at DESC NULLS LAST, random() LIMIT 1`,
    sellerId,
    except,
    withGtin,
  )
  return other ?? null
}

/** The progress of reading the log of a SKU. */
export interface LogRead {
  readonly sku: string
  readonly gtin: string | null
  readonly productName: string | null
  /** Up to when the log is stored, and when that was read; null: no window was read to its end. */
  readonly readUpTo: Date | null
  readonly readAt: Date | null
  /** The SKU's newest sign of a movement when it was chosen, and now. */
  readonly movedBefore: Date | null
  readonly movedAt: Date | null
  /** Null: now. */
  readonly dueAt: Date | null
  /** When the next full reading is due; null: unchanged. */
  readonly fullDueAt: Date | null
  readonly pass: LogPass | null
  readonly fault: string | null
}

// A read without news writes only this row for each SKU, because the age of each log must be known. A sign of a movement during the read keeps the SKU
// due. SKIP LOCKED: a SKU that another transaction is marking as moved is skipped and read again; a page holds other locks, so it must not wait.
const noteReads = `
  WITH read AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($2::jsonb) AS t(sku text, gtin text, "productName" text, "readUpTo" timestamptz, "readAt" timestamptz,
      "movedBefore" timestamptz, "movedAt" timestamptz, "dueAt" timestamptz, "fullDueAt" timestamptz, pass jsonb, fault text)
  ), before AS MATERIALIZED (
    SELECT s.sku, s.log_read_up_to FROM tallyman.inventory_skus s
    WHERE s.seller_id = $1 AND s.sku = ANY ($3::text[]) ORDER BY s.sku FOR UPDATE SKIP LOCKED
  ), noted AS (
    UPDATE tallyman.inventory_skus s
    SET gtin = coalesce(r.gtin, s.gtin), product_name = coalesce(r."productName", s.product_name), log_read_up_to = greatest(s.log_read_up_to, r."readUpTo"),
      log_read_at = coalesce(r."readAt", s.log_read_at), log_known_at = coalesce(s.log_known_at, CASE WHEN r."readUpTo" IS NOT NULL THEN r."readAt" END), log_moved_at = greatest(s.log_moved_at, r."movedAt"),
      log_full_due_at = coalesce(r."fullDueAt", s.log_full_due_at),
      log_full_at = CASE WHEN r."fullDueAt" IS NULL THEN s.log_full_at ELSE now() END,
      log_due_at = CASE WHEN s.log_moved_at IS NOT DISTINCT FROM r."movedBefore" THEN r."dueAt" END, log_pass = r.pass,
      log_fault = r.fault
    FROM read r JOIN before b USING (sku)
    WHERE s.seller_id = $1 AND s.sku = ANY ($3::text[]) AND s.sku = r.sku
  )
  SELECT c.sku, to_char(c.month, 'YYYY-MM') AS month
  FROM read r JOIN before b USING (sku) JOIN warehouse.reconciliation_current_rows c ON c.seller_id = $1 AND c.sku = r.sku
  WHERE r."readUpTo" >= c.covered_until AND (b.log_read_up_to IS NULL OR b.log_read_up_to < c.covered_until)
  UNION
  SELECT r.sku, to_char(n.month, 'YYYY-MM') FROM read r JOIN before b USING (sku) CROSS JOIN (
    SELECT month, max(covered_until) AS covered_until FROM warehouse.reconciliation_reports WHERE seller_id = $1 AND state = 'imported' GROUP BY month
  ) n
  WHERE r."readUpTo" >= n.covered_until AND (b.log_read_up_to IS NULL OR b.log_read_up_to < n.covered_until)
    AND n.month >= r."readAt" - interval '13 months'`

/**
 * Stores the progress of reading the logs of SKUs, by one statement. Returns the months of the reconciliation report that can now be compared with the log,
 * whether or not they have a row of the SKU.
 */
export const recordLogReads = (
  tx: Transaction,
  sellerId: string,
  reads: readonly LogRead[],
): Promise<readonly { readonly sku: string; readonly month: string }[]> =>
  tx.query(
    noteReads,
    sellerId,
    JSON.stringify(reads.map((read) => ({ ...read, pass: read.pass === null ? null : fromPass(read.pass) }))),
    reads.map((read) => read.sku),
  )
