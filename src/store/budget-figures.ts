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

// Beside the buckets, whose names are JSON.
const prefix = 'figures of '

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
    `INSERT INTO tallyman.rate_buckets AS b (name, version, memory, changed_at) VALUES ($1, 1, $2, now())
     ON CONFLICT (name) DO UPDATE SET version = b.version + 1, memory = excluded.memory, changed_at = now()`,
    `${prefix}${process}`,
    JSON.stringify(limits),
  )
  await sql.execute(
    `DELETE FROM tallyman.rate_buckets WHERE starts_with(name, $1) AND changed_at < now() - make_interval(secs => $2::float8 / 500)`,
    prefix,
    toldForMs,
  )
}

/** Takes back what this process has told. */
export const forgetLimits = async (sql: SqlRunner, process: string): Promise<void> => {
  await sql.execute(`DELETE FROM tallyman.rate_buckets WHERE name = $1`, `${prefix}${process}`)
}

/** How limits stand by what the processes but this one have told; what another version has written is passed over. */
export const readToldLimits = async (sql: SqlRunner, process: string): Promise<readonly ToldLimit[]> => {
  const rows = await sql.query<{ text: string }>(
    `SELECT memory AS text FROM tallyman.rate_buckets
     WHERE starts_with(name, $1) AND name <> $1 || $2::text AND changed_at > now() - make_interval(secs => $3::float8 / 1000)`,
    prefix,
    process,
    toldForMs,
  )
  return rows.flatMap(({ text }) => toldSchema.safeParse(JSON.parse(text)).data ?? [])
}
