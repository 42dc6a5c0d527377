import { netLosses } from '../../domain/inventory/claims.ts'
import type { ReadMonth } from '../../domain/inventory/reconciliation.ts'
import { type OpenDifference, sumShortages, type UncertainUnits, uncertainReasons } from '../../domain/inventory/shortages.ts'
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
  /** The report counts the whole month. */
  readonly complete: boolean
  readonly lost: number
  readonly damaged: number
  readonly found: number
  readonly unexplained: number
  /** Those of the unexplained units that are returns. */
  readonly returned: number
  readonly uncertain: UncertainUnits
  /** Lost, missing and returned units that were not found again. */
  readonly netLost: number
  readonly netMissing: number
  readonly netReturned: number
}

/** A stored row. */
interface StoredClaimRow extends ClaimRow {
  readonly priced: boolean
}

/** The rows of these SKUs, of all months. */
export const readClaimRows = (tx: SqlRunner, sellerId: string, skus: readonly string[]): Promise<StoredClaimRow[]> =>
  tx.query<StoredClaimRow>(
    `SELECT c.sku, to_char(c.month, 'YYYY-MM') AS month, c.listed, c.compared, c.complete, c.lost::float8 AS lost, c.damaged::float8 AS damaged,
       c.found::float8 AS found, c.unexplained::float8 AS unexplained, c.returned::float8 AS returned, c.uncertain_reasons AS uncertain,
       c.net_lost::float8 AS "netLost", c.net_missing::float8 AS "netMissing", c.net_returned::float8 AS "netReturned",
       c.price_amount IS NOT NULL AS priced
     FROM unnest($2::text[]) AS a(sku) JOIN tallyman.claim_rows c ON c.seller_id = $1 AND c.sku = a.sku`,
    sellerId,
    skus,
  )

/** Units that each review computes again for all months of a SKU. */
const noShortage = { unexplained: 0, returned: 0, uncertain: {}, netLost: 0, netMissing: 0, netReturned: 0 } as const

const empty = (pair: SkuMonth): ClaimRow => ({
  sku: pair.sku,
  month: pair.month,
  listed: false,
  compared: false,
  complete: false,
  lost: 0,
  damaged: 0,
  found: 0,
  ...noShortage,
})

const sumUncertain = (uncertain: UncertainUnits): number =>
  uncertainReasons.reduce((sum, reason) => sum + (uncertain[reason] ?? 0), 0)

const sumUnits = ({ lost, damaged, found, unexplained, uncertain }: ClaimRow): number =>
  lost + damaged + found + unexplained + sumUncertain(uncertain)

const isSame = (one: ClaimRow, other: ClaimRow): boolean =>
  one.listed === other.listed &&
  one.compared === other.compared &&
  one.complete === other.complete &&
  one.lost === other.lost &&
  one.damaged === other.damaged &&
  one.found === other.found &&
  one.unexplained === other.unexplained &&
  one.returned === other.returned &&
  one.netLost === other.netLost &&
  one.netMissing === other.netMissing &&
  one.netReturned === other.netReturned &&
  uncertainReasons.every((reason) => one.uncertain[reason] === other.uncertain[reason])

/** The results of a review of these SKUs. */
interface ReviewedDifferences {
  readonly findings: readonly Finding[]
  readonly openRows: readonly OpenRow[]
  readonly resolved: readonly Resolved[]
}

/** The differences that are open after the review. */
const listOpen = (
  { findings, openRows, resolved }: ReviewedDifferences,
  findRow: (pair: SkuMonth) => ClaimRow,
): readonly (OpenDifference & SkuMonth)[] => {
  const replaced = new Set([...findings.map(discrepancyKey), ...resolved.map(({ open }) => discrepancyKey(open))])
  const kept = openRows.filter((open) => !replaced.has(discrepancyKey(open)))
  return [
    ...findings.map(({ sku, month, kind, difference, copiedUnits, late }) => ({
      ...{ sku, month, kind, difference, copiedUnits },
      lateUnits: late?.units ?? 0,
    })),
    ...kept.map(({ sku, month, kind, report_units, expected_units, log_copied_units, log_late_units }) => ({
      sku,
      month,
      kind,
      difference: Number(report_units) - Number(expected_units),
      copiedUnits: Number(log_copied_units),
      lateUnits: Number(log_late_units),
    })),
  ].map((one) => {
    const { listed, complete } = findRow(one)
    return { ...one, listed, complete }
  })
}

/** Whether units of a month are uncertain because its report is older than entries of the log. */
export const awaitsNewerReport = async (sql: SqlRunner, sellerId: string, month: string): Promise<boolean> => {
  const [row] = await sql.query<{ waits: boolean }>(
    `SELECT EXISTS (SELECT 1 FROM warehouse.inventory_discrepancies
       WHERE seller_id = $1 AND month = $2::date AND state = 'open' AND log_late_at IS NOT NULL) AS waits`,
    sellerId,
    `${month}-01`,
  )
  return row?.waits === true
}

/** The rows of one SKU with what it lacks in each month, net of what was found again. */
const withShortages = (rows: readonly ClaimRow[], open: readonly OpenDifference[]): readonly ClaimRow[] => {
  const shortages = sumShortages(open)
  const lacking = rows.map((row): ClaimRow => ({ ...row, ...noShortage, ...shortages.get(row.month) }))
  const nets = netLosses(lacking)
  return lacking.map((row): ClaimRow => {
    const net = nets.get(row.month)
    return { ...row, netLost: net?.lost ?? 0, netMissing: net?.missing ?? 0, netReturned: net?.returned ?? 0 }
  })
}

/** Computes the rows after a review: those that differ from the stored ones, those to delete, and those without a price. */
export const reviewClaimRows = (
  readings: readonly { readonly month: ReviewedMonth; readonly read: ReadMonth }[],
  stored: readonly StoredClaimRow[],
  differences: ReviewedDifferences,
): { readonly changed: readonly ClaimRow[]; readonly obsolete: readonly SkuMonth[]; readonly unpriced: readonly ClaimRow[] } => {
  const storedByKey = new Map(stored.map((row) => [buildKey(row), row]))
  const rows = new Map<string, ClaimRow>(stored.map((row) => [buildKey(row), row]))
  for (const { month, read } of readings) {
    const { lost, damaged, found } = read.units
    const known = storedByKey.get(buildKey(month))
    rows.set(buildKey(month), {
      ...empty(month),
      listed: month.report !== null,
      // A comparison stays valid, although the log may no longer reach that far back.
      compared: month.logComplete || (month.logReadFar && known?.compared === true),
      complete: month.complete,
      lost: Math.max(0, lost),
      damaged: Math.max(0, damaged),
      found: Math.max(0, found),
    })
  }
  const findRow = (pair: SkuMonth): ClaimRow => rows.get(buildKey(pair)) ?? empty(pair)
  const open = listOpen(differences, findRow)
  for (const one of open) rows.set(buildKey(one), findRow(one))
  const openBySku = Map.groupBy(open, ({ sku }) => sku)
  const rowsBySku = Map.groupBy(rows.values(), ({ sku }) => sku)
  const all = [...rowsBySku].flatMap(([sku, ofSku]) => withShortages(ofSku, openBySku.get(sku) ?? []))
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

const toJson = ({ month, uncertain, netLost, netMissing, netReturned, ...row }: ClaimRow) => ({
  ...row,
  month: `${month}-01`,
  uncertain: sumUncertain(uncertain),
  uncertain_reasons: uncertain,
  net_lost: netLost,
  net_missing: netMissing,
  net_returned: netReturned,
})

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
         SELECT * FROM json_to_recordset($2::json) AS t(month date, sku text, listed boolean, compared boolean, complete boolean, lost bigint,
           damaged bigint, found bigint, unexplained bigint, returned bigint, uncertain bigint, uncertain_reasons jsonb, net_lost bigint,
           net_missing bigint, net_returned bigint)
       ), price AS MATERIALIZED (
         ${selectLastUnitPrices('(SELECT DISTINCT $1::text AS seller_id, sku FROM claimed WHERE lost + damaged + found + unexplained + uncertain > 0)', '$3')}
       )
       INSERT INTO tallyman.claim_rows AS c (seller_id, month, sku, listed, compared, complete, lost, damaged, found, unexplained, returned,
         uncertain, uncertain_reasons, net_lost, net_missing, net_returned, price_amount, price_units, currency)
       SELECT $1, m.month, m.sku, m.listed, m.compared, m.complete, m.lost, m.damaged, m.found, m.unexplained, m.returned, m.uncertain,
         m.uncertain_reasons, m.net_lost, m.net_missing, m.net_returned, p.amount, p.units, p.currency
       FROM claimed m LEFT JOIN price p ON p.sku = m.sku ORDER BY m.month, m.sku
       ON CONFLICT (seller_id, month, sku) DO UPDATE
       SET listed = excluded.listed, compared = excluded.compared, complete = excluded.complete, lost = excluded.lost,
         damaged = excluded.damaged, found = excluded.found, unexplained = excluded.unexplained, returned = excluded.returned,
         uncertain = excluded.uncertain, uncertain_reasons = excluded.uncertain_reasons, net_lost = excluded.net_lost,
         net_missing = excluded.net_missing, net_returned = excluded.net_returned,
         price_amount = coalesce(c.price_amount, excluded.price_amount),
         price_units = coalesce(c.price_units, excluded.price_units), currency = coalesce(c.currency, excluded.currency)`,
      sellerId,
      JSON.stringify(rows.map(toJson)),
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
