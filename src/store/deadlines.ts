import type { SqlRunner } from './database.ts'

/** By which clock and rules the deadlines of a seller's orders are. */
export interface DeadlineRules {
  readonly sellerId: string
  /** The marketplace's time; null: the database's own. */
  readonly now: Date | null
  readonly acknowledgeWithinHours: number
  /** So many days after its ship-by time an order is cancelled by the marketplace; null: never. */
  readonly cancelsAfterDays: number | null
  /** Node type of orders that the marketplace fulfils; they have no deadlines of ours. */
  readonly fulfilledByMarketplace: string
}

/** By which clock and rules the deadlines of these sellers' orders are. */
export const deadlineRulesOf = (
  sql: Pick<SqlRunner, 'vocabularyOf'>,
  sellerIds: Iterable<string>,
  nowOf: (sellerId: string) => Date | null,
): readonly DeadlineRules[] => [...sellerIds].map((sellerId) => deadlineRuleOf(sql, sellerId, nowOf(sellerId)))

/** The rules of one seller; null: of those that this process does not serve. */
export const deadlineRuleOf = (
  { vocabularyOf }: Pick<SqlRunner, 'vocabularyOf'>,
  sellerId: string | null,
  now: Date | null,
): DeadlineRules => {
  const { acknowledgeWithinHours, cancelsAfterDays, shipNodes } = vocabularyOf(sellerId)
  return {
    sellerId: sellerId ?? '',
    now,
    acknowledgeWithinHours,
    cancelsAfterDays,
    fulfilledByMarketplace: shipNodes.marketplace,
  }
}

/** How long before each deadline an order counts, in milliseconds. */
export interface DeadlineMargins {
  readonly acknowledgeWithinMs: number
  readonly shipWithinMs: number
  readonly cancelWithinMs: number
}

/** Orders that run out of time. `count`: of those within the margin; `late`: those of them whose deadline has passed; `earliest`: their first one. */
export interface RunningOut {
  readonly count: number
  readonly late: number
  readonly earliest: Date | null
}

/** The deadlines of a seller's open orders. */
export interface SellerDeadlines {
  readonly sellerId: string
  /** `waiting`: orders with units that are neither acknowledged nor shipped nor cancelled, however much time is left. */
  readonly acknowledge: RunningOut & { readonly waiting: number }
  readonly ship: RunningOut
  readonly cancel: RunningOut
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

/** When an order counts as running out of time to whoever looks at it today. */
export const soon: DeadlineMargins = { acknowledgeWithinMs: 3_600_000, shipWithinMs: 86_400_000, cancelWithinMs: 86_400_000 }

/** SQL: nobody has acknowledged, shipped or cancelled some units of the line `l`. There is an index of such lines. */
export const isLineToAcknowledge = 'l.acknowledged + l.cancelled < l.ordered AND l.shipped + l.cancelled < l.ordered'

/**
 * SQL: the deadlines of the order `o` are the seller's: it is open, and the marketplace still has it and does not ship it. `marketplace`: SQL of
 * its node type.
 */
export const hasDeadlines = (marketplace: string): string =>
  `o.open AND o.missing_since IS NULL AND o.ship_node_type IS DISTINCT FROM ${marketplace}`

/** SQL: the rules of the sellers as rows, with `now`, `hours` and `days` as times. `parameter` has {@link rulesJson}. */
export const rulesRows = (parameter: string): string => `
  SELECT seller_id, coalesce(now, now()) AS now, make_interval(hours => hours) AS hours, make_interval(days => days) AS days, marketplace
  FROM jsonb_to_recordset(${parameter}::jsonb) AS t(seller_id text, now timestamptz, hours int, days int, marketplace text)`

/** What {@link rulesRows} reads. */
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

const secondsOf = (parameter: string): string => `make_interval(secs => ${parameter}::float8 / 1000)`

/**
 * Counts the open orders of sellers that run out of time. What is to be shipped or is about to be cancelled is a range of one index of open
 * orders; what is not acknowledged is an index of its own, which is short as long as orders are acknowledged.
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
       FROM (SELECT DISTINCT o.purchase_order_id, o.order_date, s.now - s.hours + ${secondsOf('$2')} AS counted
             FROM warehouse.order_lines l
             JOIN warehouse.orders o ON o.seller_id = s.seller_id AND o.purchase_order_id = l.purchase_order_id
             WHERE l.seller_id = s.seller_id AND ${isLineToAcknowledge} AND ${hasDeadlines('s.marketplace')}) u) a
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS ship, (count(*) FILTER (WHERE o.estimated_ship_date < s.now))::int AS ship_late,
         min(o.estimated_ship_date) AS ship_by
       FROM warehouse.orders o WHERE o.seller_id = s.seller_id AND ${hasDeadlines('s.marketplace')}
         AND o.estimated_ship_date < s.now + ${secondsOf('$3')}) h
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS cancel, (count(*) FILTER (WHERE o.estimated_ship_date + s.days < s.now))::int AS cancel_late,
         min(o.estimated_ship_date) + s.days AS cancel_at
       FROM warehouse.orders o WHERE o.seller_id = s.seller_id AND ${hasDeadlines('s.marketplace')}
         AND o.estimated_ship_date < s.now - s.days + ${secondsOf('$4')}) c
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
