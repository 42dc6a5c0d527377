import { closeAlarmsOfSeller } from '../alarms/alarms.ts'
import { isOpenCommand } from '../commands/commands.ts'
import type { Database, Transaction } from '../db/database.ts'
import { eventSellerExpression } from '../events/event-queries.ts'
import { buildWaitingEvents } from '../events/events.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { listSellerProcesses } from './seller-processes.ts'
import { notifySellers } from './sellers.ts'

/**
 * What a removal does with each table that has a `seller_id`.
 * `past`: a seller with a row there is hidden, because the row must stay readable. `parts`: their rows belong to rows of `past`.
 * `bookkeeping`: deleted with a seller without a past. `others`: belongs to people or readers of the feed, and stays.
 */
export const sellerTables = {
  past: [
    'warehouse.orders',
    'warehouse.returns',
    'warehouse.taxonomy_nodes',
    'warehouse.contextual_targets',
    'warehouse.behavioral_audiences',
    'warehouse.campaigns',
    'warehouse.campaign_status_changes',
    'warehouse.sales_channels',
    'warehouse.settlement_lines',
    'warehouse.settlement_differences',
    'warehouse.stock_on_hand',
    'warehouse.stock_differences',
    'warehouse.inbound_shipment_lines',
    'warehouse.replenishment_recommendations',
    'warehouse.inventory_log_entries',
    'warehouse.reconciliation_reports',
    'warehouse.reconciliation_rows',
    'warehouse.inventory_discrepancies',
    'warehouse.shipping_settings',
    'tallyman.commands',
    'tallyman.superseded_versions',
    'tallyman.quarantined_records',
    'tallyman.erased_records',
    'tallyman.claim_rows',
    'tallyman.claim_totals',
    'warehouse.claims',
    'warehouse.claim_payments',
    'tallyman.unread_report_skus',
    'tallyman.erp_event',
  ],
  parts: [
    'warehouse.order_lines',
    'warehouse.order_line_statuses',
    'warehouse.shipments',
    'warehouse.return_lines',
    'warehouse.return_line_tracking_statuses',
    'warehouse.return_line_refund_channels',
    'tallyman.command_lines',
  ],
  bookkeeping: [
    'tallyman.alarms',
    'tallyman.daily_figures',
    'tallyman.drift',
    'tallyman.enrolments',
    'tallyman.event_proposals',
    'tallyman.inventory_order_marks',
    'tallyman.inventory_skus',
    'tallyman.log_reasons',
    'tallyman.marketplace_status',
    'tallyman.named_orders',
    'tallyman.settlement_orders',
    'tallyman.settlement_periods',
    'tallyman.notifications',
    'tallyman.refresh_tokens',
    'tallyman.report_requests',
    'tallyman.report_tries',
    'tallyman.seller_credentials',
    'tallyman.stock_readings',
    'tallyman.sync_runs',
    'tallyman.sync_states',
    'tallyman.watched_campaigns',
    'tallyman.sellers',
  ],
  others: ['tallyman.audit_entries', 'tallyman.seller_roles', 'tallyman.webhook_endpoints', 'warehouse.changes'],
} as const

/** Unsettled work of a seller. */
export interface UnsettledWork {
  /** Commands that are neither confirmed nor rejected. */
  readonly commands: number
  /** Those of them with an unknown outcome: they are being sent, or their orders are being read back. */
  readonly unknown: number
  /** Those of them that a person must decide. */
  readonly held: number
  /** Undecided events. */
  readonly events: number
  /** Streams that a process is reading. */
  readonly readings: number
}

/** The result of a removal. */
export type Removal =
  | { readonly outcome: 'unknown' }
  /** These processes serve it. */
  | { readonly outcome: 'served'; readonly by: readonly string[] }
  | { readonly outcome: 'unsettled'; readonly work: UnsettledWork }
  /** It had no past. */
  | { readonly outcome: 'deleted' }
  /** It has a past. */
  | { readonly outcome: 'hidden'; readonly removedAt: Date }

/** A removal that a person requests. */
export interface RemovalRequest extends Actor {
  readonly sellerId: string
  readonly reason: string | null
  /** Whether the process of this name has ended, so that its announced sellers do not count. */
  readonly hasEnded: (process: string) => boolean
}

const readWork = async (tx: Transaction, sellerId: string): Promise<UnsettledWork> => {
  const [work] = await tx.query<UnsettledWork>(
    `SELECT c.*, (SELECT count(*)::int FROM ${buildWaitingEvents('$1')}) AS events,
       (SELECT count(*)::int FROM tallyman.sync_states WHERE seller_id = $1 AND lease_until > now()) AS readings
     FROM (SELECT count(*)::int AS commands, (count(*) FILTER (WHERE state IN ('sending', 'verifying')))::int AS unknown,
             (count(*) FILTER (WHERE state = 'held'))::int AS held
           FROM tallyman.commands o WHERE seller_id = $1 AND ${isOpenCommand('o')}) c`,
    sellerId,
  )
  if (work === undefined) throw new Error(`Postgres returned no counts of the unsettled work of seller ${sellerId}`)
  return work
}

// Events are last: there is no index of decided events, and those with commands are found by their commands.
const hasPast = sellerTables.past
  .map((table) =>
    table === 'tallyman.erp_event'
      ? `EXISTS (SELECT FROM tallyman.erp_event e WHERE ${eventSellerExpression} = $1)`
      : `EXISTS (SELECT FROM ${table} WHERE seller_id = $1)`,
  )
  .join(' OR ')

/** The prefix of the names of a seller's rate limits, which are JSON: `["seller","operation",…]`. */
const rateLimitPrefix = (sellerId: string): string => `${JSON.stringify([sellerId]).slice(0, -1)},`

const deleteRows = async (tx: Transaction, sellerId: string): Promise<void> => {
  for (const table of sellerTables.bookkeeping) await tx.execute(`DELETE FROM ${table} WHERE seller_id = $1`, sellerId)
  await tx.execute('DELETE FROM tallyman.rate_limits WHERE starts_with(name, $1)', rateLimitPrefix(sellerId))
}

/** Hides a seller; returns since when, and whether it is newly hidden. Ends its stop, so that its credentials are tried again if it returns. */
const hide = async (tx: Transaction, sellerId: string, actor: string): Promise<{ at: Date; isNew: boolean }> => {
  const [row] = await tx.query<{ at: Date; isNew: boolean }>(
    `UPDATE tallyman.sellers s SET removed_at = coalesce(s.removed_at, now()), removed_by = coalesce(s.removed_by, $2), served_at = NULL,
       updated_at = now(), state = CASE s.state WHEN 'stopped' THEN 'active' ELSE s.state END, probe_at = NULL,
       stopped_reason = CASE s.state WHEN 'stopped' THEN NULL ELSE s.stopped_reason END,
       stopped_at = CASE s.state WHEN 'stopped' THEN NULL ELSE s.stopped_at END
     FROM (SELECT removed_at IS NULL AS "isNew" FROM tallyman.sellers WHERE seller_id = $1) before
     WHERE s.seller_id = $1 RETURNING s.removed_at AS at, before."isNew"`,
    sellerId,
    actor,
  )
  if (row === undefined) throw new Error(`the row of seller ${sellerId} disappeared while it was locked`)
  return row
}

/**
 * Removes a seller that no process serves and that has no unsettled work: a seller without a past is deleted, another one is hidden until a process
 * loads it again. The row is locked meanwhile, and a process that loads a seller announces it before it releases the row. So either the removal finds the
 * process, or the process finds the seller removed and adds it again.
 */
export const removeSeller = (database: Database, { sellerId, reason, hasEnded, ...by }: RemovalRequest): Promise<Removal> =>
  database.transaction(async (tx): Promise<Removal> => {
    const found = await tx.query(`SELECT 1 AS found FROM tallyman.sellers WHERE seller_id = $1 FOR UPDATE`, sellerId)
    if (found.length === 0) return { outcome: 'unknown' }
    const serving = (await listSellerProcesses(tx)).filter(
      ({ process, sellerIds }) => sellerIds.includes(sellerId) && !hasEnded(process),
    )
    if (serving.length > 0) return { outcome: 'served', by: serving.map(({ process }) => process) }
    const work = await readWork(tx, sellerId)
    if (work.commands + work.events + work.readings > 0) return { outcome: 'unsettled', work }

    const [past] = await tx.query<{ has: boolean }>(`SELECT ${hasPast} AS has`, sellerId)
    const alarms = await closeAlarmsOfSeller(tx, sellerId, { actor: by.actor, reason: reason ?? 'the seller was removed' })
    const isDeleted = past?.has !== true
    const hidden = isDeleted ? null : await hide(tx, sellerId, by.actor)
    if (isDeleted) await deleteRows(tx, sellerId)
    if (hidden?.isNew !== false)
      tx.record({ sellerId, type: 'seller.removed', data: { actor: by.actor, reason, deleted: isDeleted } })
    const details = { deleted: isDeleted, alarms }
    await recordAct(tx, { by, action: 'seller.removed', sellerId, subject: sellerId, reason, details })
    await notifySellers(tx)
    return hidden === null ? { outcome: 'deleted' } : { outcome: 'hidden', removedAt: hidden.at }
  })
