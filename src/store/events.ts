import type { CommandKind, LineQuantity } from '../domain/command.ts'
import { maxDataBytes, maxDataDepth, maxIdLength, maxKeyBytes, nestingOf } from '../domain/event-bounds.ts'
import { type EventFault, type EventState, settingsEventType } from '../domain/event-shape.ts'
import type { Acting } from './audit.ts'
import type { SqlRunner, Transaction } from './database.ts'
import { dueNow } from './due-now.ts'
import { prepared } from './prepared.ts'
import { sellerIsServed } from './sellers.ts'
import { together } from './together.ts'

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

/** Why an event was refused, as a problem document (RFC 9457). */
export interface EventProblem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly errors: readonly EventFault[]
}

/** Who ended a waiting event, and why. */
export interface PersonsReason extends Acting {
  readonly reason: string
}

/** What came of a person's wish to end a waiting event. */
export type PersonsRejection =
  | { readonly ok: true; readonly state: 'rejected' }
  | { readonly ok: false; readonly fault: 'not-found' }
  | { readonly ok: false; readonly fault: 'not-waiting'; readonly state: EventState }

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

/** A command that an event would come to. */
export interface ForecastCommand {
  readonly kind: CommandKind
  readonly lines: readonly LineQuantity[]
  /** What a refund gives back, tax and fees included; null: no refund, or one in several currencies. */
  readonly money: { readonly amount: string; readonly currency: string } | null
  /** The request as it would leave; null: none would, as its goal is reached already or the marketplace has no such command. */
  readonly request: object | null
}

/** What an event would do if it were posted now. */
export interface EventForecast extends EventKey {
  readonly would: 'accepted' | 'duplicate' | 'rejected'
  readonly commands: readonly ForecastCommand[]
  /** Why it would be rejected, or what else there is to say. */
  readonly problem: EventProblem | null
}

/** A fault of one of several events. */
export interface IndexedFault extends EventFault {
  readonly index: number
}

/** A stored event with the ids of its commands. */
export interface StoredEvent extends IncomingEvent {
  readonly sequence: bigint
  /** Why its data is not shown, as an end to "data …"; null: it is. Then `data` is null. */
  readonly unreadable: string | null
  /** The purchase order that it names, in the form in which Postgres compares it (`tallyman.normal_id`); null: none. */
  readonly purchaseOrderId: string | null
  /** SHA-256 of type and data, hexadecimal; null for a row of the SQL inbox that has not been looked at. */
  readonly bodyHash: string | null
  readonly sellerId: string | null
  readonly state: EventState
  readonly problem: EventProblem | null
  readonly commands: readonly string[]
  readonly receivedAt: Date
  /** Milliseconds since then, on the clock of Postgres. */
  readonly waitedMs: number
  readonly processedAt: Date | null
  /** Why it could not be decided when it was looked at last; null: it has not been looked at, or no longer waits. */
  readonly waitsFor: string | null
  /** When its data went, but for the ids of order and seller; null: it is all there. */
  readonly dataRemovedAt: Date | null
}

interface EventRow {
  readonly source: string
  readonly id: string
  readonly sequence: bigint
  readonly type: string
  readonly data: string | null
  readonly data_bytes: number
  readonly purchase_order_id: string | null
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
}

const orderOfData = `left(tallyman.normal_id(e.data -> 'purchaseOrderId'), ${maxIdLength})`

// The data as text: how large and how deep it is must be known before anything walks through it.
const columns = `e.source, e.id, e.sequence, e.type, CASE WHEN octet_length(e.data::text) <= ${maxDataBytes} THEN e.data::text END AS data,
  octet_length(e.data::text) AS data_bytes, ${orderOfData} AS purchase_order_id,
  encode(e.body_hash, 'hex') AS body_hash, e.seller_id, e.status, e.problem, e.received_at,
  extract(epoch FROM now() - e.received_at)::float8 * 1000 AS waited_ms, e.processed_at,
  CASE WHEN e.status = 'received' THEN e.waits_for END AS waits_for, e.data_removed_at,
  ARRAY(SELECT c.id FROM tallyman.commands c WHERE c.event_source = e.source AND c.event_id = e.id ORDER BY c.sequence) AS commands`

const unreadableFor = ({ data, data_bytes: bytes }: EventRow): string | null => {
  if (data === null) return `is too large: ${bytes} bytes as text, at most ${maxDataBytes} are taken`
  return nestingOf(data) > maxDataDepth ? `is nested more than ${maxDataDepth} levels deep` : null
}

const fromRow = (row: EventRow): StoredEvent => {
  const unreadable = unreadableFor(row)
  const data: unknown = unreadable === null && row.data !== null ? JSON.parse(row.data) : null
  return { ...storedOf(row), data, unreadable }
}

const storedOf = (row: EventRow): Omit<StoredEvent, 'data' | 'unreadable'> => ({
  source: row.source,
  id: row.id,
  sequence: row.sequence,
  type: row.type,
  purchaseOrderId: row.purchase_order_id,
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
})

// OFFSET 0: one lookup for each, whatever the statistics say.
const selectEvents = prepared(
  `SELECT ${columns} FROM (SELECT DISTINCT source, id FROM jsonb_to_recordset($1::jsonb) AS t(source text, id text)) k
   CROSS JOIN LATERAL (SELECT * FROM tallyman.erp_event e WHERE e.source = k.source AND e.id = k.id OFFSET 0) e`,
)

/** Those of the events that are stored. */
export const readEvents = async (sql: SqlRunner, keys: readonly EventKey[]): Promise<readonly StoredEvent[]> => {
  const rows = await sql.query<EventRow>(selectEvents, JSON.stringify(keys.map(({ source, id }) => ({ source, id }))))
  return rows.map(fromRow)
}

/** One event, or null. */
export const readStoredEvent = async (sql: SqlRunner, key: EventKey): Promise<StoredEvent | null> =>
  (await readEvents(sql, [key]))[0] ?? null

/** An event as it is stored first. */
export interface NewEvent extends IncomingEvent {
  readonly bodyHash: string
  readonly sellerId: string | null
  readonly state: 'received' | 'accepted'
}

const insertGiven = prepared(
  `INSERT INTO tallyman.erp_event (source, id, type, data, body_hash, seller_id, status, processed_at)
   SELECT t.source, t.id, t.type, COALESCE(t.data, 'null'), decode(t.body_hash, 'hex'), t.seller_id, t.status, CASE WHEN t.status = 'accepted' THEN now() END
   FROM jsonb_to_recordset($1::jsonb) AS t(ordinal int, source text, id text, type text, data jsonb, body_hash text, seller_id text, status text)
   ORDER BY t.ordinal
   ON CONFLICT (source, id) DO NOTHING RETURNING source, id`,
)

const insertAll = together(async (sql: SqlRunner, asked: readonly (readonly NewEvent[])[]) => {
  const rows = await sql.query<EventKey>(
    insertGiven,
    JSON.stringify(
      asked.flat().map(({ source, id, type, data, bodyHash, sellerId, state }, ordinal) => ({
        ordinal,
        source,
        id,
        type,
        data,
        body_hash: bodyHash,
        seller_id: sellerId,
        status: state,
      })),
    ),
  )
  const inserted = new Set(rows.map(({ source, id }) => JSON.stringify([source, id])))
  return asked.map((events) => events.map(({ source, id }) => inserted.has(JSON.stringify([source, id]))))
})

/**
 * Stores events; answers false for each whose source and id are taken, and changes nothing of it. Waits for a transaction under way that
 * stores the same ones. An event that is accepted is inserted under its order's row lock, so that numbers follow acceptance.
 */
export const insertEvents = (tx: Transaction, events: readonly NewEvent[]): Promise<readonly boolean[]> => insertAll(tx, events)

/** Decides an event that was waiting; returns false when it no longer waits. Without a hash the one it has stays. */
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

/** Rows of before these bounds were kept by the table; the columns are those of `e`. */
const keyFits = `octet_length(e.source) BETWEEN 1 AND ${maxKeyBytes} AND octet_length(e.id) BETWEEN 1 AND ${maxKeyBytes}`

/** Whose a waiting event is, as well as it can be told; empty: it cannot. The index of waiting events by seller says the same. */
export const waitingSellerOf = `left(coalesce(e.seller_id, tallyman.normal_id(e.data -> 'sellerId'), ''), 255)`

/**
 * Waiting events that are to be looked at now, in rounds: one of each seller, then another of each. Of a seller those come first that were due
 * first, then in the order in which they came. Each has its share of `most`, at least one, however many events another one has.
 */
export const dueEvents = (sql: SqlRunner, most: number): Promise<readonly EventKey[]> =>
  sql.query<EventKey>(
    `WITH RECURSIVE sellers AS (
       (SELECT ${waitingSellerOf} AS seller FROM tallyman.erp_event e WHERE e.status = 'received' ORDER BY 1 LIMIT 1)
       UNION ALL
       SELECT (SELECT ${waitingSellerOf} FROM tallyman.erp_event e WHERE e.status = 'received' AND ${waitingSellerOf} > s.seller ORDER BY 1 LIMIT 1)
       FROM sellers s WHERE s.seller IS NOT NULL
     )
     SELECT d.source, d.id FROM sellers s CROSS JOIN LATERAL (
       SELECT w.*, row_number() OVER (ORDER BY w.due_at, w.sequence) AS place FROM (
         SELECT e.source, e.id, e.due_at, e.sequence FROM tallyman.erp_event e
         WHERE e.status = 'received' AND ${waitingSellerOf} = s.seller AND e.due_at <= ${dueNow} AND ${keyFits}
         ORDER BY e.due_at, e.sequence LIMIT (SELECT greatest(1, $1::int / count(seller)) FROM sellers)
       ) w
     ) d
     ORDER BY d.place, d.due_at, d.sequence`,
    most,
  )

/** What a waiting event is about, as far as work on it is divided by that. */
export interface WaitingSubject {
  /** Empty: it cannot be told. */
  readonly sellerId: string
  /** The order that it names; null: none. */
  readonly purchaseOrderId: string | null
  /** Whether some process serves that seller. */
  readonly isServed: boolean
}

/** What a waiting event is about; null: it does not wait. */
export const readWaitingSubject = async (sql: SqlRunner, { source, id }: EventKey): Promise<WaitingSubject | null> => {
  const [row] = await sql.query<WaitingSubject>(
    `SELECT ${waitingSellerOf} AS "sellerId", ${orderOfData} AS "purchaseOrderId",
       EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = ${waitingSellerOf} AND ${sellerIsServed('s')}) AS "isServed"
     FROM tallyman.erp_event e WHERE e.source = $1 AND e.id = $2 AND e.status = 'received'`,
    source,
    id,
  )
  return row ?? null
}

/** Keeps why a waiting event could not be decided, whose it is if that was not known, and when it is to be looked at again. */
export const putOffEvent = async (
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

/** Makes the waiting events of these sellers due that were to be looked at later. */
export const wakeWaitingEvents = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.erp_event e SET due_at = now()
     WHERE e.status = 'received' AND ${waitingSellerOf} = ANY ($1::text[]) AND e.due_at > now()`,
    sellerIds,
  )
}

/** Waiting events that came longer ago than this, or whose source or id no job can carry. */
export const endlessEvents = async (sql: SqlRunner, longestMs: number, limit: number): Promise<readonly StoredEvent[]> => {
  const rows = await sql.query<EventRow>(
    `SELECT ${columns} FROM tallyman.erp_event e WHERE e.status = 'received'
       AND (e.received_at <= now() - $1::float8 * interval '1 millisecond' OR NOT (${keyFits}))
     ORDER BY e.sequence LIMIT $2::int`,
    longestMs,
    limit,
  )
  return rows.map(fromRow)
}

const waitingWhere = (condition: string, lock: '' | 'FOR UPDATE OF e'): string =>
  prepared(`SELECT ${columns} FROM tallyman.erp_event e WHERE e.status = 'received' AND ${condition} ORDER BY e.sequence ${lock}`)

const waitingOfOrders = waitingWhere(`${orderOfData} = ANY($1::text[])`, 'FOR UPDATE OF e')
const waitingOfType = waitingWhere('e.type = $1', 'FOR UPDATE OF e')
const shownOfOrder = waitingWhere(`${orderOfData} = $1`, '')
const shownOfType = waitingWhere('e.type = $1', '')

/** Waiting events about this purchase order (null: about shipping settings), in the order in which they came. */
export const receivedEvents = async (sql: SqlRunner, purchaseOrderId: string | null): Promise<readonly StoredEvent[]> => {
  const rows =
    purchaseOrderId === null
      ? await sql.query<EventRow>(shownOfType, settingsEventType)
      : await sql.query<EventRow>(shownOfOrder, purchaseOrderId)
  return rows.map(fromRow)
}

const lockReceivedOf = together(async (tx: SqlRunner, about: readonly (string | null)[]) => {
  const orders = about.filter((purchaseOrderId) => purchaseOrderId !== null)
  // Sent at once: what is inserted behind them must not come between.
  const [ofOrders, ofSettings] = await Promise.all([
    orders.length === 0 ? [] : tx.query<EventRow>(waitingOfOrders, orders),
    orders.length === about.length ? [] : tx.query<EventRow>(waitingOfType, settingsEventType),
  ])
  const byOrder = Map.groupBy(ofOrders.map(fromRow), (event) => event.purchaseOrderId)
  const settings = ofSettings.map(fromRow)
  return about.map((purchaseOrderId) => (purchaseOrderId === null ? settings : (byOrder.get(purchaseOrderId) ?? [])))
})

/**
 * Locks the waiting events about this purchase order (null: about shipping settings), in the order in which they came. Take the lock
 * of what they are about first. They may be of different sellers: the caller looks at each.
 */
export const lockReceivedEvents = (tx: Transaction, purchaseOrderId: string | null): Promise<readonly StoredEvent[]> =>
  lockReceivedOf(tx, purchaseOrderId)
