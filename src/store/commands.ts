import { type CommandContent, type CommandState, readStoredCommand, type StoredContent } from '../domain/command.ts'
import { mostOfAKind } from '../domain/command-shares.ts'
import type { DecidedParts } from '../domain/decision.ts'
import { jsonOf } from '../domain/json.ts'
import type { Confirmed } from '../domain/proof.ts'
import { appliedOf, partsOf, readContent } from './command-content.ts'
import type { SqlRunner } from './database.ts'
import { dueNow } from './due-now.ts'
import { prepared } from './prepared.ts'
import { sellerIsServed } from './sellers.ts'
import { together } from './together.ts'
import type { Later } from './transaction.ts'

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
  /** The unsettled command of the same subject that comes before this one, if any: commands of one subject run one at a time. */
  readonly before: string | null
  /** Whether its seller is neither stopped nor paused. */
  readonly sellerAtWork: boolean
  /** The database's clock when the row was read. */
  readonly databaseNow: Date
}

/** A command that is due now, as far as whoever begins it must know it. */
export interface DueCommand {
  readonly id: string
  readonly sellerId: string
  /** As it has just been stored, for whoever begins it at once; left out, or null: it must be read. */
  readonly asStored?: Later<StoredCommand | null>
}

/** What {@link newColumns} answer. */
export interface NewRow {
  id: string
  subject: string
  next_action_at: Date
  created_at: Date
  before: string | null
  seller_at_work: boolean
  database_now: Date
}

interface CommandRow extends NewRow {
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

/** SQL of how often a person has decided on the command `c`. */
export const decisionsOf = '(SELECT count(*) FROM tallyman.command_decisions d WHERE d.command_id = c.id)::int'

/** SQL of whether the seller of the command `c` is neither paused nor stopped; one that is not recorded yet is neither. */
export const sellerIsAtWork = `COALESCE((SELECT s.state = 'active' FROM tallyman.sellers s WHERE s.seller_id = c.seller_id), true)`

/** SQL of what can be told only by reading a command `c`, right after it was stored too. */
export const newColumns = `c.id, c.subject, c.next_action_at, c.created_at, ${dueNow} AS database_now,
  (SELECT e.id FROM tallyman.commands e WHERE e.seller_id = c.seller_id AND e.subject = c.subject AND e.sequence < c.sequence
    AND e.state NOT IN ('confirmed', 'rejected') ORDER BY e.sequence LIMIT 1) AS before,
  ${sellerIsAtWork} AS seller_at_work`

const commandColumns = `${newColumns}, c.seller_id, c.purchase_order_id, c.kind, c.state, c.payload, c.parts, c.attempts, ${decisionsOf} AS decisions,
  c.event_source, c.event_id, c.leased_until, c.troubled_since, c.troubled_looks`

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
  before: row.before,
  sellerAtWork: row.seller_at_work,
  databaseNow: row.database_now,
})

/** A command that has just been stored, as {@link readCommand} would answer it; null: others come before it, or a person must look at it. */
export const firstOfSubject = (
  {
    sellerId,
    purchaseOrderId,
    event,
  }: {
    readonly sellerId: string
    readonly purchaseOrderId: string | null
    readonly event: { readonly source: string; readonly id: string } | null
  },
  { kind, payload }: CommandContent,
  row: NewRow,
): StoredCommand | null => {
  if (row.before !== null) return null
  const asStored = jsonOf(payload)
  const read = readStoredCommand(kind, asStored, [])
  if (read.fault !== null) return null
  const nothingYet = {
    state: 'pending',
    attempts: 0,
    decisions: 0,
    parts: null,
    leased_until: null,
    troubled_since: null,
  } as const
  const about = { seller_id: sellerId, purchase_order_id: purchaseOrderId, kind, payload: asStored }
  const source = { event_source: event?.source ?? null, event_id: event?.id ?? null }
  return fromRow({ ...row, ...about, ...source, ...nothingYet, troubled_looks: 0 }, read)
}

const selectCommands = prepared(`SELECT ${commandColumns} FROM tallyman.commands c WHERE c.id = ANY($1::text[])`)

const readRow = together(async (sql: SqlRunner, ids: readonly string[]) => {
  const rows = await sql.query<CommandRow>(selectCommands, [...new Set(ids)])
  const found = new Map(rows.map((row) => [row.id, row]))
  return ids.map((id) => found.get(id) ?? null)
})

/** The command, or null. Reads without a lock: a hint of what to do next, never the ground for doing it. */
export const readCommand = async (sql: SqlRunner, commandId: string): Promise<StoredCommand | null> => {
  const row = await readRow(sql, commandId)
  return row === null ? null : fromRow(row, await readContent(sql, row))
}

const selectHeads = prepared(
  `SELECT k.place::int AS place, (SELECT c.id FROM tallyman.commands c WHERE c.seller_id = k.seller_id AND c.subject = k.subject
     AND c.state NOT IN ('confirmed', 'rejected') ORDER BY c.sequence LIMIT 1) AS id
   FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS k(seller_id, subject, place) ORDER BY k.place`,
)

const readHead = together(
  async (sql: SqlRunner, subjects: readonly { readonly sellerId: string; readonly subject: string }[]) => {
    const rows = await sql.query<{ place: number; id: string | null }>(
      selectHeads,
      subjects.map(({ sellerId }) => sellerId),
      subjects.map(({ subject }) => subject),
    )
    return rows.map(({ id }) => id)
  },
)

/** The first unsettled command of a subject, if any. */
export const headCommand = (sql: SqlRunner, sellerId: string, subject: string): Promise<string | null> =>
  readHead(sql, { sellerId, subject })

// Not as NOT EXISTS: Postgres would look up the subjects of all commands at once, where the first few are wanted.
/** SQL: the command `c` is the first of its subject that is not settled. */
export const isFirstOfSubject = `(SELECT e.id FROM tallyman.commands e WHERE e.seller_id = c.seller_id
  AND e.subject = c.subject AND e.sequence < c.sequence AND e.state NOT IN ('confirmed', 'rejected') LIMIT 1) IS NULL`

/**
 * The command `c` has a place in the share of its seller: it can be worked on, or waits for budget. One in trouble has none before it is due: many
 * of them would keep the others from being tried.
 */
const hasPlace = `c.state IN ('pending', 'sending', 'verifying') AND (c.leased_until IS NULL OR c.leased_until <= now())
  AND (c.next_action_at <= ${dueNow} OR (c.state = 'pending' AND c.troubled_since IS NULL)) AND ${isFirstOfSubject}`

/**
 * Ids of commands that a worker should look at now: the first of each subject, due, not being sent by somebody alive, and of a seller that is
 * at work and served by some process. They come in rounds (`inRounds` and `shareOfKind` of domain/command-shares say the same), one of each seller,
 * then another of each; of a seller and kind those come first that the marketplace wants earliest. Each seller and kind has its share of `most`, at
 * least one, and never more than {@link mostOfAKind}.
 */
export const dueCommands = async (sql: SqlRunner, most: number): Promise<readonly string[]> => {
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
    most,
    mostOfAKind,
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

/** Those of the commands that may be enqueued at once: others of their seller and kind come first, and are enough. */
export const commandsWithinShare = async (sql: SqlRunner, commandIds: readonly string[]): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(selectWithinShare, commandIds, mostOfAKind)
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
       AND ${isFirstOfSubject}
     ORDER BY c.next_action_at LIMIT $2`,
    leastMs,
    limit,
  )
  return rows.map((row) => ({ id: row.id, overdueMs: row.overdue_ms }))
}
