import type { JsonObject } from '../../domain/values/json.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import type { Later } from '../db/transaction.ts'
import { isNotHeldShipment } from '../notifications/shipment-holds.ts'
import { isOpenCommand, type StoredCommand, sellerIsActive, sellerIsLive } from './commands.ts'

/** An attempt to send a command to the marketplace. */
export interface StoredAttempt {
  readonly attempt: number
  readonly correlationId: string
  /** The state of the subject before the request, in the format of the subject's evidence. */
  readonly baseline: unknown
  readonly startedAt: Date
  readonly finishedAt: Date | null
  readonly outcome: string | null
  readonly failure: JsonObject | null
  /** The number of later reads of the subject whose result could be judged. */
  readonly clearReads: number
}

/** Attempts of a command, oldest first. */
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

/** What is stored of a request before it is sent. */
export interface Intent {
  readonly correlationId: string
  /** Serializable to JSON. */
  readonly request: object
  readonly baseline: object
  readonly owner: string
  readonly leaseMs: number
}

// A scalar subquery finds earlier commands: Postgres would plan NOT EXISTS as a join over all commands. The due time is not checked: the caller has a
// token for the command, and another process without a token may have postponed it meanwhile.
const insertIntents = prepared(
  `WITH given AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb)
       AS t(id text, attempts int, lease_ms float8, owner text, correlation_id text, request jsonb, baseline jsonb)
   ), claimed AS (
     UPDATE tallyman.commands c SET state = 'sending', attempts = c.attempts + 1, reason = NULL, updated_at = now(),
       leased_until = now() + g.lease_ms * interval '1 millisecond', lease_owner = g.owner
     FROM given g
     WHERE c.id = ANY($2::text[]) AND c.id = g.id AND c.state = 'pending' AND c.attempts = g.attempts AND ${sellerIsActive} AND ${sellerIsLive}
       AND ${isNotHeldShipment} AND (
       SELECT e.id FROM tallyman.commands e WHERE e.seller_id = c.seller_id AND e.subject = c.subject
         AND e.sequence < c.sequence AND ${isOpenCommand('e')} LIMIT 1) IS NULL
     RETURNING c.id, c.attempts
   )
   INSERT INTO tallyman.command_attempts (command_id, attempt, correlation_id, request, baseline)
   SELECT g.id, c.attempts, g.correlation_id, g.request, g.baseline FROM claimed c JOIN given g ON g.id = c.id
   RETURNING command_id`,
)

const insertEach = batchQuery(
  async (transaction: Transaction, intents: readonly (Intent & { readonly id: string; readonly attempts: number })[]) => {
    const rows = transaction.sendForLater<{ command_id: string }>(
      insertIntents,
      JSON.stringify(
        intents.map(({ id, attempts, leaseMs, owner, correlationId, request, baseline }) => ({
          id,
          attempts,
          lease_ms: leaseMs,
          owner,
          correlation_id: correlationId,
          request,
          baseline,
        })),
      ),
      intents.map(({ id }) => id),
    )
    const readInserted = async () => new Set((await rows.onceCommitted()).map((row) => row.command_id))
    return intents.map(({ id }) => ({ onceCommitted: async () => (await readInserted()).has(id) }))
  },
)

/**
 * Stores the intent: the request, its correlation id, and the state of the subject before it. It must be committed before the request is sent. False
 * once committed: the command has changed, is not the first of its subject, is a shipment that a notification holds, or its seller was paused, stopped or put
 * in shadow mode; nothing was written, and nothing may be sent.
 */
export const recordIntent = (transaction: Transaction, command: StoredCommand, intent: Intent): Promise<Later<boolean>> =>
  insertEach(transaction, { ...intent, id: command.id, attempts: command.attempts })

/**
 * Leases a command while its subject is read before sending, so that no other process works on it. False: another process works on it or has changed
 * it. The intent takes over the lease; any other step of the command ends it.
 */
export const leaseForReading = async (
  sql: SqlRunner,
  { id, attempts }: Pick<StoredCommand, 'id' | 'attempts'>,
  { owner, leaseMs }: Pick<HeldCommand, 'owner' | 'leaseMs'>,
): Promise<boolean> => {
  const leased = await sql.execute(
    `UPDATE tallyman.commands SET leased_until = now() + $4::float8 * interval '1 millisecond', lease_owner = $3
     WHERE id = $1 AND state = 'pending' AND attempts = $2 AND (leased_until IS NULL OR leased_until <= now())`,
    id,
    attempts,
    owner,
    leaseMs,
  )
  return leased > 0
}

/** A lease to renew: of a command whose subject is being read, or that is being sent. */
export interface HeldCommand {
  readonly id: string
  readonly state: 'pending' | 'sending'
  readonly attempts: number
  readonly owner: string
  readonly leaseMs: number
}

// SKIP LOCKED: the renewal neither waits for another transaction that works on a command, nor makes it wait.
const renewLeases = prepared(
  `WITH given AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS t(id text, state text, attempts int, owner text, lease_ms float8)
   ), free AS MATERIALIZED (
     SELECT c.id FROM tallyman.commands c WHERE c.id = ANY($2::text[]) FOR NO KEY UPDATE SKIP LOCKED
   )
   UPDATE tallyman.commands c SET leased_until = now() + g.lease_ms * interval '1 millisecond'
   FROM given g JOIN free f ON f.id = g.id
   WHERE c.id = ANY($2::text[]) AND c.id = g.id AND c.state = g.state AND c.attempts = g.attempts AND c.lease_owner = g.owner
     AND c.leased_until > now()
   RETURNING c.id`,
)

const renewEach = batchQuery(async (sql: SqlRunner, held: readonly HeldCommand[]) => {
  const rows = await sql.query<{ id: string }>(
    renewLeases,
    JSON.stringify(held.map(({ id, state, attempts, owner, leaseMs }) => ({ id, state, attempts, owner, lease_ms: leaseMs }))),
    held.map(({ id }) => id),
  )
  const renewed = new Set(rows.map(({ id }) => id))
  return held.map(({ id }) => renewed.has(id))
})

/** Renews the lease of a command; false: it has expired, or another transaction has locked the command. */
export const renewLease = (sql: SqlRunner, held: HeldCommand): Promise<boolean> => renewEach(sql, held)

/** The known outcome of an attempt. `not-sent` and `not-applied`: it changed nothing; `dismissed`: a person decided so; `predicted`: it was never sent. */
export type AttemptOutcome =
  | 'applied'
  | 'accepted'
  | 'refused'
  | 'throttled'
  | 'not-sent'
  | 'unknown'
  | 'not-applied'
  | 'dismissed'
  | 'predicted'

/** The stored end of an attempt. */
export interface AttemptEnd {
  readonly outcome: AttemptOutcome
  readonly httpStatus?: number | null
  readonly failure?: JsonObject | null
}

const updateOutcomes = prepared(
  `UPDATE tallyman.command_attempts a SET outcome = g.outcome, finished_at = COALESCE(a.finished_at, now()),
     http_status = COALESCE(g.http_status, a.http_status), failure = COALESCE(g.failure, a.failure)
   FROM jsonb_to_recordset($1::jsonb) AS g(command_id text, attempt int, outcome text, http_status int, failure jsonb)
   WHERE a.command_id = ANY($2::text[]) AND a.command_id = g.command_id AND a.attempt = g.attempt`,
)

const recordEach = batchQuery(
  async (sql: SqlRunner, ends: readonly (AttemptEnd & { readonly commandId: string; readonly attempt: number })[]) => {
    await sql.execute(
      updateOutcomes,
      JSON.stringify(
        ends.map(({ commandId, attempt, outcome, httpStatus, failure }) => ({
          command_id: commandId,
          attempt,
          outcome,
          http_status: httpStatus ?? null,
          ...(failure === undefined || failure === null ? {} : { failure }),
        })),
      ),
      ends.map(({ commandId }) => commandId),
    )
    return ends.map(() => null)
  },
)

/** Stores the end of the latest attempt. */
export const recordOutcome = async (sql: SqlRunner, commandId: string, attempt: number, end: AttemptEnd): Promise<void> => {
  await recordEach(sql, { ...end, commandId, attempt })
}

/** Appends a read-back to the latest attempt: its time, correlation id and result. */
export const recordReadBack = async (sql: SqlRunner, commandId: string, attempt: number, readBack: JsonObject): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.command_attempts SET read_backs = read_backs || $3::jsonb WHERE command_id = $1 AND attempt = $2`,
    commandId,
    attempt,
    JSON.stringify([readBack]),
  )
}
