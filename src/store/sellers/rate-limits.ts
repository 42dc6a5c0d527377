import type { Database } from '../db/database.ts'

/** States that were not written for this many days are deleted. */
const keptDays = 40

/** The state of one rate limit; `version` counts its writes. */
interface RateLimitState {
  readonly name: string
  readonly version: number
  readonly text: string
}

/**
 * States of rate limits, changed by compare-and-set: a state is written if `version` is the stored one, or nothing is stored, and what is stored afterwards is
 * returned. One statement for all, committed without waiting for the disk: a crash of Postgres may lose the last second. Works behind a pooler.
 */
export const createPostgresRateLimits = (database: Database) => ({
  /** The clock of Postgres, epoch ms. */
  nowMs: async (): Promise<number> => {
    const [row] = await database.query<{ nowMs: number }>(
      `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs"`,
    )
    if (row === undefined) throw new Error('Postgres returned no row for one')
    return row.nowMs
  },
  swap: async (writes: readonly RateLimitState[]) => {
    const rows = await database.query<RateLimitState & { readonly storeMs: number }>(
      // Names in order: processes that write the same rows must not wait for each other in a circle.
      `WITH quick AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
       INSERT INTO tallyman.rate_limits AS stored (name, version, state, changed_at)
       SELECT given.name, given.version + 1, given.text, now()
       FROM quick, jsonb_to_recordset($1::jsonb) AS given(name text, version integer, text text) ORDER BY given.name
       ON CONFLICT (name) DO UPDATE SET
         version = CASE WHEN stored.version = excluded.version - 1 THEN excluded.version ELSE stored.version END,
         state = CASE WHEN stored.version = excluded.version - 1 THEN excluded.state ELSE stored.state END,
         changed_at = excluded.changed_at
       RETURNING name, version, state AS text, extract(epoch FROM clock_timestamp())::float8 * 1000 AS "storeMs"`,
      JSON.stringify(writes),
    )
    const stored = new Map(rows.map((row) => [row.name, row]))
    return writes.map(({ name }) => {
      const row = stored.get(name)
      if (row === undefined) throw new Error('Postgres returned no state for a rate limit')
      return row
    })
  },
})

/** Deletes states that were not used for a long time, such as those of past months. */
export const removeUnusedRateLimits = async (database: Database): Promise<void> => {
  await database.execute(`DELETE FROM tallyman.rate_limits WHERE changed_at < now() - make_interval(days => $1::int)`, keptDays)
}
