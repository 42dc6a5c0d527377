import type { SqlRunner } from './database.ts'
import { type ListPage, pageOf } from './page.ts'

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
  readonly lines: readonly LineSummary[]
  readonly firstSeenAt: Date
  readonly changedAt: Date
}

/** Which orders to list; null: any. */
export interface OrderFilter {
  readonly sellerId: string | null
  /** Some units are neither shipped nor cancelled. */
  readonly open: boolean | null
  readonly sku: string | null
  /** Open, and to be shipped before this moment, by each seller's marketplace clock; the database's own for sellers that are not named. */
  readonly lateAt: ReadonlyMap<string, Date> | null
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

const fromRow = (row: SummaryRow): OrderSummary => ({
  sellerId: row.seller_id,
  purchaseOrderId: row.purchase_order_id,
  customerOrderId: row.customer_order_id,
  orderDate: row.order_date,
  shipNodeType: row.ship_node_type,
  estimatedShipDate: row.estimated_ship_date,
  totalAmount: row.total_amount,
  currency: row.currency,
  open: row.open,
  lines: row.lines ?? [],
  firstSeenAt: row.first_seen_at,
  changedAt: row.changed_at,
})

const selectSummaries = (condition: string, tail: string): string => `
  SELECT o.seller_id, o.purchase_order_id, o.customer_order_id, o.order_date, o.ship_node_type, o.estimated_ship_date,
    o.total_amount::text, o.currency, o.open, o.first_seen_at, o.changed_at,
    (SELECT json_agg(json_build_object('lineNumber', l.line_number, 'sku', l.sku, 'ordered', l.ordered,
        'acknowledged', l.acknowledged, 'shipped', l.shipped, 'cancelled', l.cancelled, 'refunded', l.refunded)
        ORDER BY l.line_index, l.line_number)
      FROM warehouse.order_lines l
      WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id) AS lines
  FROM warehouse.orders o WHERE ${condition} ${tail}`

/** Whether the order is stored. */
export const orderIsStored = async ({ prisma }: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<boolean> => {
  const where = { sellerId_purchaseOrderId: { sellerId, purchaseOrderId } }
  return (await prisma.order.findUnique({ where, select: { sellerId: true } })) !== null
}

/** Orders by seller and purchase order id, after this key. */
export const listOrders = async (
  sql: SqlRunner,
  filter: OrderFilter,
  after: OrderKey | null,
  limit: number,
): Promise<ListPage<OrderSummary, OrderKey>> => {
  const parameters: unknown[] = []
  const bind = (value: unknown): string => `$${parameters.push(value)}`
  const conditions = ['true']
  if (filter.sellerId !== null) conditions.push(`o.seller_id = ${bind(filter.sellerId)}`)
  if (filter.open !== null) conditions.push(filter.open ? 'o.open' : 'NOT o.open')
  if (filter.lateAt !== null) {
    const clocks = Object.fromEntries([...filter.lateAt].map(([sellerId, now]) => [sellerId, now.toISOString()]))
    const now = `COALESCE((${bind(JSON.stringify(clocks))}::jsonb ->> o.seller_id)::timestamptz, now())`
    conditions.push(`o.open AND o.estimated_ship_date < ${now}`)
  }
  if (filter.sku !== null) {
    conditions.push(`(o.seller_id, o.purchase_order_id) IN (
      SELECT l.seller_id, l.purchase_order_id FROM warehouse.order_lines l WHERE l.sku = ${bind(filter.sku)})`)
  }
  if (after !== null) {
    conditions.push(`(o.seller_id, o.purchase_order_id) > (${bind(after.sellerId)}, ${bind(after.purchaseOrderId)})`)
  }
  const tail = `ORDER BY o.seller_id, o.purchase_order_id LIMIT ${bind(limit + 1)}::int`
  const rows = await sql.query<SummaryRow>(selectSummaries(conditions.join(' AND '), tail), ...parameters)
  return pageOf(rows.map(fromRow), limit, ({ sellerId, purchaseOrderId }) => ({ sellerId, purchaseOrderId }))
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
  return row === undefined ? null : fromRow(row)
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
