import { z } from 'zod'
import type { RateLimitSnapshot } from '../../domain/values/rate-limit-snapshot.ts'
import type { SqlRunner } from '../db/database.ts'

/** How long a report counts, in milliseconds. A process reports more often. */
export const reportedForMs = 120_000

const reportedSchema = z.array(
  z.object({
    sellerId: z.string(),
    operation: z.string(),
    scope: z.string().nullable(),
    available: z.number(),
    perMinute: z.number(),
    blockedUntil: z.coerce.date().nullable(),
  }),
)

/** Reports the state of the rate limits of this process to the other processes. Deletes expired reports of others. */
export const reportLimits = async (sql: SqlRunner, process: string, limits: readonly RateLimitSnapshot[]): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.reported_limits (process, limits, reported_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (process) DO UPDATE SET limits = excluded.limits, reported_at = excluded.reported_at`,
    process,
    JSON.stringify(limits),
  )
  await sql.execute(
    `DELETE FROM tallyman.reported_limits WHERE reported_at < now() - make_interval(secs => $1::float8 / 500)`,
    reportedForMs,
  )
}

/** Deletes the report of this process. */
export const withdrawLimits = async (sql: SqlRunner, process: string): Promise<void> => {
  await sql.execute(`DELETE FROM tallyman.reported_limits WHERE process = $1`, process)
}

/** The state of rate limits reported by other processes; unreadable reports of other versions are skipped. */
export const readReportedLimits = async (sql: SqlRunner, process: string): Promise<readonly RateLimitSnapshot[]> => {
  const rows = await sql.query<{ limits: unknown }>(
    `SELECT limits FROM tallyman.reported_limits WHERE process <> $1 AND reported_at > now() - make_interval(secs => $2::float8 / 1000)`,
    process,
    reportedForMs,
  )
  return rows.flatMap(({ limits }) => reportedSchema.safeParse(limits).data ?? [])
}
