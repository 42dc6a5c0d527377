import type { ReadMonth } from '../../domain/inventory/reconciliation.ts'
import { type OpenDifference, sumShortages } from '../../domain/inventory/shortages.ts'
import type { SqlRunner } from '../db/database.ts'
import { selectLastUnitPrices } from '../orders/unit-price.ts'
import { buildKey, type ReviewedMonth, type SkuMonth } from './discrepancy-sources.ts'
import { discrepancyKey, type Finding, type OpenRow, type Resolved } from './discrepancy-writes.ts'

/** The units of a SKU in the claim of a month. */
export interface ClaimRow extends SkuMonth {
  /** The month's report has a row of the SKU. */
  readonly listed: boolean
  /** It was compared with the log. */
  readonly compared: boolean
  readonly lost: number
  readonly damaged: number
  readonly found: number
  readonly unexplained: number
  readonly uncertain: number
}

/** A stored row. */
interface StoredClaimRow extends ClaimRow {
  readonly priced: boolean
}

/** The rows of these SKUs, of all months. */
export const readClaimRows = (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<StoredClaimRow[]> =>
  tx.query<StoredClaimRow>(
    `SELECT c.sku, to_char(c.month, 'YYYY-MM') AS month, c.listed, c.compared, c.lost::float8 AS lost, c.damaged::float8 AS damaged,
       c.found::float8 AS found, c.unexplained::float8 AS unexplained, c.uncertain::float8 AS uncertain, c.price_amount IS NOT NULL AS priced
     FROM unnest($2::text[]) AS a(sku) JOIN tallyman.claim_rows c ON c.seller_id = $1 AND c.sku = a.sku`,
    sellerId,
    skus,
  )

const empty = (pair: SkuMonth): ClaimRow => ({
  sku: pair.sku,
  month: pair.month,
  listed: false,
  compared: false,
  lost: 0,
  damaged: 0,
  found: 0,
  unexplained: 0,
  uncertain: 0,
})

const sumUnits = ({ lost, damaged, found, unexplained, uncertain }: ClaimRow): number =>
  lost + damaged + found + unexplained + uncertain

const isSame = (one: ClaimRow, other: ClaimRow): boolean =>
  one.listed === other.listed &&
  one.compared === other.compared &&
  one.lost === other.lost &&
  one.damaged === other.damaged &&
  one.found === other.found &&
  one.unexplained === other.unexplained &&
  one.uncertain === other.uncertain

/** The results of a review of these SKUs. */
interface ReviewedDifferences {
  readonly findings: readonly Finding[]
  readonly openRows: readonly OpenRow[]
  readonly resolved: readonly Resolved[]
}

/** The differences that are open after the review. */
const listOpen = ({ findings, openRows, resolved }: ReviewedDifferences, isListed: (pair: SkuMonth) => boolean) => {
  const replaced = new Set([...findings.map(discrepancyKey), ...resolved.map(({ open }) => discrepancyKey(open))])
  const kept = openRows.filter((open) => !replaced.has(discrepancyKey(open)))
  return [
    ...findings.map(({ sku, month, kind, difference, logCertainty }) => ({
      sku,
      month,
      kind,
      difference,
      certainty: logCertainty,
    })),
    ...kept.map(({ sku, month, kind, report_units, expected_units, log_certainty }) => ({
      sku,
      month,
      kind,
      difference: Number(report_units) - Number(expected_units),
      certainty: log_certainty,
    })),
  ].map((one): OpenDifference & SkuMonth => ({ ...one, listed: isListed(one) }))
}

/** Computes the rows after a review: those that differ from the stored ones, those to delete, and those without a price. */
export const reviewClaimRows = (
  readings: readonly { readonly month: ReviewedMonth; readonly read: ReadMonth }[],
  stored: readonly StoredClaimRow[],
  differences: ReviewedDifferences,
): { readonly changed: readonly ClaimRow[]; readonly obsolete: readonly SkuMonth[]; readonly unpriced: readonly ClaimRow[] } => {
  const storedByKey = new Map(stored.map((row) => [buildKey(row), row]))
  const rows = new Map<string, ClaimRow>(stored.map((row) => [buildKey(row), { ...row, unexplained: 0, uncertain: 0 }]))
  for (const { month, read } of readings) {
    const { lost, damaged, found } = read.units
    const known = storedByKey.get(buildKey(month))
    rows.set(buildKey(month), {
      ...empty(month),
      listed: month.report !== null,
      // A comparison stays valid, although the log may no longer reach that far back.
      compared: month.logComplete || (month.logReadFar && known?.compared === true),
      lost: Math.max(0, lost),
      damaged: Math.max(0, damaged),
      found: Math.max(0, found),
    })
  }
  const open = listOpen(differences, (pair) => rows.get(buildKey(pair))?.listed ?? false)
  for (const [sku, ofSku] of Map.groupBy(open, (one) => one.sku)) {
    for (const [month, shortage] of sumShortages(ofSku)) {
      const pair = { sku, month }
      rows.set(buildKey(pair), { ...(rows.get(buildKey(pair)) ?? empty(pair)), ...shortage })
    }
  }
  const all = [...rows.values()]
  const isWorthKeeping = (row: ClaimRow): boolean => row.listed || sumUnits(row) > 0
  return {
    changed: all.filter((row) => {
      const known = storedByKey.get(buildKey(row))
      return isWorthKeeping(row) && (known === undefined || !isSame(known, row))
    }),
    obsolete: all.filter((row) => !isWorthKeeping(row) && storedByKey.has(buildKey(row))),
    unpriced: all.filter((row) => {
      const known = storedByKey.get(buildKey(row))
      return known !== undefined && !known.priced && sumUnits(row) > 0 && isSame(known, row)
    }),
  }
}

/** Writes rows, with the last known prices of rows with units and without a price, and deletes others. */
export const writeClaimRows = async (
  tx: SqlRunner,
  sellerId: string,
  rows: readonly ClaimRow[],
  obsolete: readonly SkuMonth[],
): Promise<void> => {
  if (rows.length > 0) {
    await tx.execute(
      `WITH claimed AS MATERIALIZED (
         SELECT * FROM json_to_recordset($2::json) AS t(month date, sku text, listed boolean, compared boolean, lost bigint, damaged bigint, found bigint,
           unexplained bigint, uncertain bigint)
       ), price AS MATERIALIZED (
         ${selectLastUnitPrices('(SELECT DISTINCT $1::text AS seller_id, sku FROM claimed WHERE lost + damaged + found + unexplained + uncertain > 0)', '$3')}
       )
       INSERT INTO tallyman.claim_rows AS c (seller_id, month, sku, listed, compared, lost, damaged, found, unexplained, uncertain,
         price_amount, price_units, currency)
       SELECT $1, m.month, m.sku, m.listed, m.compared, m.lost, m.damaged, m.found, m.unexplained, m.uncertain, p.amount, p.units, p.currency
       FROM claimed m LEFT JOIN price p ON p.sku = m.sku ORDER BY m.month, m.sku
       ON CONFLICT (seller_id, month, sku) DO UPDATE
       SET listed = excluded.listed, compared = excluded.compared, lost = excluded.lost, damaged = excluded.damaged, found = excluded.found,
         unexplained = excluded.unexplained, uncertain = excluded.uncertain, price_amount = coalesce(c.price_amount, excluded.price_amount),
         price_units = coalesce(c.price_units, excluded.price_units), currency = coalesce(c.currency, excluded.currency)`,
      sellerId,
      JSON.stringify(rows.map((row) => ({ ...row, month: `${row.month}-01` }))),
      tx.findVocabulary(sellerId).productCharge,
    )
  }
  if (obsolete.length > 0) {
    await tx.execute(
      `DELETE FROM tallyman.claim_rows c USING json_to_recordset($2::json) AS t(month date, sku text)
       WHERE c.seller_id = $1 AND c.month = t.month AND c.sku = t.sku`,
      sellerId,
      JSON.stringify(obsolete.map(({ sku, month }) => ({ sku, month: `${month}-01` }))),
    )
  }
}
