import { Decimal } from 'decimal.js'
import { z } from 'zod'
import { isObject } from '../values/values.ts'
import { maxDataDepth, measureNesting } from './event-bounds.ts'
import type { EventFault, RawEvent } from './event-shape.ts'

/** What identifies an event, its type and its data (CloudEvents 1.0). */
export interface CloudEvent extends RawEvent {
  readonly source: string
  readonly id: string
}

/** An event whose envelope was read, as far as it can be, with every fault of the envelope; the event counts only if there is none. */
export interface ReadEnvelope {
  readonly event: CloudEvent | null
  readonly faults: readonly EventFault[]
}

const timestamp = z.iso.datetime({ offset: true, error: 'must be an RFC 3339 date and time, such as 2026-03-01T09:30:00Z' })
const jsonMediaType = /^application\/([\w.!#$&^-]+\+)?json$/i
/** Whether a media type, its parameters included, is JSON. */
export const isJsonMediaType = (text: string): boolean => jsonMediaType.test(text.split(';')[0]?.trim() ?? '')
const present = (name: string) => z.string(`${name} must be a text`).min(1, 'must not be empty')

/** Context attributes of CloudEvents 1.0, section 3.1; all others are extensions. */
const attributesSchema = z.looseObject({
  specversion: z.literal('1.0', 'must be 1.0'),
  id: present('id'),
  source: present('source').refine(
    (text) => URL.canParse(text, 'http://base.invalid/') && !/\s/.test(text),
    'must be a URI reference',
  ),
  type: present('type'),
  subject: present('subject').nullish(),
  time: timestamp.nullish(),
  dataschema: z
    .string()
    .refine((text) => URL.canParse(text), 'must be a URI')
    .nullish(),
  datacontenttype: z.string().refine(isJsonMediaType, 'must be a JSON type, such as application/json').nullish(),
})

/** The attributes that every event has. */
export const requiredAttributes = ['specversion', 'id', 'source', 'type'] as const

const nameOfMember = /^[a-z0-9]+$/

/** Reads the context attributes of an event, extensions among them, beside its data. */
export const readAttributes = (attributes: Readonly<Record<string, unknown>>, data: unknown): ReadEnvelope => {
  const parsed = attributesSchema.safeParse(attributes)
  const faults = (parsed.error?.issues ?? []).map((issue) => {
    const name = String(issue.path[0] ?? '')
    return { path: name, message: name !== '' && attributes[name] === undefined ? 'is missing' : issue.message }
  })
  for (const [name, value] of Object.entries(attributes)) {
    if (!nameOfMember.test(name))
      faults.push({ path: name, message: 'is not an attribute name: lower-case letters and digits only' })
    else if (typeof value === 'object' && value !== null)
      faults.push({ path: name, message: 'must be a text, a number or a boolean' })
  }
  if (!parsed.success) return { event: null, faults }
  const { id, source, type } = parsed.data
  return { event: { id, source, type, data }, faults }
}

/** A JSON text that was read; `broken`: it is not JSON; `fault`: it is, but must not be taken. */
export type ReadJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly broken: string }
  | { readonly ok: false; readonly broken: null; readonly fault: EventFault }

/** Levels of a body: those of an event's data plus the event and its batch; extensions are flat. Parsing with a reviver recurses. */
const maxBodyDepth = 2 * maxDataDepth

class Inexact extends Error {}

/** The third argument of a reviver, `{source}`, is newer than the type declarations: hence the rest parameter. */
const onlyExactNumbers = (...[, value, context]: readonly unknown[]): unknown => {
  if (typeof value !== 'number' || typeof context !== 'object' || context === null || !('source' in context)) return value
  const source = String(context.source)
  if (new Decimal(source).eq(value)) return value
  throw new Inexact(`contains the number ${source}, which would lose precision; send it as text`)
}

/** Reads a JSON text; numbers that would lose precision and nesting beyond the limit are faults. */
export const readExactJson = (text: string): ReadJson => {
  if (measureNesting(text) > maxBodyDepth)
    return { ok: false, broken: null, fault: { path: 'data', message: `is nested more than ${maxDataDepth} levels deep` } }
  try {
    return { ok: true, value: JSON.parse(text, onlyExactNumbers) }
  } catch (error) {
    if (error instanceof Inexact) return { ok: false, broken: null, fault: { path: '', message: error.message } }
    return { ok: false, broken: error instanceof Error ? error.message : 'The text is not JSON.' }
  }
}

/** Whether a charset is UTF-8 by one of its labels in the Encoding Standard, such as `utf8`, in any case. */
export const isUtf8Label = (label: string): boolean => {
  try {
    return new TextDecoder(label).encoding === 'utf-8'
  } catch {
    // It throws for unknown labels only.
    return false
  }
}

/** The text of bytes in UTF-8; null: they are none. */
export const utf8Of = (bytes: Uint8Array): string | null => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    // It throws for invalid bytes only.
    return null
  }
}

/** Data in Base64 (CloudEvents JSON format, section 3.1.1), which must be JSON. */
const fromBase64 = (encoded: unknown): { readonly value: unknown } | { readonly fault: EventFault } => {
  const wrong = (message: string, path = 'data_base64') => ({ fault: { path, message } })
  if (typeof encoded !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return wrong('must be a text in Base64')
  const text = utf8Of(Buffer.from(encoded, 'base64'))
  if (text === null) return wrong('must be JSON in Base64: what it decodes to is not UTF-8')
  const read = readExactJson(text)
  if (read.ok) return { value: read.value }
  if (read.broken !== null) return wrong(`must be JSON in Base64: ${read.broken}`)
  return wrong(read.fault.message, read.fault.path || 'data_base64')
}

/** Reads an event in the JSON format of CloudEvents 1.0 (structured mode, an element of a batch, the data of a job). */
export const readStructuredEvent = (value: unknown): ReadEnvelope => {
  if (!isObject(value)) return { event: null, faults: [{ path: '', message: 'must be an object: a CloudEvent' }] }
  const { data, data_base64: encoded, ...attributes } = value
  if (encoded === undefined) return readAttributes(attributes, data ?? null)
  const decoded = fromBase64(encoded)
  const { event, faults } = readAttributes(attributes, 'value' in decoded ? decoded.value : null)
  if (data !== undefined)
    return {
      event,
      faults: [...faults, { path: 'data_base64', message: 'is sent together with data; only one of them is allowed' }],
    }
  return 'fault' in decoded ? { event, faults: [...faults, decoded.fault] } : { event, faults }
}
