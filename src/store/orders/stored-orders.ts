import type { Charge, LineRefund, LineStatus, OrderLine, PurchaseOrder, Shipment } from '../../domain/orders/order.ts'
import { keepShipments, shownShipments } from '../../domain/orders/shipments.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import type { ReadRow } from '../versioned/versions.ts'

interface OrderRow {
  readonly row_version: string
  readonly purchase_order_id: string
  readonly customer_order_id: string | null
  readonly order_date: Date | null
  readonly order_type: string | null
  readonly ship_node_type: string | null
  readonly method_code: string | null
  readonly estimated_ship_date: Date | null
  readonly estimated_delivery_date: Date | null
  readonly customer_name: string | null
  readonly customer_email: string | null
  readonly customer_phone: string | null
  readonly shipping_address: Readonly<Record<string, unknown>> | null
  readonly total_amount: string | null
  readonly currency: string | null
  readonly lines: readonly LineRow[] | null
}

interface LineRow
  extends Omit<OrderLine, 'units' | 'statuses' | 'shipments' | 'charges' | 'statusDate' | 'refundReasons' | 'refunds'> {
  readonly acknowledged: number
  readonly shipped: number
  readonly cancelled: number
  readonly refunded: number
  readonly charges: readonly Charge[]
  readonly refundReasons: readonly string[]
  readonly refunds: readonly RefundRow[]
  readonly statusDate: string | null
  readonly statuses: readonly StatusRow[] | null
  readonly shipments: readonly ShipmentRow[] | null
}

interface StatusRow extends Omit<LineStatus, 'shippedAt'> {
  readonly shippedAt: string | null
}

interface ShipmentRow extends Omit<Shipment, 'shippedAt' | 'deliveredAt'> {
  readonly shippedAt: string | null
  readonly deliveredAt: string | null
}

interface RefundRow extends Omit<LineRefund, 'refundedAt'> {
  readonly refundedAt: string | null
}

/** SQL: the version of the row `o`. It changes with each write of the order, and of its lines, which are only written with the order. */
export const rowVersion = `o.xmin::text || ' ' || o.ctid::text AS row_version`

const orderColumns = `${rowVersion}, o.purchase_order_id, o.customer_order_id, o.order_date, o.order_type, o.ship_node_type, o.method_code,
    o.estimated_ship_date, o.estimated_delivery_date, o.customer_name, o.customer_email, o.customer_phone,
    o.shipping_address, o.total_amount::text, o.currency,
    (SELECT json_agg(json_build_object(
        'lineNumber', l.line_number, 'sku', l.sku, 'productName', l.product_name, 'unitOfMeasure', l.unit_of_measure,
        'ordered', l.ordered, 'acknowledged', l.acknowledged, 'shipped', l.shipped, 'cancelled', l.cancelled,
        'refunded', l.refunded, 'refundedAmount', l.refunded_amount::text, 'currency', l.currency, 'charges', l.charges,
        'refundReasons', l.refund_reasons, 'refunds', l.refunds, 'intentToCancel', l.intent_to_cancel, 'statusDate', l.status_date,
        'statuses', (SELECT json_agg(json_build_object(
            'status', s.status, 'quantity', s.quantity, 'cancellationReason', s.cancellation_reason, 'carrier', s.carrier,
            'methodCode', s.method_code, 'trackingNumber', s.tracking_number, 'trackingUrl', s.tracking_url,
            'shippedAt', s.shipped_at) ORDER BY s.position)
          FROM warehouse.order_line_statuses s
          WHERE s.seller_id = l.seller_id AND s.purchase_order_id = l.purchase_order_id AND s.line_number = l.line_number),
        'shipments', (SELECT json_agg(json_build_object(
            'carrier', p.carrier, 'methodCode', p.method_code, 'trackingNumber', p.tracking_number, 'trackingUrl', p.tracking_url,
            'shippedAt', p.shipped_at, 'quantity', p.quantity, 'shownQuantity', p.shown_quantity,
            'deliveredQuantity', p.delivered_quantity, 'deliveredAt', p.delivered_at) ORDER BY p.position)
          FROM warehouse.shipments p
          WHERE p.seller_id = l.seller_id AND p.purchase_order_id = l.purchase_order_id AND p.line_number = l.line_number))
        ORDER BY l.line_index, l.line_number)
      FROM warehouse.order_lines l
      WHERE l.seller_id = o.seller_id AND l.purchase_order_id = o.purchase_order_id) AS lines`

const selectOrders = prepared(
  `SELECT ${orderColumns} FROM warehouse.orders o WHERE o.seller_id = $1 AND o.purchase_order_id = ANY($2::text[])`,
)

// OFFSET 0 forces one lookup for each order, also without statistics of the table.
const selectOrdersOfSellers = prepared(
  `SELECT k.place::int AS place, o.* FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
   CROSS JOIN LATERAL (SELECT ${orderColumns} FROM warehouse.orders o
     WHERE o.seller_id = k.seller_id AND o.purchase_order_id = k.purchase_order_id OFFSET 0) o`,
)

const toDate = (text: string | null): Date | null => (text === null ? null : new Date(text))

const withDate = <Row extends { readonly shippedAt: string | null }>(rows: readonly Row[] | null) =>
  (rows ?? []).map((row) => ({ ...row, shippedAt: toDate(row.shippedAt) }))

const toLine = ({ acknowledged, shipped, cancelled, refunded, ...line }: LineRow): OrderLine => {
  const statuses = withDate(line.statuses)
  return {
    ...line,
    units: { acknowledged, shipped, cancelled, refunded },
    statusDate: toDate(line.statusDate),
    statuses,
    // A process of an earlier version, which may run concurrently, writes only the statuses.
    shipments: keepShipments(
      withDate(line.shipments).map((parcel) => ({ ...parcel, deliveredAt: toDate(parcel.deliveredAt) })),
      shownShipments(statuses),
    ),
    refunds: line.refunds.map((refund) => ({ ...refund, refundedAt: toDate(refund.refundedAt) })),
  }
}

const toOrder = (row: OrderRow): PurchaseOrder => ({
  purchaseOrderId: row.purchase_order_id,
  customerOrderId: row.customer_order_id,
  orderDate: row.order_date,
  orderType: row.order_type,
  shipNodeType: row.ship_node_type,
  methodCode: row.method_code,
  estimatedShipDate: row.estimated_ship_date,
  estimatedDeliveryDate: row.estimated_delivery_date,
  customerName: row.customer_name,
  customerEmail: row.customer_email,
  customerPhone: row.customer_phone,
  shippingAddress: row.shipping_address,
  totalAmount: row.total_amount,
  currency: row.currency,
  lines: (row.lines ?? []).map(toLine),
})

/** The stored ones of these orders, by id. */
export const readOrders = async (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderIds: readonly string[],
): Promise<Map<string, PurchaseOrder>> => {
  const rows = await sql.query<OrderRow>(selectOrders, sellerId, purchaseOrderIds)
  return new Map(rows.map((row) => [row.purchase_order_id, toOrder(row)]))
}

interface OrderKey {
  readonly sellerId: string
  readonly purchaseOrderId: string
}

/** These orders, by one statement, each with the version of its row; null: it is not stored. */
export const readOrdersInRows = async (
  sql: SqlRunner,
  keys: readonly OrderKey[],
): Promise<readonly (ReadRow<PurchaseOrder> | null)[]> => {
  const rows = await sql.query<OrderRow & { readonly place: number }>(
    selectOrdersOfSellers,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const found = new Map(rows.map((row) => [row.place, row]))
  return keys.map((_, index) => {
    const row = found.get(index + 1)
    return row === undefined ? null : { value: toOrder(row), rowVersion: row.row_version }
  })
}
const readEach = batchQuery(readOrdersInRows)

/** A stored order and the version of its row; null: it is not stored. */
export const readOrderInRow = (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
): Promise<ReadRow<PurchaseOrder> | null> => readEach(sql, { sellerId, purchaseOrderId })

/**
 * A stored order: charges as first seen, lines in the marketplace's order, without the marketplace's JSON, which would be most of the work. Null: it is
 * not stored.
 */
export const readOrder = async (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<PurchaseOrder | null> =>
  (await readOrderInRow(sql, sellerId, purchaseOrderId))?.value ?? null
