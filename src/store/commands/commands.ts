import { type CommandContent, type CommandState, type StoredContent, settledStates } from '../../domain/commands/command.ts'
import type { DecidedParts } from '../../domain/commands/decision.ts'
import type { Confirmed } from '../../domain/commands/proof.ts'
import { batchQuery } from '../commit/query-batching.ts'
import type { SqlRunner } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { prepared } from '../db/prepared-statements.ts'
import { sellerIsServed } from '../sellers/sellers.ts'
import { listConfirmed, parseParts, readContent } from './command-content.ts'

/** Maximum number of commands of one seller and kind that are enqueued, or wait for the rate limit, at once. */
const maxOfAKind = 200

/** A command as stored, without its attempts. */
export interface StoredCommand {
  readonly id: string
  readonly sellerId: string
  /** What it changes, within its seller. Commands of one subject run one at a time. */
  readonly subject: string
  /** Null: it concerns the seller's shipping settings. */
  readonly purchaseOrderId: string | null
  readonly state: CommandState
  /** What is to be done, without the parts that a person has decided. */
  readonly content: CommandContent
  /** Why the stored command cannot be executed, so that a person must decide; null: it can. */
  readonly fault: string | null
  /** Decisions of a person by line; null: none. */
  readonly parts: DecidedParts | null
  /** The parts that were applied according to a person. */
  readonly applied: readonly Confirmed[]
  readonly attempts: number
  /** The number of decisions of persons. */
  readonly decisions: number
  readonly eventSource: string | null
  readonly eventId: string | null
  /** Earliest time of the next step, by the database's clock. */
  readonly nextActionAt: Date
  /** Until when a process may be sending it. */
  readonly leasedUntil: Date | null
  /** When its steps began to fail, and the number of failed tries in a row; null and 0: its last step succeeded. */
  readonly troubledSince: Date | null
  readonly troubledLooks: number
  readonly createdAt: Date
  /** An earlier unsettled command of the same subject, which must be settled first; null: none. */
  readonly before: string | null
  /** Whether its seller is neither stopped nor paused. */
  readonly isSellerActive: boolean
  /** Whether its seller is not in shadow mode. */
  readonly isSellerLive: boolean
  /** The database's clock when the row was read. */
  readonly databaseNow: Date
}

interface CommandRow {
  id: string
  subject: string
  next_action_at: Date
  created_at: Date
  before: string | null
  seller_at_work: boolean
  seller_live: boolean
  database_now: Date
  seller_id: string
  purchase_order_id: string | null
  kind: string
  state: CommandState
  payload: unknown
  parts: unknown
  attempts: number
  decisions: number
  event_source: string | null
  event_id: string | null
  leased_until: Date | null
  troubled_since: Date | null
  troubled_looks: number
}

/** SQL: the number of persons' decisions on the command `c`. */
export const decisionCount = '(SELECT count(*) FROM tallyman.command_decisions d WHERE d.command_id = c.id)::int'

const settledList = `(${settledStates.map((state) => `'${state}'`).join(', ')})`

/** SQL: nothing more is done for the command in the row. */
export const isSettledCommand = (row: string): string => `${row}.state IN ${settledList}`
/** SQL: as `NOT` {@link isSettledCommand}, in a form that implies the condition of the index of open commands. */
export const isOpenCommand = (row: string): string => `${row}.state NOT IN ${settledList}`

/** SQL: the seller of the command `c` is not in shadow mode, or is not recorded yet. */
export const sellerIsLive = `COALESCE((SELECT s.mode = 'live' FROM tallyman.sellers s WHERE s.seller_id = c.seller_id), true)`

/** SQL: the seller of the command `c` is neither paused nor stopped, or is not recorded yet. */
export const sellerIsActive = `COALESCE((SELECT s.state = 'active' FROM tallyman.sellers s WHERE s.seller_id = c.seller_id), true)`

const commandColumns = `c.id, c.subject, c.next_action_at, c.created_at, ${dueNow} AS database_now,
  (SELECT e.id FROM tallyman.commands e WHERE e.seller_id = c.seller_id AND e.subject = c.subject AND e.sequence < c.sequence
    AND ${isOpenCommand('e')} ORDER BY e.sequence LIMIT 1) AS before,
  ${sellerIsActive} AS seller_at_work, ${sellerIsLive} AS seller_live, c.seller_id, c.purchase_order_id, c.kind, c.state, c.payload, c.parts, c.attempts, ${decisionCount} AS decisions,
  c.event_source, c.event_id, c.leased_until, c.troubled_since, c.troubled_looks`

const fromRow = (row: CommandRow, { content, fault }: StoredContent): StoredCommand => ({
  id: row.id,
  sellerId: row.seller_id,
  subject: row.subject,
  purchaseOrderId: row.purchase_order_id,
  state: row.state,
  content,
  fault,
  parts: parseParts(row.parts),
  applied: listConfirmed(row.kind, parseParts(row.parts)),
  attempts: row.attempts,
  decisions: row.decisions,
  eventSource: row.event_source,
  eventId: row.event_id,
  nextActionAt: row.next_action_at,
  leasedUntil: row.leased_until,
  troubledSince: row.troubled_since,
  troubledLooks: row.troubled_looks,
  createdAt: row.created_at,
  before: row.before,
  isSellerActive: row.seller_at_work,
  isSellerLive: row.seller_live,
  databaseNow: row.database_now,
})

const selectCommands = prepared(`SELECT ${commandColumns} FROM tallyman.commands c WHERE c.id = ANY($1::text[])`)

const readRow = batchQuery(async (sql: SqlRunner, ids: readonly string[]) => {
  const rows = await sql.query<CommandRow>(selectCommands, [...new Set(ids)])
  const found = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => found.get(id) ?? null)
})

/** The command; null: there is none. It is read without a lock: check it again under the lock before acting on it. */
export const readCommand = async (sql: SqlRunner, commandId: string): Promise<StoredCommand | null> => {
  const row = await readRow(sql, commandId)
  return row === null ? null : fromRow(row, await readContent(sql, row))
}

const selectHeads = prepared(
  `SELECT k.place::int AS place, (SELECT c.id FROM tallyman.commands c WHERE c.seller_id = k.seller_id AND c.subject = k.subject
     AND ${isOpenCommand('c')} ORDER BY c.sequence LIMIT 1) AS id
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, subject, place) ORDER BY k.place`,
)

const readHead = batchQuery(
  async (sql: SqlRunner, subjects: readonly { readonly sellerId: string; readonly subject: string }[]) => {
    const rows = await sql.query<{ place: number; id: string | null }>(
      selectHeads,
      subjects.map(({ sellerId }) => sellerId),
      subjects.map(({ subject }) => subject),
    )
    return rows.map(({ id }) => id)
  },
)

/** The id of the first unsettled command of a subject; null: none. */
export const findHeadCommand = (sql: SqlRunner, sellerId: string, subject: string): Promise<string | null> =>
  readHead(sql, { sellerId, subject })

// Not as NOT EXISTS: Postgres would read the subjects of all commands, although only the first few are needed.
/** SQL: the command `c` is the first unsettled one of its subject. */
export const isFirstOfSubject = `(SELECT e.id FROM tallyman.commands e WHERE e.seller_id = c.seller_id
  AND e.subject = c.subject AND e.sequence < c.sequence AND ${isOpenCommand('e')} LIMIT 1) IS NULL`

/**
 * SQL: the command `c` counts in the share of its seller: it can run, or waits for the rate limit. A command whose steps fail counts only when it is
 * due, because many of them would keep the others from running.
 */
const hasPlace = `c.state IN ('pending', 'sending', 'verifying') AND (c.leased_until IS NULL OR c.leased_until <= now())
  AND (c.next_action_at <= ${dueNow} OR (c.state = 'pending' AND c.troubled_since IS NULL)) AND ${isFirstOfSubject}`

/**
 * Ids of commands to run now: due, the first of their subjects, without a lease, and of an active seller that is assigned to a process. Sellers take
 * turns, one command of each; within a seller and kind, the earliest deadline of the marketplace is first. Each seller and kind has an equal share of
 * `max`: at least one and at most {@link maxOfAKind} commands.
 */
export const findDueCommands = async (sql: SqlRunner, max: number): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `WITH RECURSIVE found AS (
       (SELECT c.seller_id, c.kind FROM tallyman.commands c WHERE c.state IN ('pending', 'sending', 'verifying')
        ORDER BY c.seller_id, c.kind LIMIT 1)
       UNION ALL
       SELECT n.seller_id, n.kind FROM found f CROSS JOIN LATERAL (
         SELECT c.seller_id, c.kind FROM tallyman.commands c
         WHERE c.state IN ('pending', 'sending', 'verifying') AND (c.seller_id, c.kind) > (f.seller_id, f.kind)
         ORDER BY c.seller_id, c.kind LIMIT 1) n
     ), kinds AS (
       SELECT f.seller_id, f.kind FROM found f JOIN tallyman.sellers s ON s.seller_id = f.seller_id AND s.state = 'active' AND ${sellerIsServed('s')}
     ), placed AS (
       SELECT k.seller_id, p.* FROM kinds k CROSS JOIN LATERAL (
         SELECT w.*, row_number() OVER (ORDER BY w.act_by, w.sequence) AS place FROM (
           SELECT c.id, c.act_by, c.sequence, c.next_action_at FROM tallyman.commands c
           WHERE c.seller_id = k.seller_id AND c.kind = k.kind AND ${hasPlace}
           ORDER BY c.act_by, c.sequence LIMIT (SELECT least($2::int, greatest(1, $1::int / count(*))) FROM kinds)
         ) w
       ) p
     )
     SELECT p.id FROM placed p WHERE p.next_action_at <= ${dueNow}
     ORDER BY row_number() OVER (PARTITION BY p.seller_id ORDER BY p.place, p.act_by, p.sequence), p.act_by, p.sequence`,
    max,
    maxOfAKind,
  )
  return rows.map((row) => row.id)
}

const selectWithinShare = prepared(
  `SELECT w.id FROM (
     SELECT DISTINCT c.seller_id, c.kind FROM tallyman.commands c WHERE c.id = ANY ($1::text[])
   ) k CROSS JOIN LATERAL (
     SELECT c.id FROM tallyman.commands c WHERE c.seller_id = k.seller_id AND c.kind = k.kind AND ${hasPlace}
     ORDER BY c.act_by, c.sequence LIMIT $2::int
   ) w WHERE w.id = ANY ($1::text[])`,
)

/** Those of the commands that may be enqueued now: they are within the share of their seller and kind. */
export const filterWithinShare = async (sql: SqlRunner, commandIds: readonly string[]): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(selectWithinShare, commandIds, maxOfAKind)
  return rows.map((row) => row.id)
}

/** Commands that have been due for at least `minMs`, the longest first: only the first of each subject, and only of active sellers. */
export const findOverdueCommands = async (
  sql: SqlRunner,
  minMs: number,
  limit: number,
): Promise<readonly { readonly id: string; readonly overdueMs: number }[]> => {
  const rows = await sql.query<{ id: string; overdue_ms: number }>(
    `SELECT c.id, (extract(epoch FROM now() - GREATEST(c.next_action_at, c.leased_until)) * 1000)::float8 AS overdue_ms
     FROM tallyman.commands c LEFT JOIN tallyman.sellers s ON s.seller_id = c.seller_id
     WHERE c.state IN ('pending', 'sending', 'verifying') AND COALESCE(s.state, 'active') = 'active'
       AND c.next_action_at <= now() - $1::float8 * interval '1 millisecond'
       AND (c.leased_until IS NULL OR c.leased_until <= now() - $1::float8 * interval '1 millisecond')
       AND ${isFirstOfSubject}
     ORDER BY c.next_action_at LIMIT $2`,
    minMs,
    limit,
  )
  return rows.map((row) => ({ id: row.id, overdueMs: row.overdue_ms }))
}
