import type { SettlementDifferenceKind, SettlementResolution } from '../../domain/settlements/settlement-differences.ts'
import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage, type Period } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { listExcludedSellers } from '../sellers/sellers.ts'

/** A row of a report that a difference comes from. */
export interface EvidenceRow {
  readonly lineKey: string
  readonly transactionType: string
  readonly amountType: string | null
  readonly description: string | null
  /** `YYYY-MM-DD`. */
  readonly postedOn: string | null
  readonly amount: string | null
}

/** A stored difference between settlement reports and an order line. Money is decimal text. */
export interface StoredSettlementDifference {
  readonly id: bigint
  readonly sellerId: string
  readonly kind: SettlementDifferenceKind
  readonly purchaseOrderId: string | null
  readonly lineNumber: string | null
  readonly sku: string | null
  /** The newest report of its rows, as `YYYY-MM-DD`. */
  readonly reportDate: string | null
  readonly expectedAmount: string
  readonly paidAmount: string
  readonly difference: string
  readonly currency: string | null
  readonly rows: readonly EvidenceRow[]
  readonly state: 'open' | 'resolved'
  readonly resolution: SettlementResolution | null
  readonly firstSeenAt: Date
  readonly changedAt: Date
  readonly resolvedAt: Date | null
}

/** Which differences to list; null: any. */
export interface SettlementDifferenceFilter {
  readonly sellerId: SellerFilter
  readonly kind: SettlementDifferenceKind | null
  readonly purchaseOrderId: string | null
  readonly sku: string | null
  readonly state: StoredSettlementDifference['state'] | null
  /** When it was first seen. */
  readonly seen: Period
}

/** Differences, newest first, before this id. Open ones of removed sellers are left out, unless the filter names the seller. */
export const listSettlementDifferences = async (
  sql: SqlRunner,
  filter: SettlementDifferenceFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<StoredSettlementDifference, bigint>> => {
  const excluded = filter.state === 'open' ? await listExcludedSellers(sql, filter.sellerId) : []
  const rows = await sql.query<StoredSettlementDifference>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM warehouse.settlement_differences
       WHERE ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::text IS NULL OR kind = $2::text)
         AND ($3::text IS NULL OR purchase_order_id = $3::text) AND ($4::text IS NULL OR lower(sku) = lower($4::text))
         AND ($5::text IS NULL OR state = $5::text) AND ($6::timestamptz IS NULL OR first_seen_at >= $6::timestamptz)
         AND ($7::timestamptz IS NULL OR first_seen_at < $7::timestamptz) AND ($8::bigint IS NULL OR id < $8::bigint)
         AND seller_id <> ALL ($9::text[])
       ORDER BY id DESC LIMIT $10::int
     )
     SELECT d.id, d.seller_id AS "sellerId", d.kind, d.purchase_order_id AS "purchaseOrderId", d.line_number AS "lineNumber", d.sku,
       d.report_date::text AS "reportDate", d.expected_amount::text AS "expectedAmount", d.paid_amount::text AS "paidAmount",
       d.difference::text AS difference, d.currency, coalesce(evidence.rows, '[]') AS rows, d.state, d.resolution,
       d.first_seen_at AS "firstSeenAt", d.changed_at AS "changedAt", d.resolved_at AS "resolvedAt"
     FROM page d
     CROSS JOIN LATERAL (
       SELECT jsonb_agg(jsonb_build_object('lineKey', s.line_key, 'transactionType', s.transaction_type, 'amountType', s.amount_type,
         'description', s.description, 'postedOn', s.posted_on::text, 'amount', s.amount::text) ORDER BY s.report_date, s.row_number) AS rows
       FROM warehouse.settlement_lines s WHERE s.seller_id = d.seller_id AND s.line_key = ANY (d.line_keys)
     ) evidence
     ORDER BY d.id DESC`,
    toSellerIds(filter.sellerId),
    filter.kind,
    filter.purchaseOrderId,
    filter.sku,
    filter.state,
    filter.seen.from?.toISOString() ?? null,
    filter.seen.to?.toISOString() ?? null,
    before,
    excluded,
    limit + 1,
  )
  return buildPage(rows, limit, ({ id }) => id)
}
