import type pg from 'pg'
import { preparedName } from './prepared.ts'

/**
 * A statement that failed: `code` is its SQLSTATE, or the code of a socket, or empty. It carries nothing else of what Postgres said, which may quote
 * the row.
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

/** What a statement answered; of several in one text the last. */
export interface Answer<Row> {
  readonly rows: Row[]
  /** Rows that it touched. */
  readonly count: number
  /** What was done: `COMMIT`, or `ROLLBACK` where that was not possible. */
  readonly command: string
}

/** Where a statement is sent: a connection, or a pool, which takes one for it. */
export type Connection = Pick<pg.ClientBase, 'query'>

/**
 * Sends a statement.
 *
 * @throws StatementFailed
 */
export const sendStatement = async <Row>(
  connection: Connection,
  sql: string,
  parameters: readonly unknown[],
  { prepare }: { readonly prepare: boolean },
): Promise<Answer<Row>> => {
  const name = prepare ? preparedName(sql) : ''
  try {
    const answers: pg.QueryResult | pg.QueryResult[] = await connection.query({
      text: sql,
      values: [...parameters],
      ...(name === '' ? {} : { name }),
    })
    const answer = Array.isArray(answers) ? answers.at(-1) : answers
    return { rows: answer?.rows ?? [], count: answer?.rowCount ?? 0, command: answer?.command ?? '' }
  } catch (error) {
    throw asStatementFailed(error)
  }
}

/** The rows of a query and the count of a statement, as whoever asks sees them. */
export const askingBy = (send: <Row>(sql: string, parameters: readonly unknown[]) => Promise<Answer<Row>>) => ({
  query: async <Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]> => (await send<Row>(sql, parameters)).rows,
  execute: async (sql: string, ...parameters: readonly unknown[]): Promise<number> => (await send(sql, parameters)).count,
})
