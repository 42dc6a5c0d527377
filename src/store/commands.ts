import { randomUUID } from 'node:crypto'
import { type CommandContent, type CommandState, isSettled, parseCommand, unitsOf } from '../domain/command.ts'
import { orderBaselineSchema } from '../domain/evidence.ts'
import type { LineUnits, PurchaseOrder } from '../domain/order.ts'
import { type LedgerCommand, type LineLedger, ledgersOf } from '../domain/units.ts'
import { raiseAlarm, resolveAlarm } from './alarms.ts'
import type { Database, SqlRunner, Transaction } from './database.ts'
import type { Prisma } from './generated/client.ts'
import { lockShippingSettings } from './shipping-settings.ts'

/** A command as stored, without its attempts. */
export interface StoredCommand {
  readonly id: string
  readonly sellerId: string
  /** What it is about, within its seller: commands of one subject run one at a time. */
  readonly subject: string
  /** Null: it is about the seller's shipping settings. */
  readonly purchaseOrderId: string | null
  readonly state: CommandState
  readonly content: CommandContent
  readonly attempts: number
  readonly eventSource: string | null
  readonly eventId: string | null
  /** Earliest moment of the next step, by the database's clock. */
  readonly nextActionAt: Date
  /** Until when another process may be in the middle of sending it. */
  readonly leasedUntil: Date | null
  /** The database's clock when the row was read. */
  readonly databaseNow: Date
}

/** A try at carrying a command to the marketplace. */
export interface StoredAttempt {
  readonly attempt: number
  readonly correlationId: string
  /** How the subject stood before, in the form that the subject's own evidence takes. */
  readonly baseline: unknown
  readonly startedAt: Date
  readonly finishedAt: Date | null
  readonly outcome: string | null
  readonly failure: Prisma.JsonObject | null
}

interface CommandRow {
  id: string
  seller_id: string
  subject: string
  purchase_order_id: string | null
  kind: string
  state: CommandState
  payload: unknown
  attempts: number
  event_source: string | null
  event_id: string | null
  next_action_at: Date
  leased_until: Date | null
  database_now: Date
}

const commandColumns = `c.id, c.seller_id, c.subject, c.purchase_order_id, c.kind, c.state, c.payload, c.attempts, c.event_source, c.event_id,
  c.next_action_at, c.leased_until, now() AS database_now`

const fromRow = (row: CommandRow): StoredCommand => ({
  id: row.id,
  sellerId: row.seller_id,
  subject: row.subject,
  purchaseOrderId: row.purchase_order_id,
  state: row.state,
  content: parseCommand(row.kind, row.payload),
  attempts: row.attempts,
  eventSource: row.event_source,
  eventId: row.event_id,
  nextActionAt: row.next_action_at,
  leasedUntil: row.leased_until,
  databaseNow: row.database_now,
})

/** The command, or null. Reads without a lock: a hint of what to do next, never the ground for doing it. */
export const readCommand = async (sql: SqlRunner, commandId: string): Promise<StoredCommand | null> => {
  const [row] = await sql.query<CommandRow>(`SELECT ${commandColumns} FROM tallyman.commands c WHERE c.id = $1`, commandId)
  return row === undefined ? null : fromRow(row)
}

/** The unsettled command of the same subject that comes before this one, if any: commands of one subject run one at a time. */
export const commandBefore = async (sql: SqlRunner, command: StoredCommand): Promise<string | null> => {
  const [row] = await sql.query<{ id: string }>(
    `SELECT e.id FROM tallyman.commands e JOIN tallyman.commands c ON c.id = $1
     WHERE e.seller_id = c.seller_id AND e.subject = c.subject AND e.sequence < c.sequence
       AND e.state NOT IN ('confirmed', 'rejected') ORDER BY e.sequence LIMIT 1`,
    command.id,
  )
  return row?.id ?? null
}

/** The first unsettled command of a subject, if any. */
export const headCommand = async (sql: SqlRunner, sellerId: string, subject: string): Promise<string | null> => {
  const [row] = await sql.query<{ id: string }>(
    `SELECT id FROM tallyman.commands WHERE seller_id = $1 AND subject = $2 AND state NOT IN ('confirmed', 'rejected')
     ORDER BY sequence LIMIT 1`,
    sellerId,
    subject,
  )
  return row?.id ?? null
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
    failure: Prisma.JsonObject | null
  }>(
    `SELECT attempt, correlation_id, baseline, started_at, finished_at, outcome, failure
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
  }))
}

const unitsByLine = (baseline: unknown): Record<string, LineUnits> | null => {
  if (baseline === null) return null
  return Object.fromEntries(orderBaselineSchema.parse(baseline).lines.map((line) => [line.lineNumber, line.units]))
}

/**
 * The unit ledgers of an order. Take them under the order's row lock (`lockOrder`): whoever reserves or sends units holds it.
 * `except` leaves one command out, so that it can be checked against all others.
 */
export const readLedgers = async (
  sql: SqlRunner,
  sellerId: string,
  order: PurchaseOrder,
  except: string | null = null,
): Promise<LineLedger[]> => {
  // A command that was never sent has no attempt. Each attempt but the first was made only after the order had shown that those
  // before it changed nothing, so the baseline of the latest one counts.
  const rows = await sql.query<{ kind: string; state: CommandState; payload: unknown; baseline: unknown }>(
    `SELECT c.kind, c.state, c.payload,
       (SELECT a.baseline FROM tallyman.command_attempts a
        WHERE a.command_id = c.id AND a.outcome IS DISTINCT FROM 'not-sent' ORDER BY a.attempt DESC LIMIT 1) AS baseline
     FROM tallyman.commands c
     WHERE c.seller_id = $1 AND c.purchase_order_id = $2 AND c.state <> 'rejected' AND c.id IS DISTINCT FROM $3
     ORDER BY c.sequence`,
    sellerId,
    order.purchaseOrderId,
    except,
  )
  const commands = rows.flatMap((row): LedgerCommand[] => {
    const content = parseCommand(row.kind, row.payload)
    if (content.kind === 'create-shipping-settings') return []
    return [{ ...content, state: row.state, baseline: unitsByLine(row.baseline) }]
  })
  return ledgersOf(order, commands)
}

const describe = (command: CommandContent): Prisma.InputJsonObject => ({
  kind: command.kind,
  lines: unitsOf(command.payload).map((line) => ({ lineNumber: line.lineNumber, quantity: line.quantity })),
})

/** Stores commands of one subject, in order, as `pending`; answers their ids. The caller holds the subject's lock. */
export const insertCommands = async (
  transaction: Transaction,
  request: {
    readonly sellerId: string
    /** Null: the seller's shipping settings. */
    readonly purchaseOrderId: string | null
    readonly event: { readonly source: string; readonly id: string } | null
    readonly commands: readonly CommandContent[]
  },
): Promise<string[]> => {
  const rows = request.commands.map((command) => ({ command, id: randomUUID() }))
  if (rows.length === 0) return []
  await transaction.execute(
    `WITH given AS (
       SELECT * FROM jsonb_to_recordset($1::jsonb) AS t(ordinal int, id text, kind text, payload jsonb)
     ), stored AS (
       INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, event_source, event_id, payload)
       SELECT id, $2, $3, kind, 'pending', $4, $5, payload FROM given ORDER BY ordinal
     )
     INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity)
     SELECT command_id, line_number, $2, $3, quantity
     FROM jsonb_to_recordset($6::jsonb) AS l(command_id text, line_number text, quantity int)`,
    JSON.stringify(rows.map(({ command, id }, ordinal) => ({ ordinal, id, kind: command.kind, payload: command.payload }))),
    request.sellerId,
    request.purchaseOrderId,
    request.event?.source ?? null,
    request.event?.id ?? null,
    JSON.stringify(
      rows.flatMap(({ command, id }) =>
        unitsOf(command.payload).map((line) => ({ command_id: id, line_number: line.lineNumber, quantity: line.quantity })),
      ),
    ),
  )
  for (const { command, id } of rows) {
    transaction.tell({
      sellerId: request.sellerId,
      type: 'command.pending',
      purchaseOrderId: request.purchaseOrderId ?? undefined,
      commandId: id,
      data: { ...describe(command), ...(request.event === null ? {} : { event: { ...request.event } }) },
    })
  }
  return rows.map((row) => row.id)
}

/** Which command a step changes, and from which state and attempt: a step that comes too late changes nothing. */
export interface Expected {
  readonly state: CommandState
  readonly attempts: number
}

interface Step {
  readonly state: CommandState
  readonly reason?: string | null
  readonly evidence?: Prisma.InputJsonObject | null
  /** From now, by the database's clock. */
  readonly nextActionInMs?: number
}

/**
 * Moves a command on, and tells it. Answers false, changing nothing, when the command is no longer as expected: someone else
 * has moved it meanwhile.
 */
export const moveCommand = async (
  transaction: Transaction,
  command: StoredCommand,
  expected: Expected,
  step: Step,
): Promise<boolean> => {
  const settled = isSettled(step.state)
  const touched = await transaction.execute(
    `UPDATE tallyman.commands SET state = $4, reason = $5, evidence = COALESCE($6::jsonb, evidence),
       next_action_at = now() + $7::float8 * interval '1 millisecond', leased_until = NULL, lease_owner = NULL, updated_at = now(),
       settled_at = CASE WHEN $8 THEN now() ELSE NULL END
     WHERE id = $1 AND state = $2 AND attempts = $3`,
    command.id,
    expected.state,
    expected.attempts,
    step.state,
    step.reason ?? null,
    step.evidence === undefined || step.evidence === null ? null : JSON.stringify(step.evidence),
    step.nextActionInMs ?? 0,
    settled,
  )
  if (touched === 0) return false
  const alarm = { sellerId: command.sellerId, kind: 'command-held', subject: command.id } as const
  if (step.state === 'held') {
    const [about, what] =
      command.purchaseOrderId === null
        ? [command.content.kind, 'the shipping settings of the account']
        : [`${command.content.kind} of order ${command.purchaseOrderId}`, 'the order']
    const advice = `look at ${what} and then confirm, reject or retry command ${command.id}`
    await raiseAlarm(transaction, alarm, `${about}: ${step.reason ?? 'held'}; ${advice}`)
  } else if (expected.state === 'held') {
    await resolveAlarm(transaction, alarm)
  }
  if (step.state !== expected.state && (step.state !== 'pending' || expected.state === 'held')) {
    transaction.tell({
      sellerId: command.sellerId,
      type: `command.${step.state}`,
      purchaseOrderId: command.purchaseOrderId ?? undefined,
      commandId: command.id,
      data: {
        ...describe(command.content),
        ...(step.reason === undefined || step.reason === null ? {} : { reason: step.reason }),
      },
    })
  }
  return true
}

/**
 * Stores the intent: what will be sent, under which correlation id, and how the subject stood before. Must commit before the
 * request leaves. Answers false when the command is no longer as expected, or not the first of its subject: then nothing may be sent.
 */
export const recordIntent = async (
  transaction: Transaction,
  command: StoredCommand,
  intent: {
    readonly correlationId: string
    readonly request: Prisma.InputJsonObject
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
    readonly failure?: Prisma.InputJsonObject | null
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
export const recordReadBack = async (
  sql: SqlRunner,
  commandId: string,
  attempt: number,
  readBack: Prisma.InputJsonObject,
): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.command_attempts SET read_backs = read_backs || $3::jsonb WHERE command_id = $1 AND attempt = $2`,
    commandId,
    attempt,
    JSON.stringify([readBack]),
  )
}

/** Ids of commands that a worker should look at now: the first of each subject, due, and not being sent by somebody alive. */
export const dueCommands = async (sql: SqlRunner, limit: number): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `SELECT c.id FROM tallyman.commands c JOIN tallyman.sellers s ON s.seller_id = c.seller_id AND s.state = 'active'
     WHERE c.state IN ('pending', 'sending', 'verifying') AND c.next_action_at <= now()
       AND (c.leased_until IS NULL OR c.leased_until <= now())
       AND NOT EXISTS (SELECT 1 FROM tallyman.commands e WHERE e.seller_id = c.seller_id
         AND e.subject = c.subject AND e.sequence < c.sequence AND e.state NOT IN ('confirmed', 'rejected'))
     ORDER BY c.next_action_at LIMIT $1`,
    limit,
  )
  return rows.map((row) => row.id)
}

/** What a person decides on a held command. */
export type Decision = 'retry' | 'confirm' | 'reject'

/** How a decision went. */
export type DecisionResult =
  | { readonly ok: true; readonly state: CommandState }
  | { readonly ok: false; readonly fault: 'not-found' }
  | { readonly ok: false; readonly fault: 'not-held'; readonly state: CommandState }

const decided = { retry: 'pending', confirm: 'confirmed', reject: 'rejected' } as const satisfies Record<Decision, CommandState>

/**
 * Carries out what a person decided, and keeps who, when, why and on what evidence. Only a held command is open to decisions;
 * a pending one that has never been sent may be rejected as well.
 */
export const decideCommand = async (
  database: Database,
  request: { readonly commandId: string; readonly decision: Decision; readonly actor: string; readonly reason: string },
): Promise<DecisionResult> =>
  database.transaction(async (transaction) => {
    const peek = await readCommand(transaction, request.commandId)
    if (peek === null) return { ok: false, fault: 'not-found' }
    // Locks are always taken in this order: the subject's, the command's row, the change counter.
    if (peek.purchaseOrderId === null) await lockShippingSettings(transaction, peek.sellerId)
    else {
      await transaction.query(
        `SELECT 1 AS locked FROM warehouse.orders WHERE seller_id = $1 AND purchase_order_id = $2 FOR UPDATE`,
        peek.sellerId,
        peek.purchaseOrderId,
      )
    }
    const [row] = await transaction.query<CommandRow & { evidence: Prisma.JsonValue }>(
      `SELECT ${commandColumns}, c.evidence FROM tallyman.commands c WHERE c.id = $1 FOR UPDATE`,
      request.commandId,
    )
    if (row === undefined) return { ok: false, fault: 'not-found' }
    const command = fromRow(row)
    const untouched = command.state === 'pending' && command.attempts === 0 && request.decision === 'reject'
    if (command.state !== 'held' && !untouched) return { ok: false, fault: 'not-held', state: command.state }
    await transaction.execute(
      `INSERT INTO tallyman.command_decisions (command_id, decision, actor, reason, evidence) VALUES ($1, $2, $3, $4, $5::jsonb)`,
      command.id,
      request.decision,
      request.actor,
      request.reason,
      row.evidence === null ? null : JSON.stringify(row.evidence),
    )
    if (request.decision === 'retry') {
      await transaction.execute(
        `UPDATE tallyman.command_attempts SET outcome = 'dismissed' WHERE command_id = $1 AND outcome IS DISTINCT FROM 'not-sent'`,
        command.id,
      )
    }
    const state = decided[request.decision]
    await moveCommand(transaction, command, command, {
      state,
      reason: `${request.decision} by ${request.actor}: ${request.reason}`,
    })
    return { ok: true, state }
  })
