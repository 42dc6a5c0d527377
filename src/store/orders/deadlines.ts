import type { SqlRunner } from '../db/database.ts'

/** The clock and the rules for the deadlines of a seller's orders. */
export interface DeadlineRules {
  readonly sellerId: string
  /** The marketplace's time; null: the database's time. */
  readonly now: Date | null
  readonly acknowledgeWithinHours: number
  /** Days after the ship-by time until the marketplace cancels an order; null: never. */
  readonly cancelsAfterDays: number | null
  /** Node type of orders that the marketplace fulfils; they have no deadlines for us. */
  readonly fulfilledByMarketplace: string
}

/** The deadline rules of these sellers. */
export const listDeadlineRules = (
  sql: Pick<SqlRunner, 'findVocabulary'>,
  sellerIds: Iterable<string>,
  findNow: (sellerId: string) => Date | null,
): readonly DeadlineRules[] => [...sellerIds].map((sellerId) => buildDeadlineRule(sql, sellerId, findNow(sellerId)))

/** The rules of one seller; null: of sellers that this process does not serve. */
export const buildDeadlineRule = (
  { findVocabulary }: Pick<SqlRunner, 'findVocabulary'>,
  sellerId: string | null,
  now: Date | null,
): DeadlineRules => {
  const { acknowledgeWithinHours, cancelsAfterDays, shipNodes } = findVocabulary(sellerId)
  return {
    sellerId: sellerId ?? '',
    now,
    acknowledgeWithinHours,
    cancelsAfterDays,
    fulfilledByMarketplace: shipNodes.marketplace,
  }
}

/** How long before each deadline an order counts. */
export interface DeadlineMargins {
  readonly acknowledgeWithinMs: number
  readonly shipWithinMs: number
  readonly cancelWithinMs: number
}

/** Orders near a deadline. `count`: orders within the margin; `late`: those whose deadline has passed; `earliest`: the first deadline. */
export interface NearDeadline {
  readonly count: number
  readonly late: number
  readonly earliest: Date | null
}

/** The deadlines of a seller's open orders. */
export interface SellerDeadlines {
  readonly sellerId: string
  /** `waiting`: all orders with units that are neither acknowledged nor shipped nor cancelled. */
  readonly acknowledge: NearDeadline & { readonly waiting: number }
  readonly ship: NearDeadline
  readonly cancel: NearDeadline
}

interface Row {
  readonly seller_id: string
  readonly waiting: number
  readonly acknowledge: number
  readonly acknowledge_late: number
  readonly acknowledge_by: Date | null
  readonly ship: number
  readonly ship_late: number
  readonly ship_by: Date | null
  readonly cancel: number
  readonly cancel_late: number
  readonly cancel_at: Date | null
}

/** The margins of lists and the overview. */
export const soon: DeadlineMargins = { acknowledgeWithinMs: 3_600_000, shipWithinMs: 86_400_000, cancelWithinMs: 86_400_000 }

/** SQL: the line `l` has units that are not acknowledged, shipped or cancelled. There is an index of such lines. */
export const isLineToAcknowledge = 'l.acknowledged + l.cancelled < l.ordered AND l.shipped + l.cancelled < l.ordered'

/**
 * SQL: the order `o` has deadlines for the seller: it is open, and the marketplace still has it and does not ship it. `marketplace`: SQL of its node type.
 */
export const hasDeadlines = (marketplace: string): string =>
  `o.open AND o.missing_since IS NULL AND o.ship_node_type IS DISTINCT FROM ${marketplace}`

/** SQL: the rules of the sellers as rows; `hours` and `days` are intervals. `parameter` contains {@link rulesJson}. */
export const rulesRows = (parameter: string): string => `
  SELECT seller_id, coalesce(now, now()) AS now, make_interval(hours => hours) AS hours, make_interval(days => days) AS days, marketplace
  FROM jsonb_to_recordset(${parameter}::jsonb) AS t(seller_id text, now timestamptz, hours int, days int, marketplace text)`

/** The parameter of {@link rulesRows}. */
export const rulesJson = (rules: readonly DeadlineRules[]): string =>
  JSON.stringify(
    rules.map(({ sellerId, now, acknowledgeWithinHours, cancelsAfterDays, fulfilledByMarketplace }) => ({
      seller_id: sellerId,
      now,
      hours: acknowledgeWithinHours,
      days: cancelsAfterDays,
      marketplace: fulfilledByMarketplace,
    })),
  )

const secondsExpression = (parameter: string): string => `make_interval(secs => ${parameter}::float8 / 1000)`

/**
 * Counts the open orders of sellers near a deadline. Deadlines of shipping and cancellation use a range of one index of open orders; unacknowledged
 * orders have their own index, which is small while orders are acknowledged.
 */
export const readDeadlines = async (
  sql: SqlRunner,
  sellers: readonly DeadlineRules[],
  { acknowledgeWithinMs, shipWithinMs, cancelWithinMs }: DeadlineMargins,
): Promise<readonly SellerDeadlines[]> => {
  const rows = await sql.query<Row>(
    `WITH s AS (${rulesRows('$1')})
     SELECT s.seller_id, a.*, h.*, c.* FROM s
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS waiting, (count(*) FILTER (WHERE u.order_date < u.counted))::int AS acknowledge,
         (count(*) FILTER (WHERE u.order_date + s.hours < s.now))::int AS acknowledge_late,
         min(u.order_date) FILTER (WHERE u.order_date < u.counted) + s.hours AS acknowledge_by
       FROM (SELECT DISTINCT o.purchase_order_id, o.order_date, s.now - s.hours + ${secondsExpression('$2')} AS counted
             FROM warehouse.order_lines l
             JOIN warehouse.orders o ON o.seller_id = s.seller_id AND o.purchase_order_id = l.purchase_order_id
             WHERE l.seller_id = s.seller_id AND ${isLineToAcknowledge} AND ${hasDeadlines('s.marketplace')}) u) a
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS ship, (count(*) FILTER (WHERE o.estimated_ship_date < s.now))::int AS ship_late,
         min(o.estimated_ship_date) AS ship_by
       FROM warehouse.orders o WHERE o.seller_id = s.seller_id AND ${hasDeadlines('s.marketplace')}
         AND o.estimated_ship_date < s.now + ${secondsExpression('$3')}) h
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS cancel, (count(*) FILTER (WHERE o.estimated_ship_date + s.days < s.now))::int AS cancel_late,
         min(o.estimated_ship_date) + s.days AS cancel_at
       FROM warehouse.orders o WHERE o.seller_id = s.seller_id AND ${hasDeadlines('s.marketplace')}
         AND o.estimated_ship_date < s.now - s.days + ${secondsExpression('$4')}) c
     ORDER BY s.seller_id`,
    rulesJson(sellers),
    acknowledgeWithinMs,
    shipWithinMs,
    cancelWithinMs,
  )
  return rows.map((row) => ({
    sellerId: row.seller_id,
    acknowledge: { waiting: row.waiting, count: row.acknowledge, late: row.acknowledge_late, earliest: row.acknowledge_by },
    ship: { count: row.ship, late: row.ship_late, earliest: row.ship_by },
    cancel: { count: row.cancel, late: row.cancel_late, earliest: row.cancel_at },
  }))
}
