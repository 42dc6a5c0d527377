import { type EventFault, settingsEventType } from '../domain/event-shape.ts'
import type { SqlRunner, Transaction } from './database.ts'

/** What identifies an event (CloudEvents 1.0: `source` + `id`). */
export interface EventKey {
  readonly source: string
  readonly id: string
}

/** An ERP event as it came in, its envelope checked. */
export interface IncomingEvent extends EventKey {
  readonly type: string
  readonly data: unknown
}

/** Where an event stands: stored and waiting to be decided, turned into commands, or refused with a problem. */
export type EventState = 'received' | 'accepted' | 'rejected'

/** Why an event was refused, as a problem document (RFC 9457). */
export interface EventProblem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly errors: readonly EventFault[]
}

/** An event that is durable. `status` says whether this post made it so, `state` where it stands now. */
export interface EventReceipt extends EventKey {
  readonly status: 'accepted' | 'duplicate'
  readonly state: EventState
  /** Ids of its commands, in their order. */
  readonly commands: readonly string[]
  readonly problem: EventProblem | null
}

/** What became of events that were posted together: all of them are durable, or nothing has changed. */
export type EventsVerdict =
  | { readonly ok: true; readonly receipts: readonly EventReceipt[] }
  /** These (by index) share source and id with another event whose body is another. */
  | { readonly ok: false; readonly reason: 'conflict'; readonly indexes: readonly number[] }
  | { readonly ok: false; readonly reason: 'invalid'; readonly faults: readonly IndexedFault[] }

/** A fault of one of several events. */
export interface IndexedFault extends EventFault {
  readonly index: number
}

/** A stored event with the ids of its commands. */
export interface StoredEvent extends IncomingEvent {
  readonly sequence: bigint
  /** SHA-256 of type and data, hexadecimal; null for a row of the SQL inbox that has not been looked at. */
  readonly bodyHash: string | null
  readonly sellerId: string | null
  readonly state: EventState
  readonly problem: EventProblem | null
  readonly commands: readonly string[]
  readonly receivedAt: Date
  readonly processedAt: Date | null
}

interface EventRow {
  readonly source: string
  readonly id: string
  readonly sequence: bigint
  readonly type: string
  readonly data: unknown
  readonly body_hash: string | null
  readonly seller_id: string | null
  readonly status: EventState
  readonly problem: EventProblem | null
  readonly commands: readonly string[]
  readonly received_at: Date
  readonly processed_at: Date | null
}

const columns = `e.source, e.id, e.sequence, e.type, e.data, encode(e.body_hash, 'hex') AS body_hash, e.seller_id, e.status, e.problem,
  e.received_at, e.processed_at,
  ARRAY(SELECT c.id FROM tallyman.commands c WHERE c.event_source = e.source AND c.event_id = e.id ORDER BY c.sequence) AS commands`

const fromRow = (row: EventRow): StoredEvent => ({
  source: row.source,
  id: row.id,
  sequence: row.sequence,
  type: row.type,
  data: row.data,
  bodyHash: row.body_hash,
  sellerId: row.seller_id,
  state: row.status,
  problem: row.problem,
  commands: row.commands,
  receivedAt: row.received_at,
  processedAt: row.processed_at,
})

/** Those of the events that are stored. */
export const readEvents = async (sql: SqlRunner, keys: readonly EventKey[]): Promise<readonly StoredEvent[]> => {
  const rows = await sql.query<EventRow>(
    `SELECT ${columns} FROM tallyman.erp_event e
     WHERE (e.source, e.id) IN (SELECT k.source, k.id FROM jsonb_to_recordset($1::jsonb) AS k(source text, id text))`,
    JSON.stringify(keys.map(({ source, id }) => ({ source, id }))),
  )
  return rows.map(fromRow)
}

/** One event, or null. */
export const readStoredEvent = async (sql: SqlRunner, key: EventKey): Promise<StoredEvent | null> =>
  (await readEvents(sql, [key]))[0] ?? null

/**
 * Stores an event; answers false, changing nothing, when its source and id are taken. Waits for a transaction under way that
 * stores the same ones. An event that is accepted is inserted under its order's row lock, so that numbers follow acceptance.
 */
export const insertEvent = async (
  tx: Transaction,
  row: IncomingEvent & { readonly bodyHash: string; readonly sellerId: string; readonly state: 'received' | 'accepted' },
): Promise<boolean> => {
  const inserted = await tx.execute(
    `INSERT INTO tallyman.erp_event (source, id, type, data, body_hash, seller_id, status, processed_at)
     VALUES ($1, $2, $3, $4::jsonb, decode($5, 'hex'), $6, $7, CASE WHEN $7 = 'accepted' THEN now() END)
     ON CONFLICT (source, id) DO NOTHING`,
    row.source,
    row.id,
    row.type,
    JSON.stringify(row.data),
    row.bodyHash,
    row.sellerId,
    row.state,
  )
  return inserted === 1
}

/** Decides an event that was waiting; answers false when it no longer waits. */
export const settleEvent = async (
  tx: Transaction,
  key: EventKey,
  decision: { readonly bodyHash: string; readonly sellerId: string | null; readonly problem: EventProblem | null },
): Promise<boolean> => {
  const settled = await tx.execute(
    `UPDATE tallyman.erp_event SET status = $3, body_hash = decode($4, 'hex'), seller_id = COALESCE($5, seller_id), problem = $6::jsonb,
       processed_at = now()
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

/** Events that wait to be decided, in the order in which they came, after this sequence number. */
export const receivedEvents = async (sql: SqlRunner, afterSequence: bigint, limit: number): Promise<readonly StoredEvent[]> => {
  const rows = await sql.query<EventRow>(
    `SELECT ${columns} FROM tallyman.erp_event e WHERE e.status = 'received' AND e.sequence > $1::bigint
     ORDER BY e.sequence LIMIT $2::int`,
    afterSequence,
    limit,
  )
  return rows.map(fromRow)
}

/** Longest purchase order id that an event may name; also stands in the index `erp_event_received_by_order`. */
export const maxPurchaseOrderIdLength = 255

/**
 * Locks the waiting events about this purchase order (null: about shipping settings), in the order in which they came. Take the lock
 * of what they are about first. They may be of different sellers: the caller looks at each.
 */
export const lockReceivedEvents = async (tx: Transaction, purchaseOrderId: string | null): Promise<readonly StoredEvent[]> => {
  const [condition, parameter] =
    purchaseOrderId === null
      ? ['e.type = $1', settingsEventType]
      : [`left(btrim(e.data ->> 'purchaseOrderId'), ${maxPurchaseOrderIdLength}) = $1`, purchaseOrderId]
  const rows = await tx.query<EventRow>(
    `SELECT ${columns} FROM tallyman.erp_event e WHERE e.status = 'received' AND ${condition} ORDER BY e.sequence FOR UPDATE OF e`,
    parameter,
  )
  return rows.map(fromRow)
}
