import type { SellerMode } from '../../domain/shadow/mode.ts'
import { withdrawPredictions } from '../commands/predictions.ts'
import { countDifferences, type ShadowCounts, summarizeShadow } from '../commands/shadow-comparisons.ts'
import type { Database, SqlRunner } from '../db/database.ts'
import { buildWaitingEvents } from '../events/events.ts'
import { type Actor, recordAct } from '../keys/audit.ts'
import { notifySellers, readSeller, type SellerStatus } from './sellers.ts'

/** A person's decision on the mode of a seller. */
export interface ModeDecision extends Actor {
  readonly sellerId: string
  readonly mode: SellerMode
  readonly reason: string
  /** Goes live although orders differ from their predictions. */
  readonly force?: boolean
}

/** A decision that was stored. */
export interface DecidedMode {
  readonly outcome: 'decided'
  readonly seller: SellerStatus
  /** The commands that ended with it: the open predictions, and those that were not predicted yet. */
  readonly withdrawn: readonly string[]
  /** Those of them that the orders do not show completely. */
  readonly notShown: readonly string[]
  /** Orders that differed from their predictions. */
  readonly differences: number
}

/**
 * The outcome of a decision. `differs`: nothing was changed, because orders differ from their predictions, none has been compared yet, or events wait, whose
 * commands would be sent.
 */
export type ModeOutcome =
  | DecidedMode
  | { readonly outcome: 'differs'; readonly counts: ShadowCounts; readonly waitingEvents: number }

/** Undecided events of a seller in shadow mode; 0 of any other seller. */
const countWaitingEvents = async (sql: SqlRunner, sellerId: string): Promise<number> => {
  const [row] = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ${buildWaitingEvents('$1')}
       AND EXISTS (SELECT FROM tallyman.sellers s WHERE s.seller_id = $1 AND s.mode = 'shadow')`,
    sellerId,
  )
  return row?.count ?? 0
}

/**
 * Puts a seller in shadow mode, or makes it live, on behalf of a person; the decision wins over the setting. The commands that are open when it leaves shadow
 * mode end, predicted or not: nothing of them is ever sent. While orders differ from their predictions, all of them are pending, or events wait, it goes
 * live only with `force`. Null: there is no such seller.
 */
export const decideMode = async (
  database: Database,
  { sellerId, mode, reason, force = false, ...by }: ModeDecision,
): Promise<ModeOutcome | null> => {
  // Before the transaction, whose lock every prediction waits for: one that is made meanwhile is pending, and counts as not shown.
  const filter = { sellerId, purchaseOrderId: null, from: null }
  const summary = mode === 'live' ? await summarizeShadow(database, filter, Number.POSITIVE_INFINITY) : null
  const differences = summary === null ? 0 : countDifferences(summary.counts)
  const isUncompared = summary !== null && summary.counts.pending > 0 && summary.counts.agreement === 0
  if (summary !== null && !force) {
    const waitingEvents = await countWaitingEvents(database, sellerId)
    if (differences > 0 || isUncompared || waitingEvents > 0) return { outcome: 'differs', counts: summary.counts, waitingEvents }
  }
  return database.transaction(async (transaction): Promise<DecidedMode | null> => {
    // A prediction holds a share lock of this row, so that none is made after the seller went live.
    const [before] = await transaction.query<{ mode: string }>(
      `SELECT mode FROM tallyman.sellers WHERE seller_id = $1 FOR NO KEY UPDATE`,
      sellerId,
    )
    if (before === undefined) return null
    await transaction.execute(
      `UPDATE tallyman.sellers SET mode = $2, mode_by = $3, updated_at = now(), mode_since = CASE WHEN mode = $2 THEN mode_since ELSE now() END
       WHERE seller_id = $1`,
      sellerId,
      mode,
      by.actor,
    )
    // Of a seller that is live already, pending commands are to be sent.
    const leavesShadow = mode === 'live' && before.mode === 'shadow'
    const withdrawn = leavesShadow ? await withdrawPredictions(transaction, sellerId, 'the seller went live') : []
    if (before.mode !== mode)
      transaction.record({ sellerId, type: 'seller.mode_changed', data: { mode, actor: by.actor, reason } })
    await notifySellers(transaction)
    const seller = await readSeller(transaction, sellerId)
    if (seller === null) return null
    const action = mode === 'live' ? 'seller.went_live' : 'seller.went_shadow'
    const details = mode === 'live' ? { differences, forced: force } : {}
    await recordAct(transaction, { by, action, sellerId, subject: sellerId, reason, details })
    const notShown = withdrawn.filter((id) => summary?.shown.has(id) !== true)
    return { outcome: 'decided', seller, withdrawn, notShown, differences }
  })
}
