import { type CommandState, commandStates } from '../domain/command.ts'
import { type DecidedUnits, decidedUnits } from './command-content.ts'
import type { SqlRunner } from './database.ts'
import type { Prisma } from './generated/client.ts'
import { oneOf } from './one-of.ts'
import { isOrAny, type ListPage, pageOf } from './page.ts'

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

/** Commands, newest first, before this sequence number. */
export const listCommands = async (
  { prisma }: SqlRunner,
  filter: CommandFilter,
  before: bigint | null,
  limit: number,
): Promise<ListPage<CommandDetail, bigint>> => {
  const rows = await prisma.command.findMany({
    where: {
      state: isOrAny(filter.state),
      sellerId: isOrAny(filter.sellerId),
      purchaseOrderId: isOrAny(filter.purchaseOrderId),
      eventSource: isOrAny(filter.eventSource),
      eventId: isOrAny(filter.eventId),
      sequence: before === null ? {} : { lt: before },
    },
    orderBy: { sequence: 'desc' },
    take: limit + 1,
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

/** Whether a command to acknowledge this order is under way or done. Reads without a lock: take that of the order first. */
export const isAcknowledging = async ({ prisma }: SqlRunner, sellerId: string, purchaseOrderId: string): Promise<boolean> => {
  const found = await prisma.command.findFirst({
    where: { sellerId, purchaseOrderId, kind: 'acknowledge', state: { not: 'rejected' } },
    select: { id: true },
  })
  return found !== null
}

/** One command, or null. */
export const readCommandDetail = async ({ prisma }: SqlRunner, commandId: string): Promise<CommandDetail | null> => {
  const row = await prisma.command.findUnique({ where: { id: commandId }, include: details })
  return row === null ? null : detailOf(row)
}
