import type { Database, SqlRunner } from './database.ts'

/**
 * Reads one snapshot of the database, in a transaction in which Postgres rejects every write and every row lock. So `work` provably changes nothing,
 * with all that it calls.
 */
export const runReadOnly = <Result>(
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
