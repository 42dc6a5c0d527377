import type { Resolution } from '../../domain/inventory/discrepancy-resolution.ts'
import type { StockOnHand } from '../../domain/inventory/stock.ts'
import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage, type Period } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { listExcludedSellers } from '../sellers/sellers.ts'

/** Identity of the stock of a SKU. */
export interface StoredStockKey {
  readonly sellerId: string
  readonly sku: string
}

/** The stored stock on hand of a SKU. */
export interface StoredStock extends StoredStockKey, Omit<StockOnHand, 'sku' | 'raw'> {
  /** Since then the marketplace's list is without the SKU; null: it has it. */
  readonly missingSince: Date | null
  /** When the marketplace returned this version, on its clock. */
  readonly observedAt: Date
  readonly changedAt: Date
}

/** Which stock to list; null: any. */
export interface StoredStockFilter {
  readonly sellerId: SellerFilter
  readonly sku: string | null
  readonly gtin: string | null
  readonly stockStatus: string | null
  /** Whether the marketplace's list is without the SKU. */
  readonly missing: boolean | null
}

/** The stock on hand by seller and SKU, after this key. */
export const listStock = async (
  sql: SqlRunner,
  filter: StoredStockFilter,
  after: StoredStockKey | null,
  limit: number,
): Promise<ListPage<StoredStock, StoredStockKey>> => {
  const rows = await sql.query<StoredStock>(
    `SELECT seller_id AS "sellerId", sku, item_name AS "itemName", gtin, item_id AS "itemId", offer_id AS "offerId", brand,
       item_condition AS "itemCondition", publishing_status AS "publishingStatus", lifecycle, stock_status AS "stockStatus",
       available_units AS "availableUnits", reserved_units AS "reservedUnits", on_hand_units AS "onHandUnits", inbound_units AS "inboundUnits",
       in_review_units AS "inReviewUnits", in_movement_units AS "inMovementUnits",
       jsonb_build_object('days0To90', age_0_to_90_units, 'days91To180', age_91_to_180_units, 'days181To270', age_181_to_270_units,
         'days271To365', age_271_to_365_units, 'daysOver365', age_over_365_units) AS "ageUnits",
       first_in_stock_on::text AS "firstInStockOn",
       jsonb_build_object('daysOfSupply', days_of_supply::text, 'outOfStockOn', out_of_stock_on::text,
         'salesForecastWeeks1To4', sales_forecast_weeks_1_to_4::text, 'salesForecastWeeks5To8', sales_forecast_weeks_5_to_8::text,
         'salesForecastWeeks9To12', sales_forecast_weeks_9_to_12::text, 'sellThroughRate', sell_through_rate::text,
         'suggestedUnits', suggested_units::text, 'surplusUnits', surplus_units::text) AS insights,
       missing_since AS "missingSince", observed_at AS "observedAt", changed_at AS "changedAt"
     FROM warehouse.stock_on_hand
     WHERE ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::text IS NULL OR sku = $2::text) AND ($3::text IS NULL OR gtin = $3::text)
       AND ($4::text IS NULL OR stock_status = $4::text) AND ($5::boolean IS NULL OR (missing_since IS NOT NULL) = $5::boolean)
       AND ($6::text IS NULL OR (seller_id, sku) > ($6::text, $7::text))
     ORDER BY seller_id, sku LIMIT $8::int`,
    toSellerIds(filter.sellerId),
    filter.sku,
    filter.gtin,
    filter.stockStatus,
    filter.missing,
    after?.sellerId ?? null,
    after?.sku ?? null,
    limit + 1,
  )
  return buildPage(rows, limit, ({ sellerId, sku }) => ({ sellerId, sku }))
}

/** A difference between the stock on hand of a SKU and the balance of its inventory log at the same time. */
export interface StockDifference {
  readonly id: bigint
  readonly sellerId: string
  readonly sku: string
  readonly gtin: string | null
  /** Units on hand, by the marketplace's list. */
  readonly countedUnits: number
  /** Opening units, and the movements of the log since. */
  readonly balanceUnits: number
  readonly difference: number
  /** When the list stated the counted units, on the marketplace's clock. */
  readonly asOf: Date
  /** The ending of a monthly report, and up to when it counts. */
  readonly openingUnits: number
  readonly openingAt: Date
  /** Decimals; null: the SKU has no known price. */
  readonly unitPrice: string | null
  readonly value: string | null
  readonly currency: string | null
  readonly state: 'open' | 'resolved'
  readonly resolution: Resolution | null
  readonly firstSeenAt: Date
  readonly changedAt: Date
  readonly resolvedAt: Date | null
}

/** Which differences to list; null: any. */
export interface StockDifferenceFilter {
  readonly sellerId: SellerFilter
  readonly sku: string | null
  readonly state: StockDifference['state'] | null
  /** When it was first seen. */
  readonly seen: Period
}

interface DifferenceRow extends Omit<StockDifference, 'countedUnits' | 'balanceUnits' | 'difference' | 'openingUnits'> {
  readonly countedUnits: bigint
  readonly balanceUnits: bigint
  readonly difference: bigint
  readonly openingUnits: bigint
}

/** Differences, newest first, before this id. Open ones of removed sellers are left out, unless the filter names the seller. */
export const listStockDifferences = async (
  sql: SqlRunner,
  filter: StockDifferenceFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<StockDifference, bigint>> => {
  const excluded = filter.state === 'open' ? await listExcludedSellers(sql, filter.sellerId) : []
  const rows = await sql.query<DifferenceRow>(
    `SELECT id, seller_id AS "sellerId", sku, gtin, counted_units AS "countedUnits", balance_units AS "balanceUnits", difference, as_of AS "asOf",
       opening_units AS "openingUnits", opening_at AS "openingAt", unit_price::text AS "unitPrice", value::text AS value, currency, state, resolution,
       first_seen_at AS "firstSeenAt", changed_at AS "changedAt", resolved_at AS "resolvedAt"
     FROM warehouse.stock_differences
     WHERE ($1::text[] IS NULL OR seller_id = ANY ($1::text[])) AND ($2::text IS NULL OR sku = $2::text) AND ($3::text IS NULL OR state = $3::text)
       AND ($4::timestamptz IS NULL OR first_seen_at >= $4::timestamptz) AND ($5::timestamptz IS NULL OR first_seen_at < $5::timestamptz)
       AND ($6::bigint IS NULL OR id < $6::bigint) AND seller_id <> ALL ($7::text[])
     ORDER BY id DESC LIMIT $8::int`,
    toSellerIds(filter.sellerId),
    filter.sku,
    filter.state,
    filter.seen.from?.toISOString() ?? null,
    filter.seen.to?.toISOString() ?? null,
    before,
    excluded,
    limit + 1,
  )
  const differences = rows.map((row): StockDifference => {
    const { countedUnits, balanceUnits, difference, openingUnits, ...rest } = row
    return {
      ...rest,
      countedUnits: Number(countedUnits),
      balanceUnits: Number(balanceUnits),
      difference: Number(difference),
      openingUnits: Number(openingUnits),
    }
  })
  return buildPage(differences, limit, ({ id }) => id)
}
