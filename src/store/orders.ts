import type { LineStatus, OrderLine, PurchaseOrder } from '../domain/order.ts'
import { orderChanges, orderSeen } from '../domain/order-changes.ts'
import { isOpen, judgeView, mergeOrder } from '../domain/order-merge.ts'
import { childTable } from './child-tables.ts'
import type { HeldOrder, Transaction } from './database.ts'
import { withoutErasedOrders } from './erased-records.ts'
import { prepared } from './prepared.ts'
import { readOrderInRow, readOrders, rowVersion } from './stored-orders.ts'
import { customerOrder, rawRecord, recordHash, trackingNumber } from './table-marks.ts'
import { together } from './together.ts'
import { type HeldRecord, type LockedRow, versionedTable } from './versioned-table.ts'
import { type DifferingRecord, type ReadRow, rawHash, type StorableRecord } from './versions.ts'

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

const lines = childTable<PurchaseOrder, OrderLine>({
  name: 'order_lines',
  personalData: {
    none: `seller_id purchase_order_id line_number line_index sku product_name unit_of_measure ordered acknowledged shipped cancelled refunded
      refunded_amount currency charges refund_reasons intent_to_cancel status_date first_seen_at changed_at excess`,
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
    intent_to_cancel: line.intentToCancel,
    status_date: line.statusDate,
  }),
  raw: (line) => line.raw,
  lasting: [],
  children: [statuses],
})

interface LockedOrder extends LockedRow {
  /** Views that were behind have come for so long; null: none. */
  readonly behind_ms: number | null
  readonly row_version: string
}

const noteBehind = async (tx: Transaction, sellerId: string, purchaseOrderIds: readonly string[]): Promise<void> => {
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
  oftenFew: true,
  withoutErased: withoutErasedOrders,
  locked: `(extract(epoch FROM now() - o.behind_since) * 1000)::float8 AS behind_ms, ${rowVersion}`,
  before: async (tx, sellerId, differing) => {
    const asRead = differing.flatMap(({ record: { key, lastRead }, row }) =>
      lastRead?.rowVersion === row.row_version ? [[key, lastRead.value] as const] : [],
    )
    const before = new Map(asRead)
    const others = differing.map(({ row }) => row.key).filter((key) => !before.has(key))
    // By a statement of its own: one that waited for the locks would still see the lines from before the wait.
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
    await noteBehind(
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

/** Those records of a page whose text differs from what is stored, or that were thought missing or behind. Reads only. */
export const { findDiffering: findDifferingOrders } = orders

/** What became of orders that were to be stored. */
export interface StoredOrders {
  /** How many were written. */
  readonly changed: number
  /** Those of them that were not stored before. */
  readonly fresh: readonly PurchaseOrder[]
}

/**
 * Stores records that {@link findDifferingOrders} found, and records what has changed. A view that shows less than is known never overwrites what is
 * stored, and one that shows more does, whenever it was observed.
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

/** Of different orders, whose rows are locked. */
const storeHeld = together(
  async (tx: Transaction, records: readonly HeldRecord<PurchaseOrder>[]): Promise<readonly StoredOrders[]> => {
    const name = ({ sellerId, key }: HeldRecord<PurchaseOrder>): string => JSON.stringify([sellerId, key])
    const written = new Set((await orders.writeHeld(tx, records)).map(name))
    return records.map((record) => ({ changed: written.has(name(record)) ? 1 : 0, fresh: [] }))
  },
)

/**
 * Stores one order within a transaction under way, by the same rules; for answers of writes and read-backs. `lastRead`: how it was stored when it
 * was read last, which spares another reading when nothing has been written since.
 */
export const storeOrder = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  record: StorableRecord<PurchaseOrder>,
  lastRead: ReadRow<PurchaseOrder> | null = null,
): Promise<StoredOrders> => {
  // A row that is locked is there, and its hash is compared with the lock.
  if (holds(tx, sellerId, record.key)) {
    return storeHeld(tx, { ...record, sellerId, observedAt, hash: rawHash(record.rawText), known: true, lastRead })
  }
  return storeDifferingOrders(tx, sellerId, observedAt, await findDifferingOrders(tx, sellerId, [record]))
}

const lockOne = prepared(
  'SELECT purchase_order_id FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = $2 FOR UPDATE',
)

/**
 * Locks an order's row until the transaction ends and reads the order as it then is; null when it is not stored. Whoever
 * reserves, sends or stores units of an order holds this lock.
 */
export const lockOrder = async (
  tx: Transaction,
  sellerId: string,
  purchaseOrderId: string,
): Promise<ReadRow<PurchaseOrder> | null> => {
  const locked = holds(tx, sellerId, purchaseOrderId) || (await tx.query(lockOne, sellerId, purchaseOrderId)).length > 0
  // Read by a statement of its own: one that waited for the lock would still see the lines from before the wait.
  return locked ? readOrderInRow(tx, sellerId, purchaseOrderId) : null
}

const lockMany = prepared(
  `SELECT o.seller_id AS "sellerId", o.purchase_order_id AS "purchaseOrderId" FROM unnest($1::text[], $2::text[]) AS k(seller_id, purchase_order_id)
   CROSS JOIN LATERAL (SELECT * FROM warehouse.orders o
     WHERE o.seller_id = k.seller_id AND o.purchase_order_id = k.purchase_order_id FOR UPDATE) o`,
)

/** Locks the rows of orders until the transaction ends, one after another in their given order; answers those that are stored. */
export const lockOrders = async (tx: Transaction, keys: readonly HeldOrder[]): Promise<readonly HeldOrder[]> =>
  keys.length === 0
    ? []
    : tx.query<HeldOrder>(
        lockMany,
        keys.map(({ sellerId }) => sellerId),
        keys.map(({ purchaseOrderId }) => purchaseOrderId),
      )

/** Notes orders that the marketplace says it does not have, and records that once; they are never deleted. Returns how many are newly noted. */
export const noteMissingOrders = async (
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
