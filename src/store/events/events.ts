import type { CommandKind, LineQuantity } from '../../domain/commands/command.ts'
import { maxDataBytes, maxDataDepth, maxIdLength, maxKeyBytes, measureNesting } from '../../domain/events/event-bounds.ts'
import { type EventFault, type EventState, returnEventType, sellerEventTypes } from '../../domain/events/event-shape.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { prepared } from '../db/prepared-statements.ts'
import type { Actor } from '../keys/audit.ts'
import { sellerIsServed } from '../sellers/sellers.ts'

/** Identity of an event (CloudEvents 1.0: `source` + `id`). */
export interface EventKey {
  readonly source: string
  readonly id: string
}

/** A received ERP event with a valid envelope. */
export interface IncomingEvent extends EventKey {
  readonly type: string
  readonly data: unknown
}

/** Why an event was rejected, as a problem document (RFC 9457). */
export interface EventProblem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly errors: readonly EventFault[]
}

/** The person who rejects a waiting event, and why. */
export interface RejectionRequest extends Actor {
  readonly reason: string
}

/** The result of a person's rejection of a waiting event. */
export type RejectionResult =
  | { readonly ok: true; readonly state: 'rejected' }
  | { readonly ok: false; readonly fault: 'not-found' }
  | { readonly ok: false; readonly fault: 'not-waiting'; readonly state: EventState }

/** A stored event. `status`: whether this request stored it; `state`: its current state. */
export interface EventReceipt extends EventKey {
  readonly status: 'accepted' | 'duplicate'
  readonly state: EventState
  /** Ids of its commands, in their order. */
  readonly commands: readonly string[]
  readonly problem: EventProblem | null
}

/** The result of a request with several events: all are stored, or none. */
export type EventsResult =
  | { readonly ok: true; readonly receipts: readonly EventReceipt[] }
  /** The indexes of events that share source and id with a stored event of another body. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly indexes: readonly number[] }
  | { readonly ok: false; readonly reason: 'invalid'; readonly faults: readonly IndexedFault[] }

/** A command that an event would create. */
export interface ForecastCommand {
  readonly kind: CommandKind
  readonly lines: readonly LineQuantity[]
  /** The amount of a refund, including tax and fees; null: no refund, or one in several currencies. */
  readonly money: { readonly amount: string; readonly currency: string } | null
  /** The request that would be sent; null: none, because its goal is reached already or the marketplace has no such command. */
  readonly request: object | null
}

/** The result that an event would have now. */
export interface EventForecast extends EventKey {
  readonly would: 'accepted' | 'duplicate' | 'rejected'
  readonly commands: readonly ForecastCommand[]
  /** Why it would be rejected, or a note. */
  readonly problem: EventProblem | null
}

/** A fault of one of several events. */
export interface IndexedFault extends EventFault {
  readonly index: number
}

/** A stored event with the ids of its commands. */
export interface StoredEvent extends IncomingEvent {
  readonly sequence: bigint
  /** Why its data is not returned, as the end of "data …"; `data` is null then. Null: it is returned. */
  readonly unreadable: string | null
  /** The purchase order that it names, in normal form (`tallyman.normal_id`); null: none. */
  readonly purchaseOrderId: string | null
  /** The return that it names, in the same form; null: none. */
  readonly returnOrderId: string | null
  /** SHA-256 of type and data, hexadecimal; null: an unprocessed row of the SQL inbox. */
  readonly bodyHash: string | null
  readonly sellerId: string | null
  readonly state: EventState
  readonly problem: EventProblem | null
  readonly commands: readonly string[]
  readonly receivedAt: Date
  /** Time since then, by the clock of Postgres. */
  readonly waitedMs: number
  readonly processedAt: Date | null
  /** Why the last try could not decide it; null: it was not tried yet, or no longer waits. */
  readonly waitsFor: string | null
  /** When its data was deleted, except the ids of order and seller; null: it is complete. */
  readonly dataRemovedAt: Date | null
  /** The trace in which it was posted, if it had to wait; null: none. */
  readonly trace: string | null
}

interface EventRow {
  readonly source: string
  readonly id: string
  readonly sequence: bigint
  readonly type: string
  readonly data: string | null
  readonly data_bytes: number
  readonly purchase_order_id: string | null
  readonly return_order_id: string | null
  readonly body_hash: string | null
  readonly seller_id: string | null
  readonly status: EventState
  readonly problem: EventProblem | null
  readonly commands: readonly string[]
  readonly received_at: Date
  readonly waited_ms: number
  readonly processed_at: Date | null
  readonly waits_for: string | null
  readonly data_removed_at: Date | null
  readonly trace: string | null
}

const orderOfData = `left(tallyman.normal_id(e.data -> 'purchaseOrderId'), ${maxIdLength})`
const returnOfData = `left(tallyman.normal_id(e.data -> 'returnOrderId'), ${maxIdLength})`

// The data is read as text, because its size and depth must be checked before it is parsed.
const columns = `e.source, e.id, e.sequence, e.type, CASE WHEN octet_length(e.data::text) <= ${maxDataBytes} THEN e.data::text END AS data,
  octet_length(e.data::text) AS data_bytes, ${orderOfData} AS purchase_order_id, ${returnOfData} AS return_order_id,
  encode(e.body_hash, 'hex') AS body_hash, e.seller_id, e.status, e.problem, e.received_at,
  extract(epoch FROM now() - e.received_at)::float8 * 1000 AS waited_ms, e.processed_at,
  CASE WHEN e.status = 'received' THEN e.waits_for END AS waits_for, e.data_removed_at, e.trace,
  ARRAY(SELECT c.id FROM tallyman.commands c WHERE c.event_source = e.source AND c.event_id = e.id ORDER BY c.sequence) AS commands`

const unreadableFor = ({ data, data_bytes: bytes }: EventRow): string | null => {
  if (data === null) return `is too large: ${bytes} bytes as text, at most ${maxDataBytes} are accepted`
  return measureNesting(data) > maxDataDepth ? `is nested more than ${maxDataDepth} levels deep` : null
}

const fromRow = (row: EventRow): StoredEvent => {
  const unreadable = unreadableFor(row)
  const data: unknown = unreadable === null && row.data !== null ? JSON.parse(row.data) : null
  return { ...parseStored(row), data, unreadable }
}

const parseStored = (row: EventRow): Omit<StoredEvent, 'data' | 'unreadable'> => ({
  source: row.source,
  id: row.id,
  sequence: row.sequence,
  type: row.type,
  purchaseOrderId: row.purchase_order_id,
  returnOrderId: row.return_order_id,
  bodyHash: row.body_hash,
  sellerId: row.seller_id,
  state: row.status,
  problem: row.problem,
  commands: row.commands,
  receivedAt: row.received_at,
  waitedMs: row.waited_ms,
  processedAt: row.processed_at,
  waitsFor: row.waits_for,
  dataRemovedAt: row.data_removed_at,
  trace: row.trace,
})

// OFFSET 0 forces one lookup for each event, regardless of statistics.
const selectEvents = prepared(
  `SELECT ${columns} FROM (SELECT DISTINCT source, id FROM jsonb_to_recordset($1::jsonb) AS t(source text, id text)) k
   CROSS JOIN LATERAL (SELECT * FROM tallyman.erp_event e WHERE e.source = k.source AND e.id = k.id OFFSET 0) e`,
)

/** The stored ones of these events. */
export const readEvents = async (sql: SqlRunner, keys: readonly EventKey[]): Promise<readonly StoredEvent[]> => {
  const rows = await sql.query<EventRow>(selectEvents, JSON.stringify(keys.map(({ source, id }) => ({ source, id }))))
  return rows.map(fromRow)
}

/** One event; null: it is not stored. */
export const readStoredEvent = async (sql: SqlRunner, key: EventKey): Promise<StoredEvent | null> =>
  (await readEvents(sql, [key]))[0] ?? null

/** An event to store. */
export interface NewEvent extends IncomingEvent {
  readonly bodyHash: string
  readonly sellerId: string | null
  readonly state: 'received' | 'accepted'
  /** The active trace, of an event that has to wait. */
  readonly trace?: string | null
}

const insertGiven = prepared(
  `INSERT INTO tallyman.erp_event (source, id, type, data, body_hash, seller_id, status, trace, processed_at)
   SELECT t.source, t.id, t.type, COALESCE(t.data, 'null'), decode(t.body_hash, 'hex'), t.seller_id, t.status, t.trace, CASE WHEN t.status = 'accepted' THEN now() END
   FROM jsonb_to_recordset($1::jsonb) AS t(ordinal int, source text, id text, type text, data jsonb, body_hash text, seller_id text, status text, trace text)
   ORDER BY t.ordinal
   ON CONFLICT (source, id) DO NOTHING RETURNING source, id`,
)

const insertAll = batchQuery(async (sql: SqlRunner, requests: readonly (readonly NewEvent[])[]) => {
  const rows = await sql.query<EventKey>(
    insertGiven,
    JSON.stringify(
      requests.flat().map(({ source, id, type, data, bodyHash, sellerId, state, trace }, ordinal) => ({
        ordinal,
        source,
        id,
        type,
        data,
        body_hash: bodyHash,
        seller_id: sellerId,
        status: state,
        trace: trace ?? null,
      })),
    ),
  )
  const inserted = new Set(rows.map(({ source, id }) => JSON.stringify([source, id])))
  return requests.map((events) => events.map(({ source, id }) => inserted.has(JSON.stringify([source, id]))))
})

/**
 * Stores events; returns false for each whose source and id are stored already, which stays unchanged. Waits for concurrent transactions that store the
 * same ones. Insert an accepted event under its order's row lock, so that sequence numbers follow the order of acceptance.
 */
export const insertEvents = (tx: Transaction, events: readonly NewEvent[]): Promise<readonly boolean[]> => insertAll(tx, events)

/** Decides a waiting event; false: it no longer waits. A null hash keeps the stored one. */
export const settleEvent = async (
  tx: Transaction,
  key: EventKey,
  decision: { readonly bodyHash: string | null; readonly sellerId: string | null; readonly problem: EventProblem | null },
): Promise<boolean> => {
  const settled = await tx.execute(
    `UPDATE tallyman.erp_event SET status = $3, body_hash = COALESCE(decode($4, 'hex'), body_hash), seller_id = COALESCE($5, seller_id), problem = $6::jsonb,
       processed_at = now(), waits_for = NULL
     WHERE source = $1 AND id = $2 AND status = 'received'`,
    key.source,
    key.id,
    decision.problem === null ? 'accepted' : 'rejected',
    decision.bodyHash,
    decision.sellerId,
    decision.problem === null ? null : JSON.stringify(decision.problem),
  )
  return settled === 1
}

/** SQL: the key of `e` is within its bounds. Rows from before the CHECK of the table may exceed them. */
const keyFits = `octet_length(e.source) BETWEEN 1 AND ${maxKeyBytes} AND octet_length(e.id) BETWEEN 1 AND ${maxKeyBytes}`

/** SQL: the seller of a waiting event; empty: unknown. The index of waiting events uses the same expression. */
export const waitingSellerExpression = `left(coalesce(e.seller_id, tallyman.normal_id(e.data -> 'sellerId'), ''), 255)`

/** SQL: the waiting events of a seller, after `FROM`. */
export const buildWaitingEvents = (seller: string): string =>
  `tallyman.erp_event e WHERE e.status = 'received' AND ${waitingSellerExpression} = ${seller}`

/**
 * Due waiting events. Sellers take turns, one event of each; events of a seller are ordered by due time, then by arrival. Each seller has an equal share
 * of `max`, at least one event.
 */
export const findDueEvents = (sql: SqlRunner, max: number): Promise<readonly EventKey[]> =>
  sql.query<EventKey>(
    `WITH RECURSIVE sellers AS (
       (SELECT ${waitingSellerExpression} AS seller FROM tallyman.erp_event e WHERE e.status = 'received' ORDER BY 1 LIMIT 1)
       UNION ALL
       SELECT (SELECT ${waitingSellerExpression} FROM tallyman.erp_event e WHERE e.status = 'received' AND ${waitingSellerExpression} > s.seller ORDER BY 1 LIMIT 1)
       FROM sellers s WHERE s.seller IS NOT NULL
     )
     SELECT d.source, d.id FROM sellers s CROSS JOIN LATERAL (
       SELECT w.*, row_number() OVER (ORDER BY w.due_at, w.sequence) AS place FROM (
         SELECT e.source, e.id, e.due_at, e.sequence FROM tallyman.erp_event e
         WHERE e.status = 'received' AND ${waitingSellerExpression} = s.seller AND e.due_at <= ${dueNow} AND ${keyFits}
         ORDER BY e.due_at, e.sequence LIMIT (SELECT greatest(1, $1::int / count(seller)) FROM sellers)
       ) w
     ) d
     ORDER BY d.place, d.due_at, d.sequence`,
    max,
  )

/** The seller and the order of a waiting event. */
export interface WaitingSubject {
  /** Empty: unknown. */
  readonly sellerId: string
  /** The order that it names; null: none. */
  readonly purchaseOrderId: string | null
  /** Whether a process serves that seller. */
  readonly isServed: boolean
}

/** The seller and the order of a waiting event; null: it does not wait. */
export const readWaitingSubject = async (sql: SqlRunner, { source, id }: EventKey): Promise<WaitingSubject | null> => {
  const [row] = await sql.query<WaitingSubject>(
    `SELECT ${waitingSellerExpression} AS "sellerId", ${orderOfData} AS "purchaseOrderId",
       EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = ${waitingSellerExpression} AND ${sellerIsServed('s')}) AS "isServed"
     FROM tallyman.erp_event e WHERE e.source = $1 AND e.id = $2 AND e.status = 'received'`,
    source,
    id,
  )
  return row ?? null
}

/** Postpones a waiting event: stores why it could not be decided, its seller if that was unknown, and when it is due. */
export const postponeEvent = async (
  sql: SqlRunner,
  key: EventKey,
  { reason, sellerId, dueInMs }: { readonly reason: string; readonly sellerId: string | null; readonly dueInMs: number },
): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.erp_event SET waits_for = $3, seller_id = COALESCE(seller_id, $4), due_at = now() + $5::int * interval '1 millisecond'
     WHERE source = $1 AND id = $2 AND status = 'received'`,
    key.source,
    key.id,
    reason,
    sellerId,
    dueInMs,
  )
}

/** Makes the postponed events of these sellers due. */
export const makeWaitingEventsDue = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.erp_event e SET due_at = now()
     WHERE e.status = 'received' AND ${waitingSellerExpression} = ANY ($1::text[]) AND e.due_at > now()`,
    sellerIds,
  )
}

/** Waiting events that were received more than `maxMs` ago, or whose source or id is too long for a job. */
export const findEndlessEvents = async (sql: SqlRunner, maxMs: number, limit: number): Promise<readonly StoredEvent[]> => {
  const rows = await sql.query<EventRow>(
    `SELECT ${columns} FROM tallyman.erp_event e WHERE e.status = 'received'
       AND (e.received_at <= now() - $1::float8 * interval '1 millisecond' OR NOT (${keyFits}))
     ORDER BY e.sequence LIMIT $2::int`,
    maxMs,
    limit,
  )
  return rows.map(fromRow)
}

const waitingWhere = (condition: string, lock: '' | 'FOR UPDATE OF e'): string =>
  prepared(`SELECT ${columns} FROM tallyman.erp_event e WHERE e.status = 'received' AND ${condition} ORDER BY e.sequence ${lock}`)

const waitingOfOrders = waitingWhere(`${orderOfData} = ANY($1::text[])`, 'FOR UPDATE OF e')
const waitingOfSellers = waitingWhere('e.type = ANY($1::text[])', 'FOR UPDATE OF e')
const shownOfOrder = waitingWhere(`${orderOfData} = $1`, '')
const shownOfSellers = waitingWhere('e.type = ANY($1::text[])', '')

// Few of them wait at a time, so they are found first. OFFSET 0 forces one lookup for each, regardless of statistics.
const waitingReturnsWhere = (lock: '' | 'FOR UPDATE OF e'): string =>
  prepared(
    `SELECT ${columns}, l.of_order FROM tallyman.erp_event e CROSS JOIN LATERAL (
       SELECT DISTINCT l.purchase_order_id AS of_order FROM warehouse.return_lines l
       WHERE l.return_order_id = ${returnOfData} AND l.purchase_order_id = ANY($1::text[]) OFFSET 0) l
     WHERE e.status = 'received' AND e.type = '${returnEventType}' ORDER BY e.sequence ${lock}`,
  )
const waitingOfReturns = waitingReturnsWhere('FOR UPDATE OF e')
const shownOfReturns = waitingReturnsWhere('')

const bySequence = (a: StoredEvent, b: StoredEvent): number => (a.sequence < b.sequence ? -1 : 1)

/** Waiting events of this purchase order and of its returns (null: of those that concern sellers), in the order of arrival. */
export const readWaitingEvents = async (sql: SqlRunner, purchaseOrderId: string | null): Promise<readonly StoredEvent[]> => {
  if (purchaseOrderId === null) return (await sql.query<EventRow>(shownOfSellers, sellerEventTypes)).map(fromRow)
  const ofOrder = await sql.query<EventRow>(shownOfOrder, purchaseOrderId)
  const ofReturns = await sql.query<EventRow>(shownOfReturns, [purchaseOrderId])
  return [...ofOrder, ...ofReturns].map(fromRow).sort(bySequence)
}

const lockReceived = batchQuery(async (tx: SqlRunner, subjects: readonly (string | null)[]) => {
  const orders = subjects.filter((purchaseOrderId) => purchaseOrderId !== null)
  // Sent together, so that no insert runs between the two.
  const [ofOrders, ofReturns, ofSellers] = await Promise.all([
    orders.length === 0 ? [] : tx.query<EventRow>(waitingOfOrders, orders),
    orders.length === 0 ? [] : tx.query<EventRow & { readonly of_order: string }>(waitingOfReturns, orders),
    orders.length === subjects.length ? [] : tx.query<EventRow>(waitingOfSellers, sellerEventTypes),
  ])
  const byOrder = Map.groupBy(ofOrders.map(fromRow), (event) => event.purchaseOrderId)
  const concerningSellers = ofSellers.map(fromRow)
  const returnsByOrder = Map.groupBy(ofReturns, (row) => row.of_order)
  return subjects.map((purchaseOrderId) => {
    if (purchaseOrderId === null) return concerningSellers
    const own = byOrder.get(purchaseOrderId) ?? []
    const through = returnsByOrder.get(purchaseOrderId) ?? []
    return through.length === 0 ? own : [...own, ...through.map(fromRow)].sort(bySequence)
  })
})

/**
 * Locks the waiting events of this purchase order and of its returns (null: of those that concern sellers), in the order of arrival. Lock their subject
 * first. They may be of different sellers, which the caller checks.
 */
export const lockWaitingEvents = (tx: Transaction, purchaseOrderId: string | null): Promise<readonly StoredEvent[]> =>
  lockReceived(tx, purchaseOrderId)
