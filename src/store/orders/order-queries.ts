import type { PurchaseOrder } from '../../domain/orders/order.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage, type Period } from '../db/page.ts'
import { prepared } from '../db/prepared-statements.ts'
import { beginsWith, endsWith, reversedText, typedText } from '../db/typed-text.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { listExcludedSellers } from '../sellers/sellers.ts'
import { type DeadlineRules, listDeadlineRules } from './deadlines.ts'
import {
  buildDeadlineConditions,
  concernsAcknowledgement,
  type OrderDeadline,
  ordersToAcknowledge,
  orderTime,
  shipTime,
} from './order-deadlines.ts'

/** Identity of an order. */
export interface OrderKey {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** A line in lists. Counts are cumulative units: a refunded unit is also shipped, a shipped one also acknowledged. */
export interface LineSummary {
  readonly lineNumber: string
  readonly sku: string | null
  readonly ordered: number
  readonly acknowledged: number
  readonly shipped: number
  readonly cancelled: number
  readonly refunded: number
}

/** An order in lists. */
export interface OrderSummary extends OrderKey {
  readonly customerOrderId: string | null
  readonly orderDate: Date | null
  readonly shipNodeType: string | null
  readonly estimatedShipDate: Date | null
  readonly totalAmount: string | null
  readonly currency: string | null
  readonly open: boolean
  /** The seller ships it, not the marketplace. */
  readonly fulfilledBySeller: boolean
  /** By when its units must be acknowledged; null: all are acknowledged. */
  readonly acknowledgeBy: Date | null
  /** When the marketplace cancels its unshipped units; null: it is not open, or has no ship date. */
  readonly autoCancelAt: Date | null
  readonly lines: readonly LineSummary[]
  readonly firstSeenAt: Date
  readonly changedAt: Date
}

/** Sort orders of lists: by date, newest first; by ship-by time and by acknowledge-by time, earliest first. */
export const orderSorts = ['-orderDate', 'shipBy', 'acknowledgeBy'] as const

/** One of {@link orderSorts}. */
export type OrderSort = (typeof orderSorts)[number]

/** Outcomes of an order: closed with shipped units; closed without shipped units; with refunded units. */
export const orderOutcomes = ['shipped', 'cancelled', 'refunded'] as const

/** One of {@link orderOutcomes}. */
export type OrderOutcome = (typeof orderOutcomes)[number]

// `OFFSET 0` makes Postgres look up the lines of each order instead of reading those of all orders.
const hasLine = (condition: string): string =>
  `EXISTS (SELECT FROM warehouse.order_lines l
    WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id AND ${condition} OFFSET 0)`

const outcomeConditions: Readonly<Record<OrderOutcome, string>> = {
  shipped: `NOT o.open AND ${hasLine('l.shipped > 0')}`,
  cancelled: `NOT o.open AND NOT ${hasLine('l.shipped > 0')}`,
  refunded: hasLine('l.refunded > 0'),
}

/** Numbers of orders by outcome. */
export interface OrderStates extends Readonly<Record<OrderOutcome, number>> {
  readonly ordered: number
  readonly open: number
}

/** Counts the orders of these sellers since `from`. Reads each of them, and its lines. */
export const readOrderStates = async (sql: SqlRunner, from: Date, sellers: SellerFilter = null): Promise<OrderStates> => {
  const [counted] = await sql.query<OrderStates>(
    `SELECT count(*)::int AS ordered, (count(*) FILTER (WHERE o.open AND o.seller_id <> ALL ($3::text[])))::int AS open,
       (count(*) FILTER (WHERE NOT o.open AND l.shipped))::int AS shipped, (count(*) FILTER (WHERE NOT o.open AND NOT l.shipped))::int AS cancelled,
       (count(*) FILTER (WHERE l.refunded))::int AS refunded
     FROM warehouse.orders o CROSS JOIN LATERAL (
       SELECT coalesce(bool_or(l.shipped > 0), false) AS shipped, coalesce(bool_or(l.refunded > 0), false) AS refunded
       FROM warehouse.order_lines l WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id) l
     WHERE ${orderTime} >= $1::timestamptz AND ($2::text[] IS NULL OR o.seller_id = ANY ($2::text[]))`,
    from.toISOString(),
    toSellerIds(sellers),
    await listExcludedSellers(sql, sellers),
  )
  return counted ?? { ordered: 0, open: 0, shipped: 0, cancelled: 0, refunded: 0 }
}

/** The position of an order in a list. */
export interface OrderPlace extends OrderKey {
  /** Its sort time: ISO 8601, or `infinity`, or `-infinity`. */
  readonly at: string | null
  /** How `q` found it: 0 by a whole id, 1 by a prefix, 2 by the end of its id. Null: there is no `q`. */
  readonly rank: number | null
}

/** Which orders to list; null: any. */
export interface OrderFilter {
  readonly sellerId: SellerFilter
  /**
   * A prefix of the id of the purchase order or the customer order, the SKU of a line or the tracking number of a parcel, case-insensitive. Orders with
   * the whole value come first, and are all found; of the others at most {@link maxByPrefix}. Last those whose id, or that of the customer order, ends
   * with at least four characters, as many at most.
   */
  readonly q: string | null
  readonly purchaseOrderId: string | null
  readonly customerOrderId: string | null
  /** A line has it. */
  readonly sku: string | null
  /** A parcel of a line has it, or had it. */
  readonly trackingNumber: string | null
  /** Some units are neither shipped nor cancelled. */
  readonly open: boolean | null
  readonly outcome: OrderOutcome | null
  /** The marketplace's time by seller; default: the database's time. */
  readonly findNow: ReadonlyMap<string, Date>
  /** Only orders near all of these deadlines. */
  readonly due: readonly OrderDeadline[]
  readonly shipNodeType: string | null
  /** Open: whether the seller ships it, and the marketplace still has it. */
  readonly fulfilledBySeller: boolean | null
  /** Open: whether the seller ships it, and some of its units are not acknowledged. */
  readonly unacknowledged: boolean | null
  /** The city of the buyer's address, case-insensitive. */
  readonly city: string | null
  /** The order's date. */
  readonly created: Period
  /** The estimated ship date. */
  readonly shipBy: Period
  /** Null: by seller and purchase order id. */
  readonly sort: OrderSort | null
}

interface SummaryRow {
  readonly seller_id: string
  readonly purchase_order_id: string
  readonly customer_order_id: string | null
  readonly order_date: Date | null
  readonly ship_node_type: string | null
  readonly estimated_ship_date: Date | null
  readonly total_amount: string | null
  readonly currency: string | null
  readonly open: boolean
  readonly lines: readonly LineSummary[] | null
  readonly first_seen_at: Date
  readonly changed_at: Date
}

const hourMs = 3_600_000

const addHours = (time: Date | null, hours: number): Date | null =>
  time === null ? null : new Date(time.getTime() + hours * hourMs)

const fromRow = ({ findVocabulary }: Pick<SqlRunner, 'findVocabulary'>, row: SummaryRow): OrderSummary => {
  const lines = row.lines ?? []
  const { acknowledgeWithinHours, cancelsAfterDays, shipNodes } = findVocabulary(row.seller_id)
  const isDue = row.open && row.ship_node_type !== shipNodes.marketplace
  const isUnacknowledged =
    isDue && lines.some((line) => Math.max(line.acknowledged, line.shipped) + line.cancelled < line.ordered)
  return {
    sellerId: row.seller_id,
    purchaseOrderId: row.purchase_order_id,
    customerOrderId: row.customer_order_id,
    orderDate: row.order_date,
    shipNodeType: row.ship_node_type,
    estimatedShipDate: row.estimated_ship_date,
    totalAmount: row.total_amount,
    currency: row.currency,
    open: row.open,
    fulfilledBySeller: row.ship_node_type !== shipNodes.marketplace,
    acknowledgeBy: isUnacknowledged ? addHours(row.order_date, acknowledgeWithinHours) : null,
    autoCancelAt: isDue && cancelsAfterDays !== null ? addHours(row.estimated_ship_date, cancelsAfterDays * 24) : null,
    lines,
    firstSeenAt: row.first_seen_at,
    changedAt: row.changed_at,
  }
}

const selectSummaries = (condition: string, tail: string, more = '', from = 'warehouse.orders o'): string => `
  SELECT o.seller_id, o.purchase_order_id, o.customer_order_id, o.order_date, o.ship_node_type, o.estimated_ship_date,
    o.total_amount::text, o.currency, o.open, o.first_seen_at, o.changed_at,
    (SELECT json_agg(json_build_object('lineNumber', l.line_number, 'sku', l.sku, 'ordered', l.ordered,
        'acknowledged', l.acknowledged, 'shipped', l.shipped, 'cancelled', l.cancelled, 'refunded', l.refunded)
        ORDER BY l.line_index, l.line_number)
      FROM warehouse.order_lines l
      WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id) AS lines${more}
  FROM ${from} WHERE ${condition} ${tail}`

const selectStored = prepared(
  `SELECT k.place::int AS place FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
   WHERE EXISTS (SELECT FROM warehouse.orders o WHERE o.seller_id = k.seller_id AND o.purchase_order_id = k.purchase_order_id)`,
)

const areStored = batchQuery(async (sql: SqlRunner, keys: readonly OrderKey[]) => {
  const rows = await sql.query<{ place: number }>(
    selectStored,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const stored = new Set(rows.map(({ place }) => place))
  return keys.map((_, index) => stored.has(index + 1))
})

/** Whether the order is stored. */
export const isOrderStored = (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<boolean> =>
  areStored(sql, { sellerId, purchaseOrderId })

/** SQL of the sort times. Orders without the time sort last. Each has an index. */
const sortTimes: Readonly<Record<OrderSort, { readonly time: string; readonly descending: boolean }>> = {
  '-orderDate': { time: orderTime, descending: true },
  shipBy: { time: shipTime, descending: false },
  acknowledgeBy: { time: orderTime, descending: false },
}

// Every index on an id begins with the seller, so an id is looked up for each seller; the recursion finds the sellers by the primary key.
/** SQL: every seller with orders, as `seller_id`. */
export const allSellers = `
  WITH RECURSIVE known AS (
    (SELECT seller_id FROM warehouse.orders ORDER BY seller_id LIMIT 1)
    UNION ALL
    SELECT (SELECT o.seller_id FROM warehouse.orders o WHERE o.seller_id > k.seller_id ORDER BY o.seller_id LIMIT 1)
    FROM known k WHERE k.seller_id IS NOT NULL
  ) SELECT seller_id FROM known WHERE seller_id IS NOT NULL`

/** The deadline rules of these sellers (null: of all with orders) without the excluded ones. `findNow`: the marketplace's time by seller. */
export const readDeadlineRules = async (
  sql: SqlRunner,
  findNow: ReadonlyMap<string, Date>,
  only: readonly string[] | null,
  excluded: readonly string[],
): Promise<readonly DeadlineRules[]> => {
  const all = only ?? (await sql.query<{ seller_id: string }>(allSellers)).map(({ seller_id }) => seller_id)
  const sellers = all.filter((sellerId) => !excluded.includes(sellerId))
  return listDeadlineRules(sql, sellers, (sellerId) => findNow.get(sellerId) ?? null)
}

// Postgres overestimates the number of unacknowledged lines, and would read every open order.
/** SQL: the orders `o` of these keys, looked up one by one. */
const foundFirst = (keys: string): string => `(${keys}) k CROSS JOIN LATERAL (
  SELECT * FROM warehouse.orders w WHERE w.seller_id = k.seller_id AND w.purchase_order_id = k.purchase_order_id OFFSET 0) o`

/** Maximum number of ids that a search by prefix, and one by the end, reads; an order has several ids. */
const maxByPrefix = 1_000

const searched = {
  purchaseOrderId: { table: 'warehouse.orders', column: 'purchase_order_id' },
  trackingNumber: { table: 'warehouse.shipments', column: 'tracking_number' },
  customerOrderId: { table: 'warehouse.orders', column: 'customer_order_id' },
  sku: { table: 'warehouse.order_lines', column: 'sku' },
} as const

const ofSeller = ({ table }: { readonly table: string }): string =>
  `SELECT purchase_order_id FROM ${table} WHERE seller_id = s.seller_id`

// The index on parcels uses their numbers as a person may type them. A process of an earlier version writes only statuses, no parcels.
const exactly = {
  purchaseOrderId: (value: string) => [`${ofSeller(searched.purchaseOrderId)} AND purchase_order_id = ${value}`],
  trackingNumber: (value: string) => [
    `${ofSeller(searched.trackingNumber)} AND ${typedText('tracking_number')} = ${typedText(value)} AND tracking_number = ${value}`,
    `${ofSeller({ table: 'warehouse.order_line_statuses' })} AND tracking_number = ${value}`,
  ],
  customerOrderId: (value: string) => [`${ofSeller(searched.customerOrderId)} AND customer_order_id = ${value}`],
  sku: (value: string) => [`${ofSeller(searched.sku)} AND sku = ${value}`],
}

/** SQL: the orders of the sellers `s` that a search finds, with their rank (see {@link OrderPlace.rank}). */
export const selectOrdersBySearch = (sellers: string, value: string): string => {
  const columns = Object.values(searched)
  const whole = [
    ...columns.map((column) => `${ofSeller(column)} AND ${typedText(column.column)} = ${typedText(value)}`),
    ...exactly.trackingNumber(value),
  ]
  const prefixed = columns.map(
    (column) =>
      `(${ofSeller(column)} AND ${beginsWith(column.column, value)} AND ${typedText(column.column)} ~>~ ${typedText(value)}
        ORDER BY ${typedText(column.column)} USING ~<~ LIMIT ${maxByPrefix})`,
  )
  const ending = [searched.purchaseOrderId, searched.customerOrderId].map(
    (column) =>
      `(${ofSeller(column)} AND ${endsWith(column.column, value)} ORDER BY ${reversedText(column.column)} USING ~<~ LIMIT ${maxByPrefix})`,
  )
  return `SELECT f.seller_id, f.purchase_order_id, min(f.rank) AS rank FROM (
      SELECT s.seller_id, f.purchase_order_id, 0 AS rank FROM (${sellers}) s CROSS JOIN LATERAL (${whole.join(' UNION ')} OFFSET 0) f
      UNION ALL (SELECT s.seller_id, f.purchase_order_id, 1 FROM (${sellers}) s
        CROSS JOIN LATERAL (${prefixed.join(' UNION ALL ')}) f LIMIT ${maxByPrefix})
      UNION ALL (SELECT s.seller_id, f.purchase_order_id, 2 FROM (${sellers}) s
        CROSS JOIN LATERAL (${ending.join(' UNION ALL ')}) f LIMIT ${maxByPrefix})
    ) f GROUP BY f.seller_id, f.purchase_order_id`
}

/** Orders, after this position. */
export const listOrders = async (
  sql: SqlRunner,
  filter: OrderFilter,
  after: OrderPlace | null,
  limit: number,
): Promise<ListPage<OrderSummary, OrderPlace>> => {
  const parameters: unknown[] = []
  const bind = (value: unknown, type: string): string => `$${parameters.push(value)}::${type}`
  const conditions = ['true']
  const sellerIds = toSellerIds(filter.sellerId)
  // Bound on use: Postgres rejects a parameter that the statement does not use.
  const sellers = (): string => (sellerIds === null ? allSellers : `SELECT unnest(${bind(sellerIds, 'text[]')}) AS seller_id`)
  if (typeof filter.sellerId === 'string') conditions.push(`o.seller_id = ${bind(filter.sellerId, 'text')}`)
  else if (sellerIds !== null) conditions.push(`o.seller_id = ANY(${bind(sellerIds, 'text[]')})`)
  const keysQuery = (searches: readonly string[]): string => `
    SELECT s.seller_id, f.purchase_order_id FROM (${sellers()}) s CROSS JOIN LATERAL (${searches.join(' UNION ')} OFFSET 0) f`
  const found = (searches: readonly string[]): string => `(o.seller_id, o.purchase_order_id) IN (${keysQuery(searches)})`
  for (const name of ['purchaseOrderId', 'trackingNumber', 'customerOrderId', 'sku'] as const) {
    const value = filter[name]
    if (value !== null) conditions.push(found(exactly[name](bind(value, 'text'))))
  }
  // All of these conditions concern open orders.
  const { due, unacknowledged, fulfilledBySeller } = filter
  if (filter.open === true || due.length > 0 || unacknowledged !== null || fulfilledBySeller !== null) {
    const excluded = await listExcludedSellers(sql, filter.sellerId)
    if (excluded.length > 0) conditions.push(`o.seller_id <> ALL(${bind(excluded, 'text[]')})`)
  }
  if (filter.open !== null) conditions.push(filter.open ? 'o.open' : 'NOT o.open')
  if (filter.outcome !== null) conditions.push(outcomeConditions[filter.outcome])
  const deadlines = buildDeadlineConditions(sql, filter.findNow, bind)
  for (const deadline of filter.due) conditions.push(...deadlines.of(deadline))
  if (filter.fulfilledBySeller !== null)
    conditions.push(filter.fulfilledBySeller ? deadlines.ours() : `o.open AND NOT (${deadlines.ours()})`)
  if (filter.unacknowledged !== null)
    conditions.push(
      filter.unacknowledged ? deadlines.ours() : `o.open AND NOT (${deadlines.ours()} AND ${found([ordersToAcknowledge])})`,
    )
  if (filter.city !== null) {
    const city = "(o.shipping_address ->> 'city')"
    conditions.push(`${city} IS NOT NULL AND lower(${city}) = lower(${bind(filter.city, 'text')})`)
  }
  const { from: shipFrom, to: shipTo } = filter.shipBy
  const { time: shipDate } = sortTimes.shipBy
  if (shipFrom !== null)
    conditions.push(`o.estimated_ship_date IS NOT NULL AND ${shipDate} >= ${bind(shipFrom.toISOString(), 'timestamptz')}`)
  if (shipTo !== null) conditions.push(`${shipDate} < ${bind(shipTo.toISOString(), 'timestamptz')}`)
  if (filter.shipNodeType !== null) conditions.push(`o.ship_node_type = ${bind(filter.shipNodeType, 'text')}`)
  const { from, to } = filter.created
  const { time: orderDate } = sortTimes['-orderDate']
  if (from !== null) conditions.push(`${orderDate} >= ${bind(from.toISOString(), 'timestamptz')}`)
  if (to !== null) conditions.push(`o.order_date IS NOT NULL AND ${orderDate} < ${bind(to.toISOString(), 'timestamptz')}`)
  const sort = filter.sort === null ? null : sortTimes[filter.sort]
  const isDescending = sort?.descending === true
  const { q } = filter
  const rank = isDescending ? '-k.rank' : 'k.rank'
  const columns = [...(q === null ? [] : [rank]), ...(sort === null ? [] : [sort.time]), 'o.seller_id', 'o.purchase_order_id']
  if (after !== null) {
    const rankAfter = after.rank ?? 0
    const values = [
      ...(q === null ? [] : [bind(isDescending ? -rankAfter : rankAfter, 'int')]),
      ...(sort === null ? [] : [bind(after.at, 'timestamptz')]),
      bind(after.sellerId, 'text'),
      bind(after.purchaseOrderId, 'text'),
    ]
    conditions.push(`(${columns.join(', ')}) ${isDescending ? '<' : '>'} (${values.join(', ')})`)
  }
  const direction = isDescending ? ' DESC' : ''
  // The few matching orders are sorted: they may all be at the end of the index on the time, which would otherwise be scanned from its beginning.
  const isOfFew = filter.unacknowledged === true || filter.due.some(concernsAcknowledgement)
  const isSorted = filter.city !== null || isOfFew
  const order = columns.map((column) => (isSorted && column === sort?.time ? `${column} + interval '0'` : column))
  if (q !== null && isOfFew) conditions.push(found([ordersToAcknowledge]))
  const keys = q === null ? (isOfFew ? keysQuery([ordersToAcknowledge]) : null) : selectOrdersBySearch(sellers(), bind(q, 'text'))
  const tail = `ORDER BY ${order.map((column) => `${column}${direction}`).join(', ')} LIMIT ${bind(limit + 1, 'int')}`
  const at =
    sort === null
      ? 'NULL AS at'
      : `CASE WHEN isfinite(${sort.time}) THEN to_char(${sort.time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') ELSE (${sort.time})::text END AS at`
  const rows = await sql.query<SummaryRow & Pick<OrderPlace, 'at' | 'rank'>>(
    selectSummaries(
      conditions.join(' AND '),
      tail,
      `, ${at}, ${q === null ? 'NULL' : 'k.rank'} AS rank`,
      keys === null ? undefined : foundFirst(keys),
    ),
    ...parameters,
  )
  const page = buildPage(rows, limit, (row) => ({
    at: row.at,
    rank: row.rank,
    sellerId: row.seller_id,
    purchaseOrderId: row.purchase_order_id,
  }))
  return { items: page.items.map((row) => fromRow(sql, row)), next: page.next }
}

/** Sellers that have an order with this id. */
export const findOrderSellers = async ({ prisma }: SqlRunner, purchaseOrderId: string): Promise<readonly string[]> => {
  const rows = await prisma.order.findMany({
    where: { purchaseOrderId },
    orderBy: { sellerId: 'asc' },
    select: { sellerId: true },
  })
  return rows.map((row) => row.sellerId)
}

/** The summary of one order; null: it is not stored. */
export const readOrderSummary = async (sql: SqlRunner, key: OrderKey): Promise<OrderSummary | null> => {
  const [row] = await sql.query<SummaryRow>(
    selectSummaries('o.seller_id = $1 AND o.purchase_order_id = $2', ''),
    key.sellerId,
    key.purchaseOrderId,
  )
  return row === undefined ? null : fromRow(sql, row)
}

/** The summary of an order that is not read from its row, as of a past time. */
export const summarizeOrder = (
  sql: Pick<SqlRunner, 'findVocabulary'>,
  sellerId: string,
  order: PurchaseOrder,
  { open, firstSeenAt, changedAt }: Pick<OrderSummary, 'open' | 'firstSeenAt' | 'changedAt'>,
): OrderSummary =>
  fromRow(sql, {
    seller_id: sellerId,
    purchase_order_id: order.purchaseOrderId,
    customer_order_id: order.customerOrderId,
    order_date: order.orderDate,
    ship_node_type: order.shipNodeType,
    estimated_ship_date: order.estimatedShipDate,
    total_amount: order.totalAmount,
    currency: order.currency,
    open,
    lines: order.lines.map(({ lineNumber, sku, ordered, units }) => ({ lineNumber, sku, ordered, ...units })),
    first_seen_at: firstSeenAt,
    changed_at: changedAt,
  })
