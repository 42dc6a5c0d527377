import { z } from 'zod'
import type { SqlRunner } from './database.ts'

/** How a rate limit stands, as far as a process knows. */
export interface ToldLimit {
  readonly sellerId: string
  readonly operation: string
  /** Which share of the operation, where each has a limit of its own. */
  readonly scope: string | null
  readonly available: number
  readonly perMinute: number
  readonly blockedUntil: Date | null
}

/** What a process has told counts for so long, in milliseconds: it tells it again before that. */
export const toldForMs = 120_000

const toldSchema = z.array(
  z.object({
    sellerId: z.string(),
    operation: z.string(),
    scope: z.string().nullable(),
    available: z.number(),
    perMinute: z.number(),
    blockedUntil: z.coerce.date().nullable(),
  }),
)

/** Tells the other processes how the limits stand that this process has used. What others told and no longer counts is removed. */
export const tellLimits = async (sql: SqlRunner, process: string, limits: readonly ToldLimit[]): Promise<void> => {
  await sql.execute(
    `INSERT INTO tallyman.told_limits (process, limits, told_at) VALUES ($1, $2::jsonb, now())
     ON CONFLICT (process) DO UPDATE SET limits = excluded.limits, told_at = excluded.told_at`,
    process,
    JSON.stringify(limits),
  )
  await sql.execute(`DELETE FROM tallyman.told_limits WHERE told_at < now() - make_interval(secs => $1::float8 / 500)`, toldForMs)
}

/** Takes back what this process has told. */
export const forgetLimits = async (sql: SqlRunner, process: string): Promise<void> => {
  await sql.execute(`DELETE FROM tallyman.told_limits WHERE process = $1`, process)
}

/** How limits stand by what the processes but this one have told; what another version has written is passed over. */
export const readToldLimits = async (sql: SqlRunner, process: string): Promise<readonly ToldLimit[]> => {
  const rows = await sql.query<{ limits: unknown }>(
    `SELECT limits FROM tallyman.told_limits WHERE process <> $1 AND told_at > now() - make_interval(secs => $2::float8 / 1000)`,
    process,
    toldForMs,
  )
  return rows.flatMap(({ limits }) => toldSchema.safeParse(limits).data ?? [])
}
