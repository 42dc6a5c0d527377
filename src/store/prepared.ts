import { hash } from 'node:crypto'

const names = new Map<string, string>()

/** An array that is given to a statement: `$1::text[]`. */
const givenArray = /(\$\d+)::(\w+)\[\]/g

/**
 * Postgres sees the length of an array that it is given. A plan for a short one seems cheaper to it than its plan for any, so it plans again each time,
 * for longer than the statement takes. Of a sub-select it sees no length.
 */
const ofAnyLength = (sql: string): string => sql.replaceAll(givenArray, '(SELECT $1::$2[])::$2[]')

/**
 * Marks a statement whose text never changes and that is sent often, and answers what to send: Postgres parses and plans it once for each connection,
 * not each time. A statement of many parts costs more to plan than to run. Not for texts that vary, each of which would stay on the server.
 */
export const prepared = (sql: string): string => {
  const sent = ofAnyLength(sql)
  names.set(sent, `tallyman_${hash('sha1', sent).slice(0, 20)}`)
  return sent
}

/** The name under which a statement is prepared; empty: it is not. */
export const preparedName = (sql: string): string => names.get(sql) ?? ''
