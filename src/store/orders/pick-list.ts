import type { SqlRunner } from '../db/database.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { listExcludedSellers } from '../sellers/sellers.ts'
import { hasDeadlines, rulesJson, rulesRows } from './deadlines.ts'
import { readDeadlineRules } from './order-queries.ts'

/** A SKU to be taken from the shelf. */
export interface PickedSku {
  readonly sellerId: string
  /** Null: the marketplace stated none. */
  readonly sku: string | null
  readonly productName: string | null
  /** Units that are neither shipped nor cancelled, nor part of a shipment or cancellation that is being sent. */
  readonly units: number
  /** Number of orders that need them. */
  readonly orders: number
  /** The earliest time by which one of them must be shipped. */
  readonly shipBy: Date | null
}

/** The units that the sellers have to ship before this time (null: at any time), by SKU; the earliest first. `findNow`: the marketplace's time by seller. */
export const readPickList = async (
  sql: SqlRunner,
  findNow: ReadonlyMap<string, Date>,
  filter: SellerFilter,
  shipBefore: Date | null,
): Promise<readonly PickedSku[]> => {
  const excluded = await listExcludedSellers(sql, filter)
  const rules = await readDeadlineRules(sql, findNow, toSellerIds(filter), excluded)
  return sql.query<PickedSku>(
    `WITH in_progress AS (
       SELECT c.seller_id, c.purchase_order_id, cl.line_number, sum(cl.quantity) AS units
       FROM (${rulesRows('$1')}) s
       JOIN tallyman.commands c ON c.seller_id = s.seller_id AND c.kind IN ('ship', 'cancel')
         AND c.state NOT IN ('confirmed', 'rejected') AND c.state <> 'withdrawn'
       JOIN tallyman.command_lines cl ON cl.command_id = c.id
       GROUP BY 1, 2, 3)
     SELECT l.seller_id AS "sellerId", l.sku, min(l.product_name) AS "productName",
       sum(l.ordered - l.shipped - l.cancelled - coalesce(p.units, 0))::int AS units,
       count(DISTINCT l.purchase_order_id)::int AS orders, min(o.estimated_ship_date) AS "shipBy"
     FROM (${rulesRows('$1')}) s
     JOIN warehouse.orders o ON o.seller_id = s.seller_id AND ${hasDeadlines('s.marketplace')}
       AND ($2::timestamptz IS NULL OR o.estimated_ship_date < $2::timestamptz)
     JOIN warehouse.order_lines l ON l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id
     LEFT JOIN in_progress p ON p.seller_id = l.seller_id AND p.purchase_order_id = l.purchase_order_id AND p.line_number = l.line_number
     WHERE l.ordered - l.shipped - l.cancelled - coalesce(p.units, 0) > 0
     GROUP BY l.seller_id, l.sku
     ORDER BY min(o.estimated_ship_date), l.sku, l.seller_id`,
    rulesJson(rules),
    shipBefore?.toISOString() ?? null,
  )
}
