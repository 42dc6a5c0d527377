import { listUnits } from '../../domain/commands/command.ts'
import type { Transaction } from '../db/database.ts'
import type { Later } from '../db/transaction.ts'
import { findShipmentHold } from '../notifications/shipment-holds.ts'
import type { Intent } from './command-attempts.ts'
import { readContent } from './command-content.ts'
import { moveCommand } from './command-steps.ts'
import type { StoredCommand } from './commands.ts'

/**
 * Whether a seller is in shadow mode; it then stays in it until the transaction ends, so that no prediction is made after it went live. Locks the seller's
 * row, before every other lock.
 */
export const lockShadowMode = async (transaction: Transaction, sellerId: string): Promise<boolean> =>
  (
    await transaction.query(
      `SELECT 1 AS found FROM tallyman.sellers WHERE seller_id = $1 AND mode = 'shadow' FOR SHARE`,
      sellerId,
    )
  ).length > 0

/** The request that a command would send; see {@link Intent}. */
export type Prediction = Pick<Intent, 'correlationId' | 'request' | 'baseline'>

/**
 * Stores the request that a command would send now, as an attempt that was never sent, and the command as predicted. The caller holds the locks of the
 * seller's mode, of the subject and of the command. False: the command has changed, or is a
 * shipment that a notification holds; nothing was written.
 */
export const recordPrediction = async (
  transaction: Transaction,
  command: StoredCommand,
  { correlationId, request, baseline }: Prediction,
): Promise<Later<boolean>> => {
  // As for an intent: what a notification holds would not be sent.
  if ((await findShipmentHold(transaction, command)) !== null) return { onceCommitted: async () => false }
  const reason = 'shadow mode: it would have been sent now; nothing was sent'
  const moved = await moveCommand(transaction, command, { state: 'predicted', reason })
  if (moved === null) return { onceCommitted: async () => false }
  await transaction.execute(
    `WITH counted AS (UPDATE tallyman.commands SET attempts = attempts + 1 WHERE id = $1 RETURNING id, attempts)
     INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline, finished_at, outcome)
     SELECT id, attempts, $2, $3::jsonb, $4::jsonb, now(), 'predicted' FROM counted`,
    command.id,
    correlationId,
    JSON.stringify(request),
    JSON.stringify(baseline),
  )
  return { onceCommitted: async () => true }
}

interface PredictedRow {
  readonly id: string
  readonly kind: string
  readonly payload: unknown
  readonly parts: unknown
  readonly purchaseOrderId: string | null
}

/**
 * Ends the open predictions of a seller that leaves shadow mode, and its commands that were not predicted yet: another system may have done them too. Their
 * units are then free. Returns the ids of the commands. The caller holds the lock of the seller's row.
 */
export const withdrawPredictions = async (
  transaction: Transaction,
  sellerId: string,
  reason: string,
): Promise<readonly string[]> => {
  const rows = await transaction.query<PredictedRow>(
    `WITH ended AS (
       UPDATE tallyman.commands SET state = 'withdrawn', reason = $2, settled_at = now(), updated_at = now(), leased_until = NULL, lease_owner = NULL
       WHERE seller_id = $1 AND state IN ('predicted', 'pending')
       RETURNING id, kind, payload, parts, purchase_order_id AS "purchaseOrderId"
     ), closed AS (
       UPDATE tallyman.alarms a SET resolved_at = now() FROM ended e
       WHERE a.seller_id = $1 AND a.kind = 'command-waiting' AND a.subject = e.id AND a.resolved_at IS NULL
     )
     SELECT * FROM ended`,
    sellerId,
    `${reason}; nothing was sent, and nothing will be`,
  )
  for (const row of rows) await recordWithdrawn(transaction, sellerId, row, reason)
  return rows.map(({ id }) => id)
}

const recordWithdrawn = async (transaction: Transaction, sellerId: string, row: PredictedRow, reason: string): Promise<void> => {
  const { content } = await readContent(transaction, row)
  const lines = listUnits(content.payload).map(({ lineNumber, quantity }) => ({ lineNumber, quantity }))
  transaction.record({
    sellerId,
    type: 'command.withdrawn',
    purchaseOrderId: row.purchaseOrderId ?? undefined,
    commandId: row.id,
    data: { kind: content.kind, lines, reason },
  })
}
