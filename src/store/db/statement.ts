import type pg from 'pg'
import { preparedName } from './prepared-statements.ts'

/**
 * A statement failed: `code` is its SQLSTATE, the code of a socket error, or empty. Details of Postgres are left out, because they may quote the row.
 */
export class StatementFailed extends Error {
  override readonly name = 'StatementFailed'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** The error of a connection as {@link StatementFailed}. */
export const asStatementFailed = (error: unknown): unknown => {
  if (!(error instanceof Error) || error instanceof StatementFailed) return error
  const code: unknown = Reflect.get(error, 'code')
  return new StatementFailed(typeof code === 'string' ? code : '', error.message)
}

/** The result of a statement; of several in one text, the last. */
export interface StatementResult<Row> {
  readonly rows: Row[]
  /** The number of affected rows. */
  readonly count: number
  /** The command that Postgres ran: `ROLLBACK` instead of `COMMIT` if it could not commit. */
  readonly command: string
}

/** A connection, or a pool, which picks one for each statement. */
export type Connection = Pick<pg.ClientBase, 'query'>

// SQLSTATEs of a prepared statement whose result type has changed, that does not exist, or that exists already. A retry does not help.
const stalePrepared = /^(0A000|26000|42P05)$/

interface SendOptions {
  /** Whether to prepare the statement, if it is declared as `prepared`. */
  readonly prepare: boolean
  /** Called when the server's prepared statements differ from what the connection expects. The connection would fail again and must be closed. */
  readonly onStalePrepared?: () => void
}

/**
 * Sends a statement.
 *
 * @throws StatementFailed
 */
export const sendStatement = async <Row>(
  connection: Connection,
  sql: string,
  parameters: readonly unknown[],
  { prepare, onStalePrepared }: SendOptions,
): Promise<StatementResult<Row>> => {
  const name = prepare ? preparedName(sql) : ''
  try {
    const results: pg.QueryResult | pg.QueryResult[] = await connection.query({
      text: sql,
      values: [...parameters],
      ...(name === '' ? {} : { name }),
    })
    const result = Array.isArray(results) ? results.at(-1) : results
    return { rows: result?.rows ?? [], count: result?.rowCount ?? 0, command: result?.command ?? '' }
  } catch (error) {
    const failed = asStatementFailed(error)
    if (name !== '' && failed instanceof StatementFailed && stalePrepared.test(failed.code)) onStalePrepared?.()
    throw failed
  }
}

/** The methods `query` and `execute` of {@link SqlRunner}. */
export const buildQueryMethods = (send: <Row>(sql: string, parameters: readonly unknown[]) => Promise<StatementResult<Row>>) => ({
  query: async <Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]> => (await send<Row>(sql, parameters)).rows,
  execute: async (sql: string, ...parameters: readonly unknown[]): Promise<number> => (await send(sql, parameters)).count,
})
