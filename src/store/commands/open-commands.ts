import type { OpenCommand } from '../../domain/commands/forecast.ts'
import type { SqlRunner } from '../db/database.ts'

/** At most `max` open commands of sellers, earliest deadline of the marketplace first, and the number of all. */
export const readOpenCommands = async (
  sql: SqlRunner,
  sellerIds: readonly string[],
  max: number,
): Promise<{ readonly commands: readonly OpenCommand[]; readonly count: number }> => {
  const rows = await sql.query<OpenCommand & { readonly count: number }>(
    `WITH held AS (
       SELECT seller_id, subject, min(sequence) AS sequence FROM tallyman.commands
       WHERE state = 'held' AND seller_id = ANY ($1::text[]) GROUP BY seller_id, subject
     )
     SELECT c.id, c.sequence::float8 AS sequence, c.seller_id AS "sellerId", c.purchase_order_id AS "purchaseOrderId", c.kind, c.state, c.attempts,
       lag(c.id) OVER (PARTITION BY c.seller_id, c.subject ORDER BY c.sequence) AS "previousId",
       c.act_by AS "actBy", c.next_action_at AS "nextActionAt", coalesce(h.sequence < c.sequence, false) AS "isBehindHeld",
       ARRAY(SELECT l.line_number FROM tallyman.command_lines l WHERE l.command_id = c.id ORDER BY l.line_number) AS lines,
       count(*) OVER ()::int AS count
     FROM tallyman.commands c LEFT JOIN held h ON h.seller_id = c.seller_id AND h.subject = c.subject
     WHERE c.seller_id = ANY ($1::text[]) AND c.state IN ('pending', 'sending', 'verifying')
     ORDER BY c.act_by, c.sequence LIMIT $2::int`,
    sellerIds,
    max,
  )
  return { commands: rows, count: rows[0]?.count ?? 0 }
}
