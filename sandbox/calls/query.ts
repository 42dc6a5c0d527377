import { type Refusal, refuseParameter } from '../core/errors.ts'
import { parseMoment } from '../core/moment.ts'

/** The query of one request: parameters decoded, and the text as it came (a cursor is judged by its text). */
export interface Query {
  readonly raw: string
  get(name: string): string | null
}

export const readQuery = (url: string): Query => {
  const mark = url.indexOf('?')
  const raw = mark === -1 ? '' : url.slice(mark + 1)
  const parameters = new URLSearchParams(raw)
  return { raw, get: (name) => parameters.get(name) || null }
}

const orderDateForm = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}(Z|[+-]\d{2}:\d{2}))?$/

/**
 * A date parameter of the orders operations in epoch milliseconds. Milliseconds in the text are refused (public facts,
 * section 2.3); a date alone means its midnight, UTC.
 */
export const orderDate = (query: Query, name: string): number | null =>
  readDate(query, name, 'yyyy-MM-dd or yyyy-MM-ddTHH:mm:ssZ', (text) => (orderDateForm.test(text) ? parseMoment(text) : null))

/** A date parameter of the returns operation; there milliseconds are welcome, and without a zone it is UTC. */
export const returnDate = (query: Query, name: string): number | null =>
  readDate(query, name, 'an ISO date or timestamp', parseMoment)

const readDate = (query: Query, name: string, accepted: string, parse: (text: string) => number | null): number | null => {
  const value = query.get(name)
  if (value === null) return null
  const at = parse(value)
  if (at === null) throw refuseParameter(name, `Invalid date format for ${name}; accepted is ${accepted}`)
  return at
}

/** No list is that long. */
export const maxOffset = 999_999_999

type Refuse = (field: string, description: string) => Refusal

/** A whole number between the bounds. */
export const readWhole = (
  query: Query,
  name: string,
  fallback: number,
  [low, high]: readonly [number, number],
  refuse: Refuse = refuseParameter,
): number => {
  const value = query.get(name)
  if (value === null) return fallback
  const number = /^\d{1,9}$/.test(value) ? Number(value) : -1
  if (number < low || number > high) throw refuse(name, `${name} must be a whole number from ${low} to ${high}`)
  return number
}

/** One of the given words; anything else is refused. `fold` makes spellings that mean the same alike. */
export const readWord = <T extends string>(
  query: Query,
  name: string,
  words: readonly T[],
  refuse: Refuse = refuseParameter,
  fold: (word: string) => string = (word) => word,
): T | null => {
  const value = query.get(name)
  if (value === null) return null
  const word = words.find((candidate) => fold(candidate) === fold(value))
  if (word === undefined) throw refuse(name, `${name} must be one of ${words.join(', ')}`)
  return word
}
