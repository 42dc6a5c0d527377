import type { SqlRunner } from './database.ts'

/**
 * Makes due what waits for the rate budget of these sellers: another limit holds, so the moments that were named are void. Commands in trouble
 * keep theirs. Answers which they are.
 */
export const wakeWaitingCommands = async (sql: SqlRunner, sellerIds: readonly string[]): Promise<readonly string[]> => {
  const rows = await sql.query<{ id: string }>(
    `UPDATE tallyman.commands SET next_action_at = now()
     WHERE seller_id = ANY ($1::text[]) AND state = 'pending' AND troubled_since IS NULL AND leased_until IS NULL AND next_action_at > now()
     RETURNING id`,
    sellerIds,
  )
  return rows.map(({ id }) => id)
}
