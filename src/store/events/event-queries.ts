import { maxIdLength } from '../../domain/events/event-bounds.ts'
import { type EventState, returnEventType } from '../../domain/events/event-shape.ts'
import type { SqlRunner } from '../db/database.ts'
import { buildPage, type ListPage, type Period } from '../db/page.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import type { EventKey, EventProblem } from './events.ts'

/** An event in lists, without its data. */
export interface ListedEvent extends EventKey {
  readonly sequence: bigint
  readonly type: string
  /** Null: unknown. */
  readonly sellerId: string | null
  readonly purchaseOrderId: string | null
  readonly state: EventState
  readonly problem: EventProblem | null
  /** Why the last try could not decide it; null: it no longer waits, or was not tried yet. */
  readonly waitsFor: string | null
  readonly receivedAt: Date
  readonly processedAt: Date | null
  /** Ids of its commands, in their order. */
  readonly commands: readonly string[]
}

/** Which events to list; null: any. */
export interface EventFilter {
  readonly state: EventState | null
  readonly sellerId: SellerFilter
  /** Also events about returns of this order. */
  readonly purchaseOrderId?: string | null
  readonly type?: string | null
  readonly source?: string | null
  readonly id?: string | null
  readonly received?: Period
}

// Literals, so that the partial indexes of waiting and rejected events are used.
const statusConditions = {
  received: `e.status = 'received'`,
  accepted: `e.status = 'accepted'`,
  rejected: `e.status = 'rejected'`,
}

/** SQL: the seller of an event `e`, if it is known. */
export const eventSellerExpression = `COALESCE(e.seller_id, left(tallyman.normal_id(e.data -> 'sellerId'), ${maxIdLength}))`

/** SQL: the purchase order of an event, in normal form. Indexed. */
const orderExpression = `left(tallyman.normal_id(e.data -> 'purchaseOrderId'), ${maxIdLength})`

/** SQL: the return of an event, in normal form. Indexed for events of this type. */
const returnExpression = `left(tallyman.normal_id(e.data -> 'returnOrderId'), ${maxIdLength})`

/** SQL: numbers of the events about the purchase order `$4`, and about its returns. */
const ofOrder = `SELECT e.sequence FROM tallyman.erp_event e WHERE ${orderExpression} = $4::text
  UNION SELECT e.sequence FROM tallyman.sellers s
  JOIN warehouse.return_lines l ON l.seller_id = s.seller_id AND l.purchase_order_id = $4::text
  JOIN tallyman.erp_event e ON e.type = '${returnEventType}' AND ${returnExpression} = l.return_order_id AND ${eventSellerExpression} = l.seller_id`

/** Events, newest first, before this sequence number. */
export const listEvents = async (
  sql: SqlRunner,
  { state, sellerId, purchaseOrderId = null, type = null, source = null, id = null, received }: EventFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<ListedEvent, bigint>> => {
  const rows = await sql.query<{
    source: string
    id: string
    sequence: bigint
    type: string
    seller_id: string | null
    purchase_order_id: string | null
    status: EventState
    problem: EventProblem | null
    waits_for: string | null
    received_at: Date
    processed_at: Date | null
    commands: readonly string[]
  }>(
    `SELECT e.source, e.id, e.sequence, e.type, ${eventSellerExpression} AS seller_id,
       ${orderExpression} AS purchase_order_id, e.status, e.problem,
       CASE WHEN e.status = 'received' THEN e.waits_for END AS waits_for, e.received_at, e.processed_at,
       ARRAY(SELECT c.id FROM tallyman.commands c WHERE c.event_source = e.source AND c.event_id = e.id ORDER BY c.sequence) AS commands
     FROM tallyman.erp_event e
     WHERE ${state === null ? 'true' : statusConditions[state]} AND ($1::text[] IS NULL OR ${eventSellerExpression} = ANY ($1::text[]))
       AND ($2::bigint IS NULL OR e.sequence < $2::bigint)
       ${purchaseOrderId === null ? 'AND $4::text IS NULL' : `AND e.sequence IN (${ofOrder})`} AND ($5::text IS NULL OR e.type = $5::text)
       AND ($6::text IS NULL OR e.source = $6::text) AND ($7::text IS NULL OR e.id = $7::text)
       AND ($8::timestamptz IS NULL OR e.received_at >= $8::timestamptz) AND ($9::timestamptz IS NULL OR e.received_at < $9::timestamptz)
     ORDER BY e.sequence DESC LIMIT $3::int`,
    toSellerIds(sellerId),
    before,
    limit + 1,
    purchaseOrderId,
    type,
    source,
    id,
    received?.from?.toISOString() ?? null,
    received?.to?.toISOString() ?? null,
  )
  return buildPage(
    rows.map(
      (row): ListedEvent => ({
        source: row.source,
        id: row.id,
        sequence: row.sequence,
        type: row.type,
        sellerId: row.seller_id,
        purchaseOrderId: row.purchase_order_id,
        state: row.status,
        problem: row.problem,
        waitsFor: row.waits_for,
        receivedAt: row.received_at,
        processedAt: row.processed_at,
        commands: row.commands,
      }),
    ),
    limit,
    (event) => event.sequence,
  )
}

/** An alarm is raised when an event has waited this long, in milliseconds. */
export const alarmWaitingAfterMs = 900_000

/** The events of a seller that have waited for longer than {@link alarmWaitingAfterMs}. */
export interface LongWaiting {
  /** Empty: the events name none. */
  readonly sellerId: string
  readonly count: number
  /** The first of them, in the order of arrival. */
  readonly first: readonly (EventKey & { readonly waitsFor: string | null; readonly receivedAt: Date })[]
}

/** Long-waiting events by seller, the first `shown` of each. */
export const findLongWaitingEvents = async (sql: SqlRunner, shown: number): Promise<readonly LongWaiting[]> => {
  const rows = await sql.query<{
    seller_id: string
    count: number
    source: string
    id: string
    waits_for: string | null
    received_at: Date
  }>(
    `SELECT w.* FROM (
       SELECT COALESCE(${eventSellerExpression}, '') AS seller_id, e.source, e.id, e.waits_for, e.received_at, e.sequence,
         (count(*) OVER seller)::int AS count, row_number() OVER (seller ORDER BY e.sequence) AS place
       FROM tallyman.erp_event e
       WHERE e.status = 'received' AND e.received_at <= now() - $1::int * interval '1 millisecond'
       WINDOW seller AS (PARTITION BY COALESCE(${eventSellerExpression}, ''))
     ) w WHERE w.place <= $2::int ORDER BY w.seller_id, w.sequence`,
    alarmWaitingAfterMs,
    shown,
  )
  return [...Map.groupBy(rows, (row) => row.seller_id)].map(([sellerId, events]) => ({
    sellerId,
    count: events[0]?.count ?? 0,
    first: events.map(({ source, id, waits_for: waitsFor, received_at: receivedAt }) => ({ source, id, waitsFor, receivedAt })),
  }))
}
