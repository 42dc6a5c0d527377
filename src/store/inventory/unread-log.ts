import type { SqlRunner, Transaction } from '../db/database.ts'
import { reviewDiscrepancies } from './discrepancies.ts'
import { belongsToLog, hasUnreadEntry, logKey, type SkuMonth } from './discrepancy-sources.ts'
import { reviewStock } from './stock-differences.ts'

/** Whether a SKU's log has an unreadable entry that may be in this period. */
export const hasUnreadEntries = async (
  sql: SqlRunner,
  sellerId: string,
  sku: string,
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<boolean> => {
  const [row] = await sql.query<{ unread: boolean }>(
    `SELECT ${hasUnreadEntry('$2::text', '$3::timestamptz', '$4::timestamptz')} AS unread`,
    sellerId,
    logKey(sku),
    from.toISOString(),
    to.toISOString(),
  )
  return row?.unread === true
}

/** A completely read range of a SKU's log. */
export interface ReadPart {
  readonly sku: string
  /** Null: the whole log. */
  readonly range: { readonly from: Date; readonly to: Date } | null
  readonly observedAt: Date
}

/** Settles quarantined entries that a later complete reading of their range has not returned: they are readable now, or no longer exist. */
export const settleUnreadEntries = async (tx: Transaction, sellerId: string, parts: readonly ReadPart[]): Promise<void> => {
  await tx.execute(
    `UPDATE tallyman.quarantined_records q SET state = 'superseded'
     FROM json_to_recordset($2::json) AS p("logKey" text, "from" timestamptz, "to" timestamptz, "observedAt" timestamptz)
     WHERE q.seller_id = $1 AND ${belongsToLog('p."logKey"')} AND q.state = 'open' AND q.skipped IS NULL AND q.observed_at < p."observedAt"
       AND (p."from" IS NULL OR (q.created_from > p."from" AND q.created_from < p."to"))`,
    sellerId,
    JSON.stringify(parts.map(({ sku, range, observedAt }) => ({ logKey: logKey(sku), ...range, observedAt }))),
  )
}

/** Reviews the discrepancies of those of these SKUs that have, or had, entries of their log in quarantine. */
export const reviewUnreadLogs = async (tx: Transaction, sellerId: string, skus: readonly string[]): Promise<void> => {
  const pairs = await tx.query<SkuMonth>(
    `WITH named AS MATERIALIZED (
       SELECT n.sku FROM json_to_recordset($2::json) AS n(sku text, "logKey" text)
       WHERE EXISTS (SELECT 1 FROM tallyman.quarantined_records q WHERE q.seller_id = $1 AND ${belongsToLog('n."logKey"')})
     )
     SELECT n.sku, to_char(r.month, 'YYYY-MM') AS month FROM named n
     CROSS JOIN (SELECT DISTINCT month FROM warehouse.reconciliation_reports WHERE seller_id = $1 AND state = 'imported') r
     UNION
     SELECT n.sku, to_char(d.month, 'YYYY-MM') FROM named n
     JOIN warehouse.inventory_discrepancies d ON d.seller_id = $1 AND d.sku = n.sku AND d.state = 'open'`,
    sellerId,
    JSON.stringify([...new Set(skus)].map((sku) => ({ sku, logKey: logKey(sku) }))),
  )
  await reviewDiscrepancies(tx, sellerId, pairs)
}

/** As {@link reviewUnreadLogs}, of the SKU in the key of a record; and compares its stock on hand again. */
export const reviewUnreadLog = async (tx: Transaction, sellerId: string, key: string | null): Promise<void> => {
  const [name] = key?.split(/[/?]/) ?? []
  if (name === undefined) return
  const skus = [decodeURIComponent(name)]
  await reviewUnreadLogs(tx, sellerId, skus)
  await reviewStock(tx, sellerId, skus)
}
