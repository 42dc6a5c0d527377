import { hash } from 'node:crypto'

const names = new Map<string, string>()

/** An array parameter: `$1::text[]`. */
const arrayParameter = /(\$\d+)::(\w+)\[\]/g

/**
 * Postgres knows the length of an array parameter. It estimates a plan for a short array as cheaper than the generic plan, so it plans the statement
 * each time, which takes longer than the statement. Postgres does not know the length of a subquery's array.
 */
const hideArrayLengths = (sql: string): string => sql.replaceAll(arrayParameter, '(SELECT $1::$2[])::$2[]')

/**
 * Declares a frequent statement with a constant text, and returns the SQL to send: Postgres parses and plans it once for each connection. A large
 * statement costs more to plan than to run. Not for texts that vary, because each text would stay on the server.
 */
export const prepared = (sql: string): string => {
  const sent = hideArrayLengths(sql)
  names.set(sent, `tallyman_${hash('sha1', sent).slice(0, 20)}`)
  return sent
}

/** The name of a prepared statement; empty: it is not prepared. */
export const preparedName = (sql: string): string => names.get(sql) ?? ''
