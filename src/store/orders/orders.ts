import type { LineStatus, OrderLine, PurchaseOrder, Shipment } from '../../domain/orders/order.ts'
import { orderChanges, orderSeen } from '../../domain/orders/order-changes.ts'
import { isOpen, judgeView, mergeOrder } from '../../domain/orders/order-merge.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { HeldOrder, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { withoutErasedOrders } from '../privacy/erased-records.ts'
import { childTable } from '../versioned/child-tables.ts'
import { customerOrder, rawRecord, recordHash, trackingNumber } from '../versioned/table-marks.ts'
import { type LockedRecord, type LockedRow, versionedTable } from '../versioned/versioned-table.ts'
import { type DifferingRecord, type ReadRow, rawHash, type StorableRecord } from '../versioned/versions.ts'
import { readOrderInRow, readOrders, rowVersion } from './stored-orders.ts'

const statuses = childTable<OrderLine, LineStatus>({
  name: 'order_line_statuses',
  personalData: {
    none: `seller_id purchase_order_id line_number position status quantity cancellation_reason carrier method_code shipped_at first_seen_at
      changed_at`,
    reference: { tracking_number: trackingNumber },
    buyer: {
      tracking_url: ['URL at the carrier, which may contain a postal code', 'set to null'],
      raw: rawRecord('the state of a line'),
    },
  },
  columns: [
    'status text',
    'quantity int',
    'cancellation_reason text',
    'carrier text',
    'method_code text',
    'tracking_number text',
    'tracking_url text',
    'shipped_at timestamptz',
  ],
  items: (line) => line.statuses,
  row: (status) => ({
    status: status.status,
    quantity: status.quantity,
    cancellation_reason: status.cancellationReason,
    carrier: status.carrier,
    method_code: status.methodCode,
    tracking_number: status.trackingNumber,
    tracking_url: status.trackingUrl,
    shipped_at: status.shippedAt,
  }),
  raw: (status) => status.raw,
  lasting: ['status', 'tracking_number'],
})

// Without the marketplace's JSON, which most readers do not need.
const shipments = childTable<OrderLine, Shipment>({
  name: 'shipments',
  personalData: {
    none: `seller_id purchase_order_id line_number position quantity shown_quantity delivered_quantity delivered_at carrier method_code shipped_at first_seen_at changed_at`,
    reference: { tracking_number: trackingNumber },
    buyer: { tracking_url: ['URL at the carrier, which may contain a postal code', 'set to null'] },
  },
  columns: [
    'carrier text',
    'method_code text',
    'tracking_number text',
    'tracking_url text',
    'shipped_at timestamptz',
    'quantity int',
    'shown_quantity int',
    'delivered_quantity int',
    'delivered_at timestamptz',
  ],
  items: (line) => line.shipments,
  raw: null,
  row: (shipment) => ({
    carrier: shipment.carrier,
    method_code: shipment.methodCode,
    tracking_number: shipment.trackingNumber,
    tracking_url: shipment.trackingUrl,
    shipped_at: shipment.shippedAt,
    quantity: shipment.quantity,
    shown_quantity: shipment.shownQuantity,
    delivered_quantity: shipment.deliveredQuantity,
    delivered_at: shipment.deliveredAt,
  }),
  lasting: ['carrier', 'tracking_number'],
})

const lines = childTable<PurchaseOrder, OrderLine>({
  name: 'order_lines',
  personalData: {
    none: `seller_id purchase_order_id line_number line_index sku product_name unit_of_measure ordered acknowledged shipped cancelled refunded
      refunded_amount currency charges refund_reasons refunds intent_to_cancel status_date first_seen_at changed_at excess`,
    buyer: { raw: rawRecord('the line') },
  },
  key: { column: 'line_number text', of: (line) => line.lineNumber },
  columns: [
    'line_index int',
    'sku text',
    'product_name text',
    'unit_of_measure text',
    'ordered int',
    'acknowledged int',
    'shipped int',
    'cancelled int',
    'refunded int',
    'refunded_amount numeric',
    'currency text',
    'charges jsonb',
    'refund_reasons jsonb',
    'refunds jsonb',
    'intent_to_cancel boolean',
    'status_date timestamptz',
  ],
  items: (order) => order.lines,
  row: (line, index) => ({
    line_index: index,
    sku: line.sku,
    product_name: line.productName,
    unit_of_measure: line.unitOfMeasure,
    ordered: line.ordered,
    acknowledged: line.units.acknowledged,
    shipped: line.units.shipped,
    cancelled: line.units.cancelled,
    refunded: line.units.refunded,
    refunded_amount: line.refundedAmount,
    currency: line.currency,
    charges: line.charges,
    refund_reasons: line.refundReasons,
    refunds: line.refunds,
    intent_to_cancel: line.intentToCancel,
    status_date: line.statusDate,
  }),
  raw: (line) => line.raw,
  lasting: [],
  children: [statuses, shipments],
})

interface LockedOrder extends LockedRow {
  /** For how long stale views have been received; null: none was. */
  readonly behind_ms: number | null
  readonly row_version: string
}

const markBehind = async (tx: Transaction, sellerId: string, purchaseOrderIds: readonly string[]): Promise<void> => {
  if (purchaseOrderIds.length === 0) return
  await tx.execute(
    `UPDATE warehouse.orders SET behind_since = now() WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[]) AND behind_since IS NULL`,
    sellerId,
    purchaseOrderIds,
  )
}

const orders = versionedTable<PurchaseOrder, PurchaseOrder, LockedOrder>({
  name: 'orders',
  personalData: {
    none: `seller_id purchase_order_id order_date order_type ship_node_type method_code estimated_ship_date estimated_delivery_date
      total_amount currency open observed_at missing_since first_seen_at changed_at behind_since`,
    reference: { customer_order_id: customerOrder, raw_hash: recordHash },
    buyer: {
      customer_name: ['name', 'set to null'],
      customer_email: ['e-mail address', 'set to null'],
      customer_phone: ['telephone number', 'set to null'],
      shipping_address: ['postal address', 'set to null'],
      raw: rawRecord('the order'),
    },
  },
  resource: 'orders',
  key: ['purchase_order_id text'],
  columns: [
    'customer_order_id text',
    'order_date timestamptz',
    'order_type text',
    'ship_node_type text',
    'method_code text',
    'estimated_ship_date timestamptz',
    'estimated_delivery_date timestamptz',
    'customer_name text',
    'customer_email text',
    'customer_phone text',
    'shipping_address jsonb',
    'total_amount numeric',
    'currency text',
    'open boolean',
  ],
  row: (order) => ({
    customer_order_id: order.customerOrderId,
    order_date: order.orderDate,
    order_type: order.orderType,
    ship_node_type: order.shipNodeType,
    method_code: order.methodCode,
    estimated_ship_date: order.estimatedShipDate,
    estimated_delivery_date: order.estimatedDeliveryDate,
    customer_name: order.customerName,
    customer_email: order.customerEmail,
    customer_phone: order.customerPhone,
    shipping_address: order.shippingAddress,
    total_amount: order.totalAmount,
    currency: order.currency,
    open: isOpen(order),
  }),
  marks: ['missing_since', 'behind_since'],
  children: { whole: (order) => order.raw, tables: [lines] },
  preparesSmallWrites: true,
  withoutErased: withoutErasedOrders,
  locked: `(extract(epoch FROM now() - o.behind_since) * 1000)::float8 AS behind_ms, ${rowVersion}`,
  before: async (tx, sellerId, differing) => {
    const asRead = differing.flatMap(({ record: { key, lastRead }, row }) =>
      lastRead?.rowVersion === row.row_version ? [[key, lastRead.value] as const] : [],
    )
    const before = new Map(asRead)
    const others = differing.map(({ row }) => row.key).filter((key) => !before.has(key))
    // A separate statement, because one that waited for the locks would see the lines from before the wait.
    if (others.length > 0) for (const [key, order] of await readOrders(tx, sellerId, others)) before.set(key, order)
    return before
  },
  choose: async (tx, sellerId, observedAt, views) => {
    const judged = views.map((view) => {
      const { record, row, before } = view
      const stored = { order: before, observedAt: row.observed_at, behindMs: row.behind_ms }
      return { view, verdict: judgeView(stored, record.value, record.observedAt ?? observedAt) }
    })
    const behind = judged.filter(({ verdict }) => verdict === 'behind')
    await markBehind(
      tx,
      sellerId,
      behind.map(({ view }) => view.record.key),
    )
    return judged.filter(({ verdict }) => verdict === 'write').map(({ view }) => view)
  },
  merge: mergeOrder,
  changes: (sellerId, order, before) =>
    (before === null ? [orderSeen(order)] : orderChanges(before, order)).map((change) => ({ sellerId, ...change })),
})

/** The records of a page whose text differs from the stored one, or that are marked as missing or behind. Reads only. */
export const { findDiffering: findDifferingOrders } = orders

/** The result of storing orders. */
export interface StoredOrders {
  /** The number of written orders. */
  readonly changed: number
  /** Those of them that were not stored before. */
  readonly fresh: readonly PurchaseOrder[]
}

/**
 * Stores records that {@link findDifferingOrders} found, and records their changes. A view that shows less progress than the stored order never
 * overwrites it, and a view that shows more always does, whenever it was observed.
 */
export const storeDifferingOrders = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<PurchaseOrder>[],
): Promise<StoredOrders> => {
  const written = await orders.write(tx, sellerId, observedAt, records)
  return { changed: written.length, fresh: written.filter(({ before }) => before === null).map(({ value }) => value) }
}

const holds = ({ held }: Transaction, sellerId: string, purchaseOrderId: string): boolean =>
  held !== undefined && held.sellerId === sellerId && held.purchaseOrderId === purchaseOrderId

/** Stores different orders whose rows are locked. */
const storeHeld = batchQuery(
  async (tx: Transaction, records: readonly LockedRecord<PurchaseOrder>[]): Promise<readonly StoredOrders[]> => {
    const name = ({ sellerId, key }: LockedRecord<PurchaseOrder>): string => JSON.stringify([sellerId, key])
    const written = new Set((await orders.writeLocked(tx, records)).map(name))
    return records.map((record) => ({ changed: written.has(name(record)) ? 1 : 0, fresh: [] }))
  },
)

/**
 * Stores one order in an open transaction, by the same rules; for responses of commands and read-backs. `lastRead`: the last read result, which avoids
 * another read if the row is unchanged.
 */
export const storeOrder = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  record: StorableRecord<PurchaseOrder>,
  lastRead: ReadRow<PurchaseOrder> | null = null,
): Promise<StoredOrders> => {
  // A locked row exists, and its hash is compared under the lock.
  if (holds(tx, sellerId, record.key)) {
    return storeHeld(tx, { ...record, sellerId, observedAt, hash: rawHash(record.rawText), known: true, lastRead })
  }
  return storeDifferingOrders(tx, sellerId, observedAt, await findDifferingOrders(tx, sellerId, [record]))
}

const lockOne = prepared(
  'SELECT purchase_order_id FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = $2 FOR UPDATE',
)

/**
 * Locks an order's row until the transaction ends, and reads the order; null: it is not stored. Every transaction that reserves, sends or stores units of
 * an order holds this lock.
 */
export const lockOrder = async (
  tx: Transaction,
  sellerId: string,
  purchaseOrderId: string,
): Promise<ReadRow<PurchaseOrder> | null> => {
  const locked = holds(tx, sellerId, purchaseOrderId) || (await tx.query(lockOne, sellerId, purchaseOrderId)).length > 0
  // A separate statement, because one that waited for the lock would see the lines from before the wait.
  return locked ? readOrderInRow(tx, sellerId, purchaseOrderId) : null
}

const lockMany = prepared(
  `SELECT o.seller_id AS "sellerId", o.purchase_order_id AS "purchaseOrderId" FROM unnest($1::text[], $2::text[]) AS k(seller_id, purchase_order_id)
   CROSS JOIN LATERAL (SELECT * FROM warehouse.orders o
     WHERE o.seller_id = k.seller_id AND o.purchase_order_id = k.purchase_order_id FOR UPDATE) o`,
)

/** Locks the rows of orders until the transaction ends, in the given order; returns those that are stored. */
export const lockOrders = async (tx: Transaction, keys: readonly HeldOrder[]): Promise<readonly HeldOrder[]> =>
  keys.length === 0
    ? []
    : tx.query<HeldOrder>(
        lockMany,
        keys.map(({ sellerId }) => sellerId),
        keys.map(({ purchaseOrderId }) => purchaseOrderId),
      )

/** Marks orders that the marketplace does not have, and records the changes. Orders are never deleted. Returns the number of newly marked ones. */
export const markMissingOrders = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  purchaseOrderIds: readonly string[],
): Promise<number> => {
  if (purchaseOrderIds.length === 0) return 0
  const rows = await tx.query<{ purchase_order_id: string }>(
    `UPDATE warehouse.orders SET missing_since = now()
     WHERE (seller_id, purchase_order_id) IN (
       SELECT seller_id, purchase_order_id FROM warehouse.orders
       WHERE seller_id = $1 AND purchase_order_id = ANY($2::text[]) AND missing_since IS NULL AND observed_at <= $3::timestamptz
       ORDER BY purchase_order_id FOR UPDATE)
     RETURNING purchase_order_id`,
    sellerId,
    purchaseOrderIds,
    observedAt.toISOString(),
  )
  for (const row of rows) {
    tx.record({ sellerId, type: 'order.missing', purchaseOrderId: row.purchase_order_id, data: {} })
  }
  return rows.length
}
