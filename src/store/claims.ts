import type { SqlRunner } from './database.ts'
import { type ListPage, pageOf } from './page.ts'
import { type SellerFilter, sellersIn } from './seller-filter.ts'

/** So many units, and what they are worth at the last known prices of their SKUs. */
export interface ClaimedUnits {
  readonly units: number
  /** Decimals, one for each currency. */
  readonly values: readonly { readonly amount: string; readonly currency: string }[]
  /** Those of the units whose SKUs have no known price, so that they are in none of the values. */
  readonly unpricedUnits: number
}

/**
 * What goes into a claim. `uncertain`: units that may be gone, in no sum; `total`: lost, damaged and unexplained; `net`: the same, with found
 * units taken off those lost of their SKU.
 */
export const claimParts = ['lost', 'damaged', 'found', 'unexplained', 'uncertain', 'total', 'net'] as const

/** What a seller could claim of one month. */
export interface Claim extends Readonly<Record<(typeof claimParts)[number], ClaimedUnits>> {
  readonly sellerId: string
  /** `YYYY-MM`, by the marketplace's calendar. */
  readonly month: string
  /** SKUs that the month's report lists. */
  readonly skus: number
  /** Those of them that have been compared with the log; the log of the others has not been read far enough. */
  readonly skusCompared: number
}

type ClaimPart = (typeof claimParts)[number]

/** Parts that are stored; `total` is made of three of them. */
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

// The sums are kept up to date with every review (tallyman.claim_rows and what adds them up), so that there is nothing left to do.
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

/** What each seller could claim of a month (`YYYY-MM`), of sellers after this one; of sellers without a report of it, nothing is said. */
export const listClaims = async (
  sql: SqlRunner,
  { month, sellerId }: { readonly month: string; readonly sellerId: SellerFilter },
  after: string | null,
  limit: number,
): Promise<ListPage<Claim, string>> => {
  const rows = await sql.query<ClaimRow>(claimQuery, `${month}-01`, sellersIn(sellerId), after, limit + 1)
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
  return pageOf(claims, limit, (claim) => claim.sellerId)
}
