import { type CommandKind, commandKinds } from '../domain/command.ts'
import type { SqlRunner } from './database.ts'
import { type DeadlineRules, hasDeadlines, rulesJson, rulesRows } from './deadlines.ts'
import { waitingSellerOf } from './events.ts'
import { oneOf } from './one-of.ts'

/** Open work beyond this is not counted. */
export const mostCounted = 10_000

/** What of a seller is open, and how far behind it is. Counts of rows are {@link mostCounted} at most. */
export interface SellerWork {
  readonly openOrders: number
  /** Those of them that the seller ships, that the marketplace still has, and whose time to ship has passed. */
  readonly lateOrders: number
  /** Commands that are not settled and that the daemon still works on. */
  readonly openCommands: number
  /** Commands that a person must decide on. */
  readonly heldCommands: number
  /** Events that wait to be decided. */
  readonly waitingEvents: number
  readonly quarantined: number
  readonly openAlarms: number
  /** Streams whose last run failed. */
  readonly failingStreams: number
  /** Since the polled stream of its orders that is furthest behind was read to its end, in ms by the database's clock; null: one has not been yet. */
  readonly ordersLagMs: number | null
  /**
   * Of the streams that have been read to their end, the one for which that is longest ago. Backfills are read once, and what the seller is not
   * enrolled in is not read: neither is behind. Null: none has been read yet.
   */
  readonly furthestBehind: { readonly resource: string; readonly stream: string; readonly lagSeconds: number } | null
}

/** SQL: how many rows `from` has of the seller `a`, up to {@link mostCounted}. */
const countOf = (from: string): string => `(SELECT count(*)::int FROM (SELECT FROM ${from} LIMIT ${mostCounted}) counted)`

/** Commands of a kind that wait for the rate budget, and when the first of them goes on. */
export interface WaitingCommands {
  readonly sellerId: string
  readonly kind: CommandKind
  readonly until: Date
}

/**
 * Which commands of these sellers wait for the rate budget: what is pending and put off, without trouble of its own, waits for nothing else. So they
 * are known before any process has reported how its limits stand. At most {@link mostCounted} of a seller are looked at.
 */
export const readWaitingCommands = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<readonly WaitingCommands[]> => {
  const rows = await sql.query<{ seller_id: string; kind: string; until: Date }>(
    `SELECT a.seller_id, w.kind, min(w.next_action_at) AS until
     FROM unnest($1::text[]) AS a(seller_id) CROSS JOIN LATERAL (
       SELECT c.kind, c.state, c.troubled_since, c.next_action_at FROM tallyman.commands c
       WHERE c.seller_id = a.seller_id AND c.state IN ('pending', 'sending', 'verifying') LIMIT ${mostCounted}) w
     WHERE w.state = 'pending' AND w.troubled_since IS NULL AND w.next_action_at > now()
     GROUP BY a.seller_id, w.kind ORDER BY a.seller_id, w.kind`,
    sellerIds,
  )
  return rows.map(({ seller_id: sellerId, kind, until }) => ({ sellerId, kind: oneOf(commandKinds, kind), until }))
}

/**
 * What is open of these sellers, by their ids; their orders are late by their rules. Its cost depends on the sellers asked for, not on how many
 * there are, and not on how much they have.
 */
export const readSellerWork = async (
  sql: SqlRunner,
  sellers: readonly DeadlineRules[],
): Promise<ReadonlyMap<string, SellerWork>> => {
  const rows = await sql.query<SellerWork & { readonly sellerId: string }>(
    `WITH a AS (${rulesRows('$1')})
     SELECT a.seller_id AS "sellerId",
       ${countOf('warehouse.orders o WHERE o.seller_id = a.seller_id AND o.open')} AS "openOrders",
       ${countOf(`warehouse.orders o WHERE o.seller_id = a.seller_id AND ${hasDeadlines('a.marketplace')} AND o.estimated_ship_date < a.now`)}
         AS "lateOrders",
       ${countOf(`tallyman.commands c WHERE c.seller_id = a.seller_id AND c.state IN ('pending', 'sending', 'verifying')`)} AS "openCommands",
       ${countOf(`tallyman.commands c WHERE c.seller_id = a.seller_id AND c.state = 'held'`)} AS "heldCommands",
       ${countOf(`tallyman.erp_event e WHERE e.status = 'received' AND ${waitingSellerOf} = a.seller_id`)} AS "waitingEvents",
       ${countOf(`tallyman.quarantined_records q WHERE q.seller_id = a.seller_id AND q.state = 'open'`)} AS quarantined,
       ${countOf('tallyman.alarms m WHERE m.seller_id = a.seller_id AND m.resolved_at IS NULL')} AS "openAlarms",
       s.failing AS "failingStreams", s.lag_ms AS "ordersLagMs", b.furthest AS "furthestBehind"
     FROM a CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE t.failures > 0)::int AS failing,
         CASE WHEN bool_and(t.last_success_at IS NOT NULL) FILTER (WHERE polled.it)
           THEN (extract(epoch FROM now() - min(t.last_success_at) FILTER (WHERE polled.it)) * 1000)::float8 END AS lag_ms
       FROM tallyman.sync_states t CROSS JOIN LATERAL (
         SELECT t.resource = 'orders' AND (t.stream = 'released' OR t.stream LIKE 'changed:%') AS it) polled
       WHERE t.seller_id = a.seller_id
     ) s LEFT JOIN LATERAL (
       SELECT jsonb_build_object('resource', t.resource, 'stream', t.stream,
         'lagSeconds', extract(epoch FROM now() - t.last_success_at)::float8) AS furthest
       FROM tallyman.sync_states t LEFT JOIN tallyman.enrolments n USING (seller_id, resource)
       WHERE seller_id = a.seller_id AND t.last_success_at IS NOT NULL AND t.stream NOT LIKE 'backfill:%' AND n.enrolled IS NOT FALSE
       ORDER BY t.last_success_at, t.resource, t.stream LIMIT 1
     ) b ON true`,
    rulesJson(sellers),
  )
  return new Map(rows.map(({ sellerId, ...work }) => [sellerId, work]))
}
