import type { ChangeRecord } from '../../domain/changes/catalogue.ts'
import type { ReturnLine, ReturnOrder, ReturnRefundChannel, ReturnTrackingStatus } from '../../domain/orders/return.ts'
import type { ReturnedLine } from '../../domain/orders/returned-units.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { withoutErasedReturns } from '../privacy/erased-records.ts'
import { childTable } from '../versioned/child-tables.ts'
import { sampleNewest } from '../versioned/newest-sample.ts'
import { customerOrder, rawRecord, recordHash } from '../versioned/table-marks.ts'
import { versionedTable } from '../versioned/versioned-table.ts'
import type { DifferingRecord, StorableRecord } from '../versioned/versions.ts'
import { nameOrders } from './named-orders.ts'

interface TrackingState {
  readonly status: string | null
  readonly currentRefundStatus: string | null
  readonly quantity: number | null
}

interface ChannelState {
  readonly refundChannelName: string | null
  readonly quantity: number | null
}

/** The state of a line in the change feed. */
interface LineState {
  readonly quantity: number
  readonly refundedQuantity: number | null
  readonly refundCoveredBy: string | null
  readonly status: string | null
  readonly trackingStatuses: readonly TrackingState[]
  readonly refundChannels: readonly ChannelState[]
}

const lineState = (line: ReturnLine): LineState => ({
  quantity: line.quantity,
  refundedQuantity: line.refundedQuantity,
  refundCoveredBy: line.refundCoveredBy,
  status: line.status,
  trackingStatuses: line.trackingStatuses.map(({ status, currentRefundStatus, quantity }) => ({
    status,
    currentRefundStatus,
    quantity,
  })),
  refundChannels: line.refundChannels.map(({ refundChannelName, quantity }) => ({ refundChannelName, quantity })),
})

interface StoredLine extends LineState {
  readonly return_order_id: string
  readonly return_order_line_number: number
}

const readLines = async (
  tx: Transaction,
  sellerId: string,
  returnOrderIds: readonly string[],
): Promise<Map<string, Map<number, LineState>>> => {
  const rows = await tx.query<StoredLine>(
    `SELECT l.return_order_id, l.return_order_line_number, l.quantity, l.refunded_quantity AS "refundedQuantity",
       l.refund_covered_by AS "refundCoveredBy", l.status,
       coalesce((SELECT json_agg(json_build_object('status', t.status, 'currentRefundStatus', t.current_refund_status,
           'quantity', t.quantity) ORDER BY t.position)
         FROM warehouse.return_line_tracking_statuses t WHERE t.seller_id = l.seller_id AND t.return_order_id = l.return_order_id
           AND t.return_order_line_number = l.return_order_line_number), '[]') AS "trackingStatuses",
       coalesce((SELECT json_agg(json_build_object('refundChannelName', c.refund_channel_name, 'quantity', c.quantity) ORDER BY c.position)
         FROM warehouse.return_line_refund_channels c WHERE c.seller_id = l.seller_id AND c.return_order_id = l.return_order_id
           AND c.return_order_line_number = l.return_order_line_number), '[]') AS "refundChannels"
     FROM warehouse.return_lines l WHERE l.seller_id = $1 AND l.return_order_id = ANY($2::text[])`,
    sellerId,
    returnOrderIds,
  )
  const byReturn = new Map<string, Map<number, LineState>>(returnOrderIds.map((id) => [id, new Map()]))
  for (const { return_order_id, return_order_line_number, ...state } of rows) {
    byReturn.get(return_order_id)?.set(return_order_line_number, state)
  }
  return byReturn
}

const returnSeen = (sellerId: string, order: ReturnOrder): ChangeRecord => ({
  sellerId,
  type: 'return.seen',
  returnOrderId: order.returnOrderId,
  data: {
    customerOrderId: order.customerOrderId,
    returnType: order.returnType,
    totalRefundAmount: order.totalRefundAmount,
    currency: order.currency,
    lines: order.lines.map((line) => ({
      returnOrderLineNumber: line.returnOrderLineNumber,
      purchaseOrderId: line.purchaseOrderId,
      purchaseOrderLineNumber: line.purchaseOrderLineNumber,
      sku: line.sku,
      ...toPlain(lineState(line)),
    })),
  },
})

// Converts to plain objects, which the type of changes requires.
const toPlain = (state: LineState) => ({
  quantity: state.quantity,
  refundedQuantity: state.refundedQuantity,
  refundCoveredBy: state.refundCoveredBy,
  status: state.status,
  trackingStatuses: state.trackingStatuses.map((entry) => ({ ...entry })),
  refundChannels: state.refundChannels.map((entry) => ({ ...entry })),
})

const returnChanges = (sellerId: string, before: ReadonlyMap<number, LineState>, order: ReturnOrder): ChangeRecord[] =>
  order.lines.flatMap((line): ChangeRecord[] => {
    const stored = before.get(line.returnOrderLineNumber)
    const stateBefore = stored === undefined ? null : toPlain(stored)
    const stateAfter = toPlain(lineState(line))
    if (JSON.stringify(stateBefore) === JSON.stringify(stateAfter)) return []
    return [
      {
        sellerId,
        type: 'return_line.changed',
        returnOrderId: order.returnOrderId,
        purchaseOrderId: line.purchaseOrderId ?? undefined,
        lineNumber: String(line.returnOrderLineNumber),
        data: { sku: line.sku, before: stateBefore, after: stateAfter },
      },
    ]
  })

/** Whether the marketplace shows units of the line that are not refunded. */
const isRefundOpen = ({ quantity, refundedQuantity }: ReturnLine): boolean => (refundedQuantity ?? 0) < quantity

const trackingStatuses = childTable<ReturnLine, ReturnTrackingStatus & { readonly refundOpen: boolean }>({
  name: 'return_line_tracking_statuses',
  personalData: {
    none: 'seller_id return_order_id return_order_line_number position status status_time current_refund_status quantity refund_open',
    buyer: { raw: rawRecord('the tracking status of returned units') },
  },
  columns: ['status text', 'status_time timestamptz', 'current_refund_status text', 'quantity int', 'refund_open boolean'],
  // The index of arrived units needs it: the table of lines has no times of statuses.
  items: (line) => line.trackingStatuses.map((entry) => ({ ...entry, refundOpen: isRefundOpen(line) })),
  row: (entry) => ({
    status: entry.status,
    status_time: entry.statusTime,
    current_refund_status: entry.currentRefundStatus,
    quantity: entry.quantity,
    refund_open: entry.refundOpen,
  }),
  raw: (entry) => entry.raw,
})

const refundChannels = childTable<ReturnLine, ReturnRefundChannel>({
  name: 'return_line_refund_channels',
  personalData: {
    none: 'seller_id return_order_id return_order_line_number position refund_channel_name quantity',
    buyer: { raw: rawRecord('the channel of a refund') },
  },
  columns: ['refund_channel_name text', 'quantity int'],
  items: (line) => line.refundChannels,
  row: (channel) => ({ refund_channel_name: channel.refundChannelName, quantity: channel.quantity }),
  raw: (channel) => channel.raw,
})

const lines = childTable<ReturnOrder, ReturnLine>({
  name: 'return_lines',
  personalData: {
    none: `seller_id return_order_id return_order_line_number purchase_order_id purchase_order_line_number sales_order_line_number sku
      product_name quantity unit_of_measure refunded_quantity refund_covered_by return_reason exception_item_type status first_seen_at
      changed_at`,
    buyer: { raw: rawRecord('the line') },
  },
  key: { column: 'return_order_line_number int', of: (line) => line.returnOrderLineNumber },
  columns: [
    'purchase_order_id text',
    'purchase_order_line_number text',
    'sales_order_line_number text',
    'sku text',
    'product_name text',
    'quantity int',
    'unit_of_measure text',
    'refunded_quantity int',
    'refund_covered_by text',
    'return_reason text',
    'exception_item_type text',
    'status text',
  ],
  items: (order) => order.lines,
  row: (line) => ({
    purchase_order_id: line.purchaseOrderId,
    purchase_order_line_number: line.purchaseOrderLineNumber,
    sales_order_line_number: line.salesOrderLineNumber,
    sku: line.sku,
    product_name: line.productName,
    quantity: line.quantity,
    unit_of_measure: line.unitOfMeasure,
    refunded_quantity: line.refundedQuantity,
    refund_covered_by: line.refundCoveredBy,
    return_reason: line.returnReason,
    exception_item_type: line.exceptionItemType,
    status: line.status,
  }),
  raw: (line) => line.raw,
  lasting: [],
  children: [trackingStatuses, refundChannels],
})

const returns = versionedTable<ReturnOrder, ReadonlyMap<number, LineState>>({
  name: 'returns',
  personalData: {
    none: `seller_id return_order_id return_type refund_mode return_order_date return_by_date total_refund_amount currency observed_at
      first_seen_at changed_at`,
    reference: { customer_order_id: customerOrder, raw_hash: recordHash },
    buyer: { raw: rawRecord('the return') },
  },
  resource: 'returns',
  key: ['return_order_id text'],
  columns: [
    'customer_order_id text',
    'return_type text',
    'refund_mode text',
    'return_order_date timestamptz',
    'return_by_date timestamptz',
    'total_refund_amount numeric',
    'currency text',
  ],
  row: (order) => ({
    customer_order_id: order.customerOrderId,
    return_type: order.returnType,
    refund_mode: order.refundMode,
    return_order_date: order.returnOrderDate,
    return_by_date: order.returnByDate,
    total_refund_amount: order.totalRefundAmount,
    currency: order.currency,
  }),
  marks: [],
  children: { whole: (order) => order.raw, tables: [lines] },
  withoutErased: withoutErasedReturns,
  before: (tx, sellerId, differing) =>
    readLines(
      tx,
      sellerId,
      differing.map(({ row }) => row.key),
    ),
  changes: (sellerId, order, before) =>
    before === null ? [returnSeen(sellerId, order)] : returnChanges(sellerId, before, order),
})

/** The returns of a page whose text differs from the stored one. Reads only. */
export const { findDiffering: findDifferingReturns } = returns

/** Stores returns that {@link findDifferingReturns} found, and notes the orders that they name. Returns how many were written. */
export const storeDifferingReturns = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<ReturnOrder>[],
): Promise<number> => {
  const written = await returns.store(tx, sellerId, observedAt, records)
  const orders = records.flatMap(({ value: { returnOrderDate, lines: returned } }) =>
    returned.map(({ purchaseOrderId }) => ({ purchaseOrderId, at: returnOrderDate ?? observedAt })),
  )
  nameOrders(tx, sellerId, 'returns', orders)
  return written
}

/** Times of creation of a sample of the newest stored returns, newest first. */
export const sampleReturnTimes = async (sql: SqlRunner, sellerId: string): Promise<readonly Date[]> => {
  const rows = await sql.query<{ wanted: Date }>(
    sampleNewest(
      'return_order_date',
      'return_order_date',
      'warehouse.returns WHERE seller_id = $1 AND return_order_date IS NOT NULL',
    ),
    sellerId,
  )
  return rows.map(({ wanted }) => wanted)
}

/** A return of a seller. */
export interface ReturnKey {
  readonly sellerId: string
  readonly returnOrderId: string
}

const selectReturned = prepared(
  `SELECT k.place::int AS place, l.return_order_id AS "returnOrderId", r.customer_order_id AS "customerOrderId",
     l.return_order_line_number AS "returnLineNumber", l.purchase_order_id AS "purchaseOrderId", l.purchase_order_line_number AS "lineNumber",
     l.sku, l.quantity, l.refunded_quantity AS refunded, l.exception_item_type AS "exceptionItemType",
     LEAST(r.first_seen_at, r.return_order_date) AS since
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
   JOIN warehouse.return_lines l ON l.seller_id = k.seller_id AND l.purchase_order_id = k.purchase_order_id
   JOIN warehouse.returns r ON r.seller_id = l.seller_id AND r.return_order_id = l.return_order_id
   ORDER BY k.place, l.return_order_id, l.return_order_line_number`,
)

/** The lines of all stored returns of each of these orders, by one statement. */
export const readReturnedOfOrders = async (
  sql: SqlRunner,
  keys: readonly { readonly sellerId: string; readonly purchaseOrderId: string }[],
): Promise<readonly (readonly ReturnedLine[])[]> => {
  const rows = await sql.query<ReturnedLine & { readonly place: number }>(
    selectReturned,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const byPlace = Map.groupBy(rows, ({ place }) => place)
  return keys.map((_, index) => byPlace.get(index + 1) ?? [])
}
const readReturned = batchQuery(readReturnedOfOrders)

/** The lines of all stored returns of a purchase order, as far as refunds concern them. */
export const readReturnedLines = (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<readonly ReturnedLine[]> =>
  readReturned(sql, { sellerId, purchaseOrderId })

/** The purchase orders of the lines of a stored return, sorted; null: the return is not stored. A line without an order counts as none. */
export const findOrdersOfReturn = async (
  sql: SqlRunner,
  sellerId: string,
  returnOrderId: string,
): Promise<readonly string[] | null> => {
  const rows = await sql.query<{ readonly purchase_order_id: string | null }>(
    `SELECT DISTINCT l.purchase_order_id FROM warehouse.returns r
     LEFT JOIN warehouse.return_lines l ON l.seller_id = r.seller_id AND l.return_order_id = r.return_order_id
     WHERE r.seller_id = $1 AND r.return_order_id = $2 ORDER BY 1`,
    sellerId,
    returnOrderId,
  )
  return rows.length === 0 ? null : rows.flatMap(({ purchase_order_id: id }) => (id === null ? [] : [id]))
}

/** Stores one return in an open transaction: a response, or a read-back. An older observation never overwrites a newer one. */
export const storeReturn = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  record: StorableRecord<ReturnOrder>,
): Promise<void> => {
  await storeDifferingReturns(tx, sellerId, observedAt, await findDifferingReturns(tx, sellerId, [record]))
}
