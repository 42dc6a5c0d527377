import { randomUUID } from 'node:crypto'
import {
  type CommandContent,
  type CommandState,
  isSettled,
  type LineQuantity,
  type OrderCommandContent,
  readStoredCommand,
  type StoredContent,
  unitsOf,
} from '../domain/command.ts'
import { type DecidedParts, decidedPartsSchema, takesUnits } from '../domain/decision.ts'
import { type OrderBaseline, orderBaselineSchema } from '../domain/evidence.ts'
import type { LineUnits, PurchaseOrder } from '../domain/order.ts'
import { type Confirmed, proofOf, raiseBaseline } from '../domain/proof.ts'
import { type LedgerCommand, type LineLedger, ledgersOf } from '../domain/units.ts'
import { raiseAlarm, resolveAlarm } from './alarms.ts'
import type { SqlRunner, Transaction } from './database.ts'
import type { Prisma } from './generated/client.ts'
import { sellerIsServed } from './sellers.ts'

/** A command as stored, without its attempts. */
export interface StoredCommand {
  readonly id: string
  readonly sellerId: string
  /** What it is about, within its seller: commands of one subject run one at a time. */
  readonly subject: string
  /** Null: it is about the seller's shipping settings. */
  readonly purchaseOrderId: string | null
  readonly state: CommandState
  /** What is to be carried out; less than was asked where a person has decided the rest. */
  readonly content: CommandContent
  /** Why it cannot be carried out as it is stored, so that a person must decide; null: it can. */
  readonly fault: string | null
  /** What a person has decided by line; null: nothing. */
  readonly parts: DecidedParts | null
  /** What of it was applied, as a person says. */
  readonly applied: readonly Confirmed[]
  readonly attempts: number
  /** How often a person has decided on it. */
  readonly decisions: number
  readonly eventSource: string | null
  readonly eventId: string | null
  /** Earliest moment of the next step, by the database's clock. */
  readonly nextActionAt: Date
  /** Until when another process may be in the middle of sending it. */
  readonly leasedUntil: Date | null
  /** Since when its next step could not be done, and how many tries in a row have failed; null and 0 while it gets on. */
  readonly troubledSince: Date | null
  readonly troubledLooks: number
  readonly createdAt: Date
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
  /** How many reads since have shown the subject in a way that could be judged. */
  readonly clearReads: number
}

interface CommandRow {
  id: string
  seller_id: string
  subject: string
  purchase_order_id: string | null
  kind: string
  state: CommandState
  payload: unknown
  parts: unknown
  attempts: number
  decisions: number
  event_source: string | null
  event_id: string | null
  next_action_at: Date
  leased_until: Date | null
  troubled_since: Date | null
  troubled_looks: number
  created_at: Date
  database_now: Date
}

const decisionsOf = '(SELECT count(*) FROM tallyman.command_decisions d WHERE d.command_id = c.id)::int'

const commandColumns = `c.id, c.seller_id, c.subject, c.purchase_order_id, c.kind, c.state, c.payload, c.parts, c.attempts, ${decisionsOf} AS decisions,
  c.event_source, c.event_id, c.next_action_at, c.leased_until, c.troubled_since, c.troubled_looks, c.created_at, now() AS database_now`

const partsOf = (parts: unknown): DecidedParts | null => (parts === null ? null : decidedPartsSchema.parse(parts))

/** What is still to be carried out of a command. Units of one that cannot be read any more are those that were stored beside it. */
const readContent = async (
  sql: SqlRunner,
  {
    id,
    kind,
    payload,
    parts,
  }: { readonly id: string; readonly kind: string; readonly payload: unknown; readonly parts: unknown },
): Promise<StoredContent> => {
  const open = partsOf(parts)?.open ?? payload
  const read = readStoredCommand(kind, open, [])
  if (read.fault === null) return read
  const lines = await sql.query<{ line_number: string; quantity: number }>(
    `SELECT line_number, quantity FROM tallyman.command_lines WHERE command_id = $1 ORDER BY line_number`,
    id,
  )
  return readStoredCommand(
    kind,
    open,
    lines.map((line) => ({ lineNumber: line.line_number, quantity: line.quantity })),
  )
}

const appliedOf = (kind: string, parts: DecidedParts | null): Confirmed[] =>
  (parts?.applied ?? []).flatMap(({ payload, baseline }) => {
    const { content } = readStoredCommand(kind, payload, [])
    return content.kind === 'create-shipping-settings' ? [] : [{ content, baseline }]
  })

/** Units of a command that a person has decided line by line: what was applied, and what is still to be sent. Null: it was not decided so. */
export interface DecidedUnits {
  readonly applied: readonly LineQuantity[]
  readonly open: readonly LineQuantity[]
}

/** Reads the column `parts`. */
export const decidedUnits = (kind: string, column: unknown): DecidedUnits | null => {
  const parts = partsOf(column)
  if (parts === null) return null
  const open = parts.open === null ? null : readStoredCommand(kind, parts.open, []).content
  return { applied: unitsApplied(appliedOf(kind, parts)), open: open === null ? [] : unitsOf(open.payload) }
}

const unitsApplied = (applied: readonly Confirmed[]): LineQuantity[] => {
  const units = new Map<string, number>()
  for (const { content } of applied) {
    for (const { lineNumber, quantity } of unitsOf(content.payload))
      units.set(lineNumber, (units.get(lineNumber) ?? 0) + quantity)
  }
  return [...units].map(([lineNumber, quantity]) => ({ lineNumber, quantity }))
}

const fromRow = (row: CommandRow, { content, fault }: StoredContent): StoredCommand => ({
  id: row.id,
  sellerId: row.seller_id,
  subject: row.subject,
  purchaseOrderId: row.purchase_order_id,
  state: row.state,
  content,
  fault,
  parts: partsOf(row.parts),
  applied: appliedOf(row.kind, partsOf(row.parts)),
  attempts: row.attempts,
  decisions: row.decisions,
  eventSource: row.event_source,
  eventId: row.event_id,
  nextActionAt: row.next_action_at,
  leasedUntil: row.leased_until,
  troubledSince: row.troubled_since,
  troubledLooks: row.troubled_looks,
  createdAt: row.created_at,
  databaseNow: row.database_now,
})

/** The command, or null. Reads without a lock: a hint of what to do next, never the ground for doing it. */
export const readCommand = async (sql: SqlRunner, commandId: string): Promise<StoredCommand | null> => {
  const [row] = await sql.query<CommandRow>(`SELECT ${commandColumns} FROM tallyman.commands c WHERE c.id = $1`, commandId)
  return row === undefined ? null : fromRow(row, await readContent(sql, row))
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

const unitsByLine = (baseline: OrderBaseline | null): Record<string, LineUnits> | null =>
  baseline === null ? null : Object.fromEntries(baseline.lines.map((line) => [line.lineNumber, line.units]))

/** A command of an order, or a part of one that a person has decided. */
interface CommandOfOrder {
  readonly content: OrderCommandContent
  readonly state: CommandState
  readonly baseline: OrderBaseline | null
}

/** What our commands on an order say of its units. */
export interface OrderWork {
  /** In the order of the commands. */
  readonly ledgerCommands: readonly LedgerCommand[]
  /** Those that were applied, with how the order stood before each. */
  readonly confirmed: readonly Confirmed[]
}

/**
 * Our commands on an order, as far as units go. Take them under the order's row lock (`lockOrder`): whoever reserves or sends units holds
 * it. `except` leaves one command out, so that it can be checked against all others; what a person says was applied of it still counts.
 */
export const readOrderWork = async (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
  except: string | null = null,
): Promise<OrderWork> => {
  // A command that was never sent has no attempt. Each attempt but the first was made only after the order had shown that those
  // before it changed nothing, so the baseline of the latest one counts.
  const rows = await sql.query<{
    id: string
    kind: string
    state: CommandState
    payload: unknown
    parts: unknown
    baseline: unknown
  }>(
    `SELECT c.id, c.kind, c.state, c.payload, c.parts,
       (SELECT a.baseline FROM tallyman.command_attempts a
        WHERE a.command_id = c.id AND a.outcome IS DISTINCT FROM 'not-sent' ORDER BY a.attempt DESC LIMIT 1) AS baseline
     FROM tallyman.commands c
     WHERE c.seller_id = $1 AND c.purchase_order_id = $2 AND (c.state <> 'rejected' OR c.parts IS NOT NULL)
     ORDER BY c.sequence`,
    sellerId,
    purchaseOrderId,
  )
  const commands: CommandOfOrder[] = []
  for (const row of rows) commands.push(...commandsOf(row, (await readContent(sql, row)).content, row.id === except))
  return {
    ledgerCommands: commands.map(
      ({ content, state, baseline }): LedgerCommand => ({ ...content, state, baseline: unitsByLine(baseline) }),
    ),
    confirmed: commands.filter(({ state }) => state === 'confirmed'),
  }
}

const commandsOf = (
  row: {
    readonly kind: string
    readonly state: CommandState
    readonly payload: unknown
    readonly parts: unknown
    readonly baseline: unknown
  },
  content: CommandContent,
  onlyDecided: boolean,
): CommandOfOrder[] => {
  const parts = partsOf(row.parts)
  const applied = appliedOf(row.kind, parts)
  const found = applied.map((part): CommandOfOrder => ({ ...part, state: 'confirmed' }))
  const nothingOpen = row.state === 'rejected' || (parts !== null && parts.open === null)
  if (onlyDecided || nothingOpen) return found
  if (content.kind === 'create-shipping-settings') return found
  // What a person says was applied stands before the rest, which may go by the baseline of the very same attempt.
  const baseline = row.baseline === null ? null : raiseBaseline(orderBaselineSchema.parse(row.baseline), proofOf(applied))
  return [...found, { content, state: row.state, baseline }]
}

/** The unit ledgers of an order; see {@link readOrderWork}. */
export const readLedgers = async (
  sql: SqlRunner,
  sellerId: string,
  order: PurchaseOrder,
  except: string | null = null,
): Promise<LineLedger[]> => ledgersOf(order, (await readOrderWork(sql, sellerId, order.purchaseOrderId, except)).ledgerCommands)

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

/** What a step makes of a command. */
export interface CommandStep {
  readonly state: CommandState
  readonly reason: string
  readonly evidence?: Prisma.InputJsonObject | null
  /** From now, by the database's clock. */
  readonly nextActionInMs?: number
  /** It did not get on: counted, so that nothing waits for ever. Otherwise the count begins afresh. */
  readonly troubled?: true
  /** Nobody asked for what is rejected here, or a person has rejected it: no alarm. */
  readonly quiet?: true
}

/** How a command stands after a step, and how long it has been in trouble. */
export interface Moved {
  /** `confirmed` for a rejected one of which a person has found a part applied: that part counts, and an alarm tells of the rest. */
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
 * Moves a command on, and tells it. Answers null, changing nothing, when the command is no longer as it was read: someone else
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
    transaction.tell({
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

/**
 * Ids of commands that a worker should look at now: the first of each subject, due, not being sent by somebody alive, and of a seller that is
 * at work and served by some process. Those of others would only stand before them.
 */
export const dueCommands = async (sql: SqlRunner, limit: number): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `SELECT c.id FROM tallyman.commands c JOIN tallyman.sellers s ON s.seller_id = c.seller_id AND s.state = 'active'
     WHERE c.state IN ('pending', 'sending', 'verifying') AND c.next_action_at <= now() AND ${sellerIsServed('s')}
       AND (c.leased_until IS NULL OR c.leased_until <= now())
       AND NOT EXISTS (SELECT 1 FROM tallyman.commands e WHERE e.seller_id = c.seller_id
         AND e.subject = c.subject AND e.sequence < c.sequence AND e.state NOT IN ('confirmed', 'rejected'))
     ORDER BY c.next_action_at LIMIT $1`,
    limit,
  )
  return rows.map((row) => row.id)
}

/** Commands, first of their subjects, that have been due for at least so long, the longest first; none of stopped sellers. */
export const overdueCommands = async (
  sql: SqlRunner,
  leastMs: number,
  limit: number,
): Promise<readonly { readonly id: string; readonly overdueMs: number }[]> => {
  const rows = await sql.query<{ id: string; overdue_ms: number }>(
    `SELECT c.id, (extract(epoch FROM now() - GREATEST(c.next_action_at, c.leased_until)) * 1000)::float8 AS overdue_ms
     FROM tallyman.commands c LEFT JOIN tallyman.sellers s ON s.seller_id = c.seller_id
     WHERE c.state IN ('pending', 'sending', 'verifying') AND COALESCE(s.state, 'active') = 'active'
       AND c.next_action_at <= now() - $1::float8 * interval '1 millisecond'
       AND (c.leased_until IS NULL OR c.leased_until <= now() - $1::float8 * interval '1 millisecond')
       AND NOT EXISTS (SELECT 1 FROM tallyman.commands e WHERE e.seller_id = c.seller_id
         AND e.subject = c.subject AND e.sequence < c.sequence AND e.state NOT IN ('confirmed', 'rejected'))
     ORDER BY c.next_action_at LIMIT $2`,
    leastMs,
    limit,
  )
  return rows.map((row) => ({ id: row.id, overdueMs: row.overdue_ms }))
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
