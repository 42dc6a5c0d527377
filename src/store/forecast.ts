import { type CommandKind, type CommandState, commandKinds, commandStates } from '../domain/command.ts'
import type { WaitingOrder } from '../domain/forecast.ts'
import type { SqlRunner } from './database.ts'
import { type DeadlineRules, hasDeadlines, isLineToAcknowledge, rulesJson, rulesRows } from './deadlines.ts'
import { oneOf } from './one-of.ts'
import { type StoredWindow, type SyncKey, type SyncWindow, windowOf } from './sync-states.ts'

const openStates = ['pending', 'sending', 'verifying']

/** A command that the daemon still works on. */
export interface OpenCommand {
  readonly id: string
  readonly sequence: number
  readonly sellerId: string
  readonly purchaseOrderId: string | null
  readonly subject: string
  readonly kind: CommandKind
  readonly state: CommandState
  readonly attempts: number
  readonly actBy: Date | null
  readonly nextActionAt: Date
  readonly createdAt: Date
  readonly lines: readonly string[]
  /** A held command of the same subject comes before it: it waits until a person has decided that one. */
  readonly isBehindHeld: boolean
}

/** Open commands of sellers: those that the marketplace wants earliest, `most` at most, in the order in which they came; and how many there are. */
export const readOpenCommands = async (
  { prisma }: SqlRunner,
  sellerIds: readonly string[],
  most: number,
): Promise<{ readonly commands: readonly OpenCommand[]; readonly count: number }> => {
  const where = { sellerId: { in: [...sellerIds] }, state: { in: openStates } }
  const rows = await prisma.command.findMany({
    where,
    orderBy: [{ actBy: { sort: 'asc', nulls: 'last' } }, { sequence: 'asc' }],
    take: most,
    select: {
      ...{ id: true, sequence: true, sellerId: true, purchaseOrderId: true, subject: true, kind: true, state: true },
      ...{ attempts: true, actBy: true, nextActionAt: true, createdAt: true },
      lines: { select: { lineNumber: true }, orderBy: { lineNumber: 'asc' } },
    },
  })
  const count = rows.length < most ? rows.length : await prisma.command.count({ where })
  const held = await prisma.command.groupBy({
    by: ['sellerId', 'subject'],
    where: { sellerId: { in: [...sellerIds] }, state: 'held' },
    _min: { sequence: true },
  })
  const firstHeld = new Map(held.map((row) => [JSON.stringify([row.sellerId, row.subject]), row._min.sequence]))
  const isBehindHeld = ({ sellerId, subject, sequence }: (typeof rows)[number]): boolean => {
    const first = firstHeld.get(JSON.stringify([sellerId, subject])) ?? null
    return first !== null && first < sequence
  }
  const commands = rows
    .map((row) => ({
      ...row,
      isBehindHeld: isBehindHeld(row),
      sequence: Number(row.sequence),
      kind: oneOf(commandKinds, row.kind),
      state: oneOf(commandStates, row.state),
      lines: row.lines.map(({ lineNumber }) => lineNumber),
    }))
    .sort((a, b) => a.sequence - b.sequence)
  return { commands, count }
}

/** A backfill with something left to read. */
export interface OpenBackfill extends SyncKey {
  readonly windows: readonly SyncWindow[]
  readonly windowsDone: number
  readonly seen: number
  readonly windowSeen: number
  readonly windowTotal: number | null
}

/** Backfills of sellers that are not at their end. */
export const readOpenBackfills = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<readonly OpenBackfill[]> => {
  const rows = await sql.query<Omit<OpenBackfill, 'windows'> & { windows: readonly StoredWindow[] }>(
    `SELECT seller_id AS "sellerId", resource, stream, pending AS windows, coalesce((totals ->> 'windowsDone')::int, 0) AS "windowsDone",
       coalesce((totals ->> 'seen')::int, 0) AS seen, coalesce((totals ->> 'windowSeen')::int, 0) AS "windowSeen",
       (totals ->> 'windowTotal')::int AS "windowTotal"
     FROM tallyman.sync_states
     WHERE seller_id = ANY ($1::text[]) AND stream LIKE 'backfill:%' AND pending <> '[]'
     ORDER BY seller_id, resource, stream`,
    sellerIds,
  )
  return rows.map((row) => ({ ...row, windows: row.windows.map(windowOf) }))
}

/** Pages of a run of each stream, on average of the runs that ended within a day. */
export const readPagesPerRun = (
  sql: SqlRunner,
  sellerIds: readonly string[],
): Promise<readonly (SyncKey & { readonly pages: number })[]> =>
  sql.query<SyncKey & { pages: number }>(
    `SELECT seller_id AS "sellerId", resource, stream, (sum(pages)::float8 / sum(runs)) AS pages
     FROM tallyman.sync_runs WHERE seller_id = ANY ($1::text[]) AND finished_at > now() - interval '1 day'
     GROUP BY seller_id, resource, stream`,
    sellerIds,
  )

/**
 * Open orders whose deadline comes within so many hours of the marketplace's time, and of which no command is open that would meet it, nor held: the
 * earliest first, `most` at most; and how many there are. An order that is to be acknowledged and shipped is named for each.
 */
export const readOrdersWithoutCommand = async (
  sql: SqlRunner,
  sellers: readonly DeadlineRules[],
  hours: number,
  most: number,
): Promise<{ readonly orders: readonly WaitingOrder[]; readonly count: number }> => {
  const rows = await sql.query<WaitingOrder & { count: number }>(
    `WITH s AS (SELECT *, now + make_interval(hours => $2::int) AS until FROM (${rulesRows('$1')}) r), wanted AS (
       SELECT o.seller_id, o.purchase_order_id, 'ship' AS wants, o.estimated_ship_date AS by, ARRAY['ship', 'cancel'] AS kinds
       FROM s JOIN warehouse.orders o ON o.seller_id = s.seller_id AND ${hasDeadlines('s.marketplace')} AND o.estimated_ship_date < s.until
       UNION ALL
       SELECT o.seller_id, o.purchase_order_id, 'acknowledge', o.order_date + s.hours, ARRAY['acknowledge', 'cancel']
       FROM s JOIN LATERAL (SELECT DISTINCT l.purchase_order_id FROM warehouse.order_lines l
           WHERE l.seller_id = s.seller_id AND ${isLineToAcknowledge}) u ON true
         JOIN warehouse.orders o ON o.seller_id = s.seller_id AND o.purchase_order_id = u.purchase_order_id
       WHERE ${hasDeadlines('s.marketplace')} AND o.order_date + s.hours < s.until
     )
     SELECT w.seller_id AS "sellerId", w.purchase_order_id AS "purchaseOrderId", w.wants, w.by, count(*) OVER ()::int AS count
     FROM wanted w WHERE NOT EXISTS (SELECT FROM tallyman.commands c WHERE c.seller_id = w.seller_id AND c.purchase_order_id = w.purchase_order_id
       AND c.state NOT IN ('confirmed', 'rejected') AND c.kind = ANY (w.kinds))
     ORDER BY w.by, w.seller_id, w.purchase_order_id, w.wants LIMIT $3::int`,
    rulesJson(sellers),
    hours,
    most,
  )
  return { orders: rows.map(({ count: _, ...order }) => order), count: rows[0]?.count ?? 0 }
}
