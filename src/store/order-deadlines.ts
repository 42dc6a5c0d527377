import type { SqlRunner } from './database.ts'
import { type DeadlineRules, deadlineRuleOf, deadlineRulesOf, hasDeadlines, isLineToAcknowledge, soon } from './deadlines.ts'

/**
 * What an open order that the seller ships may run up to: its time to ship has passed, or does soon; it is cancelled soon; its time to be
 * acknowledged has passed, or does soon. How soon says {@link soon}.
 */
export const orderDeadlines = ['late', 'shipSoon', 'autoCancelSoon', 'acknowledgeOverdue', 'acknowledgeSoon'] as const

/** One of {@link orderDeadlines}. */
export type OrderDeadline = (typeof orderDeadlines)[number]

/** SQL: the time of the order `o`; one without comes first. Indexed. */
export const orderTime = `coalesce(o.order_date, '-infinity'::timestamptz)`
/** SQL: the time to ship the order `o` by; one without comes last. Indexed. */
export const shipTime = `coalesce(o.estimated_ship_date, 'infinity'::timestamptz)`

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** How far the clock of Postgres may be ahead of ours, in milliseconds. */
const clockSkewMs = 600_000

/** A time of an order from which a deadline is counted. */
interface Counted {
  readonly column: string
  /** The same as its index has it. */
  readonly indexed: string
  /** How long after that time the deadline is, by a seller's rules, in milliseconds; null: there is no such deadline. */
  readonly afterMs: (rule: DeadlineRules) => number | null
  /** The same in SQL. */
  readonly after: (member: (name: keyof DeadlineRules) => string) => string
}

const ship: Counted = {
  column: 'o.estimated_ship_date',
  indexed: shipTime,
  afterMs: () => 0,
  after: () => "interval '0'",
}
const cancel: Counted = {
  column: 'o.estimated_ship_date',
  indexed: shipTime,
  afterMs: ({ cancelsAfterDays }) => (cancelsAfterDays === null ? null : cancelsAfterDays * dayMs),
  after: (member) => `make_interval(days => ${member('cancelsAfterDays')}::int)`,
}
const acknowledge: Counted = {
  column: 'o.order_date',
  indexed: orderTime,
  afterMs: ({ acknowledgeWithinHours }) => acknowledgeWithinHours * hourMs,
  after: (member) => `make_interval(hours => ${member('acknowledgeWithinHours')}::int)`,
}

/** How long from now on a deadline passes, in milliseconds; null: it has passed. */
const deadlines: Readonly<Record<OrderDeadline, { readonly counted: Counted; readonly withinMs: number | null }>> = {
  late: { counted: ship, withinMs: null },
  shipSoon: { counted: ship, withinMs: soon.shipWithinMs },
  autoCancelSoon: { counted: cancel, withinMs: soon.cancelWithinMs },
  acknowledgeOverdue: { counted: acknowledge, withinMs: null },
  acknowledgeSoon: { counted: acknowledge, withinMs: soon.acknowledgeWithinMs },
}

/** SQL: ids of the orders of the seller `s` with units that nobody has acknowledged, whoever ships them. */
export const ordersToAcknowledge = `SELECT DISTINCT l.purchase_order_id FROM warehouse.order_lines l
  WHERE l.seller_id = s.seller_id AND ${isLineToAcknowledge}`

/** Whether it is about orders with units that are not acknowledged. */
export const isOfAcknowledging = (deadline: OrderDeadline): boolean => deadlines[deadline].counted === acknowledge

/**
 * Conditions on the order `o` of a statement. `nowOf`: the marketplace's time of each seller; the database's own counts for the others.
 * `bind` adds a parameter.
 */
export const orderDeadlineConditions = (
  sql: Pick<SqlRunner, 'vocabularyOf'>,
  nowOf: ReadonlyMap<string, Date>,
  bind: (value: unknown, type: string) => string,
) => {
  /** Made when a condition asks: most lists have none of these. */
  let known: { readonly rules: readonly DeadlineRules[]; readonly parameter: string } | null = null
  const rulesNow = () => {
    if (known !== null) return known
    // Those of sellers that are not named stand under no name.
    const rules = [
      ...deadlineRulesOf(sql, nowOf.keys(), (sellerId) => nowOf.get(sellerId) ?? null),
      deadlineRuleOf(sql, null, null),
    ]
    known = { rules, parameter: bind(JSON.stringify(Object.fromEntries(rules.map((rule) => [rule.sellerId, rule]))), 'jsonb') }
    return known
  }
  /** SQL: a member of the rules of the row's seller. */
  const ruleOf = (member: keyof DeadlineRules): string => {
    const { parameter } = rulesNow()
    return `(coalesce(${parameter} -> o.seller_id, ${parameter} -> '') ->> '${member}')`
  }
  const isOurs = (): string => hasDeadlines(ruleOf('fulfilledByMarketplace'))

  return {
    /** The deadlines of an order are the seller's: it is open, and the marketplace still has it and does not ship it. */
    ours: isOurs,
    /** An order runs up to a deadline; one of acknowledging is looked for among {@link ordersToAcknowledge}. */
    of: (deadline: OrderDeadline): readonly string[] => {
      const { counted, withinMs } = deadlines[deadline]
      // Of the index on the time, only what may be due for some seller is read.
      const moments = rulesNow().rules.flatMap((rule) => {
        const afterMs = counted.afterMs(rule)
        return afterMs === null ? [] : [(rule.now?.getTime() ?? Date.now()) - afterMs]
      })
      if (moments.length === 0) return ['false']
      const bound = (ms: number): string => bind(new Date(ms).toISOString(), 'timestamptz')
      const passed = `coalesce(${ruleOf('now')}::timestamptz, now()) - ${counted.after(ruleOf)}`
      const before = `${passed} + make_interval(secs => ${(withinMs ?? 0) / 1_000})`
      const upTo = [
        isOurs(),
        `${counted.column} < ${before}`,
        `${counted.indexed} < ${bound(Math.max(...moments) + (withinMs ?? 0) + clockSkewMs)}`,
      ]
      if (withinMs === null) return upTo
      return [...upTo, `${counted.column} >= ${passed}`, `${counted.indexed} >= ${bound(Math.min(...moments) - clockSkewMs)}`]
    },
  }
}
