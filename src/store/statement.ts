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

// Postgres's codes for a prepared statement whose answer would have other columns or types than when it was prepared, one that it does not know, and
// one that it knows already. None of them goes away by asking again.
const outOfStep = /^(0A000|26000|42P05)$/

interface Sending {
  /** Whether it stays planned on the server, if it is marked so. */
  readonly prepare: boolean
  /** Told when what the connection believes to have prepared is not what the server has: it fails again each time, and so the connection is of no use. */
  readonly onOutOfStep?: () => void
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
  { prepare, onOutOfStep }: Sending,
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
    const failed = asStatementFailed(error)
    if (name !== '' && failed instanceof StatementFailed && outOfStep.test(failed.code)) onOutOfStep?.()
    throw failed
  }
}

/** The rows of a query and the count of a statement, as whoever asks sees them. */
export const askingBy = (send: <Row>(sql: string, parameters: readonly unknown[]) => Promise<Answer<Row>>) => ({
  query: async <Row>(sql: string, ...parameters: readonly unknown[]): Promise<Row[]> => (await send<Row>(sql, parameters)).rows,
  execute: async (sql: string, ...parameters: readonly unknown[]): Promise<number> => (await send(sql, parameters)).count,
})
