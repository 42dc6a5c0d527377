import { isFirstOfSubject } from '../commands/commands.ts'
import type { SqlRunner } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { isSellerNotRemoved, sellerIsServed } from './sellers.ts'

/** Values of gauges, counted at each scrape. */
export interface GaugeValues {
  readonly commandsVerifying: number
  readonly commandsHeld: number
  /** When the oldest due, unfinished command or event was accepted; null: there is none. */
  readonly oldestDue: Date | null
  /** The longest time that a due command or event without a lease has waited for a process, in milliseconds; 0: none waits. */
  readonly longestWaitMs: number
  readonly quarantinedRecords: number
  readonly rejectedEvents: number
}

/** Reads the values; every count uses an index of open rows only. */
export const readGaugeValues = async (sql: SqlRunner): Promise<GaugeValues> => {
  const [row] = await sql.query<{
    verifying: number
    held: number
    oldest: Date | null
    longest_wait_ms: number
    quarantined: number
    rejected: number
  }>(
    `SELECT
       (SELECT count(*)::int FROM tallyman.commands WHERE state = 'verifying') AS verifying,
       (SELECT count(*)::int FROM tallyman.commands WHERE state = 'held') AS held,
       LEAST((SELECT min(created_at) FROM tallyman.commands WHERE state IN ('pending', 'sending', 'verifying') AND next_action_at <= ${dueNow}),
             (SELECT min(received_at) FROM tallyman.erp_event WHERE status = 'received')) AS oldest,
       GREATEST(0, (extract(epoch FROM now() - LEAST(
         (SELECT GREATEST(c.next_action_at, c.leased_until) FROM tallyman.commands c
          JOIN tallyman.sellers s ON s.seller_id = c.seller_id AND s.state = 'active' AND ${sellerIsServed('s')}
          WHERE c.state IN ('pending', 'sending', 'verifying') AND c.next_action_at <= ${dueNow}
            AND (c.leased_until IS NULL OR c.leased_until <= now()) AND ${isFirstOfSubject}
          ORDER BY c.next_action_at LIMIT 1),
         (SELECT min(due_at) FROM tallyman.erp_event WHERE status = 'received' AND due_at <= ${dueNow}))) * 1000)::float8) AS longest_wait_ms,
       (SELECT count(*)::int FROM tallyman.quarantined_records q WHERE state = 'open' AND ${isSellerNotRemoved('q')}) AS quarantined,
       (SELECT count(*)::int FROM tallyman.alarms WHERE kind = 'event-rejected' AND resolved_at IS NULL) AS rejected`,
  )
  return {
    commandsVerifying: row?.verifying ?? 0,
    commandsHeld: row?.held ?? 0,
    oldestDue: row?.oldest ?? null,
    longestWaitMs: row?.longest_wait_ms ?? 0,
    quarantinedRecords: row?.quarantined ?? 0,
    rejectedEvents: row?.rejected ?? 0,
  }
}
