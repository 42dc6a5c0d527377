import { hash } from 'node:crypto'

const names = new Map<string, string>()

/**
 * Marks a statement whose text never changes and that is sent often: Postgres parses and plans it once for each connection, not each time. A statement
 * of many parts costs more to plan than to run. Not for texts that vary, each of which would stay on the server.
 */
export const prepared = (sql: string): string => {
  names.set(sql, `tallyman_${hash('sha1', sql).slice(0, 20)}`)
  return sql
}

/** The name under which a statement is prepared; empty: it is not. */
export const preparedName = (sql: string): string => names.get(sql) ?? ''
