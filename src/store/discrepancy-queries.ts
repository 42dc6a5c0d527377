import { monthBounds } from '../domain/pacific-time.ts'
import type { Certainty, DiscrepancyKind } from '../domain/reconciliation.ts'
import type { SqlRunner } from './database.ts'
import { logCovers } from './discrepancies.ts'
import { type ListPage, pageOf } from './page.ts'
import { lastUnitPrice } from './unit-price.ts'

/** An entry of the inventory log, as far as it helps to find it again. */
export interface NamedEntry {
  readonly id: string
  readonly transactionTime: Date
  readonly changedUnits: number
  readonly fcName: string | null
  readonly shipmentId: string | null
}

/** A difference between what the marketplace reports and what it should report. */
export interface Discrepancy {
  readonly id: bigint
  readonly sellerId: string
  readonly sku: string
  readonly gtin: string | null
  /** `YYYY-MM`, Pacific. */
  readonly month: string
  readonly kind: DiscrepancyKind
  readonly reportUnits: number
  readonly expectedUnits: number
  readonly difference: number
  /** What the inventory log says about it; null where it has no part in it. */
  readonly log: {
    readonly verdict: 'missing' | 'extra'
    readonly certainty: Certainty
    /** How many entries may be extra. */
    readonly entryCount: number
    /** The first 100 of them. */
    readonly entries: readonly NamedEntry[]
  } | null
  /** `YYYY-MM-DD`, Pacific. */
  readonly earliestDay: string
  /** Decimals; null when no price of the SKU is known. */
  readonly unitPrice: string | null
  readonly value: string | null
  readonly currency: string | null
  readonly state: DiscrepancyState
  readonly resolution: 'agrees' | 'withdrawn' | null
  readonly firstSeenAt: Date
  readonly changedAt: Date
  readonly resolvedAt: Date | null
}

/** Whether a discrepancy stands. */
export type DiscrepancyState = 'open' | 'resolved'

/** Which discrepancies to list; null: any. */
export interface DiscrepancyFilter {
  readonly sellerId: string | null
  /** `YYYY-MM`. */
  readonly month: string | null
  readonly sku: string | null
  readonly kind: DiscrepancyKind | null
  readonly state: DiscrepancyState | null
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
  const rows = await sql.query<DiscrepancyRow>(
    `WITH page AS MATERIALIZED (
       SELECT * FROM warehouse.inventory_discrepancies
       WHERE ($1::text IS NULL OR seller_id = $1::text) AND ($2::date IS NULL OR month = $2::date) AND ($3::text IS NULL OR sku = $3::text)
         AND ($4::text IS NULL OR kind = $4::text) AND ($5::text IS NULL OR state = $5::text) AND ($6::bigint IS NULL OR id < $6::bigint)
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
    filter.sellerId,
    filter.month === null ? null : `${filter.month}-01`,
    filter.sku,
    filter.kind,
    filter.state,
    before,
    limit + 1,
  )
  return pageOf(rows.map(toDiscrepancy), limit, (discrepancy) => discrepancy.id)
}

/** So many units, and what they are worth at the last known prices of their SKUs. */
export interface ClaimedUnits {
  readonly units: number
  /** Decimals, one for each currency. */
  readonly values: readonly { readonly amount: string; readonly currency: string }[]
  /** Those of the units whose SKUs have no known price, so that they are in none of the values. */
  readonly unpricedUnits: number
}

/** What goes into a claim. `total`: lost, damaged and unexplained; `net`: the same, with found units taken off those lost of their SKU. */
export const claimParts = ['lost', 'damaged', 'found', 'unexplained', 'total', 'net'] as const

/** What a seller could claim of one month. */
export interface Claim extends Readonly<Record<(typeof claimParts)[number], ClaimedUnits>> {
  readonly sellerId: string
  /** `YYYY-MM`, Pacific. */
  readonly month: string
  /** SKUs that the month's report lists. */
  readonly skus: number
  /** Those of them that have been compared with the log; the log of the others has not been read far enough. */
  readonly skusCompared: number
}

type ClaimPart = (typeof claimParts)[number]

interface ClaimRow extends Readonly<Record<`${ClaimPart}_units`, bigint>>, Readonly<Record<`${ClaimPart}_value`, string | null>> {
  readonly seller_id: string
  readonly currency: string | null
  readonly skus: number
  readonly skus_compared: number
}

const measures = claimParts
  .map(
    (part) => `coalesce(sum(u.${part}), 0)::bigint AS ${part}_units,
      round(sum(u.${part} * p.amount / p.units), 2)::text AS ${part}_value`,
  )
  .join(', ')

// Units are unexplained when the stock lacks them and no movement says why: what all differences of a SKU together take off its stock, so that
// movements under the wrong kind, and a wrong cell that another one makes good, count for nothing. More units lost or damaged than the log
// tells are not among them: the report admits those, and they are claimed as such. Cells are read as magnitudes, as ever. Differences
// and prices are looked up one by one: of tables that have just been filled no statistics are known, and joins would cost their product.
const claimQuery = `
  WITH seller AS MATERIALIZED (
    SELECT DISTINCT seller_id FROM warehouse.reconciliation_reports
    WHERE month = $1::date AND state = 'imported' AND ($2::text IS NULL OR seller_id = $2::text) AND ($3::text IS NULL OR seller_id > $3::text)
    ORDER BY seller_id LIMIT $4::int
  ), counted AS (
    SELECT r.seller_id, r.sku, abs(r.lost::bigint) AS lost, abs(r.damaged::bigint) AS damaged, abs(r.found::bigint) AS found,
      h.units AS unexplained, ${logCovers('s', '$5::timestamptz', 'least(r.covered_until, $6::timestamptz)')} AS compared
    FROM warehouse.reconciliation_current_rows r
    CROSS JOIN LATERAL (
      SELECT greatest(0, -coalesce(sum(d.effect), 0)) AS units
      FROM (
        SELECT kind, CASE WHEN kind IN ('sold', 'lost', 'damaged') THEN -difference ELSE difference END AS effect
        FROM warehouse.inventory_discrepancies
        WHERE seller_id = r.seller_id AND sku = r.sku AND month = $1::date AND state = 'open' OFFSET 0
      ) d
      WHERE NOT (d.kind IN ('lost', 'damaged') AND d.effect < 0)
    ) h
    LEFT JOIN tallyman.inventory_skus s ON s.seller_id = r.seller_id AND s.sku = r.sku
    WHERE r.month = $1::date AND r.seller_id IN (SELECT seller_id FROM seller)
  ), unit AS MATERIALIZED (
    SELECT *, lost + damaged + unexplained AS total, greatest(0, lost - found) + damaged + unexplained AS net FROM counted
  )
  SELECT k.seller_id, p.currency, count(u.sku)::int AS skus, (count(*) FILTER (WHERE u.compared))::int AS skus_compared, ${measures}
  FROM seller k
  LEFT JOIN unit u ON u.seller_id = k.seller_id
  LEFT JOIN LATERAL (${lastUnitPrice('(SELECT u.seller_id, u.sku WHERE u.total + u.found > 0)')}) p ON true
  GROUP BY k.seller_id, p.currency ORDER BY k.seller_id, p.currency`

const claimedUnits = (part: ClaimPart, rows: readonly ClaimRow[]): ClaimedUnits => {
  const counted = rows.map((row) => ({
    units: Number(row[`${part}_units`]),
    amount: row[`${part}_value`],
    currency: row.currency,
  }))
  return {
    units: counted.reduce((sum, { units }) => sum + units, 0),
    values: counted.flatMap(({ units, amount, currency }) =>
      amount === null || currency === null || units === 0 ? [] : [{ amount, currency }],
    ),
    unpricedUnits: counted.reduce((sum, { units, currency }) => (currency === null ? sum + units : sum), 0),
  }
}

/** What each seller could claim of a month (`YYYY-MM`), of sellers after this one; of sellers without a report of it, nothing is said. */
export const listClaims = async (
  sql: SqlRunner,
  { month, sellerId }: { readonly month: string; readonly sellerId: string | null },
  after: string | null,
  limit: number,
): Promise<ListPage<Claim, string>> => {
  const { from, to } = monthBounds(month)
  const rows = await sql.query<ClaimRow>(
    claimQuery,
    `${month}-01`,
    sellerId,
    after,
    limit + 1,
    from.toISOString(),
    to.toISOString(),
  )
  const claims = [...Map.groupBy(rows, (row) => row.seller_id)].map(
    ([seller, ofSeller]): Claim => ({
      sellerId: seller,
      month,
      skus: ofSeller.reduce((sum, row) => sum + row.skus, 0),
      skusCompared: ofSeller.reduce((sum, row) => sum + row.skus_compared, 0),
      lost: claimedUnits('lost', ofSeller),
      damaged: claimedUnits('damaged', ofSeller),
      found: claimedUnits('found', ofSeller),
      unexplained: claimedUnits('unexplained', ofSeller),
      total: claimedUnits('total', ofSeller),
      net: claimedUnits('net', ofSeller),
    }),
  )
  return pageOf(claims, limit, (claim) => claim.sellerId)
}
