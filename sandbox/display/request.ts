import { isObject, type JsonObject } from '../core/json.ts'
import type { World } from '../world.ts'
import { displayRefusal } from './admission.ts'

/** The flat body of a display request, read key by key; what is wrong is collected, so that one answer can name all of it. */
export interface DisplayBody {
  readonly faults: string[]
  /** Whether a key is there, `null` and empty lists and texts counting as absent. */
  has(key: string): boolean
  /** A whole number of at least `low` and at most `high`. */
  whole(key: string, low: number, high: number): number | null
  text(key: string): string | null
  /** A string or an array of strings (specification, endpoint 1). */
  texts(key: string): readonly string[] | null
  wholes(key: string): readonly number[] | null
}

/**
 * Opens the body and checks the advertiser: a missing or malformed one is a 400, one that this consumer does not speak for a 403.
 * Keys that no text mentions are ignored.
 */
export const openBody = ({ display }: World, body: unknown): DisplayBody => {
  if (!isObject(body)) throw displayRefusal(400, 'The request body must be a JSON object')
  const read = reader(body)
  if (!read.has('advertiserId')) throw displayRefusal(400, 'advertiserId is required')
  const advertiserId = read.whole('advertiserId', 0, Number.MAX_SAFE_INTEGER)
  if (advertiserId === null) throw displayRefusal(400, ...read.faults)
  if (advertiserId !== display.identity.advertiserId)
    throw displayRefusal(403, `advertiserId: no access to advertiser ${advertiserId}`)
  return read
}

const reader = (body: JsonObject): DisplayBody => {
  const faults: string[] = []
  const of = <T>(key: string, fits: (value: unknown) => value is T, expected: string): T | null => {
    const value = body[key] ?? null
    if (value === null) return null
    if (fits(value)) return value
    faults.push(`${key}: ${expected} is expected`)
    return null
  }
  return {
    faults,
    has: (key) => {
      const value = body[key] ?? null
      return value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
    },
    whole(key, low, high) {
      const expected =
        high === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${low}` : `a whole number from ${low} to ${high}`
      return of(key, (value): value is number => isWhole(value) && value >= low && value <= high, expected)
    },
    text: (key) => of(key, (value) => typeof value === 'string', 'a string'),
    texts(key) {
      const value = of(key, (given) => typeof given === 'string' || isListWhere(given, isText), 'a string or an array of strings')
      return value === null || value.length === 0 ? null : typeof value === 'string' ? [value] : value
    },
    wholes(key) {
      const value = of(key, (given) => isListWhere(given, isWhole), 'an array of whole numbers')
      return value === null || value.length === 0 ? null : value
    },
  }
}

const isWhole = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value)

const isText = (value: unknown): value is string => typeof value === 'string'

const isListWhere = <T>(value: unknown, fits: (item: unknown) => item is T): value is T[] =>
  Array.isArray(value) && value.every(fits)
