import type { SqlRunner } from './database.ts'
import {
  isOfAcknowledging,
  type OrderDeadline,
  orderDeadlineConditions,
  ordersToAcknowledge,
  orderTime,
  shipTime,
} from './order-deadlines.ts'
import { type ListPage, type Period, pageOf } from './page.ts'
import { prepared } from './prepared.ts'
import { type SellerFilter, sellersIn } from './seller-filter.ts'
import { leftOutOf } from './sellers.ts'
import { together } from './together.ts'

/** Identity of an order, and its place in lists. */
export interface OrderKey {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** A line as lists show it; counts are units, cumulative: a refunded unit is also shipped, a shipped one also acknowledged. */
export interface LineSummary {
  readonly lineNumber: string
  readonly sku: string | null
  readonly ordered: number
  readonly acknowledged: number
  readonly shipped: number
  readonly cancelled: number
  readonly refunded: number
}

/** An order as lists show it. */
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
  /** By when its units must be acknowledged; null: nothing is left to acknowledge. */
  readonly acknowledgeBy: Date | null
  /** When the marketplace cancels by itself what is not shipped; null: it is not open, or has no ship date. */
  readonly autoCancelAt: Date | null
  readonly lines: readonly LineSummary[]
  readonly firstSeenAt: Date
  readonly changedAt: Date
}

/** Orders of lists: by seller and id, by date, newest first, by the time to ship by, and by the time to acknowledge by: oldest first. */
export const orderSorts = ['-orderDate', 'shipBy', 'acknowledgeBy'] as const

/** One of {@link orderSorts}. */
export type OrderSort = (typeof orderSorts)[number]

/** What has become of an order: nothing of it is open, and some units were shipped, or none was; some units were refunded. */
export const orderOutcomes = ['shipped', 'cancelled', 'refunded'] as const

/** One of {@link orderOutcomes}. */
export type OrderOutcome = (typeof orderOutcomes)[number]

// With `OFFSET 0` Postgres looks the lines of each order up, and does not read those of all orders.
const hasLine = (condition: string): string =>
  `EXISTS (SELECT FROM warehouse.order_lines l
    WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id AND ${condition} OFFSET 0)`

const outcomeConditions: Readonly<Record<OrderOutcome, string>> = {
  shipped: `NOT o.open AND ${hasLine('l.shipped > 0')}`,
  cancelled: `NOT o.open AND NOT ${hasLine('l.shipped > 0')}`,
  refunded: hasLine('l.refunded > 0'),
}

/** Orders from one moment on, by what has become of them. */
export interface OrderStates extends Readonly<Record<OrderOutcome, number>> {
  readonly ordered: number
  readonly open: number
}

/** Counts the orders of these sellers that were ordered from this moment on. Reads each of them, and its lines. */
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
    sellersIn(sellers),
    await leftOutOf(sql, sellers),
  )
  return counted ?? { ordered: 0, open: 0, shipped: 0, cancelled: 0, refunded: 0 }
}

/** Place of an order in a list; `at` is the time by which it is sorted: ISO 8601, or `infinity`, or `-infinity`. */
export interface OrderPlace extends OrderKey {
  readonly at: string | null
}

/** Which orders to list; null: any. */
export interface OrderFilter {
  readonly sellerId: SellerFilter
  /** The purchase order, the customer order, or with a line of this SKU or a parcel of this tracking number. */
  readonly q: string | null
  readonly purchaseOrderId: string | null
  readonly customerOrderId: string | null
  /** Some line has it. */
  readonly sku: string | null
  /** Some status of a line has it. */
  readonly trackingNumber: string | null
  /** Some units are neither shipped nor cancelled. */
  readonly open: boolean | null
  readonly outcome: OrderOutcome | null
  /** The marketplace's time of each seller; the database's own counts for sellers that are not named. */
  readonly nowOf: ReadonlyMap<string, Date>
  /** Only those that run up to one of these deadlines. */
  readonly due: readonly OrderDeadline[]
  readonly shipNodeType: string | null
  /** Open: whether the seller ships it, and the marketplace still has it. */
  readonly fulfilledBySeller: boolean | null
  /** Open: whether the seller ships it, and some of its units are not acknowledged. */
  readonly unacknowledged: boolean | null
  /** Of the buyer's address, whatever its case. */
  readonly city: string | null
  /** The order's date. */
  readonly created: Period
  /** The estimated ship date. */
  readonly shipBy: Period
  /** By seller and purchase order id, if null. */
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

const after = (moment: Date | null, hours: number): Date | null =>
  moment === null ? null : new Date(moment.getTime() + hours * hourMs)

const fromRow = ({ vocabularyOf }: Pick<SqlRunner, 'vocabularyOf'>, row: SummaryRow): OrderSummary => {
  const lines = row.lines ?? []
  const { acknowledgeWithinHours, cancelsAfterDays, shipNodes } = vocabularyOf(row.seller_id)
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
    acknowledgeBy: isUnacknowledged ? after(row.order_date, acknowledgeWithinHours) : null,
    autoCancelAt: isDue && cancelsAfterDays !== null ? after(row.estimated_ship_date, cancelsAfterDays * 24) : null,
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

const areStored = together(async (sql: SqlRunner, keys: readonly OrderKey[]) => {
  const rows = await sql.query<{ place: number }>(
    selectStored,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const stored = new Set(rows.map(({ place }) => place))
  return keys.map((_, index) => stored.has(index + 1))
})

/** Whether the order is stored. */
export const orderIsStored = (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<boolean> =>
  areStored(sql, { sellerId, purchaseOrderId })

/** What an order is sorted by, in SQL; orders without the time come last. There is an index on each. */
const sortTimes: Readonly<Record<OrderSort, { readonly time: string; readonly descending: boolean }>> = {
  '-orderDate': { time: orderTime, descending: true },
  shipBy: { time: shipTime, descending: false },
  acknowledgeBy: { time: orderTime, descending: false },
}

// Every index on an id begins with the seller, so an id is looked up for each of them; they are found one after the other by the primary key.
/** SQL: every seller with orders, as `seller_id`. */
export const allSellers = `
  WITH RECURSIVE known AS (
    (SELECT seller_id FROM warehouse.orders ORDER BY seller_id LIMIT 1)
    UNION ALL
    SELECT (SELECT o.seller_id FROM warehouse.orders o WHERE o.seller_id > k.seller_id ORDER BY o.seller_id LIMIT 1)
    FROM known k WHERE k.seller_id IS NOT NULL
  ) SELECT seller_id FROM known WHERE seller_id IS NOT NULL`

// Postgres takes the lines that are not acknowledged for many, and would read every open order instead of these.
/** SQL: the orders `o` of these keys, looked up one by one. */
const foundFirst = (keys: string): string => `(${keys}) k CROSS JOIN LATERAL (
  SELECT * FROM warehouse.orders w WHERE w.seller_id = k.seller_id AND w.purchase_order_id = k.purchase_order_id OFFSET 0) o`

const lookUps = {
  purchaseOrderId: (value: string) =>
    `SELECT purchase_order_id FROM warehouse.orders WHERE seller_id = s.seller_id AND purchase_order_id = ${value}`,
  trackingNumber: (value: string) =>
    `SELECT purchase_order_id FROM warehouse.order_line_statuses WHERE seller_id = s.seller_id AND tracking_number = ${value}`,
  customerOrderId: (value: string) =>
    `SELECT purchase_order_id FROM warehouse.orders WHERE seller_id = s.seller_id AND customer_order_id = ${value}`,
  sku: (value: string) => `SELECT purchase_order_id FROM warehouse.order_lines WHERE seller_id = s.seller_id AND sku = ${value}`,
}

/** Orders, after this place. */
export const listOrders = async (
  sql: SqlRunner,
  filter: OrderFilter,
  after: OrderPlace | null,
  limit: number,
): Promise<ListPage<OrderSummary, OrderPlace>> => {
  const parameters: unknown[] = []
  const bind = (value: unknown, type: string): string => `$${parameters.push(value)}::${type}`
  const conditions = ['true']
  const asked = sellersIn(filter.sellerId)
  // A parameter that no part of the statement names would be refused.
  const sellers = (): string => (asked === null ? allSellers : `SELECT unnest(${bind(asked, 'text[]')}) AS seller_id`)
  if (typeof filter.sellerId === 'string') conditions.push(`o.seller_id = ${bind(filter.sellerId, 'text')}`)
  else if (asked !== null) conditions.push(`o.seller_id = ANY(${bind(asked, 'text[]')})`)
  const keysOf = (searches: readonly string[]): string => `
    SELECT s.seller_id, f.purchase_order_id FROM (${sellers()}) s CROSS JOIN LATERAL (${searches.join(' UNION ')} OFFSET 0) f`
  const found = (searches: readonly string[]): string => `(o.seller_id, o.purchase_order_id) IN (${keysOf(searches)})`
  for (const name of ['purchaseOrderId', 'trackingNumber', 'customerOrderId', 'sku'] as const) {
    const value = filter[name]
    if (value !== null) conditions.push(found([lookUps[name](bind(value, 'text'))]))
  }
  if (filter.q !== null) {
    const value = bind(filter.q, 'text')
    conditions.push(found(Object.values(lookUps).map((lookUp) => lookUp(value))))
  }
  // What is to be done; all of these are of open orders.
  const { due, unacknowledged, fulfilledBySeller } = filter
  if (filter.open === true || due.length > 0 || unacknowledged !== null || fulfilledBySeller !== null) {
    const leftOut = await leftOutOf(sql, filter.sellerId)
    if (leftOut.length > 0) conditions.push(`o.seller_id <> ALL(${bind(leftOut, 'text[]')})`)
  }
  if (filter.open !== null) conditions.push(filter.open ? 'o.open' : 'NOT o.open')
  if (filter.outcome !== null) conditions.push(outcomeConditions[filter.outcome])
  const deadlines = orderDeadlineConditions(sql, filter.nowOf, bind)
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
  const columns = [...(sort === null ? [] : [sort.time]), 'o.seller_id', 'o.purchase_order_id']
  if (after !== null) {
    const values = [
      ...(sort === null ? [] : [bind(after.at, 'timestamptz')]),
      bind(after.sellerId, 'text'),
      bind(after.purchaseOrderId, 'text'),
    ]
    conditions.push(`(${columns.join(', ')}) ${sort?.descending === true ? '<' : '>'} (${values.join(', ')})`)
  }
  const direction = sort?.descending === true ? ' DESC' : ''
  // What these find is sorted: it may all lie at the end of an index on the time, which would be read from its beginning.
  const isOfFew = filter.unacknowledged === true || filter.due.some(isOfAcknowledging)
  const isSorted = filter.city !== null || isOfFew
  const order = sort === null || !isSorted ? columns : [`${sort.time} + interval '0'`, ...columns.slice(1)]
  const tail = `ORDER BY ${order.map((column) => `${column}${direction}`).join(', ')} LIMIT ${bind(limit + 1, 'int')}`
  const at =
    sort === null
      ? 'NULL AS at'
      : `CASE WHEN isfinite(${sort.time}) THEN to_char(${sort.time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') ELSE (${sort.time})::text END AS at`
  const rows = await sql.query<SummaryRow & { readonly at: string | null }>(
    selectSummaries(conditions.join(' AND '), tail, `, ${at}`, isOfFew ? foundFirst(keysOf([ordersToAcknowledge])) : undefined),
    ...parameters,
  )
  const page = pageOf(rows, limit, (row) => ({ at: row.at, sellerId: row.seller_id, purchaseOrderId: row.purchase_order_id }))
  return { items: page.items.map((row) => fromRow(sql, row)), next: page.next }
}

/** Sellers that have an order by this id; ids are the marketplace's, and each seller sees its own. */
export const sellersOfOrder = async ({ prisma }: SqlRunner, purchaseOrderId: string): Promise<readonly string[]> => {
  const rows = await prisma.order.findMany({
    where: { purchaseOrderId },
    orderBy: { sellerId: 'asc' },
    select: { sellerId: true },
  })
  return rows.map((row) => row.sellerId)
}

/** The summary of one order, or null. */
export const readOrderSummary = async (sql: SqlRunner, key: OrderKey): Promise<OrderSummary | null> => {
  const [row] = await sql.query<SummaryRow>(
    selectSummaries('o.seller_id = $1 AND o.purchase_order_id = $2', ''),
    key.sellerId,
    key.purchaseOrderId,
  )
  return row === undefined ? null : fromRow(sql, row)
}

/** One version of an order as the marketplace sent it; `lastSeenAt` is null for the current one. */
export interface OrderVersion {
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date | null
  readonly raw: unknown
}

/** The newest versions of an order, oldest first, the current one last. */
export const readOrderVersions = async (sql: SqlRunner, key: OrderKey, limit: number): Promise<readonly OrderVersion[]> => {
  const rows = await sql.query<{ first_seen_at: Date; last_seen_at: Date | null; raw: unknown }>(
    `SELECT changed_at AS first_seen_at, NULL::timestamptz AS last_seen_at, raw FROM warehouse.orders
       WHERE seller_id = $1 AND purchase_order_id = $2
     UNION ALL
     SELECT first_seen_at, last_seen_at, raw FROM tallyman.superseded_versions
       WHERE seller_id = $1 AND resource = 'orders' AND record_key = $2
     ORDER BY last_seen_at DESC NULLS FIRST, first_seen_at DESC LIMIT $3::int`,
    key.sellerId,
    key.purchaseOrderId,
    limit,
  )
  return rows.map((row) => ({ firstSeenAt: row.first_seen_at, lastSeenAt: row.last_seen_at, raw: row.raw })).reverse()
}
