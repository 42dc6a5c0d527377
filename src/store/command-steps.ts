import { randomUUID } from 'node:crypto'
import { type CommandContent, type CommandState, isSettled, unitsOf } from '../domain/command.ts'
import { takesUnits } from '../domain/decision.ts'
import type { JsonObject } from '../domain/json.ts'
import { raiseAlarm, resolveAlarm } from './alarms.ts'
import { unitsApplied } from './command-content.ts'
import { decisionsOf, type StoredCommand } from './commands.ts'
import type { SqlRunner, Transaction } from './database.ts'

const describe = (command: CommandContent): JsonObject => ({
  kind: command.kind,
  lines: unitsOf(command.payload).map((line) => ({ lineNumber: line.lineNumber, quantity: line.quantity })),
})

/**
 * Stores commands of one subject, in order, as `pending`; returns their ids. The caller holds the subject's lock. By when the marketplace wants
 * them is taken from the stored order.
 */
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
       INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, event_source, event_id, payload, act_by)
       SELECT g.id, $2, $3, g.kind, 'pending', $4, $5, g.payload,
         CASE g.kind WHEN 'acknowledge' THEN o.order_date + make_interval(hours => $7::int) WHEN 'ship' THEN o.estimated_ship_date END
       FROM given g LEFT JOIN warehouse.orders o ON o.seller_id = $2 AND o.purchase_order_id = $3 ORDER BY g.ordinal
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
    transaction.vocabularyOf(request.sellerId).acknowledgeWithinHours,
  )
  for (const { command, id } of rows) {
    transaction.record({
      sellerId: request.sellerId,
      type: 'command.pending',
      purchaseOrderId: request.purchaseOrderId ?? undefined,
      commandId: id,
      data: { ...describe(command), ...(request.event === null ? {} : { event: { ...request.event } }) },
    })
  }
  return rows.map((row) => row.id)
}

/** What a step makes of a command. */
export interface CommandStep {
  readonly state: CommandState
  readonly reason: string
  readonly evidence?: JsonObject | null
  /** From now, by the database's clock. */
  readonly nextActionInMs?: number
  /** It did not get on: counted, so that nothing waits for ever. Otherwise the count begins afresh. */
  readonly troubled?: true
  /** Nobody asked for what is rejected here, or a person has rejected it: no alarm. */
  readonly quiet?: true
}

/** How a command stands after a step, and how long it has been in trouble. */
export interface Moved {
  /** `confirmed` for a rejected one of which a person has found a part applied: that part counts, and an alarm reports the rest. */
  readonly state: CommandState
  readonly sinceMs: number
  readonly looks: number
}

/**
 * Locks a command for a step, after its subject; false when it is no longer as expected: someone else has moved it or decided on it
 * meanwhile, and nothing may be written or sent for it as it was read.
 */
export const lockCommand = async (
  transaction: Transaction,
  commandId: string,
  { state, attempts, decisions }: Pick<StoredCommand, 'state' | 'attempts' | 'decisions'>,
): Promise<boolean> => {
  const rows = await transaction.query(
    `SELECT 1 AS locked FROM tallyman.commands c
     WHERE c.id = $1 AND c.state = $2 AND c.attempts = $3 AND ${decisionsOf} = $4 FOR UPDATE OF c`,
    commandId,
    state,
    attempts,
    decisions,
  )
  return rows.length > 0
}

const alarmOf = (command: StoredCommand, kind: 'command-held' | 'command-rejected' | 'command-waiting') =>
  ({ sellerId: command.sellerId, kind, subject: command.id }) as const

const describeSubject = (command: StoredCommand): { readonly about: string; readonly what: string } =>
  command.purchaseOrderId === null
    ? { about: command.content.kind, what: 'the shipping settings of the account' }
    : { about: `${command.content.kind} of order ${command.purchaseOrderId}`, what: 'the order' }

/**
 * Moves a command on, and records the change. Returns null and changes nothing when the command is no longer as it was read: someone else
 * has moved it meanwhile. Otherwise how it stands, and how long it has been in trouble.
 */
export const moveCommand = async (transaction: Transaction, command: StoredCommand, step: CommandStep): Promise<Moved | null> => {
  const applied = unitsApplied(command.applied)
  const restRejected = step.state === 'rejected' && applied.length > 0
  const state = restRejected ? 'confirmed' : step.state
  const reason = restRejected ? `a part was applied, the rest was rejected: ${step.reason}` : step.reason
  const [row] = await transaction.query<{ since_ms: number | null; looks: number }>(
    `UPDATE tallyman.commands SET state = $4, reason = $5, evidence = COALESCE($6::jsonb, evidence),
       next_action_at = now() + $7::float8 * interval '1 millisecond', leased_until = NULL, lease_owner = NULL, updated_at = now(),
       troubled_since = CASE WHEN $9 THEN COALESCE(troubled_since, now()) END,
       troubled_looks = CASE WHEN $9 THEN troubled_looks + 1 ELSE 0 END,
       settled_at = CASE WHEN $8 THEN now() ELSE NULL END,
       parts = CASE WHEN $10 THEN jsonb_set(parts, '{open}', 'null') ELSE parts END
     WHERE id = $1 AND state = $2 AND attempts = $3
     RETURNING (extract(epoch FROM now() - troubled_since) * 1000)::float8 AS since_ms, troubled_looks AS looks`,
    command.id,
    command.state,
    command.attempts,
    state,
    reason,
    step.evidence === undefined || step.evidence === null ? null : JSON.stringify(step.evidence),
    step.nextActionInMs ?? 0,
    isSettled(state),
    step.troubled === true,
    restRejected,
  )
  if (row === undefined) return null
  const { about, what } = describeSubject(command)
  // Whoever reviews what nobody works on raises this alarm for commands without trouble of their own.
  if (step.troubled !== true && (command.troubledSince !== null || state === 'held' || isSettled(state)))
    await resolveAlarm(transaction, alarmOf(command, 'command-waiting'))
  if (state === 'held' && command.state !== 'held') {
    const byLine = takesUnits(command.content) ? ', or decide it line by line' : ''
    const advice = `look at ${what} and then confirm, reject or retry command ${command.id}${byLine}`
    await raiseAlarm(transaction, alarmOf(command, 'command-held'), `${about}: ${reason}; ${advice}`)
  } else if (command.state === 'held' && state !== 'held') {
    await resolveAlarm(transaction, alarmOf(command, 'command-held'))
  }
  if (step.state === 'rejected' && step.quiet !== true) {
    const whose = restRejected ? 'the units of the rest are free again' : 'its units are free again'
    const advice = `${whose}: see what the ERP must do now, then close this alarm (command ${command.id})`
    const ended = restRejected ? reason : `rejected, ${reason}`
    await raiseAlarm(transaction, alarmOf(command, 'command-rejected'), `${about}: ${ended}; ${advice}`)
  }
  if (state !== command.state && (state !== 'pending' || command.state === 'held')) {
    transaction.record({
      sellerId: command.sellerId,
      type: `command.${state}`,
      purchaseOrderId: command.purchaseOrderId ?? undefined,
      commandId: command.id,
      data: {
        ...describe(command.content),
        ...(applied.length > 0 ? { applied: applied.map((line) => ({ ...line })) } : {}),
        reason,
      },
    })
  }
  return { state, sinceMs: row.since_ms ?? 0, looks: row.looks }
}

/** Says that a command does not get on; the alarm closes when it does, or when it is settled or held. */
export const alarmWaiting = async (transaction: Transaction, command: StoredCommand, reason: string): Promise<void> => {
  const { about } = describeSubject(command)
  const message = `${about} waits: ${reason}; it goes on by itself, or decide command ${command.id} yourself`
  await raiseAlarm(transaction, alarmOf(command, 'command-waiting'), message)
}

/** Puts the next step of a command off while nothing is wrong with it: the rate budget has no call left. */
export const postponeCommand = async (sql: SqlRunner, command: StoredCommand, delayMs: number): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.commands SET next_action_at = now() + $4::float8 * interval '1 millisecond'
     WHERE id = $1 AND state = $2 AND attempts = $3`,
    command.id,
    command.state,
    command.attempts,
    delayMs,
  )
}
