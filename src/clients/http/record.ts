import type { z } from 'zod'
import type { Shape } from '../../domain/drift/shape.ts'
import type { Calendar } from '../../domain/values/calendar.ts'
import { normalSku } from '../../domain/values/text.ts'
import { isObject } from '../../domain/values/values.ts'
import type { ClientHooks, UnknownValueReport } from './client-parts.ts'
import type { CutRecord } from './json.ts'
import { asRecord, jsonOrNull, parseExact, parseTimestamp } from './json.ts'

/** One record of an answer: parsed, or unreadable with its text. `rawText` is the marketplace's own JSON, as in `CutRecord`. */
export type ParsedRecord<T> =
  | { readonly ok: true; readonly key: string; readonly value: T; readonly rawText: string }
  | { readonly ok: false; readonly key: string | null; readonly fault: string; readonly rawText: string }

/** One record with the time of its state on the marketplace's clock: of the request for a read, of the answer for a write. */
export interface Observed<T> {
  readonly record: ParsedRecord<T>
  readonly observedAt: Date
  readonly correlationId: string
  readonly httpStatus: number
}

/** One page of records. `totalCount` is the count at the first page; `nextCursor` is null on the last page. */
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

/**
 * Compares a record of an answer with its published form, and reports what differs. Never throws. `odd`: the record is unreadable or has an unknown value, and is
 * always compared; of the others a part is.
 */
export type CompareRecord = (published: Shape, raw: unknown, odd: boolean) => void

/** How records of one resource are read. */
export interface RecordReader<Wire, T> {
  readonly resource: UnknownValueReport['resource']
  readonly schema: z.ZodType<Wire>
  /** The published form of a record. */
  readonly published: Shape
  /** The field with the key of the record, or a function that builds the key; null if that is impossible. */
  readonly keyField: string | ((raw: Readonly<Record<string, unknown>>) => string | null)
  /** The domain form; throws `RecordFault` for errors that the schema cannot express. `raw` is the record before validation. */
  readonly toDomain: (wire: Wire, raw: Readonly<Record<string, unknown>>, onUnknownValue: OnUnknownValue) => T
}

/** Why a record cannot be read. The message names fields, never their contents. */
export class RecordFault extends Error {}

const maxIssues = 5

const formatIssues = (error: z.ZodError): string => {
  const issues = error.issues
    .slice(0, maxIssues)
    .map((issue) => `${issue.path.map(String).join('.') || 'record'}: ${issue.message}`)
  const more = error.issues.length - issues.length
  return more > 0 ? `${issues.join('; ')}; and ${more} more` : issues.join('; ')
}

const parseObject = <Wire, T>(
  { schema, keyField, toDomain }: RecordReader<Wire, T>,
  raw: Readonly<Record<string, unknown>>,
  { key, rawText }: { readonly key: string | null; readonly rawText: string },
  onUnknownValue: OnUnknownValue,
): ParsedRecord<T> => {
  const parsed = schema.safeParse(raw)
  if (!parsed.success) return { ok: false, key, fault: formatIssues(parsed.error), rawText }
  if (key === null)
    return {
      ok: false,
      key,
      fault: typeof keyField === 'string' ? `${keyField}: missing` : 'key: missing or not readable',
      rawText,
    }
  try {
    return { ok: true, key, value: toDomain(parsed.data, raw, onUnknownValue), rawText }
  } catch (error) {
    if (error instanceof RecordFault) return { ok: false, key, fault: error.message, rawText }
    throw error
  }
}

/** Parses one record. Never throws for the contents of a record: an unreadable one is returned as its text. `compare`: for a record of an answer. */
export const readRecord = <Wire, T>(
  reader: RecordReader<Wire, T>,
  record: CutRecord,
  onUnknownValue: OnUnknownValue,
  compare?: CompareRecord,
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
  const keyValue = typeof keyField === 'string' ? raw[keyField] : keyField(raw)
  const key = typeof keyValue === 'string' && keyValue !== '' ? keyValue : typeof keyValue === 'number' ? String(keyValue) : null
  // The characters that U+FFFD has replaced are lost, so two records could get the same key. A U+FFFD of the marketplace itself is valid.
  if (key?.includes('\ufffd') === true && record.text !== record.original)
    return { ok: false, key, fault: 'key: holds a NUL or half a character', rawText: record.original }
  let odd = false
  const parsed = parseObject(reader, raw, { key, rawText }, (report) => {
    odd = true
    onUnknownValue(report)
  })
  compare?.(reader.published, raw, odd || !parsed.ok)
  return parsed
}

/** Parses a record from its JSON text, or from a value that was parsed before (whose numbers may have lost precision). */
export const parseRecord = <Wire, T>(
  reader: RecordReader<Wire, T>,
  raw: unknown,
  onUnknownValue: OnUnknownValue,
): ParsedRecord<T> =>
  readRecord(reader, asRecord(typeof raw === 'string' ? raw : (JSON.stringify(raw) ?? 'null')), onUnknownValue)

/** Text of a field, or null. A number is converted; an empty text counts as absent. */
export const toText = (value: string | number | null | undefined): string | null =>
  value === undefined || value === null || value === '' ? null : String(value)

/** The SKU of a field in its normal form, or null. White space counts as absent. */
export const parseSku = (value: string | number | null | undefined): string | null => toText(normalSku(toText(value) ?? ''))

/** Parses timestamps of records. */
export interface TimestampParser {
  /** A timestamp of a record; null if it is absent or unreadable. An unreadable one is counted. */
  readonly parseTimestamp: (
    value: string | number | null | undefined,
    where: Pick<UnknownValueReport, 'resource' | 'field'>,
    onUnknownValue: OnUnknownValue,
  ) => Date | null
  /** The timestamp in a field of a record's JSON text, which may be unreadable as a record; null if there is none. */
  readonly findTimestamp: (rawText: string, field: string) => Date | null
}

/** Parses timestamps. The calendar is the zone of the form that means wall time (see {@link parseTimestamp}). */
export const createTimestampParser = (calendar: Calendar): TimestampParser => ({
  parseTimestamp: (value, where, onUnknownValue) => {
    const read = parseTimestamp(value, calendar)
    if (read === null && toText(value) !== null) onUnknownValue({ ...where, value: String(value) })
    return read
  },
  findTimestamp: (rawText, field) => {
    const raw = jsonOrNull(rawText)
    return isObject(raw) ? parseTimestamp(raw[field], calendar) : null
  },
})

/** The element at `index` of a raw list, to be stored with its parsed form. A value that is no list is its only element. */
export const rawAt = (list: unknown, index: number): unknown =>
  Array.isArray(list) ? list[index] : index === 0 ? list : undefined

/** The value at a path of keys in a raw object. */
export const rawUnder = (value: unknown, ...keys: readonly string[]): unknown =>
  keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), value)
