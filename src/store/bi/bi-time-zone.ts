import type { SqlRunner } from '../db/database.ts'

/**
 * Sets the time zone of the days in views for BI. An unchanged one is not written.
 * @throws StatementFailed when Postgres does not know it
 */
export const storeBiTimeZone = (sql: SqlRunner, timeZone: string): Promise<unknown> =>
  // In SQL, because Postgres must know the zone: otherwise each view would fail.
  sql.execute(
    'UPDATE tallyman.bi_settings SET time_zone = $1 WHERE time_zone <> $1 AND now() AT TIME ZONE $1 IS NOT NULL',
    timeZone,
  )
