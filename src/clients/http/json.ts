import { Decimal } from 'decimal.js'
import type { Calendar } from '../../domain/values/calendar.ts'

/**
 * Reads JSON record by record, without loss of precision.
 *
 * `JSON.parse` changes 12345678901234567890 and rounds 0.1234567890123456789. It keeps a number literal of at most 15 significant digits, so only records with a
 * longer one (or an exponent) are parsed by the slow way, which returns these numbers as strings of the marketplace's digits. Measured on a page of 200 orders
 * (590 KB): cutting costs a third of one `JSON.parse`, all of reading (cut, parse, schema, domain form) about three, the slow way about seven.
 */

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue }

/** Exact for any sum of money; the default of 20 digits would round silently. */
export const ExactDecimal = Decimal.clone({ precision: 80, toExpNeg: -100, toExpPos: 100 })

/** Number of significant digits that a double always keeps. */
const safeDigits = 15
const maxExponent = 40
const maxDepth = 100
const plainNumber = /^-?\d{1,40}(?:\.\d{1,40})?$/
const exponentNumber = /^-?\d{1,40}(?:\.\d{1,40})?[eE][+-]?\d{1,3}$/

/** An array of records cut out of a document, each with its own JSON text; the document keeps an empty array in their place. */
export interface RecordCut {
  readonly envelopeText: string
  readonly records: readonly CutRecord[]
}

/** The text of one record, with facts that are needed to parse it. */
export interface CutRecord {
  /** The text with U+FFFD in place of characters that Postgres cannot store. */
  readonly text: string
  /** The unchanged text. */
  readonly original: string
  /** It contains a number that a double may not hold exactly. */
  readonly hasWideNumber: boolean
  /** It is nested deeper than any real record: recursive code, from `JSON.stringify` to Postgres, could fail. */
  readonly isTooDeep: boolean
}

const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const dot = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openArray = 0x5b
const backslash = 0x5c
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const plus = 0x2b
const lowerE = 0x65
const upperE = 0x45

const skipSpace = (text: string, from: number): number => {
  let at = from
  for (;;) {
    const code = text.charCodeAt(at)
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at
    at += 1
  }
}

/** Index after the string that opens at `from`, or -1. */
const skipString = (text: string, from: number): number => {
  let at = from
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return -1
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === backslash) backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
}

const unstorable = /\\u(?:0000|d[89a-f])/i
/** One escape of a JSON string; a surrogate pair is one match. */
const escapeForm = /\\(?:u(?:d[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|[0-9a-f]{4})|.)/gis
const loneEscape = /^\\u(?:0000|d[89a-f][0-9a-f]{2})$/i

/**
 * JSON text with U+FFFD in place of characters that Postgres cannot store: a NUL, and half of a surrogate pair, for example of a truncated emoji. The rest is
 * unchanged.
 */
export const storableJson = (text: string): string =>
  unstorable.test(text) ? text.replace(escapeForm, (one) => (loneEscape.test(one) ? '\ufffd' : one)) : text

/** Scans JSON values, and records whether a number is too wide for a double. */
class Cursor {
  readonly text: string
  at = 0
  wide = false
  deepest = 0

  constructor(text: string) {
    this.text = text
  }

  /** A record with this text and the facts since the counters were reset. */
  record(text: string): CutRecord {
    return { text: storableJson(text), original: text, hasWideNumber: this.wide, isTooDeep: this.deepest > maxDepth }
  }

  /** Moves behind the value that begins here; false if the text ends first. */
  skipValue(): boolean {
    const { text } = this
    let depth = 0
    for (;;) {
      const code = text.charCodeAt(this.at)
      if (Number.isNaN(code)) return false
      if (code === quote) {
        this.at = skipString(text, this.at)
        if (this.at === -1) return false
      } else if (code === openObject || code === openArray) {
        depth += 1
        if (depth > this.deepest) this.deepest = depth
        this.at += 1
      } else if (code === closeObject || code === closeArray) {
        if (depth === 0) return true
        depth -= 1
        this.at += 1
      } else if (code === minus || (code >= zero && code <= nine)) {
        this.#skipNumber()
      } else {
        if (depth === 0 && code === comma) return true
        this.at += 1
        // Outside any bracket only a literal (true, false, null) can stand here: it ends at the next punctuation.
        if (depth === 0) continue
      }
      if (depth === 0) return true
    }
  }

  #skipNumber(): void {
    const { text } = this
    let digits = 0
    for (;;) {
      const code = text.charCodeAt(this.at)
      if (code >= zero && code <= nine) digits += 1
      else if (code === lowerE || code === upperE) this.wide = true
      else if (code !== minus && code !== plus && code !== dot) break
      this.at += 1
    }
    if (digits > safeDigits) this.wide = true
  }

  /** Moves to the value of `key` in the object that begins here; false if there is no such object or key. */
  enter(key: string): boolean {
    const { text } = this
    this.at = skipSpace(text, this.at)
    if (text.charCodeAt(this.at) !== openObject) return false
    this.at += 1
    for (;;) {
      const start = skipSpace(text, this.at)
      if (text.charCodeAt(start) !== quote) return false
      const end = skipString(text, start)
      if (end === -1) return false
      this.at = skipSpace(text, end)
      if (text.charCodeAt(this.at) !== colon) return false
      this.at = skipSpace(text, this.at + 1)
      if (end - start === key.length + 2 && text.startsWith(key, start + 1)) return true
      if (!this.skipValue()) return false
      this.at = skipSpace(text, this.at)
      if (text.charCodeAt(this.at) !== comma) return false
      this.at += 1
    }
  }
}

/** The answer has too many records. */
export class TooManyRecords extends Error {
  override readonly name = 'TooManyRecords'
}

/**
 * Cuts the records at `path` out of a document without parsing them. A single object there counts as one record. Null if there are no records at the path, or
 * the text around them is invalid: then the document must be parsed as a whole.
 *
 * @throws TooManyRecords if there are more than `maxRecords`
 */
export const cutRecords = (text: string, path: readonly string[], maxRecords = Number.POSITIVE_INFINITY): RecordCut | null => {
  const cursor = new Cursor(text)
  for (const key of path) if (!cursor.enter(key)) return null
  const start = cursor.at
  const records: CutRecord[] = []
  const cutOne = (): boolean => {
    const from = cursor.at
    cursor.wide = false
    cursor.deepest = 0
    if (!cursor.skipValue()) return false
    if (records.length >= maxRecords) throw new TooManyRecords(`an answer holds more than ${maxRecords} records`)
    records.push(cursor.record(text.slice(from, cursor.at).trimEnd()))
    return true
  }
  const opening = text.charCodeAt(start)
  if (opening === openObject) {
    if (!cutOne()) return null
  } else if (opening === openArray) {
    cursor.at = skipSpace(text, start + 1)
    if (text.charCodeAt(cursor.at) === closeArray) cursor.at += 1
    else {
      for (;;) {
        cursor.at = skipSpace(text, cursor.at)
        if (!cutOne()) return null
        cursor.at = skipSpace(text, cursor.at)
        const code = text.charCodeAt(cursor.at)
        cursor.at += 1
        if (code === closeArray) break
        if (code !== comma) return null
      }
    }
  } else return null
  return { envelopeText: `${text.slice(0, start)}[]${text.slice(cursor.at)}`, records }
}

/** The text of the only element of an array; any other text unchanged. */
export const onlyElement = (text: string): string => {
  const cursor = new Cursor(text)
  cursor.at = skipSpace(text, 0)
  if (text.charCodeAt(cursor.at) !== openArray) return text
  cursor.at = skipSpace(text, cursor.at + 1)
  const from = cursor.at
  if (text.charCodeAt(from) !== openObject || !cursor.skipValue()) return text
  const end = skipSpace(text, cursor.at)
  if (text.charCodeAt(end) !== closeArray || skipSpace(text, end + 1) !== text.length) return text
  return text.slice(from, cursor.at)
}

/** Whether a double holds this number literal exactly. */
const isSafeLiteral = (source: string): boolean => {
  if (/[eE]/.test(source)) return false
  return source.replace(/\D/g, '').length <= safeDigits
}

/** The third argument of a reviver, `{source}`, is newer than the type declarations: hence the rest parameter. */
const keepWideNumber = (...[, value, context]: readonly unknown[]): unknown => {
  if (typeof value !== 'number' || typeof context !== 'object' || context === null || !('source' in context)) return value
  const { source } = context
  return typeof source !== 'string' || isSafeLiteral(source) ? value : source
}

/**
 * Parses one record. Numbers that a double may not hold exactly become strings of their digits.
 *
 * @throws SyntaxError if the text is no JSON
 */
export const parseExact = (record: CutRecord): unknown =>
  record.hasWideNumber ? JSON.parse(record.text, keepWideNumber) : JSON.parse(record.text)

/** Parses a text as JSON; null if it is none. Only for texts whose numbers a double holds exactly. */
export const jsonOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/** A text of unknown origin as one record. */
export const asRecord = (text: string): CutRecord => {
  const cursor = new Cursor(text)
  cursor.at = skipSpace(text, 0)
  cursor.skipValue()
  return cursor.record(text)
}

/** A JSON number, or a string with one, as plain decimal text without exponent; null if it is neither or too long. */
export const decimalText = (value: unknown): string | null => {
  const source = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : ''
  if (plainNumber.test(source)) return source
  if (!exponentNumber.test(source)) return null
  const decimal = new ExactDecimal(source)
  return Math.abs(decimal.e) > maxExponent ? null : decimal.toFixed()
}

/** The sum of decimals, as decimal text. */
export const sumDecimals = (values: readonly string[]): string =>
  values.reduce((sum, value) => sum.plus(value), new ExactDecimal(0)).toFixed()

/**
 * A decimal text as a JSON number of the same value.
 *
 * @throws RangeError if no double prints as that decimal
 */
export const exactJsonNumber = (text: string): number => {
  const plain = decimalText(text)
  const number = Number(plain)
  if (plain === null || !new ExactDecimal(String(number)).equals(plain))
    throw new RangeError('not a decimal that a JSON number can carry exactly')
  return number
}

const maxUnits = 2_147_483_647

/** A whole number of units from 0 to the largest database integer, from a number or a string (`"2"`, `"2.0"`); null otherwise. */
export const wholeNumber = (value: unknown): number | null => {
  const text = decimalText(value)
  if (text === null) return null
  const number = Number(text)
  return Number.isInteger(number) && number >= 0 && number <= maxUnits ? number : null
}

const minDateMs = Date.UTC(1, 0, 1)
const maxDateMs = Date.UTC(9999, 11, 31)
/** A smaller number is no timestamp but something else: a day without its dashes, an index, a count. */
const minEpochMs = Date.UTC(2000, 0, 1)

/** ISO 8601 with at least a day. A space may replace the T, and an offset may have no colon. */
const isoForm = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?) ?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

/** `03/24/2022 9:29 am`: the form in the marketplace's guide to the inventory log. */
const americanForm = /^(\d{1,2})\/(\d{1,2})\/(\d{4})(?:,? (\d{1,2}):(\d{2})(?::(\d{2}))?(?: ?([ap])\.?m\.?)?)?$/i

const isoMs = ([, day = '', time = '00:00', zone = 'Z']: readonly string[]): number => {
  const offset = /^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2')
  // Date would read a day that the month does not have as one of the next month.
  if (new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) !== true) return Number.NaN
  return Date.parse(`${day}T${time.replace(',', '.')}${offset.toUpperCase()}`)
}

const americanMs = (
  [, month = '', date = '', year = '', hour = '0', minute = '0', second = '0', half]: readonly (string | undefined)[],
  calendar: Calendar,
): number => {
  const day = `${year}-${month.padStart(2, '0')}-${date.padStart(2, '0')}`
  const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0)
  const isHour = half === undefined ? Number(hour) <= 23 : Number(hour) >= 1 && Number(hour) <= 12
  const exists = new Date(`${day}T00:00:00Z`).toJSON()?.startsWith(day) === true
  if (!exists || !isHour || Number(minute) > 59 || Number(second) > 59) return Number.NaN
  return calendar.hour(day, hours).getTime() + Number(minute) * 60_000 + Number(second) * 1_000
}

const textMs = (text: string, calendar: Calendar | null): number => {
  const iso = isoForm.exec(text)
  if (iso !== null) return isoMs(iso)
  const american = calendar === null ? null : americanForm.exec(text)
  return american === null || calendar === null ? Number.NaN : americanMs(american, calendar)
}

/**
 * A timestamp from epoch milliseconds, epoch seconds (numbers or digits, from the year 2000 on), ISO 8601 text, or, if a calendar is given, the American form;
 * null if it is none of these. ISO 8601 without a zone is UTC; the American form is wall time of the calendar.
 */
export const parseTimestamp = (value: unknown, calendar: Calendar | null = null): Date | null => {
  const text = typeof value === 'string' ? value.trim() : ''
  const digits = typeof value === 'number' ? value : /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : null
  // 1e11 ms is 1973, 1e11 s is the year 5138: no marketplace means either.
  const epochMs = digits === null ? textMs(text, calendar) : Math.abs(digits) < 1e11 ? digits * 1000 : digits
  return epochMs > (digits === null ? minDateMs : minEpochMs) && epochMs < maxDateMs ? new Date(Math.trunc(epochMs)) : null
}
