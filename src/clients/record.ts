import type { z } from 'zod'
import type { Calendar } from '../domain/calendar.ts'
import { isObject } from '../domain/values.ts'
import type { ClientHooks, UnknownValueReport } from './client-parts.ts'
import type { CutRecord } from './json.ts'
import { asRecord, jsonOrNull, moment, parseExact } from './json.ts'

/** One record of an answer: understood, or kept as the text that it was. `rawText` is the marketplace's own JSON, byte for byte. */
export type ParsedRecord<T> =
  | { readonly ok: true; readonly key: string; readonly value: T; readonly rawText: string }
  | { readonly ok: false; readonly key: string | null; readonly fault: string; readonly rawText: string }

/** One record with when it was true, on the marketplace's clock: for a read when it was asked, for a write when it was answered. */
export interface Observed<T> {
  readonly record: ParsedRecord<T>
  readonly observedAt: Date
  readonly correlationId: string
  readonly httpStatus: number
}

/** One page of records. `totalCount` counts the first page's view only; `nextCursor` is null on the last page. */
export interface Page<T> {
  readonly records: readonly ParsedRecord<T>[]
  readonly totalCount: number | null
  readonly nextCursor: string | null
  readonly observedAt: Date
  readonly marketplaceNow: Date
  readonly correlationId: string
}

/** Counts a value outside the known set. */
export type OnUnknownValue = NonNullable<ClientHooks['onUnknownValue']>

/** How records of one resource are read. */
export interface RecordReader<Wire, T> {
  readonly resource: UnknownValueReport['resource']
  readonly schema: z.ZodType<Wire>
  /** Field that names the record; or how its name is made of it, null when that cannot be. */
  readonly keyField: string | ((raw: Readonly<Record<string, unknown>>) => string | null)
  /** The normal form; throws `RecordFault` for what the schema cannot express. `raw` is the record before the schema saw it. */
  readonly toDomain: (wire: Wire, raw: Readonly<Record<string, unknown>>, onUnknownValue: OnUnknownValue) => T
}

/** Why a record cannot be read. The message names fields, never their contents. */
export class RecordFault extends Error {}

const maxIssues = 5

const faultOf = (error: z.ZodError): string => {
  const issues = error.issues
    .slice(0, maxIssues)
    .map((issue) => `${issue.path.map(String).join('.') || 'record'}: ${issue.message}`)
  const more = error.issues.length - issues.length
  return more > 0 ? `${issues.join('; ')}; and ${more} more` : issues.join('; ')
}

/** A NUL, or half of a surrogate pair: no name has these, and no database keeps them. */
const isText = (name: string): boolean => name.isWellFormed() && !name.includes('\0')

/** Reads one record. Never throws for anything that a record may hold: what cannot be read comes back as its text. */
export const readRecord = <Wire, T>(
  reader: RecordReader<Wire, T>,
  record: CutRecord,
  onUnknownValue: OnUnknownValue,
): ParsedRecord<T> => {
  const rawText = record.text
  if (record.isTooDeep) return { ok: false, key: null, fault: 'record: nested too deeply', rawText }
  let raw: unknown
  try {
    raw = parseExact(record)
  } catch (error) {
    if (error instanceof SyntaxError) return { ok: false, key: null, fault: 'record: not valid JSON', rawText }
    throw error
  }
  if (!isObject(raw)) return { ok: false, key: null, fault: 'record: not an object', rawText }
  const { keyField } = reader
  const named = typeof keyField === 'string' ? raw[keyField] : keyField(raw)
  const key = typeof named === 'string' && named !== '' ? named : typeof named === 'number' ? String(named) : null
  if (key !== null && !isText(key)) {
    const readable = key.toWellFormed().replaceAll('\0', '\ufffd')
    return { ok: false, key: readable, fault: 'key: holds a NUL or half a character', rawText }
  }
  const parsed = reader.schema.safeParse(raw)
  if (!parsed.success) return { ok: false, key, fault: faultOf(parsed.error), rawText }
  if (key === null)
    return {
      ok: false,
      key,
      fault: typeof keyField === 'string' ? `${keyField}: missing` : 'key: missing or not readable',
      rawText,
    }
  try {
    return { ok: true, key, value: reader.toDomain(parsed.data, raw, onUnknownValue), rawText }
  } catch (error) {
    if (error instanceof RecordFault) return { ok: false, key, fault: error.message, rawText }
    throw error
  }
}

/** Reads a record from its JSON text, or from a value that was parsed before (its numbers are then as good as that parser left them). */
export const readAny = <Wire, T>(reader: RecordReader<Wire, T>, raw: unknown, onUnknownValue: OnUnknownValue): ParsedRecord<T> =>
  readRecord(reader, asRecord(typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? 'null')), onUnknownValue)

/** Text of a field, or null; a number is written out, an empty text counts as absent. */
export const textOf = (value: string | number | null | undefined): string | null =>
  value === undefined || value === null || value === '' ? null : String(value)

/** How moments of records are read. */
export interface MomentReading {
  /** A moment of a record; null when there is none, and counted when there is something that cannot be read as one. */
  readonly momentOf: (
    value: string | number | null | undefined,
    where: Pick<UnknownValueReport, 'resource' | 'field'>,
    onUnknownValue: OnUnknownValue,
  ) => Date | null
  /** The moment in a field of a record's JSON text, although the record may not be readable; null where there is none. */
  readonly momentInText: (rawText: string, field: string) => Date | null
}

/** Reads moments; those without a zone of their own in the form that means wall time, by this calendar (see {@link moment}). */
export const momentReading = (calendar: Calendar): MomentReading => ({
  momentOf: (value, where, onUnknownValue) => {
    const read = moment(value, calendar)
    if (read === null && textOf(value) !== null) onUnknownValue({ ...where, value: String(value) })
    return read
  },
  momentInText: (rawText, field) => {
    const raw = jsonOrNull(rawText)
    return isObject(raw) ? moment(raw[field], calendar) : null
  },
})

/** The element at `index` of a raw array, for keeping it beside what was read from it. */
export const rawAt = (list: unknown, index: number): unknown => (Array.isArray(list) ? list[index] : undefined)

/** The value under `keys` of a raw object, one below the other. */
export const rawUnder = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value)
