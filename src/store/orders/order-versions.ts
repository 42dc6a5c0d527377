import type { SqlRunner } from '../db/database.ts'
import type { OrderKey } from './order-queries.ts'

/** A version of an order as the marketplace sent it; `lastSeenAt` is null for the current one. */
export interface OrderVersion {
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date | null
  readonly raw: unknown
}

/** The newest versions of an order, oldest first, the current one last. `until`: only those that were stored by then. */
export const readOrderVersions = async (
  sql: SqlRunner,
  key: OrderKey,
  limit: number,
  until: Date | null = null,
): Promise<readonly OrderVersion[]> => {
  const rows = await sql.query<{ first_seen_at: Date; last_seen_at: Date | null; raw: unknown }>(
    `SELECT changed_at AS first_seen_at, NULL::timestamptz AS last_seen_at, raw FROM warehouse.orders
       WHERE seller_id = $1 AND purchase_order_id = $2 AND ($4::timestamptz IS NULL OR changed_at <= $4::timestamptz)
     UNION ALL
     SELECT first_seen_at, last_seen_at, raw FROM tallyman.superseded_versions
       WHERE seller_id = $1 AND resource = 'orders' AND record_key = $2 AND ($4::timestamptz IS NULL OR first_seen_at <= $4::timestamptz)
     ORDER BY last_seen_at DESC NULLS FIRST, first_seen_at DESC LIMIT $3::int`,
    key.sellerId,
    key.purchaseOrderId,
    limit,
    until === null ? null : until.toISOString(),
  )
  return rows.map((row) => ({ firstSeenAt: row.first_seen_at, lastSeenAt: row.last_seen_at, raw: row.raw })).reverse()
}

/** When an order was stored for the first time, and when each of its kept versions was stored and replaced. */
export interface OrderTimes {
  readonly firstSeenAt: Date
  /** Oldest first; the current version, which `to` null marks, is the last. */
  readonly periods: readonly { readonly from: Date; readonly to: Date | null }[]
}

/** The times of an order; null: it is not stored. */
export const readOrderTimes = async (sql: SqlRunner, key: OrderKey): Promise<OrderTimes | null> => {
  const rows = await sql.query<{ known_since: Date; changed_at: Date; first_seen_at: Date | null; last_seen_at: Date | null }>(
    `SELECT o.first_seen_at AS known_since, o.changed_at, v.first_seen_at, v.last_seen_at
     FROM warehouse.orders o LEFT JOIN tallyman.superseded_versions v
       ON v.seller_id = o.seller_id AND v.resource = 'orders' AND v.record_key = o.purchase_order_id
     WHERE o.seller_id = $1 AND o.purchase_order_id = $2 ORDER BY v.last_seen_at, v.first_seen_at`,
    key.sellerId,
    key.purchaseOrderId,
  )
  const [first] = rows
  if (first === undefined) return null
  const superseded = rows.flatMap(({ first_seen_at: from, last_seen_at: to }) =>
    from === null || to === null ? [] : [{ from, to }],
  )
  return { firstSeenAt: first.known_since, periods: [...superseded, { from: first.changed_at, to: null }] }
}

/** The oldest replaced versions of an order, oldest first, as JSON texts with the marketplace's digits. */
export const readOldestVersions = async (sql: SqlRunner, key: OrderKey, count: number): Promise<readonly string[]> => {
  const rows = await sql.query<{ raw: string }>(
    `SELECT raw::text AS raw FROM tallyman.superseded_versions WHERE seller_id = $1 AND resource = 'orders' AND record_key = $2
     ORDER BY last_seen_at, first_seen_at LIMIT $3::int`,
    key.sellerId,
    key.purchaseOrderId,
    count,
  )
  return rows.map(({ raw }) => raw)
}
