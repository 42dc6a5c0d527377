import type { ReturnLine, ReturnOrder } from '../domain/return.ts'
import type { ChangeRecord, Database, SqlRunner, Transaction } from './database.ts'
import { holdErasuresBack, withoutErasedReturns } from './erased-records.ts'
import { spreadNewest } from './spread-newest.ts'
import {
  type DifferingRecord,
  findDiffering,
  jsonArray,
  jsonObject,
  type RecordPage,
  type StorableRecord,
  type StoredPage,
} from './versions.ts'

const probe = `
  SELECT array_agg(return_order_id) AS keys, array_agg(encode(raw_hash, 'hex')) AS hashes
  FROM warehouse.returns WHERE seller_id = $1 AND return_order_id = ANY($2::text[])`

/** Those records of a page whose text differs from what is stored. Reads only. */
export const findDifferingReturns = (
  sql: SqlRunner,
  sellerId: string,
  records: readonly StorableRecord<ReturnOrder>[],
): Promise<readonly DifferingRecord<ReturnOrder>[]> => findDiffering(sql, probe, sellerId, records)

interface LockedRow {
  readonly return_order_id: string
  readonly raw_hash: string
  readonly observed_at: Date
}

const lockReturns = (tx: Transaction, sellerId: string, returnOrderIds: readonly string[]): Promise<LockedRow[]> =>
  tx.query<LockedRow>(
    `SELECT return_order_id, encode(raw_hash, 'hex') AS raw_hash, observed_at FROM warehouse.returns
     WHERE seller_id = $1 AND return_order_id = ANY($2::text[]) ORDER BY return_order_id FOR UPDATE`,
    sellerId,
    returnOrderIds,
  )

interface TrackingState {
  readonly status: string | null
  readonly currentRefundStatus: string | null
  readonly quantity: number | null
}

interface ChannelState {
  readonly refundChannelName: string | null
  readonly quantity: number | null
}

/** What the change feed tells of a line. */
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

// Writes new returns and new versions of known ones with all that hangs on them. $1 seller, $2 observed at, $3 returns, $4 lines,
// $5 tracking statuses, $6 refund channels, $7 ids of known returns. Known returns are locked by the caller. Answers the new ones that someone else has
// stored meanwhile: nothing of those was written.
const writeReturns = `
  WITH reported AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($3::jsonb) AS t(return_order_id text, known boolean, raw_hash text, customer_order_id text,
      return_type text, refund_mode text, return_order_date timestamptz, return_by_date timestamptz, total_refund_amount numeric,
      currency text, raw jsonb)
  ), inserted AS (
    INSERT INTO warehouse.returns (seller_id, return_order_id, customer_order_id, return_type, refund_mode, return_order_date,
      return_by_date, total_refund_amount, currency, raw_hash, raw, observed_at, first_seen_at, changed_at)
    SELECT $1, return_order_id, customer_order_id, return_type, refund_mode, return_order_date, return_by_date, total_refund_amount,
      currency, decode(raw_hash, 'hex'), raw, $2::timestamptz, now(), now()
    FROM reported WHERE NOT known
    ON CONFLICT DO NOTHING
    RETURNING return_order_id
  ), superseded AS (
    INSERT INTO tallyman.superseded_versions (seller_id, resource, record_key, raw_hash, raw, first_seen_at, last_seen_at)
    SELECT $1, 'returns', return_order_id, o.raw_hash, o.raw, o.changed_at, now()
    FROM warehouse.returns o JOIN reported r USING (return_order_id)
    WHERE o.seller_id = $1 AND o.return_order_id = ANY($7::text[])
    ON CONFLICT DO NOTHING
  ), updated AS (
    UPDATE warehouse.returns o
    SET customer_order_id = r.customer_order_id, return_type = r.return_type, refund_mode = r.refund_mode,
      return_order_date = r.return_order_date, return_by_date = r.return_by_date, total_refund_amount = r.total_refund_amount,
      currency = r.currency, raw_hash = decode(r.raw_hash, 'hex'), raw = r.raw, observed_at = $2::timestamptz, changed_at = now()
    FROM reported r
    WHERE o.seller_id = $1 AND o.return_order_id = ANY($7::text[]) AND o.return_order_id = r.return_order_id
    RETURNING o.return_order_id
  ), written AS (
    SELECT return_order_id FROM inserted UNION ALL SELECT return_order_id FROM updated
  ), reported_lines AS MATERIALIZED (
    SELECT t.* FROM jsonb_to_recordset($4::jsonb) AS t(return_order_id text, return_order_line_number int, tracking_count int,
      channel_count int, purchase_order_id text, purchase_order_line_number text, sales_order_line_number text, sku text,
      product_name text, quantity int, unit_of_measure text, refunded_quantity int, return_reason text, status text, raw jsonb)
    WHERE t.return_order_id IN (SELECT return_order_id FROM written)
  ), lines AS (
    INSERT INTO warehouse.return_lines AS l (seller_id, return_order_id, return_order_line_number, purchase_order_id,
      purchase_order_line_number, sales_order_line_number, sku, product_name, quantity, unit_of_measure, refunded_quantity,
      return_reason, status, raw, first_seen_at, changed_at)
    SELECT $1, return_order_id, return_order_line_number, purchase_order_id, purchase_order_line_number, sales_order_line_number, sku,
      product_name, quantity, unit_of_measure, refunded_quantity, return_reason, status, raw, now(), now()
    FROM reported_lines
    ON CONFLICT (seller_id, return_order_id, return_order_line_number) DO UPDATE
    SET purchase_order_id = excluded.purchase_order_id, purchase_order_line_number = excluded.purchase_order_line_number,
      sales_order_line_number = excluded.sales_order_line_number, sku = excluded.sku, product_name = excluded.product_name,
      quantity = excluded.quantity, unit_of_measure = excluded.unit_of_measure, refunded_quantity = excluded.refunded_quantity,
      return_reason = excluded.return_reason, status = excluded.status, raw = excluded.raw, changed_at = now()
    WHERE l.raw IS DISTINCT FROM excluded.raw
  ), tracking AS (
    INSERT INTO warehouse.return_line_tracking_statuses AS s (seller_id, return_order_id, return_order_line_number, position, status,
      status_time, current_refund_status, quantity, raw)
    SELECT $1, t.return_order_id, t.return_order_line_number, t.position, t.status, t.status_time, t.current_refund_status, t.quantity, t.raw
    FROM jsonb_to_recordset($5::jsonb) AS t(return_order_id text, return_order_line_number int, position int, status text,
      status_time timestamptz, current_refund_status text, quantity int, raw jsonb)
    WHERE t.return_order_id IN (SELECT return_order_id FROM written)
    ON CONFLICT (seller_id, return_order_id, return_order_line_number, position) DO UPDATE
    SET status = excluded.status, status_time = excluded.status_time, current_refund_status = excluded.current_refund_status,
      quantity = excluded.quantity, raw = excluded.raw
    WHERE s.raw IS DISTINCT FROM excluded.raw
  ), channels AS (
    INSERT INTO warehouse.return_line_refund_channels AS c (seller_id, return_order_id, return_order_line_number, position,
      refund_channel_name, quantity, raw)
    SELECT $1, t.return_order_id, t.return_order_line_number, t.position, t.refund_channel_name, t.quantity, t.raw
    FROM jsonb_to_recordset($6::jsonb) AS t(return_order_id text, return_order_line_number int, position int, refund_channel_name text,
      quantity int, raw jsonb)
    WHERE t.return_order_id IN (SELECT return_order_id FROM written)
    ON CONFLICT (seller_id, return_order_id, return_order_line_number, position) DO UPDATE
    SET refund_channel_name = excluded.refund_channel_name, quantity = excluded.quantity, raw = excluded.raw
    WHERE c.raw IS DISTINCT FROM excluded.raw
  ), vanished_tracking AS (
    DELETE FROM warehouse.return_line_tracking_statuses s USING reported_lines l
    WHERE s.seller_id = $1 AND s.return_order_id = ANY($7::text[]) AND s.return_order_id = l.return_order_id AND s.return_order_line_number = l.return_order_line_number
      AND s.position >= l.tracking_count
  ), vanished_channels AS (
    DELETE FROM warehouse.return_line_refund_channels c USING reported_lines l
    WHERE c.seller_id = $1 AND c.return_order_id = ANY($7::text[]) AND c.return_order_id = l.return_order_id AND c.return_order_line_number = l.return_order_line_number
      AND c.position >= l.channel_count
  )
  SELECT r.return_order_id FROM reported r
  WHERE NOT r.known AND r.return_order_id NOT IN (SELECT return_order_id FROM inserted)`

interface Write {
  readonly record: DifferingRecord<ReturnOrder>
  /** Lines as they are stored; null for a new return. */
  readonly before: ReadonlyMap<number, LineState> | null
}

const returnText = ({ record, before }: Write): string =>
  jsonObject(
    {
      return_order_id: record.key,
      known: before !== null,
      raw_hash: record.hash,
      customer_order_id: record.value.customerOrderId,
      return_type: record.value.returnType,
      refund_mode: record.value.refundMode,
      return_order_date: record.value.returnOrderDate,
      return_by_date: record.value.returnByDate,
      total_refund_amount: record.value.totalRefundAmount,
      currency: record.value.currency,
    },
    { raw: record.rawText },
  )

const lineRow = (key: string, line: ReturnLine) => ({
  return_order_id: key,
  return_order_line_number: line.returnOrderLineNumber,
  tracking_count: line.trackingStatuses.length,
  channel_count: line.refundChannels.length,
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
  raw: line.raw,
})

const trackingRows = (key: string, line: ReturnLine) =>
  line.trackingStatuses.map((status, position) => ({
    return_order_id: key,
    return_order_line_number: line.returnOrderLineNumber,
    position,
    status: status.status,
    status_time: status.statusTime,
    current_refund_status: status.currentRefundStatus,
    quantity: status.quantity,
    raw: status.raw,
  }))

const channelRows = (key: string, line: ReturnLine) =>
  line.refundChannels.map((channel, position) => ({
    return_order_id: key,
    return_order_line_number: line.returnOrderLineNumber,
    position,
    refund_channel_name: channel.refundChannelName,
    quantity: channel.quantity,
    raw: channel.raw,
  }))

const write = async (tx: Transaction, sellerId: string, observedAt: Date, writes: readonly Write[]): Promise<Set<string>> => {
  const perLine = <Row>(row: (key: string, line: ReturnLine) => Row): Row[] =>
    writes.flatMap(({ record }) => record.value.lines.map((line) => row(record.key, line)))
  const missed = await tx.query<{ return_order_id: string }>(
    writeReturns,
    sellerId,
    observedAt.toISOString(),
    jsonArray(writes.map(returnText)),
    JSON.stringify(perLine(lineRow)),
    JSON.stringify(perLine(trackingRows).flat()),
    JSON.stringify(perLine(channelRows).flat()),
    writes.flatMap(({ record, before }) => (before === null ? [] : [record.key])),
  )
  return new Set(missed.map((row) => row.return_order_id))
}

const prepare = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  reported: readonly DifferingRecord<ReturnOrder>[],
): Promise<Write[]> => {
  const known = reported.filter((record) => record.known).map((record) => record.key)
  if (known.length < reported.length) await holdErasuresBack(tx, sellerId)
  const rows = known.length === 0 ? [] : await lockReturns(tx, sellerId, known)
  const records = await withoutErasedReturns(tx, sellerId, reported)
  const locked = new Map(rows.map((row) => [row.return_order_id, row]))
  const outdated = records.filter((record) => {
    const stored = locked.get(record.key)
    return stored !== undefined && stored.observed_at <= observedAt && stored.raw_hash !== record.hash
  })
  const keys = outdated.map((record) => record.key)
  const before = keys.length === 0 ? new Map<string, Map<number, LineState>>() : await readLines(tx, sellerId, keys)
  return records.flatMap((record): Write[] => {
    const stored = before.get(record.key)
    if (stored !== undefined) return [{ record, before: stored }]
    return locked.has(record.key) ? [] : [{ record, before: null }]
  })
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

/**
 * Stores records that {@link findDifferingReturns} found, by one statement, and tells what has changed. An older observation
 * never overwrites a newer one; the version that is replaced is kept in `tallyman.superseded_versions`.
 */
export const storeDifferingReturns = async (
  tx: Transaction,
  sellerId: string,
  observedAt: Date,
  records: readonly DifferingRecord<ReturnOrder>[],
): Promise<Omit<StoredPage<ReturnOrder>, 'seen'>> => {
  const fresh: ReturnOrder[] = []
  let changed = 0
  let rest = records
  // Returns that someone else stores at the same moment are known in the next round, where they are locked.
  while (rest.length > 0) {
    const writes = await prepare(tx, sellerId, observedAt, rest)
    if (writes.length === 0) break
    const missed = await write(tx, sellerId, observedAt, writes)
    for (const { record, before } of writes) {
      if (missed.has(record.key)) continue
      changed += 1
      if (before === null) {
        fresh.push(record.value)
        tx.tell(returnSeen(sellerId, record.value))
      } else for (const change of returnChanges(sellerId, before, record.value)) tx.tell(change)
    }
    rest = rest.filter((record) => missed.has(record.key)).map((record) => ({ ...record, known: true }))
  }
  return { changed, fresh }
}

/** Stores a page in a transaction of its own; a page without changes opens none and writes nothing. */
export const storeReturns = async (database: Database, page: RecordPage<ReturnOrder>): Promise<StoredPage<ReturnOrder>> => {
  const differing = await findDifferingReturns(database, page.sellerId, page.records)
  const seen = new Set(page.records.map((record) => record.key)).size
  if (differing.length === 0) return { seen, changed: 0, fresh: [] }
  return {
    seen,
    ...(await database.transaction((tx) => storeDifferingReturns(tx, page.sellerId, page.observedAt, differing))),
  }
}

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
