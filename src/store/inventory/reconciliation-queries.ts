import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

/** Identity of a row of the monthly report. */
export interface StockKey {
  readonly sellerId: string
  /** `YYYY-MM`, by the marketplace's calendar. */
  readonly month: string
  readonly sku: string
}

/** A row of the marketplace's report: one SKU in one month. */
export interface StockMonth extends StockKey {
  readonly gtin: string | null
  readonly beginningQuantity: number
  readonly endingQuantity: number
  readonly sold: number
  readonly returned: number
  readonly lost: number
  readonly found: number
  readonly damaged: number
  readonly otherAdjustments: number
  /** Movements before this time are counted; null: the report is being imported. */
  readonly coveredUntil: Date | null
  readonly changedAt: Date
}

/** Which rows to list; null: any. */
export interface StockFilter {
  readonly sellerId: SellerFilter
  /** `YYYY-MM`. */
  readonly month: string | null
  readonly sku: string | null
  readonly gtin: string | null
  /** Whether units were lost, damaged or found. */
  readonly adjusted: boolean | null
}

/** Rows of the newest reports of each month, by seller, month and SKU, after this key. */
export const listStockMonths = async (
  sql: SqlRunner,
  filter: StockFilter,
  after: StockKey | null,
  limit: number,
): Promise<ListPage<StockMonth, StockKey>> => {
  const rows = await sql.query<StockMonth>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM warehouse.reconciliation_rows
       WHERE missing_since IS NULL AND ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::date IS NULL OR month = $2::date)
         AND ($3::text IS NULL OR sku = $3::text) AND ($4::text IS NULL OR gtin = $4::text)
         AND ($5::boolean IS NULL OR (lost <> 0 OR damaged <> 0 OR found <> 0) = $5::boolean)
         AND ($6::text IS NULL OR (seller_id, month, sku) > ($6::text, $7::date, $8::text))
       ORDER BY seller_id, month, sku LIMIT $9::int
     )
     SELECT p.seller_id AS "sellerId", to_char(p.month, 'YYYY-MM') AS month, p.sku, p.gtin, p.beginning_quantity AS "beginningQuantity",
       p.ending_quantity AS "endingQuantity", p.sold, p.returned, p.lost, p.found, p.damaged, p.other_adjustments AS "otherAdjustments",
       newest.covered_until AS "coveredUntil", p.changed_at AS "changedAt"
     FROM page p
     CROSS JOIN LATERAL (
       SELECT max(covered_until) AS covered_until FROM warehouse.reconciliation_reports r
       WHERE r.seller_id = p.seller_id AND r.month = p.month AND (r.state = 'imported' OR r.id = p.report_id)
     ) newest
     ORDER BY p.seller_id, p.month, p.sku`,
    toSellerIds(filter.sellerId),
    filter.month === null ? null : `${filter.month}-01`,
    filter.sku,
    filter.gtin,
    filter.adjusted,
    after?.sellerId ?? null,
    after === null ? null : `${after.month}-01`,
    after?.sku ?? null,
    limit + 1,
  )
  return buildPage(rows, limit, ({ sellerId, month, sku }) => ({ sellerId, month, sku }))
}
