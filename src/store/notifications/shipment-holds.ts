import type { ShipmentHoldReason } from '../../domain/sync/notification.ts'
import type { StoredCommand } from '../commands/commands.ts'
import type { SqlRunner } from '../db/database.ts'

/**
 * SQL: the notification `n` holds shipments of the command `c`: its order was not read since, or fraud is suspected and no person has decided on the command
 * since the read.
 */
const holds = `n.seller_id = c.seller_id AND n.record_id = c.purchase_order_id AND n.resource = 'orders' AND n.hold IS NOT NULL
  AND (n.read_at IS NULL OR (n.hold = 'fraud-cancel' AND (SELECT d.id FROM tallyman.command_decisions d
    WHERE d.command_id = c.id AND d.decided_at > n.read_at LIMIT 1) IS NULL))`

/** SQL: the command `c` is no shipment, or no notification holds it. Under the order's lock, since holds are stored under it. */
export const isNotHeldShipment = `(c.kind <> 'ship' OR (SELECT n.id FROM tallyman.notifications n WHERE ${holds} LIMIT 1) IS NULL)`

/** Why a shipment is held. */
export interface ShipmentHold {
  readonly reason: ShipmentHoldReason
  /** Whether the order was read after the notification. */
  readonly isRead: boolean
}

/** The hold of a shipment, one that waits for a read first; null: it is not held. */
export const findShipmentHold = async (sql: SqlRunner, { id }: Pick<StoredCommand, 'id'>): Promise<ShipmentHold | null> => {
  const [hold] = await sql.query<ShipmentHold>(
    `SELECT n.hold AS reason, n.read_at IS NOT NULL AS "isRead" FROM tallyman.commands c JOIN tallyman.notifications n ON ${holds}
     WHERE c.id = $1 AND c.kind = 'ship' ORDER BY n.read_at IS NOT NULL, n.hold LIMIT 1`,
    id,
  )
  return hold ?? null
}

/** Makes the pending shipments of an order due; returns their ids. */
export const makeHeldShipmentsDue = async (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `UPDATE tallyman.commands SET next_action_at = least(next_action_at, now())
     WHERE seller_id = $1 AND purchase_order_id = $2 AND kind = 'ship' AND state = 'pending' AND leased_until IS NULL
     RETURNING id`,
    sellerId,
    purchaseOrderId,
  )
  return rows.map(({ id }) => id)
}
