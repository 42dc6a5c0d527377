import type { CommandState } from '../domain/command.ts'
import { type DecidedUnits, decidedUnits } from './commands.ts'
import type { SqlRunner } from './database.ts'
import { type ListPage, pageOf } from './page.ts'

/** One try at carrying a command to the marketplace, as a person reads it. */
export interface CommandAttempt {
  readonly attempt: number
  /** Of the request, as the marketplace can be asked about it. */
  readonly correlationId: string
  readonly request: unknown
  /** How the subject stood before the request left: the order's units, or the shipping settings. */
  readonly baseline: unknown
  readonly startedAt: Date
  readonly finishedAt: Date | null
  readonly outcome: string | null
  readonly httpStatus: number | null
  readonly failure: unknown
  readonly readBacks: unknown
}

/** What a person decided on a command. */
export interface CommandDecision {
  readonly decision: string
  readonly actor: string
  readonly reason: string
  /** What was known when it was decided. */
  readonly evidence: unknown
  readonly decidedAt: Date
}

/** A command with all that explains it. */
export interface CommandDetail {
  readonly id: string
  readonly sequence: bigint
  readonly sellerId: string
  /** Null: it is about the seller's shipping settings. */
  readonly purchaseOrderId: string | null
  readonly kind: string
  readonly state: CommandState
  readonly event: { readonly source: string; readonly id: string } | null
  readonly payload: unknown
  /** Units that it takes of each line. */
  readonly lines: readonly { readonly lineNumber: string; readonly quantity: number }[]
  /** What a person has decided of it line by line; null: nothing. */
  readonly parts: DecidedUnits | null
  readonly reason: string | null
  readonly evidence: unknown
  /** Correlation ids of its requests, first to last. */
  readonly correlationIds: readonly string[]
  readonly attempts: readonly CommandAttempt[]
  readonly decisions: readonly CommandDecision[]
  readonly nextActionAt: Date
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly settledAt: Date | null
}

/** Which commands to list; null: any. */
export interface CommandFilter {
  readonly state: CommandState | null
  readonly sellerId: string | null
  readonly purchaseOrderId: string | null
  readonly eventSource: string | null
  readonly eventId: string | null
}

interface CommandRow {
  readonly id: string
  readonly sequence: bigint
  readonly seller_id: string
  readonly purchase_order_id: string | null
  readonly kind: string
  readonly state: CommandState
  readonly event_source: string | null
  readonly event_id: string | null
  readonly payload: unknown
  readonly parts: unknown
  readonly reason: string | null
  readonly evidence: unknown
  readonly next_action_at: Date
  readonly created_at: Date
  readonly updated_at: Date
  readonly settled_at: Date | null
}

type OfCommand<Row> = Row & { readonly command_id: string }

const columns = `c.id, c.sequence, c.seller_id, c.purchase_order_id, c.kind, c.state, c.event_source, c.event_id, c.payload, c.parts, c.reason,
  c.evidence, c.next_action_at, c.created_at, c.updated_at, c.settled_at`

const grouped = <Row, Item>(rows: readonly OfCommand<Row>[], itemOf: (row: OfCommand<Row>) => Item): Map<string, Item[]> => {
  const groups = new Map<string, Item[]>()
  for (const row of rows) {
    const group = groups.get(row.command_id)
    if (group === undefined) groups.set(row.command_id, [itemOf(row)])
    else group.push(itemOf(row))
  }
  return groups
}

const readLines = async (sql: SqlRunner, ids: readonly string[]) =>
  grouped(
    await sql.query<OfCommand<{ line_number: string; quantity: number }>>(
      `SELECT command_id, line_number, quantity FROM tallyman.command_lines WHERE command_id = ANY($1::text[])
       ORDER BY command_id, length(line_number), line_number`,
      ids,
    ),
    (row) => ({ lineNumber: row.line_number, quantity: row.quantity }),
  )

interface AttemptRow {
  readonly attempt: number
  readonly correlation_id: string
  readonly request: unknown
  readonly baseline: unknown
  readonly started_at: Date
  readonly finished_at: Date | null
  readonly outcome: string | null
  readonly http_status: number | null
  readonly failure: unknown
  readonly read_backs: unknown
}

const readAttempts = async (sql: SqlRunner, ids: readonly string[]) =>
  grouped(
    await sql.query<OfCommand<AttemptRow>>(
      `SELECT command_id, attempt, correlation_id, request, baseline, started_at, finished_at, outcome, http_status, failure, read_backs
       FROM tallyman.command_attempts WHERE command_id = ANY($1::text[]) ORDER BY command_id, attempt`,
      ids,
    ),
    (row): CommandAttempt => ({
      attempt: row.attempt,
      correlationId: row.correlation_id,
      request: row.request,
      baseline: row.baseline,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      outcome: row.outcome,
      httpStatus: row.http_status,
      failure: row.failure,
      readBacks: row.read_backs,
    }),
  )

const readDecisions = async (sql: SqlRunner, ids: readonly string[]) =>
  grouped(
    await sql.query<OfCommand<Omit<CommandDecision, 'decidedAt'> & { readonly decided_at: Date }>>(
      `SELECT command_id, decision, actor, reason, evidence, decided_at
       FROM tallyman.command_decisions WHERE command_id = ANY($1::text[]) ORDER BY command_id, id`,
      ids,
    ),
    (row): CommandDecision => ({
      decision: row.decision,
      actor: row.actor,
      reason: row.reason,
      evidence: row.evidence,
      decidedAt: row.decided_at,
    }),
  )

const withDetails = async (sql: SqlRunner, rows: readonly CommandRow[]): Promise<CommandDetail[]> => {
  const ids = rows.map((row) => row.id)
  if (ids.length === 0) return []
  const [lines, attempts, decisions] = await Promise.all([readLines(sql, ids), readAttempts(sql, ids), readDecisions(sql, ids)])
  return rows.map((row) => ({
    id: row.id,
    sequence: row.sequence,
    sellerId: row.seller_id,
    purchaseOrderId: row.purchase_order_id,
    kind: row.kind,
    state: row.state,
    event: row.event_source === null || row.event_id === null ? null : { source: row.event_source, id: row.event_id },
    payload: row.payload,
    lines: lines.get(row.id) ?? [],
    parts: decidedUnits(row.kind, row.parts),
    reason: row.reason,
    evidence: row.evidence,
    correlationIds: (attempts.get(row.id) ?? []).map((attempt) => attempt.correlationId),
    attempts: attempts.get(row.id) ?? [],
    decisions: decisions.get(row.id) ?? [],
    nextActionAt: row.next_action_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    settledAt: row.settled_at,
  }))
}

/** Commands, newest first, before this sequence number. */
export const listCommands = async (
  sql: SqlRunner,
  filter: CommandFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<CommandDetail, bigint>> => {
  const parameters: unknown[] = []
  const bind = (value: unknown): string => `$${parameters.push(value)}`
  const conditions = ['true']
  if (filter.state !== null) conditions.push(`c.state = ${bind(filter.state)}`)
  if (filter.sellerId !== null) conditions.push(`c.seller_id = ${bind(filter.sellerId)}`)
  if (filter.purchaseOrderId !== null) conditions.push(`c.purchase_order_id = ${bind(filter.purchaseOrderId)}`)
  if (filter.eventSource !== null) conditions.push(`c.event_source = ${bind(filter.eventSource)}`)
  if (filter.eventId !== null) conditions.push(`c.event_id = ${bind(filter.eventId)}`)
  if (before !== null) conditions.push(`c.sequence < ${bind(before)}::bigint`)
  const rows = await sql.query<CommandRow>(
    `SELECT ${columns} FROM tallyman.commands c WHERE ${conditions.join(' AND ')} ORDER BY c.sequence DESC LIMIT ${bind(limit + 1)}::int`,
    ...parameters,
  )
  const { items, next } = pageOf(rows, limit, (row) => row.sequence)
  return { items: await withDetails(sql, items), next }
}

/** Every command of one order, in the order in which they run. */
export const commandsOfOrder = async (
  sql: SqlRunner,
  sellerId: string,
  purchaseOrderId: string,
): Promise<readonly CommandDetail[]> =>
  withDetails(
    sql,
    await sql.query<CommandRow>(
      `SELECT ${columns} FROM tallyman.commands c WHERE c.seller_id = $1 AND c.purchase_order_id = $2 ORDER BY c.sequence`,
      sellerId,
      purchaseOrderId,
    ),
  )

/** Every command of one event, in the order in which they run. */
export const commandsOfEvent = async (sql: SqlRunner, source: string, id: string): Promise<readonly CommandDetail[]> =>
  withDetails(
    sql,
    await sql.query<CommandRow>(
      `SELECT ${columns} FROM tallyman.commands c WHERE c.event_source = $1 AND c.event_id = $2 ORDER BY c.sequence`,
      source,
      id,
    ),
  )

/** Whether a command to acknowledge this order is under way or done. Reads without a lock: take that of the order first. */
export const isAcknowledging = async (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<boolean> => {
  const found = await sql.query(
    `SELECT 1 AS found FROM tallyman.commands
     WHERE seller_id = $1 AND purchase_order_id = $2 AND kind = 'acknowledge' AND state <> 'rejected' LIMIT 1`,
    sellerId,
    purchaseOrderId,
  )
  return found.length > 0
}

/** One command, or null. */
export const readCommandDetail = async (sql: SqlRunner, commandId: string): Promise<CommandDetail | null> => {
  const rows = await sql.query<CommandRow>(`SELECT ${columns} FROM tallyman.commands c WHERE c.id = $1`, commandId)
  return (await withDetails(sql, rows))[0] ?? null
}
