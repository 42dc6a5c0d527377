import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'

/** Units, and their value at the last known prices of their SKUs. */
export interface ClaimedUnits {
  readonly units: number
  /** Decimals, one for each currency. */
  readonly values: readonly { readonly amount: string; readonly currency: string }[]
  /** Units of SKUs without a known price, which are in none of the values. */
  readonly unpricedUnits: number
}

/** Parts of a claim. `uncertain`: units that may be missing, in no sum; `total`: lost, damaged and unexplained; `net`: `total` less found units of the SKU. */
export const claimParts = ['lost', 'damaged', 'found', 'unexplained', 'uncertain', 'total', 'net'] as const

/** The possible claim of a seller for one month. */
export interface Claim extends Readonly<Record<(typeof claimParts)[number], ClaimedUnits>> {
  readonly sellerId: string
  /** `YYYY-MM`, by the marketplace's calendar. */
  readonly month: string
  /** SKUs that the month's report lists. */
  readonly skus: number
  /** Those of them that were compared with the log; the log of the others was not read far enough. */
  readonly skusCompared: number
}

type ClaimPart = (typeof claimParts)[number]

/** Stored parts; `total` is the sum of three of them. */
const storedParts = ['lost', 'damaged', 'found', 'unexplained', 'uncertain', 'net'] as const

interface ClaimRow extends Readonly<Record<`${ClaimPart}_units`, bigint>>, Readonly<Record<`${ClaimPart}_value`, string | null>> {
  readonly seller_id: string
  /** Null for SKUs without a known price. */
  readonly currency: string | null
  readonly skus: number
  readonly skus_compared: number
}

const measures = storedParts
  .map((part) => `coalesce(t.${part}_units, 0)::bigint AS ${part}_units, round(t.${part}_value, 2)::text AS ${part}_value`)
  .join(', ')

// Every review updates the sums (tallyman.claim_rows and its totals), so the query only reads them.
const claimQuery = `
  WITH seller AS MATERIALIZED (
    SELECT DISTINCT seller_id FROM warehouse.reconciliation_reports
    WHERE month = $1::date AND state = 'imported' AND ($2::text[] IS NULL OR seller_id = ANY ($2::text[])) AND ($3::text IS NULL OR seller_id > $3::text)
    ORDER BY seller_id LIMIT $4::int
  )
  SELECT k.seller_id, nullif(t.currency, '') AS currency, coalesce(t.skus, 0)::int AS skus, coalesce(t.skus_compared, 0)::int AS skus_compared,
    ${measures}, coalesce(t.lost_units + t.damaged_units + t.unexplained_units, 0)::bigint AS total_units,
    round(t.lost_value + t.damaged_value + t.unexplained_value, 2)::text AS total_value
  FROM seller k LEFT JOIN tallyman.claim_totals t ON t.seller_id = k.seller_id AND t.month = $1::date
  ORDER BY k.seller_id, t.currency`

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

/** The possible claims for a month (`YYYY-MM`), of sellers after this one. Sellers without a report of the month are omitted. */
export const listClaims = async (
  sql: SqlRunner,
  { month, sellerId }: { readonly month: string; readonly sellerId: SellerFilter },
  after: string | null,
  limit: number,
): Promise<ListPage<Claim, string>> => {
  const rows = await sql.query<ClaimRow>(claimQuery, `${month}-01`, toSellerIds(sellerId), after, limit + 1)
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
      uncertain: claimedUnits('uncertain', ofSeller),
      total: claimedUnits('total', ofSeller),
      net: claimedUnits('net', ofSeller),
    }),
  )
  return buildPage(claims, limit, (claim) => claim.sellerId)
}
