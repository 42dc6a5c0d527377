import type { Database, SqlRunner } from './database.ts'

/**
 * Reads one state of the database, in a transaction in which Postgres refuses every write and every row lock: what is done here
 * provably changes nothing, whatever else it calls.
 */
export const readOnly = <Result>(
  database: Database,
  work: (sql: SqlRunner) => Promise<Result>,
  { timeoutMs }: { readonly timeoutMs: number },
): Promise<Result> =>
  database.transaction(
    async (tx) => {
      await tx.execute('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')
      return work(tx)
    },
    { timeoutMs },
  )
