import type { MovementKind } from '../../../src/domain/inventory/log-reasons.ts'
import type { SqlRunner } from '../../../src/store/db/database.ts'

/** Numbers of a row of the report; what is left out is zero. */
export interface ReportRow {
  readonly sku: string
  readonly beginning?: number
  readonly ending?: number
  readonly sold?: number
  readonly returned?: number
  readonly lost?: number
  readonly found?: number
  readonly damaged?: number
  readonly other?: number
}

/** A movement of the log. `at` is an ISO 8601 time. */
export interface LogEntry {
  readonly sku: string
  readonly id: string
  readonly kind: MovementKind
  readonly changedUnits: number
  readonly at: string
  readonly shipmentId?: string
  readonly location?: string
}

/** The fields of an entry of the log for a kind of movement. */
export const movementWording: Readonly<Record<MovementKind, readonly [type: string, code: string, description: string]>> = {
  sold: ['Ship', 'SIP', 'Shipped to Customer'],
  returned: ['Return', 'RTN', 'Customer Return'],
  lost: ['Adjustment', 'LOS', 'Lost in Warehouse'],
  found: ['Adjustment', 'FND', 'Found in Warehouse'],
  damaged: ['Adjustment', 'DMG', 'Damaged in Warehouse'],
  other: ['Receipt', 'RCV', 'Received from Shipment'],
}

/** Stores a report of a month (`YYYY-MM`) as if it had been imported, and these rows of it. Rows of the month that it leaves out stay. */
export const storeReport = async (
  sql: SqlRunner,
  sellerId: string,
  month: string,
  coveredUntil: string,
  rows: readonly ReportRow[],
): Promise<void> => {
  await sql.execute(
    `WITH report AS (
       INSERT INTO warehouse.reconciliation_reports (seller_id, month, state, file_name, generated_at, covered_until, retrieved_at,
         imported_at, byte_count, row_count, correlation_id)
       VALUES ($1, $2::date, 'imported', 'report.csv', $3::timestamptz, $3::timestamptz, $3::timestamptz, $3::timestamptz, 1, 1, 'test')
       RETURNING id
     )
     INSERT INTO warehouse.reconciliation_rows (seller_id, month, sku, gtin, beginning_quantity, ending_quantity, sold, returned, lost, found,
       damaged, other_adjustments, report_id, raw_hash, raw, observed_at, first_seen_at, changed_at)
     SELECT $1, $2::date, t.sku, 'gtin of ' || t.sku, coalesce(beginning, 0), coalesce(ending, 0), coalesce(sold, 0), coalesce(returned, 0),
       coalesce(lost, 0), coalesce(found, 0), coalesce(damaged, 0), coalesce(other, 0), report.id, '\\x00', '{}', $3::timestamptz, now(), now()
     FROM report, json_to_recordset($4::json) AS t(sku text, beginning int, ending int, sold int, returned int, lost int, found int,
       damaged int, other int)
     ON CONFLICT (seller_id, month, sku) DO UPDATE SET beginning_quantity = excluded.beginning_quantity,
       ending_quantity = excluded.ending_quantity, sold = excluded.sold, returned = excluded.returned, lost = excluded.lost,
       found = excluded.found, damaged = excluded.damaged, other_adjustments = excluded.other_adjustments, report_id = excluded.report_id,
       missing_since = NULL, changed_at = now()`,
    sellerId,
    `${month}-01`,
    coveredUntil,
    JSON.stringify(rows),
  )
}

/** Stores entries of the log. */
export const storeLog = async (sql: SqlRunner, sellerId: string, entries: readonly LogEntry[]): Promise<void> => {
  const rows = entries.map(({ kind, ...entry }) => {
    const [type, code, description] = movementWording[kind]
    return { ...entry, type, code, description }
  })
  await sql.execute(
    `INSERT INTO warehouse.inventory_log_entries (seller_id, sku, entry_id, fc_name, changed_units, transaction_time, transaction_location,
       transaction_reason_code, transaction_reason_description, transaction_type, shipment_id, raw_hash, raw, observed_at, first_seen_at,
       changed_at)
     SELECT $1, sku, id, 'KY1', "changedUnits", at, coalesce(location, 'Inventory'), code, description, type, "shipmentId", '\\x00', '{}',
       now(), now(), now()
     FROM json_to_recordset($2::json) AS t(sku text, id text, "changedUnits" int, at timestamptz, location text, code text,
       description text, type text, "shipmentId" text)
     ON CONFLICT (seller_id, sku, entry_id) DO UPDATE SET changed_units = excluded.changed_units`,
    sellerId,
    JSON.stringify(rows),
  )
}

/** Stores that the logs of these SKUs were read up to a time. */
export const logReadUpTo = async (sql: SqlRunner, sellerId: string, upTo: string, ...skus: readonly string[]): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.inventory_skus (seller_id, sku, source, log_read_up_to, log_read_at)
     SELECT $1, sku, 'settings', $2::timestamptz, $2::timestamptz FROM unnest($3::text[]) AS t(sku)
     ON CONFLICT (seller_id, sku) DO UPDATE SET log_read_up_to = excluded.log_read_up_to, log_read_at = excluded.log_read_at`,
    sellerId,
    upTo,
    skus,
  )
}
