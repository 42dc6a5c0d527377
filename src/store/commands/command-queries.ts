import { type CommandState, commandStates } from '../../domain/commands/command.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner } from '../db/database.ts'
import { parseEnumColumn } from '../db/enum-column.ts'
import { buildPage, type ListPage, type Period } from '../db/page.ts'
import { prepared } from '../db/prepared-statements.ts'
import type { Prisma } from '../generated/client.ts'
import { allSellers, type OrderKey, selectOrdersBySearch } from '../orders/order-queries.ts'
import { type SellerFilter, toSellerIds } from '../sellers/seller-filter.ts'
import { type DecidedUnits, parseDecidedUnits } from './command-content.ts'

/** An attempt to send a command, for operators. */
export interface CommandAttempt {
  readonly attempt: number
  /** The correlation id of the request, for support of the marketplace. */
  readonly correlationId: string
  readonly request: unknown
  /** The state of the subject before the request: the order's units, or the shipping settings. */
  readonly baseline: unknown
  readonly startedAt: Date
  readonly finishedAt: Date | null
  readonly outcome: string | null
  readonly httpStatus: number | null
  readonly failure: unknown
  readonly readBacks: unknown
}

/** A person's decision on a command. */
export interface CommandDecision {
  readonly decision: string
  readonly actor: string
  readonly reason: string
  /** The evidence at the time of the decision. */
  readonly evidence: unknown
  readonly decidedAt: Date
}

/** A command with its attempts and decisions. */
export interface CommandDetail {
  readonly id: string
  readonly sequence: bigint
  readonly sellerId: string
  /** Null: it concerns the seller's shipping settings. */
  readonly purchaseOrderId: string | null
  readonly kind: string
  readonly state: CommandState
  readonly event: { readonly source: string; readonly id: string } | null
  readonly payload: unknown
  /** Its units by line. */
  readonly lines: readonly { readonly lineNumber: string; readonly quantity: number }[]
  /** Decisions of a person by line; null: none. */
  readonly parts: DecidedUnits | null
  readonly reason: string | null
  readonly evidence: unknown
  /** Correlation ids of its requests, oldest first. */
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
  /** A prefix of an id, a SKU or a tracking number of their order, case-insensitive. */
  readonly q: string | null
  readonly state: CommandState | null
  readonly sellerId: SellerFilter
  readonly purchaseOrderId: string | null
  readonly eventSource: string | null
  readonly eventId: string | null
  readonly kind: string | null
  /** The command has units of a line with this SKU; commands on whole orders have no units. */
  readonly sku: string | null
  /** A parcel of the shipment has it, or a correction replaces it or gives it. */
  readonly trackingNumber: string | null
  readonly created: Period
  /** When it was confirmed or rejected. */
  readonly settled: Period
}

// Related rows are read by one statement for each table, for any number of commands.
const details = {
  lines: { select: { lineNumber: true, quantity: true } },
  attemptRows: { orderBy: { attempt: 'asc' } },
  decisions: { orderBy: { id: 'asc' } },
} satisfies Prisma.CommandInclude

type CommandRow = Prisma.CommandGetPayload<{ include: typeof details }>

/** Line numbers are texts; this sorts 2 before 10. */
const byLineNumber = (one: { readonly lineNumber: string }, other: { readonly lineNumber: string }): number =>
  one.lineNumber.length - other.lineNumber.length || (one.lineNumber < other.lineNumber ? -1 : 1)

const parseAttempt = (row: CommandRow['attemptRows'][number]): CommandAttempt => ({
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

const parseDecision = ({ decision, actor, reason, evidence, decidedAt }: CommandRow['decisions'][number]): CommandDecision => ({
  decision,
  actor,
  reason,
  evidence,
  decidedAt,
})

const buildDetail = (row: CommandRow): CommandDetail => ({
  id: row.id,
  sequence: row.sequence,
  sellerId: row.sellerId,
  purchaseOrderId: row.purchaseOrderId,
  kind: row.kind,
  state: parseEnumColumn(commandStates, row.state),
  event: row.eventSource === null || row.eventId === null ? null : { source: row.eventSource, id: row.eventId },
  payload: row.payload,
  lines: [...row.lines].sort(byLineNumber),
  parts: parseDecidedUnits(row.kind, row.parts),
  reason: row.reason,
  evidence: row.evidence,
  correlationIds: row.attemptRows.map((attempt) => attempt.correlationId),
  attempts: row.attemptRows.map(parseAttempt),
  decisions: row.decisions.map(parseDecision),
  nextActionAt: row.nextActionAt,
  createdAt: row.createdAt,
  updatedAt: row.updatedAt,
  settledAt: row.settledAt,
})

// SQL finds the page, because lines are joined to those of the order and parcels are in JSON; a typed query then reads its commands.
const readSequences = async (
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
  const sellers = toSellerIds(filter.sellerId)
  if (sellers !== null) conditions.push(`c.seller_id = ANY (${bind(sellers, 'text[]')})`)
  if (filter.q !== null)
    conditions.push(
      `c.sequence = ANY (ARRAY(SELECT s.sequence FROM (${selectOrdersBySearch(
        sellers === null ? allSellers : `SELECT unnest(${bind(sellers, 'text[]')}) AS seller_id`,
        bind(filter.q, 'text'),
      )}) k JOIN tallyman.commands s ON s.seller_id = k.seller_id AND s.purchase_order_id = k.purchase_order_id))`,
    )
  if (filter.trackingNumber !== null)
    // An array subquery runs first, by its index: Postgres assumes that a tracking number is frequent, and would scan all commands backwards.
    conditions.push(`c.sequence = ANY (ARRAY(SELECT s.sequence FROM tallyman.commands s WHERE s.kind = 'ship'
      AND jsonb_path_query_array(s.payload, '$.parcels[*].trackingNumber') @> to_jsonb(${bind(filter.trackingNumber, 'text')})
      UNION ALL SELECT s.sequence FROM tallyman.commands s WHERE s.kind = 'correct-shipment'
      AND jsonb_path_query_array(s.payload, '$.**.trackingNumber') @> to_jsonb(${bind(filter.trackingNumber, 'text')})))`)
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
  const sequences = await readSequences(sql, filter, before, limit + 1)
  const rows = await sql.prisma.command.findMany({
    where: { sequence: { in: [...sequences] } },
    orderBy: { sequence: 'desc' },
    include: details,
  })
  return buildPage(rows.map(buildDetail), limit, (command) => command.sequence)
}

const listBySequence = async ({ prisma }: SqlRunner, where: Prisma.CommandWhereInput): Promise<readonly CommandDetail[]> =>
  (await prisma.command.findMany({ where, orderBy: { sequence: 'asc' }, include: details })).map(buildDetail)

/** All commands of an order, in the sequence in which they run. */
export const listOrderCommands = (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<readonly CommandDetail[]> =>
  listBySequence(sql, { sellerId, purchaseOrderId })

/** All commands of an event, in the sequence in which they run. */
export const listEventCommands = (sql: SqlRunner, source: string, id: string): Promise<readonly CommandDetail[]> =>
  listBySequence(sql, { eventSource: source, eventId: id })

const acknowledging = prepared(
  `SELECT k.place::int AS place FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, purchase_order_id, place)
   CROSS JOIN LATERAL (SELECT FROM tallyman.commands c WHERE c.seller_id = k.seller_id AND c.purchase_order_id = k.purchase_order_id
     AND c.kind = 'acknowledge' AND c.state NOT IN ('rejected', 'withdrawn') LIMIT 1) c`,
)

const areAcknowledging = batchQuery(async (sql: SqlRunner, keys: readonly OrderKey[]) => {
  const rows = await sql.query<{ place: number }>(
    acknowledging,
    keys.map(({ sellerId }) => sellerId),
    keys.map(({ purchaseOrderId }) => purchaseOrderId),
  )
  const found = new Set(rows.map(({ place }) => place))
  return keys.map((_, index) => found.has(index + 1))
})

/** Whether there is a command to acknowledge this order that is neither rejected nor withdrawn. It acquires no lock; lock the order first. */
export const isAcknowledging = (sql: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<boolean> =>
  areAcknowledging(sql, { sellerId, purchaseOrderId })

/** One command; null: there is none. */
export const readCommandDetail = async ({ prisma }: SqlRunner, commandId: string): Promise<CommandDetail | null> => {
  const row = await prisma.command.findUnique({ where: { id: commandId }, include: details })
  return row === null ? null : buildDetail(row)
}
