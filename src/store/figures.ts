import type { SqlRunner } from './database.ts'

/** What the gauges show, counted when somebody looks. */
export interface Figures {
  readonly commandsVerifying: number
  readonly commandsHeld: number
  /** Acceptance of the oldest command or event that is due and unfinished; null: none. */
  readonly oldestDue: Date | null
  readonly quarantinedRecords: number
  readonly rejectedEvents: number
}

/** Counts them; every count goes by an index over open things only. */
export const readFigures = async (sql: SqlRunner): Promise<Figures> => {
  const [row] = await sql.query<{
    verifying: number
    held: number
    oldest: Date | null
    quarantined: number
    rejected: number
  }>(
    `SELECT
       (SELECT count(*)::int FROM tallyman.commands WHERE state = 'verifying') AS verifying,
       (SELECT count(*)::int FROM tallyman.commands WHERE state = 'held') AS held,
       LEAST((SELECT min(created_at) FROM tallyman.commands WHERE state IN ('pending', 'sending', 'verifying') AND next_action_at <= now()),
             (SELECT min(received_at) FROM tallyman.erp_event WHERE status = 'received')) AS oldest,
       (SELECT count(*)::int FROM tallyman.quarantined_records WHERE state = 'open') AS quarantined,
       (SELECT count(*)::int FROM tallyman.alarms WHERE kind = 'event-rejected' AND resolved_at IS NULL) AS rejected`,
  )
  return {
    commandsVerifying: row?.verifying ?? 0,
    commandsHeld: row?.held ?? 0,
    oldestDue: row?.oldest ?? null,
    quarantinedRecords: row?.quarantined ?? 0,
    rejectedEvents: row?.rejected ?? 0,
  }
}
