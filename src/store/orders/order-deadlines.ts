import { isOpenCommand } from '../commands/commands.ts'
import type { SqlRunner } from '../db/database.ts'
import {
  buildDeadlineRule,
  type DeadlineRules,
  hasDeadlines,
  isLineToAcknowledge,
  listDeadlineRules,
  rulesJson,
  rulesRows,
  soon,
} from './deadlines.ts'

/**
 * The deadlines of an open order that the seller ships: its ship-by time has passed, or passes soon; it is cancelled soon; its acknowledge-by time has
 * passed, or passes soon. {@link soon} defines the margins.
 */
export const orderDeadlines = ['late', 'shipSoon', 'autoCancelSoon', 'acknowledgeOverdue', 'acknowledgeSoon'] as const

/** One of {@link orderDeadlines}. */
export type OrderDeadline = (typeof orderDeadlines)[number]

/** SQL: the date of the order `o`; orders without one sort first. Indexed. */
export const orderTime = `coalesce(o.order_date, '-infinity'::timestamptz)`
/** SQL: the ship-by time of the order `o`; orders without one sort last. Indexed. */
export const shipTime = `coalesce(o.estimated_ship_date, 'infinity'::timestamptz)`

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Maximum clock skew of Postgres, in milliseconds. */
const clockSkewMs = 600_000

/** A time of an order from which a deadline is computed. */
interface BaseTime {
  readonly column: string
  /** The expression of its index. */
  readonly indexed: string
  /** Time from it to the deadline, by a seller's rules; null: there is no such deadline. */
  readonly afterMs: (rule: DeadlineRules) => number | null
  /** The same in SQL. */
  readonly after: (member: (name: keyof DeadlineRules) => string) => string
}

const ship: BaseTime = {
  column: 'o.estimated_ship_date',
  indexed: shipTime,
  afterMs: () => 0,
  after: () => "interval '0'",
}
const cancel: BaseTime = {
  column: 'o.estimated_ship_date',
  indexed: shipTime,
  afterMs: ({ cancelsAfterDays }) => (cancelsAfterDays === null ? null : cancelsAfterDays * dayMs),
  after: (member) => `make_interval(days => ${member('cancelsAfterDays')}::int)`,
}
const acknowledge: BaseTime = {
  column: 'o.order_date',
  indexed: orderTime,
  afterMs: ({ acknowledgeWithinHours }) => acknowledgeWithinHours * hourMs,
  after: (member) => `make_interval(hours => ${member('acknowledgeWithinHours')}::int)`,
}

/** `withinMs`: the maximum time until the deadline; null: the deadline has passed. */
const deadlines: Readonly<Record<OrderDeadline, { readonly base: BaseTime; readonly withinMs: number | null }>> = {
  late: { base: ship, withinMs: null },
  shipSoon: { base: ship, withinMs: soon.shipWithinMs },
  autoCancelSoon: { base: cancel, withinMs: soon.cancelWithinMs },
  acknowledgeOverdue: { base: acknowledge, withinMs: null },
  acknowledgeSoon: { base: acknowledge, withinMs: soon.acknowledgeWithinMs },
}

/** SQL: ids of the orders of the seller `s` with unacknowledged units, also of orders that the marketplace ships. */
export const ordersToAcknowledge = `SELECT DISTINCT l.purchase_order_id FROM warehouse.order_lines l
  WHERE l.seller_id = s.seller_id AND ${isLineToAcknowledge}`

/** Whether the deadline concerns unacknowledged units. */
export const concernsAcknowledgement = (deadline: OrderDeadline): boolean => deadlines[deadline].base === acknowledge

/** Conditions on the order `o`. `findNow`: the marketplace's time by seller; default: the database's time. `bind` adds a parameter. */
export const buildDeadlineConditions = (
  sql: Pick<SqlRunner, 'findVocabulary'>,
  findNow: ReadonlyMap<string, Date>,
  bind: (value: unknown, type: string) => string,
) => {
  /** Bound lazily, because most lists have no such condition. */
  let bound: { readonly rules: readonly DeadlineRules[]; readonly parameter: string } | null = null
  const bindRules = () => {
    if (bound !== null) return bound
    // The empty name has the rules of all other sellers.
    const rules = [
      ...listDeadlineRules(sql, findNow.keys(), (sellerId) => findNow.get(sellerId) ?? null),
      buildDeadlineRule(sql, null, null),
    ]
    bound = { rules, parameter: bind(JSON.stringify(Object.fromEntries(rules.map((rule) => [rule.sellerId, rule]))), 'jsonb') }
    return bound
  }
  /** SQL: a member of the rules of the row's seller. */
  const selectRule = (member: keyof DeadlineRules): string => {
    const { parameter } = bindRules()
    return `(coalesce(${parameter} -> o.seller_id, ${parameter} -> '') ->> '${member}')`
  }
  const isOurs = (): string => hasDeadlines(selectRule('fulfilledByMarketplace'))

  return {
    /** The order has deadlines for the seller: it is open, and the marketplace still has it and does not ship it. */
    ours: isOurs,
    /** The order is near a deadline; combine one of acknowledging with {@link ordersToAcknowledge}. */
    of: (deadline: OrderDeadline): readonly string[] => {
      const { base, withinMs } = deadlines[deadline]
      // Limits the range of the index to times that may be due for any of the sellers.
      const timesMs = bindRules().rules.flatMap((rule) => {
        const afterMs = base.afterMs(rule)
        return afterMs === null ? [] : [(rule.now?.getTime() ?? Date.now()) - afterMs]
      })
      if (timesMs.length === 0) return ['false']
      const bindTime = (ms: number): string => bind(new Date(ms).toISOString(), 'timestamptz')
      const passed = `coalesce(${selectRule('now')}::timestamptz, now()) - ${base.after(selectRule)}`
      const before = `${passed} + make_interval(secs => ${(withinMs ?? 0) / 1_000})`
      const upTo = [
        isOurs(),
        `${base.column} < ${before}`,
        `${base.indexed} < ${bindTime(Math.max(...timesMs) + (withinMs ?? 0) + clockSkewMs)}`,
      ]
      if (withinMs === null) return upTo
      return [...upTo, `${base.column} >= ${passed}`, `${base.indexed} >= ${bindTime(Math.min(...timesMs) - clockSkewMs)}`]
    },
  }
}

/** An order near a deadline without a command: the ERP has sent no event for it. */
export interface WaitingOrder {
  readonly sellerId: string
  readonly purchaseOrderId: string
  readonly wants: 'acknowledge' | 'ship'
  readonly by: Date
}

/**
 * At most `max` open orders with a deadline within `hours` of the marketplace's time and without an open or held command that would meet it, earliest
 * first, and the number of all. An order that must be acknowledged and shipped is listed twice.
 */
export const readOrdersWithoutCommand = async (
  sql: SqlRunner,
  sellers: readonly DeadlineRules[],
  hours: number,
  max: number,
): Promise<{ readonly orders: readonly WaitingOrder[]; readonly count: number }> => {
  const rows = await sql.query<WaitingOrder & { count: number }>(
    `WITH s AS (SELECT *, now + make_interval(hours => $2::int) AS until FROM (${rulesRows('$1')}) r), wanted AS (
       SELECT o.seller_id, o.purchase_order_id, 'ship' AS wants, o.estimated_ship_date AS by, ARRAY['ship', 'cancel'] AS kinds
       FROM s JOIN warehouse.orders o ON o.seller_id = s.seller_id AND ${hasDeadlines('s.marketplace')} AND o.estimated_ship_date < s.until
       UNION ALL
       SELECT o.seller_id, o.purchase_order_id, 'acknowledge', o.order_date + s.hours, ARRAY['acknowledge', 'cancel']
       FROM s JOIN LATERAL (SELECT DISTINCT l.purchase_order_id FROM warehouse.order_lines l
           WHERE l.seller_id = s.seller_id AND ${isLineToAcknowledge}) u ON true
         JOIN warehouse.orders o ON o.seller_id = s.seller_id AND o.purchase_order_id = u.purchase_order_id
       WHERE ${hasDeadlines('s.marketplace')} AND o.order_date + s.hours < s.until
     )
     SELECT w.seller_id AS "sellerId", w.purchase_order_id AS "purchaseOrderId", w.wants, w.by, count(*) OVER ()::int AS count
     FROM wanted w WHERE NOT EXISTS (SELECT FROM tallyman.commands c WHERE c.seller_id = w.seller_id AND c.purchase_order_id = w.purchase_order_id
       AND ${isOpenCommand('c')} AND c.kind = ANY (w.kinds))
     ORDER BY w.by, w.seller_id, w.purchase_order_id, w.wants LIMIT $3::int`,
    rulesJson(sellers),
    hours,
    max,
  )
  return { orders: rows.map(({ count: _, ...order }) => order), count: rows[0]?.count ?? 0 }
}
