import { refuseParameter } from '../core/errors.ts'

/** The query of one request: parameters decoded, and the text as it came (a cursor is judged by its text). */
export interface Query {
  readonly raw: string
  get(name: string): string | null
}

export function readQuery(url: string): Query {
  const mark = url.indexOf('?')
  const raw = mark === -1 ? '' : url.slice(mark + 1)
  const parameters = new URLSearchParams(raw)
  return { raw, get: (name) => parameters.get(name) || null }
}

const ORDER_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2}))?$/
const RETURN_DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/

/**
 * A date parameter of the orders operations in epoch milliseconds. Milliseconds in the text are refused (public facts,
 * section 2.3); a date alone means its midnight, UTC.
 */
export function orderDate(query: Query, name: string): number | null {
  return readDate(query, name, ORDER_DATE, 'yyyy-MM-dd or yyyy-MM-ddTHH:mm:ssZ')
}

/** A date parameter of the returns operation; there milliseconds are welcome. */
export function returnDate(query: Query, name: string): number | null {
  return readDate(query, name, RETURN_DATE, 'an ISO date or timestamp')
}

function readDate(query: Query, name: string, pattern: RegExp, accepted: string): number | null {
  const value = query.get(name)
  if (value === null) return null
  const at = pattern.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(at)) throw refuseParameter(name, `Invalid date format for ${name}; accepted is ${accepted}`)
  return at
}

/** A whole number from 1 to `max`. */
export function readLimit(query: Query, fallback: number, max: number): number {
  const value = query.get('limit')
  if (value === null) return fallback
  const limit = /^\d{1,6}$/.test(value) ? Number(value) : 0
  if (limit < 1 || limit > max) throw refuseParameter('limit', `limit must be a whole number from 1 to ${max}`)
  return limit
}

/** One of the given words; anything else is refused. */
export function readWord<T extends string>(query: Query, name: string, words: readonly T[]): T | null {
  const value = query.get(name)
  if (value === null) return null
  const word = words.find((candidate) => candidate === value)
  if (word === undefined) throw refuseParameter(name, `${name} must be one of ${words.join(', ')}`)
  return word
}
