import {
  type MarketplaceNotification,
  type NotifiedRecord,
  type NotifiedResource,
  notifiedResources,
} from '../../domain/sync/notification.ts'
import type { Database, SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { nameOrders } from '../orders/named-orders.ts'
import { lockOrders } from '../orders/orders.ts'
import { sellerIsServed } from '../sellers/sellers.ts'
import { markTable } from '../versioned/table-marks.ts'

markTable('tallyman.notifications', {
  none: 'id seller_id event_id event_type resource record_id hold received_at read_at',
})

/** A record of a seller that a notification names. */
export interface NotifiedKey extends NotifiedRecord {
  readonly sellerId: string
}

const insertNotified = prepared(
  `INSERT INTO tallyman.notifications (seller_id, event_id, event_type, resource, record_id, hold)
   SELECT $1, $2, $3, r.resource, r.record_id, $4 FROM unnest($5::text[], $6::text[]) AS r(resource, record_id)
   ON CONFLICT (seller_id, event_id, resource, record_id) DO NOTHING
   RETURNING resource, record_id`,
)

/**
 * Stores what a notification makes be read; returns the records that are new, none of a repeated delivery. A hold is stored under the lock of its order:
 * a shipment whose intent is committed later finds it. Orders that are not stored are noted.
 */
export const storeNotification = (
  database: Database,
  sellerId: string,
  { eventId, eventType, records, hold }: MarketplaceNotification,
): Promise<readonly NotifiedRecord[]> =>
  database.transaction(
    async (tx) => {
      if (hold !== null) {
        const ids = records.flatMap(({ resource, recordId }) => (resource === 'orders' ? [recordId] : []))
        await lockOrders(
          tx,
          [...new Set(ids)].sort().map((purchaseOrderId) => ({ sellerId, purchaseOrderId })),
        )
      }
      const rows = await tx.query<{ resource: NotifiedResource; record_id: string }>(
        insertNotified,
        sellerId,
        eventId,
        eventType,
        hold,
        records.map(({ resource }) => resource),
        records.map(({ recordId }) => recordId),
      )
      const stored = rows.map((row) => ({ resource: row.resource, recordId: row.record_id }))
      const at = new Date()
      const orders = stored.flatMap(({ resource, recordId }) =>
        resource === 'orders' ? [{ purchaseOrderId: recordId, at }] : [],
      )
      nameOrders(tx, sellerId, 'notifications', orders)
      return stored
    },
    { locksFirst: hold !== null },
  )

/**
 * Whether a notification about a record of this resource was accepted within this time. Never of a seller in shadow mode: what the other system does
 * has no notification.
 */
export const hasNotifications = async (
  sql: SqlRunner,
  { sellerId, resource }: Pick<NotifiedKey, 'sellerId' | 'resource'>,
  withinMs: number,
): Promise<boolean> => {
  const [row] = await sql.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM tallyman.notifications
       WHERE seller_id = $1 AND resource = $2 AND received_at > now() - make_interval(secs => $3::float8 / 1000))
       AND NOT EXISTS (SELECT FROM tallyman.sellers WHERE seller_id = $1 AND mode = 'shadow') AS found`,
    sellerId,
    resource,
    withinMs,
  )
  return row?.found === true
}

/** Notifications about a record that has not been read since. */
export interface UnreadNotifications {
  readonly ids: readonly bigint[]
  /** Age of the oldest one, in milliseconds. */
  readonly ageMs: number
  /** Whether one of them holds shipments. */
  readonly holds: boolean
}

/** The notifications about a record that has not been read since; null: there are none. */
export const findUnread = async (
  sql: SqlRunner,
  { sellerId, resource, recordId }: NotifiedKey,
): Promise<UnreadNotifications | null> => {
  const [row] = await sql.query<{ ids: bigint[] | null; age_ms: number; holds: boolean }>(
    `SELECT array_agg(id) AS ids, (extract(epoch FROM now() - min(received_at)) * 1000)::float8 AS age_ms, bool_or(hold IS NOT NULL) AS holds
     FROM tallyman.notifications WHERE seller_id = $1 AND resource = $2 AND record_id = $3 AND read_at IS NULL`,
    sellerId,
    resource,
    recordId,
  )
  return row === undefined || row.ids === null ? null : { ids: row.ids, ageMs: row.age_ms, holds: row.holds }
}

/** Marks notifications as read: their record was requested after they had been stored. */
export const markRead = async (tx: Transaction, ids: readonly bigint[]): Promise<void> => {
  await tx.execute(
    `UPDATE tallyman.notifications SET read_at = now() WHERE id = ANY ($1::bigint[]) AND read_at IS NULL`,
    ids.map(String),
  )
}

/**
 * Records of active sellers that have not been read since a notification, the longest waiting first. A notification that was just received is left out: its
 * job is being added.
 */
export const findUnreadRecords = async (sql: SqlRunner, limit: number): Promise<readonly NotifiedKey[]> => {
  const rows = await sql.query<{ seller_id: string; resource: string; record_id: string }>(
    `SELECT n.seller_id, n.resource, n.record_id FROM tallyman.notifications n
     JOIN tallyman.sellers s ON s.seller_id = n.seller_id AND s.state = 'active' AND ${sellerIsServed('s')}
     WHERE n.read_at IS NULL AND n.received_at < now() - interval '1 second'
     GROUP BY 1, 2, 3 ORDER BY min(n.received_at) LIMIT $1::int`,
    limit,
  )
  return rows.flatMap(({ seller_id: sellerId, resource: name, record_id: recordId }) => {
    const resource = notifiedResources.find((one) => one === name)
    return resource === undefined ? [] : [{ sellerId, resource, recordId }]
  })
}
