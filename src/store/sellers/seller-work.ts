import { type CommandKind, commandKinds } from '../../domain/commands/command.ts'
import type { SqlRunner } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildWaitingEvents } from '../events/events.ts'
import { type DeadlineRules, hasDeadlines, rulesJson, rulesRows } from '../orders/deadlines.ts'

/** Open work beyond this is not counted. */
export const maxCounted = 10_000

/** The open work of a seller, and its lag. Counts are at most {@link maxCounted}. */
export interface SellerWork {
  readonly openOrders: number
  /** Those of them that the seller ships, that the marketplace still has, and whose ship-by time has passed. */
  readonly lateOrders: number
  /** Commands that are neither settled nor held. */
  readonly openCommands: number
  /** Commands that a person must decide. */
  readonly heldCommands: number
  /** Undecided events. */
  readonly waitingEvents: number
  readonly quarantined: number
  readonly openAlarms: number
  /** Streams whose last run failed. */
  readonly failingStreams: number
  /** The longest time since the last successful run of its polled streams of orders, in ms of the database's clock; null: one had none. */
  readonly ordersLagMs: number | null
  /**
   * The stream with the longest time since its last successful run, without backfills and resources in which the seller is not enrolled. Null: no stream
   * had one.
   */
  readonly furthestBehind: { readonly resource: string; readonly stream: string; readonly lagSeconds: number } | null
}

/** SQL: the number of rows of `from`, at most {@link maxCounted}. */
const buildCountQuery = (from: string): string => `(SELECT count(*)::int FROM (SELECT FROM ${from} LIMIT ${maxCounted}) counted)`

/** Commands of a kind that wait for the rate limit, and when the first of them is due. */
export interface WaitingCommands {
  readonly sellerId: string
  readonly kind: CommandKind
  readonly until: Date
}

/**
 * Commands of these sellers that wait for the rate limit. Pending, postponed commands without failed steps wait for nothing else, so they are known even
 * before a process reports its limits. At most {@link maxCounted} commands of a seller are read.
 */
export const readWaitingCommands = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<readonly WaitingCommands[]> => {
  const rows = await sql.query<{ seller_id: string; kind: string; until: Date }>(
    `SELECT a.seller_id, w.kind, min(w.next_action_at) AS until
     FROM unnest($1::text[]) AS a(seller_id) CROSS JOIN LATERAL (
       SELECT c.kind, c.state, c.troubled_since, c.next_action_at FROM tallyman.commands c
       WHERE c.seller_id = a.seller_id AND c.state IN ('pending', 'sending', 'verifying') LIMIT ${maxCounted}) w
     WHERE w.state = 'pending' AND w.troubled_since IS NULL AND w.next_action_at > now()
     GROUP BY a.seller_id, w.kind ORDER BY a.seller_id, w.kind`,
    sellerIds,
  )
  return rows.map(({ seller_id: sellerId, kind, until }) => ({ sellerId, kind: parseEnumColumn(commandKinds, kind), until }))
}

/** The open work of these sellers, by id. Its cost depends on the number of these sellers, not on the size of the database. */
export const readSellerWork = async (
  sql: SqlRunner,
  sellers: readonly DeadlineRules[],
): Promise<ReadonlyMap<string, SellerWork>> => {
  const rows = await sql.query<SellerWork & { readonly sellerId: string }>(
    `WITH a AS (${rulesRows('$1')})
     SELECT a.seller_id AS "sellerId",
       ${buildCountQuery('warehouse.orders o WHERE o.seller_id = a.seller_id AND o.open')} AS "openOrders",
       ${buildCountQuery(`warehouse.orders o WHERE o.seller_id = a.seller_id AND ${hasDeadlines('a.marketplace')} AND o.estimated_ship_date < a.now`)}
         AS "lateOrders",
       ${buildCountQuery(`tallyman.commands c WHERE c.seller_id = a.seller_id AND c.state IN ('pending', 'sending', 'verifying')`)} AS "openCommands",
       ${buildCountQuery(`tallyman.commands c WHERE c.seller_id = a.seller_id AND c.state = 'held'`)} AS "heldCommands",
       ${buildCountQuery(buildWaitingEvents('a.seller_id'))} AS "waitingEvents",
       ${buildCountQuery(`tallyman.quarantined_records q WHERE q.seller_id = a.seller_id AND q.state = 'open'`)} AS quarantined,
       ${buildCountQuery('tallyman.alarms m WHERE m.seller_id = a.seller_id AND m.resolved_at IS NULL')} AS "openAlarms",
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
