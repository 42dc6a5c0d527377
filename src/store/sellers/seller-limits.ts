import type { SqlRunner } from '../db/database.ts'

/**
 * A process that starts within this time after the limits of a seller have changed makes its waiting commands due: a process with the previous limits may
 * have run until then, for example during a rolling update.
 */
const changingForMs = 3_600_000

/** Digests of the limits of sellers, by their ids. */
export type LimitDigests = ReadonlyMap<string, string>

/** Those of these sellers whose stored limits differ, or have changed recently. */
export const findSellersWithChangedLimits = async (sql: SqlRunner, limits: LimitDigests): Promise<readonly string[]> => {
  const rows = await sql.query<{ seller_id: string }>(
    `SELECT s.seller_id FROM unnest($1::text[], $2::text[]) AS a(seller_id, limits) JOIN tallyman.sellers s USING (seller_id)
     WHERE s.limits IS DISTINCT FROM a.limits OR s.limits_since > now() - $3::float8 * interval '1 millisecond'`,
    [...limits.keys()],
    [...limits.values()],
    changingForMs,
  )
  return rows.map((row) => row.seller_id)
}

/** Stores the limits of sellers; unchanged ones are not written. */
export const storeLimits = async (sql: SqlRunner, limits: LimitDigests): Promise<void> => {
  await sql.execute(
    `UPDATE tallyman.sellers s SET limits = a.limits, limits_since = now()
     FROM (SELECT seller_id, a.limits FROM unnest($1::text[], $2::text[]) AS a(seller_id, limits) JOIN tallyman.sellers o USING (seller_id)
       WHERE o.limits IS DISTINCT FROM a.limits ORDER BY seller_id FOR NO KEY UPDATE OF o) a
     WHERE s.seller_id = a.seller_id`,
    [...limits.keys()],
    [...limits.values()],
  )
}
