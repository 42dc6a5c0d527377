import { type CommandState, commandStates } from '../domain/command.ts'
import { type DecidedUnits, decidedUnits } from './command-content.ts'
import type { SqlRunner } from './database.ts'
import type { Prisma } from './generated/client.ts'
import { oneOf } from './one-of.ts'
import { allSellers, type OrderKey } from './order-queries.ts'
import { type ListPage, type Period, pageOf } from './page.ts'
import { prepared } from './prepared.ts'
import { type SellerFilter, sellersIn } from './seller-filter.ts'
import { together } from './together.ts'

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
  readonly sellerId: SellerFilter
  readonly purchaseOrderId: string | null
  readonly eventSource: string | null
  readonly eventId: string | null
  readonly kind: string | null
  /** Units of a line with it are taken; what concerns the whole order takes none. */
  readonly sku: string | null
  /** Some parcel of the shipment has it. */
  readonly trackingNumber: string | null
  readonly created: Period
  /** When it was confirmed or rejected. */
  readonly settled: Period
}

// What hangs on commands is read by one statement for each table, whatever their number.
const details = {
  lines: { select: { lineNumber: true, quantity: true } },
  attemptRows: { orderBy: { attempt: 'asc' } },
  decisions: { orderBy: { id: 'asc' } },
} satisfies Prisma.CommandInclude

type CommandRow = Prisma.CommandGetPayload<{ include: typeof details }>

/** Numbers of lines are texts: 2 comes before 10, and what is no number after it. */
const byLineNumber = (one: { readonly lineNumber: string }, other: { readonly lineNumber: string }): number =>
  one.lineNumber.length - other.lineNumber.length || (one.lineNumber < other.lineNumber ? -1 : 1)

const attemptOf = (row: CommandRow['attemptRows'][number]): CommandAttempt => ({
  attempt: row.attempt,
  correlationId: row.correlationId,
  request: row.request,
  baseline: row.baseline,
  startedAt: row.startedAt,
  finishedAt: row.finishedAt,
  outcome: row.outcome,
  httpStatus: row.httpStatus,
  failure: row.failure,
  readBacks: row.readBacks,
})

const decisionOf = ({ decision, actor, reason, evidence, decidedAt }: CommandRow['decisions'][number]): CommandDecision => ({
  decision,
  actor,
  reason,
  evidence,
  decidedAt,
})

const detailOf = (row: CommandRow): CommandDetail => ({
  id: row.id,
  sequence: row.sequence,
  sellerId: row.sellerId,
  purchaseOrderId: row.purchaseOrderId,
  kind: row.kind,
  state: oneOf(commandStates, row.state),
  event: row.eventSource === null || row.eventId === null ? null : { source: row.eventSource, id: row.eventId },
  payload: row.payload,
  lines: [...row.lines].sort(byLineNumber),
  parts: decidedUnits(row.kind, row.parts),
  reason: row.reason,
  evidence: row.evidence,
  correlationIds: row.attemptRows.map((attempt) => attempt.correlationId),
  attempts: row.attemptRows.map(attemptOf),
  decisions: row.decisions.map(decisionOf),
  nextActionAt: row.nextActionAt,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  settledAt: row.settledAt,
})

// Lines are joined to those of the order, and a parcel is a part of JSON, so the page is found by SQL; the commands on it are then read as usual.
const sequencesOf = async (
  sql: SqlRunner,
  filter: CommandFilter,
  before: bigint | null,
  limit: number,
): Promise<readonly bigint[]> => {
  const parameters: unknown[] = []
  const bind = (value: unknown, type: string): string => `$${parameters.push(value)}::${type}`
  const conditions = ['true']
  const equals = (column: string, value: string | null): void => {
    if (value !== null) conditions.push(`${column} = ${bind(value, 'text')}`)
  }
  equals('c.state', filter.state)
  equals('c.purchase_order_id', filter.purchaseOrderId)
  equals('c.event_source', filter.eventSource)
  equals('c.event_id', filter.eventId)
  equals('c.kind', filter.kind)
  const sellers = sellersIn(filter.sellerId)
  if (sellers !== null) conditions.push(`c.seller_id = ANY (${bind(sellers, 'text[]')})`)
  if (filter.trackingNumber !== null)
    // As an array it is read first, by its index: Postgres takes a tracking number for frequent, and would walk back through all commands.
    conditions.push(`c.sequence = ANY (ARRAY(SELECT s.sequence FROM tallyman.commands s WHERE s.kind = 'ship'
      AND jsonb_path_query_array(s.payload, '$.parcels[*].trackingNumber') @> to_jsonb(${bind(filter.trackingNumber, 'text')})))`)
  if (filter.sku !== null)
    conditions.push(`c.id IN (
      SELECT f.command_id FROM (${sellers === null ? allSellers : `SELECT unnest(${bind(sellers, 'text[]')}) AS seller_id`}) s
      CROSS JOIN LATERAL (
        SELECT taken.command_id FROM warehouse.order_lines l JOIN tallyman.command_lines taken
          ON taken.seller_id = l.seller_id AND taken.purchase_order_id = l.purchase_order_id AND taken.line_number = l.line_number
        WHERE l.seller_id = s.seller_id AND l.sku = ${bind(filter.sku, 'text')} OFFSET 0) f)`)
  const { from, to } = filter.created
  if (from !== null) conditions.push(`c.created_at >= ${bind(from.toISOString(), 'timestamptz')}`)
  if (to !== null) conditions.push(`c.created_at < ${bind(to.toISOString(), 'timestamptz')}`)
  const { from: settledFrom, to: settledTo } = filter.settled
  if (settledFrom !== null) conditions.push(`c.settled_at >= ${bind(settledFrom.toISOString(), 'timestamptz')}`)
  if (settledTo !== null) conditions.push(`c.settled_at < ${bind(settledTo.toISOString(), 'timestamptz')}`)
  if (before !== null) conditions.push(`c.sequence < ${bind(before, 'bigint')}`)
  const rows = await sql.query<{ sequence: bigint }>(
    `SELECT c.sequence FROM tallyman.commands c WHERE ${conditions.join(' AND ')} ORDER BY c.sequence DESC LIMIT ${bind(limit, 'int')}`,
    ...parameters,
  )
  return rows.map(({ sequence }) => sequence)
}

/** Commands, newest first, before this sequence number. */
export const listCommands = async (
  sql: SqlRunner,
  filter: CommandFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<CommandDetail, bigint>> => {
  const sequences = await sequencesOf(sql, filter, before, limit + 1)
  const rows = await sql.prisma.command.findMany({
    where: { sequence: { in: [...sequences] } },
    orderBy: { sequence: 'desc' },
    include: details,
  })
  return pageOf(rows.map(detailOf), limit, (command) => command.sequence)
}

const inOrder = async ({ prisma }: SqlRunner, where: Prisma.CommandWhereInput): Promise<readonly CommandDetail[]> =>
  (await prisma.command.findMany({ where, orderBy: { sequence: 'asc' }, include: details })).map(detailOf)

/** Every command of one order, in the order in which they run. */
export const commandsOfOrder = (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<readonly CommandDetail[]> =>
  inOrder(sql, { sellerId, purchaseOrderId })

/** Every command of one event, in the order in which they run. */
export const commandsOfEvent = (sql: SqlRunner, source: string, id: string): Promise<readonly CommandDetail[]> =>
  inOrder(sql, { eventSource: source, eventId: id })

const acknowledging = prepared(
  `SELECT k.place::int AS place FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
   CROSS JOIN LATERAL (SELECT FROM tallyman.commands c WHERE c.seller_id = k.seller_id AND c.purchase_order_id = k.purchase_order_id
     AND c.kind = 'acknowledge' AND c.state <> 'rejected' LIMIT 1) c`,
)

const areAcknowledging = together(async (sql: SqlRunner, keys: readonly OrderKey[]) => {
  const rows = await sql.query<{ place: number }>(
    acknowledging,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const found = new Set(rows.map(({ place }) => place))
  return keys.map((_, index) => found.has(index + 1))
})

/** Whether a command to acknowledge this order is under way or done. Reads without a lock: take that of the order first. */
export const isAcknowledging = (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<boolean> =>
  areAcknowledging(sql, { sellerId, purchaseOrderId })

/** One command, or null. */
export const readCommandDetail = async ({ prisma }: SqlRunner, commandId: string): Promise<CommandDetail | null> => {
  const row = await prisma.command.findUnique({ where: { id: commandId }, include: details })
  return row === null ? null : detailOf(row)
}
