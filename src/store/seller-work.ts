import type { SqlRunner } from './database.ts'
import { waitingSellerOf } from './events.ts'

/** Open work beyond this is not counted. */
export const mostCounted = 10_000

/** What of a seller is under way, and how far behind it is. */
export interface SellerWork {
  /** Commands that are not settled and that the daemon still works on; {@link mostCounted} at most. */
  readonly openCommands: number
  /** Events that wait to be decided; {@link mostCounted} at most. */
  readonly waitingEvents: number
  /** Streams whose last run failed. */
  readonly failingStreams: number
  /** Since the polled stream of its orders that is furthest behind was read to its end, in ms by the database's clock; null: one has not been yet. */
  readonly ordersLagMs: number | null
}

/** What is under way of these sellers, in their order. Its cost depends on the sellers asked for, not on how many there are, and not on how much they have. */
export const readSellerWork = (sql: SqlRunner, sellerIds: readonly string[]): Promise<readonly SellerWork[]> =>
  sql.query<SellerWork>(
    `SELECT
       (SELECT count(*)::int FROM (SELECT FROM tallyman.commands c WHERE c.seller_id = a.seller_id
          AND c.state IN ('pending', 'sending', 'verifying') LIMIT ${mostCounted}) open) AS "openCommands",
       (SELECT count(*)::int FROM (SELECT FROM tallyman.erp_event e WHERE e.status = 'received' AND ${waitingSellerOf} = a.seller_id
          LIMIT ${mostCounted}) waiting) AS "waitingEvents",
       s.failing AS "failingStreams", s.lag_ms AS "ordersLagMs"
     FROM unnest($1::text[]) WITH ORDINALITY AS a(seller_id, place) CROSS JOIN LATERAL (
       SELECT count(*) FILTER (WHERE t.failures > 0)::int AS failing,
         CASE WHEN bool_and(t.last_success_at IS NOT NULL) FILTER (WHERE polled.it)
           THEN (extract(epoch FROM now() - min(t.last_success_at) FILTER (WHERE polled.it)) * 1000)::float8 END AS lag_ms
       FROM tallyman.sync_states t CROSS JOIN LATERAL (
         SELECT t.resource = 'orders' AND (t.stream = 'released' OR t.stream LIKE 'changed:%') AS it) polled
       WHERE t.seller_id = a.seller_id
     ) s
     ORDER BY a.place`,
    sellerIds,
  )
