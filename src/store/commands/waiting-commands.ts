import type { SqlRunner } from '../db/database.ts'
import { dueNow } from '../db/due-now.ts'
import { prepared } from '../db/prepared-statements.ts'
import { isFirstOfSubject, type StoredCommand } from './commands.ts'

/** The command that runs instead of another one. */
export interface SwappedCommand {
  readonly id: string
  /** When the other one is due, in ms from now; 0: now. */
  readonly inMs: number
}

/** Whether its next step was postponed before: others with an earlier deadline may be waiting too. */
export const wasPostponed = ({ nextActionAt, createdAt }: Pick<StoredCommand, 'nextActionAt' | 'createdAt'>): boolean =>
  nextActionAt > createdAt

// SKIP LOCKED: a command that is being swapped with another one is skipped.
const swapDueTimes = prepared(
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
 * Swaps the due times of this command and of a waiting command of the same seller and kind that has an earlier deadline of the marketplace, so that the
 * other one is due now. Null: there is none.
 *
 * @param running commands in progress, which are not swapped
 */
export const swapWithEarlierCommand = async (
  sql: SqlRunner,
  { id }: Pick<StoredCommand, 'id'>,
  running: Iterable<string>,
): Promise<SwappedCommand | null> => {
  const [found] = await sql.query<{ id: string; in_ms: number }>(swapDueTimes, id, [...running])
  return found === undefined ? null : { id: found.id, inMs: found.in_ms }
}

/**
 * Makes the commands due that wait for the rate limits of these sellers: the limits have changed, so their due times are void. Commands whose steps
 * failed keep their due times. Returns the ids of the changed commands.
 */
export const makeWaitingCommandsDue = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `UPDATE tallyman.commands SET next_action_at = now()
     WHERE seller_id = ANY ($1::text[]) AND state = 'pending' AND troubled_since IS NULL AND leased_until IS NULL AND next_action_at > now()
     RETURNING id`,
    sellerIds,
  )
  return rows.map(({ id }) => id)
}
