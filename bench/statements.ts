import pg from 'pg'

/** What one kind of statement cost in Postgres. */
export interface StatementCost {
  readonly statement: string
  readonly calls: number
  /** Planning and carrying out, all calls together. */
  readonly totalMs: number
  /** What all calls together wrote to the log. */
  readonly walBytes: number
}

/** Settings of a server whose statements are watched. */
export const watchedServer: readonly string[] = [
  'shared_preload_libraries=pg_stat_statements',
  'pg_stat_statements.track_planning=on',
]

const names: readonly (readonly [RegExp, string])[] = [
  [/^BEGIN/, 'BEGIN'],
  [/^COMMIT/, 'COMMIT'],
  [/^SELECT c\.id, .* AS decisions/, 'read the command'],
  [/^SELECT c\.id FROM unnest/, 'lock orders and commands'],
  [/^SELECT k\.place::int AS place, c\.id, c\.kind/, 'read the ledgers'],
  [/^SELECT o\.purchase_order_id::text AS key, encode/, 'read hashes under the lock'],
  [/^SELECT purchase_order_id FROM warehouse\.orders .* FOR UPDATE/, 'lock the order'],
  [/^SELECT (k\.place::int AS place, o\.\*|o\.purchase_order_id, o\.customer_order_id)/, 'read the order'],
  [/^SELECT c\.id FROM tallyman\.commands c JOIN/, 'compare the command'],
  [/^WITH given .* claimed AS/, 'store the intent'],
  [/^SELECT array_agg\(o\.purchase_order_id::text\) AS keys/, 'compare the hash'],
  [/^WITH reported AS/, 'store the answered order'],
  [/^SELECT e\.kind \|\| \S+ \|\| e\.record_id/, 'was its buyer erased?'],
  [/^SELECT attempt, correlation_id/, 'read the attempts'],
  [/^UPDATE tallyman\.command_attempts/, 'store the outcome'],
  [/^WITH given .* moved AS/, 'settle the command'],
  [/^-- Finish an active job/, 'BullMQ: end the job, take the next'],
  [/^WITH reported AS/, 'append the changes'],
  [/^SELECT k\.place::int AS place, \(SELECT c\.id/, 'is there one after it?'],
]

const buildName = (text: string): string => {
  const flat = text.replaceAll(/\s+/g, ' ').trim()
  return names.find(([pattern]) => pattern.test(flat))?.[1] ?? flat.slice(0, 60)
}

/** Counts what statements cost in a database of a {@link watchedServer} from now on, until `end` is called. */
export const watchStatements = async (databaseUrl: string): Promise<{ end(): Promise<readonly StatementCost[]> }> => {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query('CREATE EXTENSION IF NOT EXISTS pg_stat_statements')
  await client.query('SELECT pg_stat_statements_reset()')
  return {
    end: async () => {
      const { rows } = await client.query<StatementCost>(
        `SELECT query AS statement, calls::float8 AS calls, total_plan_time + total_exec_time AS "totalMs", wal_bytes::float8 AS "walBytes"
         FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid AND d.datname = current_database() WHERE toplevel`,
      )
      await client.end()
      return Map.groupBy(rows, ({ statement }) => buildName(statement))
        .entries()
        .map(([statement, all]) => ({
          statement,
          calls: all.reduce((sum, { calls }) => sum + calls, 0),
          totalMs: all.reduce((sum, { totalMs }) => sum + totalMs, 0),
          walBytes: all.reduce((sum, { walBytes }) => sum + walBytes, 0),
        }))
        .toArray()
        .sort((a, b) => b.totalMs - a.totalMs)
    },
  }
}
