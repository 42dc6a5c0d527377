import type { Resolution } from '../../domain/inventory/discrepancy-resolution.ts'
import type { Certainty, DiscrepancyKind } from '../../domain/inventory/reconciliation.ts'
import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage, type Period } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { listExcludedSellers } from '../sellers/sellers.ts'

/** The identifying fields of an entry of the inventory log. */
export interface NamedEntry {
  readonly id: string
  readonly transactionTime: Date
  readonly changedUnits: number
  readonly fcName: string | null
  readonly shipmentId: string | null
}

/** A difference between the reported and the expected units. */
export interface Discrepancy {
  readonly id: bigint
  readonly sellerId: string
  readonly sku: string
  readonly gtin: string | null
  /** `YYYY-MM`, by the marketplace's calendar. */
  readonly month: string
  readonly kind: DiscrepancyKind
  readonly reportUnits: number
  readonly expectedUnits: number
  readonly difference: number
  /** The verdict of the inventory log; null: the log is not involved. */
  readonly log: {
    readonly verdict: 'missing' | 'extra'
    readonly certainty: Certainty
    /** The number of entries that may be extra. */
    readonly entryCount: number
    /** The first 100 of them. */
    readonly entries: readonly NamedEntry[]
  } | null
  /** `YYYY-MM-DD`, by the marketplace's calendar. */
  readonly earliestDay: string
  /** Decimals; null: the SKU has no known price. */
  readonly unitPrice: string | null
  readonly value: string | null
  readonly currency: string | null
  readonly state: DiscrepancyState
  readonly resolution: Resolution | null
  readonly firstSeenAt: Date
  readonly changedAt: Date
  readonly resolvedAt: Date | null
}

/** The state of a discrepancy. */
export type DiscrepancyState = 'open' | 'resolved'

/** Which discrepancies to list; null: any. */
export interface DiscrepancyFilter {
  readonly sellerId: SellerFilter
  /** `YYYY-MM`. */
  readonly month: string | null
  readonly sku: string | null
  readonly kind: DiscrepancyKind | null
  readonly state: DiscrepancyState | null
  readonly gtin?: string | null
  /** When it was first seen. */
  readonly seen?: Period
}

interface DiscrepancyRow extends Omit<Discrepancy, 'log' | 'reportUnits' | 'expectedUnits' | 'difference'> {
  readonly reportUnits: bigint
  readonly expectedUnits: bigint
  readonly difference: bigint
  readonly verdict: 'missing' | 'extra' | null
  readonly certainty: Certainty | null
  readonly entryCount: number
  readonly entries: readonly (Omit<NamedEntry, 'transactionTime'> & { readonly transactionTime: string })[]
}

const toDiscrepancy = ({ verdict, certainty, entryCount, entries, ...row }: DiscrepancyRow): Discrepancy => ({
  ...row,
  reportUnits: Number(row.reportUnits),
  expectedUnits: Number(row.expectedUnits),
  difference: Number(row.difference),
  log:
    verdict === null || certainty === null
      ? null
      : {
          verdict,
          certainty,
          entryCount,
          entries: entries.map((entry) => ({ ...entry, transactionTime: new Date(entry.transactionTime) })),
        },
})

/** Discrepancies, newest first, before this id. */
export const listDiscrepancies = async (
  sql: SqlRunner,
  filter: DiscrepancyFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<Discrepancy, bigint>> => {
  const excluded = filter.state === 'open' ? await listExcludedSellers(sql, filter.sellerId) : []
  const rows = await sql.query<DiscrepancyRow>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM warehouse.inventory_discrepancies
       WHERE ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::date IS NULL OR month = $2::date) AND ($3::text IS NULL OR sku = $3::text)
         AND ($4::text IS NULL OR kind = $4::text) AND ($5::text IS NULL OR state = $5::text) AND ($6::bigint IS NULL OR id < $6::bigint)
         AND ($8::text IS NULL OR gtin = $8::text) AND ($9::timestamptz IS NULL OR first_seen_at >= $9::timestamptz)
         AND ($10::timestamptz IS NULL OR first_seen_at < $10::timestamptz)
         AND seller_id <> ALL ($11::text[])
       ORDER BY id DESC LIMIT $7::int
     )
     SELECT d.id, d.seller_id AS "sellerId", d.sku, d.gtin, to_char(d.month, 'YYYY-MM') AS month, d.kind, d.report_units AS "reportUnits",
       d.expected_units AS "expectedUnits", d.difference, d.log_verdict AS verdict, d.log_certainty AS certainty,
       d.log_entries AS "entryCount", coalesce(named.entries, '[]') AS entries, to_char(d.earliest_day, 'YYYY-MM-DD') AS "earliestDay",
       d.unit_price::text AS "unitPrice", d.value::text AS value, d.currency, d.state, d.resolution, d.first_seen_at AS "firstSeenAt",
       d.changed_at AS "changedAt", d.resolved_at AS "resolvedAt"
     FROM page d
     CROSS JOIN LATERAL (
       SELECT jsonb_agg(jsonb_build_object('id', e.entry_id, 'transactionTime', e.transaction_time, 'changedUnits', e.changed_units,
         'fcName', e.fc_name, 'shipmentId', e.shipment_id) ORDER BY t.position) AS entries
       FROM unnest(d.log_entry_ids) WITH ORDINALITY AS t(entry_id, position)
       JOIN warehouse.inventory_log_entries e ON e.seller_id = d.seller_id AND e.sku = d.sku AND e.entry_id = t.entry_id
     ) named
     ORDER BY d.id DESC`,
    toSellerIds(filter.sellerId),
    filter.month === null ? null : `${filter.month}-01`,
    filter.sku,
    filter.kind,
    filter.state,
    before,
    limit + 1,
    filter.gtin ?? null,
    filter.seen?.from?.toISOString() ?? null,
    filter.seen?.to?.toISOString() ?? null,
    excluded,
  )
  return buildPage(rows.map(toDiscrepancy), limit, (discrepancy) => discrepancy.id)
}
