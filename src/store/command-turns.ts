import { isFirstOfSubject, type StoredCommand } from './commands.ts'
import type { SqlRunner } from './database.ts'
import { dueNow } from './due-now.ts'
import { prepared } from './prepared.ts'

/** The command that goes in place of another one. */
export interface EarlierWanted {
  readonly id: string
  /** When the other one is due in its place, in ms from now; 0: at once. */
  readonly inMs: number
}

/** Whether its next step was put off before: it has waited, and others may wait that the marketplace wants earlier. */
export const wasPutOff = ({ nextActionAt, createdAt }: Pick<StoredCommand, 'nextActionAt' | 'createdAt'>): boolean =>
  nextActionAt > createdAt

// One that another one is just exchanged with is passed over.
const exchangeMoments = prepared(
  `WITH mine AS (
     SELECT c.id, c.seller_id, c.kind, COALESCE(c.act_by, 'infinity') AS act_by, c.sequence FROM tallyman.commands c WHERE c.id = $1
   ), earlier AS (
     SELECT c.id, c.next_action_at FROM mine CROSS JOIN LATERAL (
       SELECT c.id, c.next_action_at FROM tallyman.commands c
       WHERE c.seller_id = mine.seller_id AND c.kind = mine.kind AND c.state = 'pending' AND c.troubled_since IS NULL
         AND (c.leased_until IS NULL OR c.leased_until <= now()) AND NOT c.id = ANY ($2::text[])
         AND (c.act_by, c.sequence) < (mine.act_by, mine.sequence) AND ${isFirstOfSubject}
       ORDER BY c.act_by, c.sequence LIMIT 1 FOR UPDATE SKIP LOCKED
     ) c
   ), ahead AS (
     UPDATE tallyman.commands c SET next_action_at = least(c.next_action_at, ${dueNow}) FROM earlier WHERE c.id = earlier.id
   ), behind AS (
     UPDATE tallyman.commands c SET next_action_at = greatest(earlier.next_action_at, ${dueNow}) FROM earlier, mine
     WHERE c.id = mine.id AND c.state = 'pending'
   )
   SELECT id, greatest(0, extract(epoch FROM next_action_at - now()) * 1000)::float8 AS in_ms FROM earlier`,
)

/**
 * Lets another command go first that waits as well, of the same seller and kind, and that the marketplace wants earlier: it is due now, and this one
 * when that one would have been. Null: none is wanted earlier.
 *
 * @param underWay commands that are being run, and not exchanged with
 */
export const letEarlierGo = async (
  sql: SqlRunner,
  { id }: Pick<StoredCommand, 'id'>,
  underWay: Iterable<string>,
): Promise<EarlierWanted | null> => {
  const [found] = await sql.query<{ id: string; in_ms: number }>(exchangeMoments, id, [...underWay])
  return found === undefined ? null : { id: found.id, inMs: found.in_ms }
}
