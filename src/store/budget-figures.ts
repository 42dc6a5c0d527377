import { z } from 'zod'
import type { BudgetFigure } from '../domain/budget-figure.ts'
import type { SqlRunner } from './database.ts'

/** What a process has reported counts for so long, in milliseconds: it reports again before that. */
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

/** Reports to the other processes how the limits stand that this process has used. What others reported too long ago is removed. */
export const reportLimits = async (sql: SqlRunner, process: string, limits: readonly BudgetFigure[]): Promise<void> => {
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

/** Removes what this process has reported. */
export const withdrawLimits = async (sql: SqlRunner, process: string): Promise<void> => {
  await sql.execute(`DELETE FROM tallyman.reported_limits WHERE process = $1`, process)
}

/** How limits stand by the reports of the processes but this one; what another version has written is passed over. */
export const readReportedLimits = async (sql: SqlRunner, process: string): Promise<readonly BudgetFigure[]> => {
  const rows = await sql.query<{ limits: unknown }>(
    `SELECT limits FROM tallyman.reported_limits WHERE process <> $1 AND reported_at > now() - make_interval(secs => $2::float8 / 1000)`,
    process,
    reportedForMs,
  )
  return rows.flatMap(({ limits }) => reportedSchema.safeParse(limits).data ?? [])
}
