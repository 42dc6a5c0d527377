import { randomUUID } from 'node:crypto'
import { addOutage } from '../../domain/alarms/marketplace-status.ts'
import { type CommandContent, type CommandState, isSettled, listUnits } from '../../domain/commands/command.ts'
import { takesUnits } from '../../domain/commands/decision.ts'
import { raiseAlarm, resolveAlarm } from '../alarms/alarms.ts'
import { readMarketplaceStatus } from '../alarms/marketplace-status.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner, Transaction } from '../db/database.ts'
import { prepared } from '../db/prepared-statements.ts'
import { sumAppliedUnits } from './command-content.ts'
import { decisionCount, type StoredCommand } from './commands.ts'

const describe = (command: CommandContent) => ({
  kind: command.kind,
  lines: listUnits(command.payload).map((line) => ({ lineNumber: line.lineNumber, quantity: line.quantity })),
})

interface NewCommand {
  readonly sellerId: string
  /** Null: the seller's shipping settings. */
  readonly purchaseOrderId: string | null
  readonly event: { readonly source: string; readonly id: string } | null
  readonly acknowledgeWithinHours: number
  readonly command: CommandContent
  readonly id: string
}

const insertNew = prepared(
  `WITH given AS (
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS t(ordinal int, id text, seller_id text, purchase_order_id text, kind text, payload jsonb,
       event_source text, event_id text, within_hours int)
   ), stored AS (
     INSERT INTO tallyman.commands (id, seller_id, purchase_order_id, kind, state, event_source, event_id, payload, act_by)
     SELECT g.id, g.seller_id, g.purchase_order_id, g.kind, 'pending', g.event_source, g.event_id, g.payload,
       CASE g.kind WHEN 'acknowledge' THEN o.order_date + make_interval(hours => g.within_hours) WHEN 'ship' THEN o.estimated_ship_date END
     FROM given g LEFT JOIN LATERAL (SELECT o.order_date, o.estimated_ship_date FROM warehouse.orders o
       WHERE o.seller_id = g.seller_id AND o.purchase_order_id = g.purchase_order_id OFFSET 0) o ON true
     ORDER BY g.ordinal
   )
   INSERT INTO tallyman.command_lines (command_id, line_number, seller_id, purchase_order_id, quantity)
   SELECT l.command_id, l.line_number, l.seller_id, l.purchase_order_id, l.quantity
   FROM jsonb_to_recordset($2::jsonb) AS l(command_id text, line_number text, seller_id text, purchase_order_id text, quantity int)`,
)

const insertAll = batchQuery(async (transaction: Transaction, requests: readonly (readonly NewCommand[])[]) => {
  const commands = requests.flat()
  transaction.send(
    insertNew,
    JSON.stringify(
      commands.map(({ sellerId, purchaseOrderId, event, acknowledgeWithinHours, command, id }, ordinal) => ({
        ordinal,
        id,
        seller_id: sellerId,
        purchase_order_id: purchaseOrderId,
        kind: command.kind,
        payload: command.payload,
        event_source: event?.source ?? null,
        event_id: event?.id ?? null,
        within_hours: acknowledgeWithinHours,
      })),
    ),
    JSON.stringify(
      commands.flatMap(({ sellerId, purchaseOrderId, command, id }) =>
        listUnits(command.payload).map((line) => ({
          command_id: id,
          line_number: line.lineNumber,
          seller_id: sellerId,
          purchase_order_id: purchaseOrderId,
          quantity: line.quantity,
        })),
      ),
    ),
  )
  return requests.map(() => null)
})

interface InsertRequest {
  readonly sellerId: string
  /** Null: the seller's shipping settings. */
  readonly purchaseOrderId: string | null
  readonly event: { readonly source: string; readonly id: string } | null
  readonly commands: readonly CommandContent[]
}

/**
 * Stores commands of one subject, in order, as `pending`; returns their ids. The caller holds the subject's lock. The marketplace's deadlines are
 * computed from the stored order.
 */
export const insertCommands = async (
  transaction: Transaction,
  { sellerId, purchaseOrderId, event, commands }: InsertRequest,
): Promise<readonly string[]> => {
  const rows = commands.map((command) => ({ command, id: randomUUID() }))
  if (rows.length === 0) return []
  const { acknowledgeWithinHours } = transaction.findVocabulary(sellerId)
  await insertAll(
    transaction,
    rows.map((row) => ({ ...row, sellerId, purchaseOrderId, event, acknowledgeWithinHours })),
  )
  for (const { command, id } of rows) {
    transaction.record({
      sellerId,
      type: 'command.pending',
      purchaseOrderId: purchaseOrderId ?? undefined,
      commandId: id,
      data: { ...describe(command), ...(event === null ? {} : { event: { ...event } }) },
    })
  }
  return rows.map(({ id }) => id)
}

/** A step of a command: its new state. */
export interface CommandStep {
  readonly state: CommandState
  readonly reason: string
  /** Serializable to JSON. */
  readonly evidence?: object | null
  /** From now, by the database's clock. */
  readonly nextActionInMs?: number
  /** The step failed: it is counted, so that the command does not wait without end. A successful step resets the count. */
  readonly troubled?: true
  /** No alarm: no event requested the rejected command, or a person has rejected it. */
  readonly quiet?: true
}

/** The state of a command after a step, and how long and how many times its steps have failed. */
export interface Moved {
  /** `confirmed` for a rejected command of which a person has confirmed a part: that part counts, and an alarm reports the rest. */
  readonly state: CommandState
  readonly sinceMs: number
  readonly tries: number
}

/** The fields of a read command that show whether another process has changed it. */
type AsRead = Pick<StoredCommand, 'state' | 'attempts' | 'decisions' | 'leasedUntil'>

/** Whether another process was sending it when it was read: its lease had expired, and may have been renewed since. */
const isOfAnother = ({ state, leasedUntil }: Pick<AsRead, 'state' | 'leasedUntil'>): boolean =>
  state === 'sending' && leasedUntil !== null

/** SQL: no other process holds the lease of the command `c`, if it is `of_another`. */
const leaseIsOver = `(NOT g.of_another OR c.leased_until IS NULL OR c.leased_until <= now())`

const selectLocked = prepared(
  `SELECT c.id FROM tallyman.commands c
   JOIN jsonb_to_recordset($1::jsonb) AS g(id text, state text, attempts int, decisions int, of_another boolean) ON g.id = c.id
   WHERE c.id = ANY($2::text[]) AND c.state = g.state AND c.attempts = g.attempts AND ${decisionCount} = g.decisions AND ${leaseIsOver}
   FOR UPDATE OF c`,
)

const lockEach = batchQuery(async (sql: SqlRunner, commands: readonly (AsRead & { readonly id: string })[]) => {
  const rows = await sql.query<{ id: string }>(
    selectLocked,
    JSON.stringify(
      commands.map((command) => ({
        id: command.id,
        state: command.state,
        attempts: command.attempts,
        decisions: command.decisions,
        of_another: isOfAnother(command),
      })),
    ),
    commands.map(({ id }) => id),
  )
  const locked = new Set(rows.map(({ id }) => id))
  return commands.map(({ id }) => locked.has(id))
})

/**
 * Locks a command for a step; lock its subject first. False: it has changed since it was read (a step, a decision, a renewed lease), so nothing may be
 * written or sent for it.
 */
export const lockCommand = (
  transaction: Transaction,
  id: string,
  { state, attempts, decisions, leasedUntil }: AsRead,
): Promise<boolean> => lockEach(transaction, { id, state, attempts, decisions, leasedUntil })

const alarmKey = (command: StoredCommand, kind: 'command-held' | 'command-rejected' | 'command-waiting') =>
  ({ sellerId: command.sellerId, kind, subject: command.id }) as const

const describeSubject = (command: StoredCommand): { readonly about: string; readonly what: string } =>
  command.purchaseOrderId === null
    ? { about: command.content.kind, what: 'the shipping settings of the account' }
    : { about: `${command.content.kind} of order ${command.purchaseOrderId}`, what: 'the order' }

interface Move {
  readonly id: string
  readonly seller_id: string
  readonly was: CommandState
  readonly attempts: number
  readonly state: CommandState
  readonly reason: string
  readonly evidence?: object
  readonly next_ms: number
  readonly settled: boolean
  readonly troubled: boolean
  readonly rest_rejected: boolean
  /** Whether to resolve the alarm of a waiting command. */
  readonly gets_on: boolean
  readonly of_another: boolean
}

// The caller holds the locks of the commands; alarms are locked after them.
const updateCommands = prepared(
  `WITH given AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($1::jsonb) AS t(id text, seller_id text, was text, attempts int, state text, reason text, evidence jsonb,
       next_ms float8, settled boolean, troubled boolean, rest_rejected boolean, gets_on boolean, of_another boolean)
   ), moved AS (
     UPDATE tallyman.commands c SET state = g.state, reason = g.reason, evidence = COALESCE(g.evidence, c.evidence),
       next_action_at = now() + g.next_ms * interval '1 millisecond', leased_until = NULL, lease_owner = NULL, updated_at = now(),
       troubled_since = CASE WHEN g.troubled THEN COALESCE(c.troubled_since, now()) END,
       troubled_looks = CASE WHEN g.troubled THEN c.troubled_looks + 1 ELSE 0 END,
       settled_at = CASE WHEN g.settled THEN now() ELSE NULL END,
       parts = CASE WHEN g.rest_rejected THEN jsonb_set(c.parts, '{open}', 'null') ELSE c.parts END
     FROM given g WHERE c.id = ANY($2::text[]) AND c.id = g.id AND c.state = g.was AND c.attempts = g.attempts AND ${leaseIsOver}
     RETURNING c.id, (extract(epoch FROM now() - c.troubled_since) * 1000)::float8 AS since_ms, c.troubled_looks AS tries
   ), closed AS (
     UPDATE tallyman.alarms a SET resolved_at = now() FROM given g JOIN moved m ON m.id = g.id
     WHERE g.gets_on AND a.seller_id = ANY($3::text[]) AND a.kind = 'command-waiting' AND a.subject = ANY($2::text[])
       AND a.seller_id = g.seller_id AND a.subject = g.id AND a.resolved_at IS NULL
   )
   SELECT id, since_ms, tries FROM moved`,
)

const moveEach = batchQuery(async (sql: SqlRunner, moves: readonly Move[]) => {
  const rows = await sql.query<{ id: string; since_ms: number | null; tries: number }>(
    updateCommands,
    JSON.stringify(moves),
    moves.map(({ id }) => id),
    [...new Set(moves.map((move) => move.seller_id))],
  )
  const moved = new Map(rows.map((row) => [row.id, row]))
  return moves.map(({ id }) => moved.get(id) ?? null)
})

/** Applies a step to a command, and records the change. Null: the command has changed since it was read, and nothing was written. */
export const moveCommand = async (transaction: Transaction, command: StoredCommand, step: CommandStep): Promise<Moved | null> => {
  const applied = sumAppliedUnits(command.applied)
  const restRejected = step.state === 'rejected' && applied.length > 0
  const state = restRejected ? 'confirmed' : step.state
  const reason = restRejected ? `a part was applied, the rest was rejected: ${step.reason}` : step.reason
  const row = await moveEach(transaction, {
    id: command.id,
    seller_id: command.sellerId,
    was: command.state,
    attempts: command.attempts,
    state,
    reason,
    ...(step.evidence === undefined || step.evidence === null ? {} : { evidence: step.evidence }),
    next_ms: step.nextActionInMs ?? 0,
    settled: isSettled(state),
    troubled: step.troubled === true,
    rest_rejected: restRejected,
    of_another: isOfAnother(command),
    // The review of overdue commands raises this alarm also for commands without failed steps.
    gets_on: step.troubled !== true && (command.troubledSince !== null || state === 'held' || isSettled(state)),
  })
  if (row === null) return null
  const { about, what } = describeSubject(command)
  if (state === 'held' && command.state !== 'held') {
    const byLine = takesUnits(command.content) ? ', or decide it line by line' : ''
    const advice = `check ${what}, then confirm, reject or retry command ${command.id}${byLine}`
    await raiseAlarm(transaction, alarmKey(command, 'command-held'), `${about}: ${reason}; ${advice}`)
  } else if (command.state === 'held' && state !== 'held') {
    await resolveAlarm(transaction, alarmKey(command, 'command-held'))
  }
  if (step.state === 'rejected' && step.quiet !== true) {
    const freed = restRejected ? 'the units of the rest are free again' : 'its units are free again'
    const advice =
      command.content.kind === 'correct-shipment'
        ? `the marketplace keeps the tracking number: change it in its seller center and tell the buyer, then close this alarm (command ${command.id})`
        : `${freed}: check what the ERP must do now, then close this alarm (command ${command.id})`
    const ended = restRejected ? reason : `rejected, ${reason}`
    await raiseAlarm(transaction, alarmKey(command, 'command-rejected'), `${about}: ${ended}; ${advice}`)
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
  return { state, sinceMs: row.since_ms ?? 0, tries: row.tries }
}

/**
 * Raises an alarm for a command that makes no progress; it closes when the command progresses, or is settled or held.
 * @param cause `step`: its steps fail, which an outage of the marketplace may explain; `process`: no process works on it
 */
export const alarmWaiting = async (
  transaction: Transaction,
  command: StoredCommand,
  reason: string,
  cause: 'step' | 'process',
): Promise<void> => {
  const { about } = describeSubject(command)
  const message = `${about} waits: ${reason}; it continues by itself, or decide command ${command.id}`
  const { sellerId, content } = command
  const reported = cause === 'step' ? ((await readMarketplaceStatus(transaction, [sellerId])).get(sellerId) ?? []) : []
  await raiseAlarm(transaction, alarmKey(command, 'command-waiting'), addOutage(message, content.kind, reported))
}

/**
 * Postpones the next step of a command because the rate limiter has no token. Ends a lease of `owner`. If another process holds the lease, that process
 * has a token, and nothing is postponed.
 */
export const postponeCommand = async (
  sql: SqlRunner,
  command: StoredCommand,
  { delayMs, owner }: { readonly delayMs: number; readonly owner: string },
): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.commands SET next_action_at = now() + $4::float8 * interval '1 millisecond', leased_until = NULL, lease_owner = NULL
     WHERE id = $1 AND state = $2 AND attempts = $3 AND (leased_until IS NULL OR leased_until <= now() OR lease_owner = $5)`,
    command.id,
    command.state,
    command.attempts,
    delayMs,
    owner,
  )
}
