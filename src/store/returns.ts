import type { ChangeRecord } from '../domain/changes/catalogue.ts'
import type { ReturnLine, ReturnOrder, ReturnRefundChannel, ReturnTrackingStatus } from '../domain/return.ts'
import { childTable } from './child-tables.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { withoutErasedReturns } from './erased-records.ts'
import { spreadNewest } from './spread-newest.ts'
import { customerOrder, rawRecord, recordHash } from './table-marks.ts'
import { versionedTable } from './versioned-table.ts'

interface TrackingState {
  readonly status: string | null
  readonly currentRefundStatus: string | null
  readonly quantity: number | null
}

interface ChannelState {
  readonly refundChannelName: string | null
  readonly quantity: number | null
}

/** What the change feed records of a line. */
interface LineState {
  readonly quantity: number
  readonly refundedQuantity: number | null
  readonly status: string | null
  readonly trackingStatuses: readonly TrackingState[]
  readonly refundChannels: readonly ChannelState[]
}

const lineState = (line: ReturnLine): LineState => ({
  quantity: line.quantity,
  refundedQuantity: line.refundedQuantity,
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
    `SELECT l.return_order_id, l.return_order_line_number, l.quantity, l.refunded_quantity AS "refundedQuantity", l.status,
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
      ...told(lineState(line)),
    })),
  },
})

// Plain objects, as the change feed takes them.
const told = (state: LineState) => ({
  quantity: state.quantity,
  refundedQuantity: state.refundedQuantity,
  status: state.status,
  trackingStatuses: state.trackingStatuses.map((entry) => ({ ...entry })),
  refundChannels: state.refundChannels.map((entry) => ({ ...entry })),
})

const returnChanges = (sellerId: string, before: ReadonlyMap<number, LineState>, order: ReturnOrder): ChangeRecord[] =>
  order.lines.flatMap((line): ChangeRecord[] => {
    const stored = before.get(line.returnOrderLineNumber)
    const stateBefore = stored === undefined ? null : told(stored)
    const stateAfter = told(lineState(line))
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

const trackingStatuses = childTable<ReturnLine, ReturnTrackingStatus>({
  name: 'return_line_tracking_statuses',
  personalData: {
    none: 'seller_id return_order_id return_order_line_number position status status_time current_refund_status quantity',
    buyer: { raw: rawRecord('the tracking status of returned units') },
  },
  columns: ['status text', 'status_time timestamptz', 'current_refund_status text', 'quantity int'],
  items: (line) => line.trackingStatuses,
  row: (entry) => ({
    status: entry.status,
    status_time: entry.statusTime,
    current_refund_status: entry.currentRefundStatus,
    quantity: entry.quantity,
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
      product_name quantity unit_of_measure refunded_quantity return_reason status first_seen_at changed_at`,
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
    'return_reason text',
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
    return_reason: line.returnReason,
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

/** Those records of a page whose text differs from what is stored, and what stores them: the statements of the versioned table. */
export const { findDiffering: findDifferingReturns, store: storeDifferingReturns } = returns

/** When some of the newest stored returns were created, spread among them, the newest first. */
export const storedReturnMoments = async (sql: SqlRunner, sellerId: string): Promise<readonly Date[]> => {
  const rows = await sql.query<{ wanted: Date }>(
    spreadNewest(
      'return_order_date',
      'return_order_date',
      'warehouse.returns WHERE seller_id = $1 AND return_order_date IS NOT NULL',
    ),
    sellerId,
  )
  return rows.map(({ wanted }) => wanted)
}
