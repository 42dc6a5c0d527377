import type { SqlRunner } from './database.ts'

/**
 * A start of a process so long after the limits of a seller have changed looks at its waits again: until then a process with the limits of before may
 * have gone on, as while one process after another is replaced.
 */
const changingForMs = 3_600_000

/** Digests of the limits of sellers, by their ids. */
export type LimitDigests = ReadonlyMap<string, string>

/** Which of these sellers waited by other limits than these, as far as it is noted, or may have done so until not long ago. */
export const sellersWithOtherLimits = async (sql: SqlRunner, limits: LimitDigests): Promise<readonly string[]> => {
  const rows = await sql.query<{ seller_id: string }>(
    `SELECT s.seller_id FROM unnest($1::text[], $2::text[]) AS a(seller_id, limits) JOIN tallyman.sellers s USING (seller_id)
     WHERE s.limits IS DISTINCT FROM a.limits OR s.limits_since > now() - $3::float8 * interval '1 millisecond'`,
    [...limits.keys()],
    [...limits.values()],
    changingForMs,
  )
  return rows.map((row) => row.seller_id)
}

/** Notes the limits of sellers; only those are written that are others than before. */
export const noteLimits = async (sql: SqlRunner, limits: LimitDigests): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.sellers s SET limits = a.limits, limits_since = now()
     FROM (SELECT seller_id, a.limits FROM unnest($1::text[], $2::text[]) AS a(seller_id, limits) JOIN tallyman.sellers o USING (seller_id)
       WHERE o.limits IS DISTINCT FROM a.limits ORDER BY seller_id FOR NO KEY UPDATE OF o) a
     WHERE s.seller_id = a.seller_id`,
    [...limits.keys()],
    [...limits.values()],
  )
}
