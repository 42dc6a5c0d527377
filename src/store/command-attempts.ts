import type { JsonObject } from '../domain/json.ts'
import type { StoredCommand } from './commands.ts'
import type { SqlRunner, Transaction } from './database.ts'

/** A try at carrying a command to the marketplace. */
export interface StoredAttempt {
  readonly attempt: number
  readonly correlationId: string
  /** How the subject stood before, in the form that the subject's own evidence takes. */
  readonly baseline: unknown
  readonly startedAt: Date
  readonly finishedAt: Date | null
  readonly outcome: string | null
  readonly failure: JsonObject | null
  /** How many reads since have shown the subject in a way that could be judged. */
  readonly clearReads: number
}

/** Attempts of a command, first to last. */
export const readAttempts = async (sql: SqlRunner, commandId: string): Promise<readonly StoredAttempt[]> => {
  const rows = await sql.query<{
    attempt: number
    correlation_id: string
    baseline: unknown
    started_at: Date
    finished_at: Date | null
    outcome: string | null
    failure: JsonObject | null
    clear_reads: number
  }>(
    `SELECT attempt, correlation_id, baseline, started_at, finished_at, outcome, failure,
       (SELECT count(*) FROM jsonb_array_elements(read_backs) r WHERE r ->> 'verdict' IN ('applied', 'not-applied', 'unclear'))::int
         AS clear_reads
     FROM tallyman.command_attempts WHERE command_id = $1 ORDER BY attempt`,
    commandId,
  )
  return rows.map((row) => ({
    attempt: row.attempt,
    correlationId: row.correlation_id,
    baseline: row.baseline,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
    outcome: row.outcome,
    failure: row.failure,
    clearReads: row.clear_reads,
  }))
}

/**
 * Stores the intent: what will be sent, under which correlation id, and how the subject stood before. Must commit before the
 * request leaves. Returns false when the command is no longer as expected, or not the first of its subject: then nothing may be sent.
 */
export const recordIntent = async (
  transaction: Transaction,
  command: StoredCommand,
  intent: {
    readonly correlationId: string
    readonly request: JsonObject
    readonly baseline: object
    readonly owner: string
    readonly leaseMs: number
  },
): Promise<boolean> => {
  const written = await transaction.execute(
    `WITH claimed AS (
       UPDATE tallyman.commands c SET state = 'sending', attempts = attempts + 1, reason = NULL, updated_at = now(),
         leased_until = now() + $3::float8 * interval '1 millisecond', lease_owner = $4
       WHERE c.id = $1 AND c.state = 'pending' AND c.attempts = $2 AND c.next_action_at <= now() AND NOT EXISTS (
         SELECT 1 FROM tallyman.commands e WHERE e.seller_id = c.seller_id AND e.subject = c.subject
           AND e.sequence < c.sequence AND e.state NOT IN ('confirmed', 'rejected'))
       RETURNING c.id, c.attempts
     )
     INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline)
     SELECT id, attempts, $5, $6::jsonb, $7::jsonb FROM claimed`,
    command.id,
    command.attempts,
    intent.leaseMs,
    intent.owner,
    intent.correlationId,
    JSON.stringify(intent.request),
    JSON.stringify(intent.baseline),
  )
  return written === 1
}

/** How an attempt ended, as far as is known. `not-sent` and `not-applied` mean that it changed nothing,
 * `dismissed` that a person says so. */
export type AttemptOutcome =
  | 'applied'
  | 'accepted'
  | 'refused'
  | 'throttled'
  | 'not-sent'
  | 'unknown'
  | 'not-applied'
  | 'dismissed'

/** Writes down how the latest attempt ended. */
export const recordOutcome = async (
  sql: SqlRunner,
  commandId: string,
  attempt: number,
  result: {
    readonly outcome: AttemptOutcome
    readonly httpStatus?: number | null
    readonly failure?: JsonObject | null
  },
): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.command_attempts SET outcome = $3, finished_at = COALESCE(finished_at, now()),
       http_status = COALESCE($4::int, http_status), failure = COALESCE($5::jsonb, failure)
     WHERE command_id = $1 AND attempt = $2`,
    commandId,
    attempt,
    result.outcome,
    result.httpStatus ?? null,
    result.failure === undefined || result.failure === null ? null : JSON.stringify(result.failure),
  )
}

/** Appends one read-back to the latest attempt: when, under which correlation id, what it showed. */
export const recordReadBack = async (sql: SqlRunner, commandId: string, attempt: number, readBack: JsonObject): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.command_attempts SET read_backs = read_backs || $3::jsonb WHERE command_id = $1 AND attempt = $2`,
    commandId,
    attempt,
    JSON.stringify([readBack]),
  )
}
