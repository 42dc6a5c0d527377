import type { SqlRunner, Transaction } from '../db/database.ts'
import { markTable } from '../versioned/table-marks.ts'
import { recordListedSkus } from './inventory-skus.ts'
import { reviewStock } from './stock-differences.ts'

markTable('tallyman.stock_readings', { none: 'seller_id sku read_at units' })

/** The stock on hand of a SKU, as a page of the marketplace's list states it. */
export interface ListedStock {
  readonly sku: string
  readonly gtin: string | null
  readonly units: number
}

/** A listed stock that is worth a reading. */
export interface NewReading extends ListedStock {
  /** The SKU has no reading yet. */
  readonly isFirst: boolean
  /** Its last reading has other units. */
  readonly moved: boolean
}

/** Maximum number of readings of a SKU that wait for its log; of more, the oldest are removed. */
const maxWaiting = 100

/**
 * Those of these stocks that need a reading: of SKUs without one, with other units than the last one, with movements in the log since, or if a newer monthly
 * report has been imported since. A stock that stays the same is read once for each report. Reads only.
 * @param observedAt the time of the list, on the marketplace's clock
 */
export const findNewReadings = (
  sql: SqlRunner,
  sellerId: string,
  observedAt: Date,
  listed: readonly ListedStock[],
): Promise<readonly NewReading[]> =>
  sql.query<NewReading>(
    `SELECT a.sku, a.gtin, a.units, l.read_at IS NULL AS "isFirst", coalesce(l.units <> a.units, false) AS moved
     FROM json_to_recordset($3::json) AS a(sku text, gtin text, units int)
     CROSS JOIN (
       SELECT max(covered_until) AS covered_until FROM warehouse.reconciliation_reports WHERE seller_id = $1 AND state = 'imported'
     ) newest
     LEFT JOIN LATERAL (
       SELECT units, read_at FROM tallyman.stock_readings WHERE seller_id = $1 AND sku = a.sku ORDER BY read_at DESC LIMIT 1
     ) l ON true
     WHERE l.read_at IS NULL OR (l.read_at < $2::timestamptz AND (l.units <> a.units OR l.read_at < newest.covered_until
       OR EXISTS (SELECT 1 FROM warehouse.inventory_log_entries e
         WHERE e.seller_id = $1 AND e.sku = a.sku AND e.transaction_time >= l.read_at AND e.transaction_time < $2::timestamptz)))`,
    sellerId,
    observedAt.toISOString(),
    JSON.stringify(listed),
  )

/**
 * Stores readings of {@link findNewReadings}, makes the logs of new and moved SKUs due, and compares the stock of these SKUs with their logs as far as these
 * have been read. Locks the SKUs, then the discrepancies of the seller.
 */
export const recordReadings = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  readings: readonly NewReading[],
): Promise<void> => {
  const signs = readings.filter(({ isFirst, moved }) => isFirst || moved)
  await recordListedSkus(
    tx,
    sellerId,
    observedAt,
    signs.map(({ sku, gtin, moved }) => ({ sku, gtin, moved, units: null })),
    'stock',
  )
  await tx.execute(
    `INSERT INTO tallyman.stock_readings (seller_id, sku, read_at, units)
     SELECT $1, sku, $2::timestamptz, units FROM json_to_recordset($3::json) AS t(sku text, units int) ORDER BY sku
     ON CONFLICT DO NOTHING`,
    sellerId,
    observedAt.toISOString(),
    JSON.stringify(readings.map(({ sku, units }) => ({ sku, units }))),
  )
  const skus = readings.map(({ sku }) => sku)
  await tx.execute(
    `DELETE FROM tallyman.stock_readings r USING (
       SELECT a.sku, o.read_at FROM unnest($2::text[]) AS a(sku)
       CROSS JOIN LATERAL (
         SELECT read_at FROM tallyman.stock_readings WHERE seller_id = $1 AND sku = a.sku ORDER BY read_at DESC OFFSET $3::int LIMIT 1
       ) o
     ) last WHERE r.seller_id = $1 AND r.sku = last.sku AND r.read_at <= last.read_at`,
    sellerId,
    skus,
    maxWaiting,
  )
  await reviewStock(tx, sellerId, skus)
}
