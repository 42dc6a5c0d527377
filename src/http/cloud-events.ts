import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Decimal } from 'decimal.js'
import { z } from 'zod'
import { maxDataDepth, nestingOf } from '../domain/event-bounds.ts'
import { isObject } from '../domain/values.ts'
import type { IncomingEvent } from '../store/events.ts'
import { Problem, type ProblemFault, pathText } from './problems.ts'

/** Content modes of events (CloudEvents 1.0, HTTP protocol binding). */
export type EventMode = 'binary' | 'structured' | 'batch'

/** Media types of events, in addition to JSON for binary mode. */
export const eventMediaTypes = {
  structured: 'application/cloudevents+json',
  batch: 'application/cloudevents-batch+json',
} as const

/** The events of a request, each envelope checked, or every fault of the envelopes. */
export type ParsedEvents =
  | { readonly ok: true; readonly mode: EventMode; readonly events: readonly IncomingEvent[] }
  | { readonly ok: false; readonly faults: readonly ProblemFault[] }

const timestamp = z.iso.datetime({ offset: true, error: 'must be an RFC 3339 date and time, such as 2026-03-01T09:30:00Z' })
const jsonMediaType = /^application\/([\w.!#$&^-]+\+)?json$/i
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
  datacontenttype: z
    .string()
    .refine((text) => jsonMediaType.test(text.split(';')[0]?.trim() ?? ''), 'must be a JSON type, such as application/json')
    .nullish(),
})

const nameOfMember = /^[a-z0-9]+$/

/** What names an event; null: that cannot be read. With every fault of the attributes. */
interface ReadAttributes {
  readonly named: Omit<IncomingEvent, 'data'> | null
  readonly faults: readonly ProblemFault[]
}

const readAttributes = (attributes: Readonly<Record<string, unknown>>): ReadAttributes => {
  const parsed = attributesSchema.safeParse(attributes)
  const faults = (parsed.error?.issues ?? []).map((issue) => ({
    path: pathText(issue.path),
    message: issue.path[0] !== undefined && attributes[String(issue.path[0])] === undefined ? 'is missing' : issue.message,
  }))
  for (const [name, value] of Object.entries(attributes)) {
    if (!nameOfMember.test(name))
      faults.push({ path: name, message: 'is not an attribute name: lower-case letters and digits only' })
    else if (typeof value === 'object' && value !== null)
      faults.push({ path: name, message: 'must be a text, a number or a boolean' })
  }
  if (!parsed.success) return { named: null, faults }
  const { id, source, type } = parsed.data
  return { named: { id, source, type }, faults }
}

const withData = (named: ReadAttributes['named'], data: unknown): IncomingEvent | null =>
  named === null ? null : { ...named, data }

/** The third argument of a reviver, `{source}`, is newer than the type declarations: hence the rest parameter. */
const onlyExactNumbers = (...[, value, context]: readonly unknown[]): unknown => {
  if (typeof value !== 'number' || typeof context !== 'object' || context === null || !('source' in context)) return value
  const source = String(context.source)
  if (new Decimal(source).eq(value)) return value
  const message = `contains the number ${source}, which would lose precision; send it as text`
  throw new Problem('invalid-event', { detail: 'There is one fault; nothing was accepted.', errors: [{ path: '', message }] })
}

/** Levels of a body: those of an event's data plus the event and its batch; extensions are flat. Parsing with a reviver recurses. */
const maxBodyDepth = 2 * maxDataDepth

const refuseDepth = (text: string): void => {
  if (nestingOf(text) <= maxBodyDepth) return
  const errors = [{ path: 'data', message: `is nested more than ${maxDataDepth} levels deep` }]
  throw new Problem('invalid-event', { detail: 'There is one fault; nothing was accepted.', errors })
}

/** Parses a JSON body; refuses numbers that would lose precision, and nesting beyond the limit. @throws Problem */
const parseJsonBody = (body: Buffer): unknown => {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    // It throws for invalid bytes only.
    throw new Problem('malformed-json', { detail: 'The body is not UTF-8.' })
  }
  refuseDepth(text)
  try {
    return JSON.parse(text, onlyExactNumbers)
  } catch (error) {
    if (error instanceof Problem) throw error
    throw new Problem('malformed-json', { detail: error instanceof Error ? error.message : 'The body is not JSON.' })
  }
}

// ── structured and batch ─────────────────────────────────────────────────────────────────────────────────

const fromBase64 = (text: unknown): unknown => {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  const decoded = Buffer.from(text, 'base64').toString('utf8')
  refuseDepth(decoded)
  try {
    return JSON.parse(decoded, onlyExactNumbers)
  } catch (error) {
    if (error instanceof Problem) throw error
    // Not JSON: the caller reports it as a fault.
    return undefined
  }
}

const structuredEvent = (value: unknown): { event: IncomingEvent | null; faults: ProblemFault[] } => {
  if (!isObject(value)) return { event: null, faults: [{ path: '', message: 'must be an object: a CloudEvent' }] }
  const { data, data_base64: encoded, ...attributes } = value
  const { named, faults: wrong } = readAttributes(attributes)
  const faults = [...wrong]
  if (encoded === undefined) return { event: withData(named, data ?? null), faults }
  const decoded = fromBase64(encoded)
  if (data !== undefined) faults.push({ path: 'data_base64', message: 'is sent together with data; only one of them is allowed' })
  else if (decoded === undefined) faults.push({ path: 'data_base64', message: 'must be JSON in Base64' })
  return { event: withData(named, decoded ?? null), faults }
}

const batchEvents = (value: unknown, most: number): ParsedEvents => {
  if (!Array.isArray(value)) return { ok: false, faults: [{ path: '', message: 'must be an array of CloudEvents' }] }
  if (value.length > most) return { ok: false, faults: [{ path: '', message: `must contain at most ${most} events` }] }
  const parsed = value.map(structuredEvent)
  const faults = parsed.flatMap((one, index) => one.faults.map((fault) => inBatch(index, fault)))
  if (faults.length > 0) return { ok: false, faults }
  return { ok: true, mode: 'batch', events: parsed.flatMap(({ event }) => (event === null ? [] : [event])) }
}

/** A fault as reported for an event in a batch. */
export const inBatch = (index: number, { path, message }: ProblemFault): ProblemFault => ({
  path: path === '' ? `[${index}]` : `[${index}].${path}`,
  message,
})

// ── binary ───────────────────────────────────────────────────────────────────────────────────────────────

const decodeHeader = (raw: string): string | null => {
  const quoted = /^"(.*)"$/s.exec(raw.trim())
  const text = quoted?.[1] === undefined ? raw.trim() : quoted[1].replace(/\\(.)/gs, '$1')
  // Characters outside of ASCII must be percent-encoded; Node would decode them as Latin-1.
  if (/[^\x20-\x7e]/.test(text)) return null
  try {
    return decodeURIComponent(text)
  } catch {
    // A single percent sign, or bytes that are not UTF-8.
    return null
  }
}

const binaryEvent = (request: IncomingMessage, contentType: string, body: Buffer): ParsedEvents => {
  const faults: ProblemFault[] = []
  const attributes: Record<string, unknown> = { datacontenttype: contentType }
  for (const [header, values = []] of Object.entries(request.headersDistinct)) {
    if (!header.startsWith('ce-')) continue
    const name = header.slice('ce-'.length)
    const value = decodeHeader(values[0] ?? '')
    if (name === 'datacontenttype')
      faults.push({ path: name, message: 'must not be sent as a header ce-datacontenttype: use content-type' })
    else if (values.length > 1) faults.push({ path: name, message: `is sent ${values.length} times` })
    else if (value === null) faults.push({ path: name, message: 'is not percent-encoded as the HTTP binding requires' })
    else attributes[name] = value
  }
  const told = new Set(faults.map(({ path }) => path))
  const { named, faults: wrong } = readAttributes(attributes)
  faults.push(...wrong.filter(({ path }) => !told.has(path)))
  const event = withData(named, body.length === 0 ? null : parseJsonBody(body))
  if (faults.length > 0 || event === null) return { ok: false, faults }
  return { ok: true, mode: 'binary', events: [event] }
}

const mediaTypeOf = (headers: IncomingHttpHeaders): string => headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''

/** Extracts the events of a request, from a batch up to a maximum. @throws Problem when the body is not JSON */
export const parseEvents = (request: IncomingMessage, body: Buffer, mostInBatch: number): ParsedEvents => {
  const mediaType = mediaTypeOf(request.headers)
  if (mediaType === eventMediaTypes.batch) return batchEvents(parseJsonBody(body), mostInBatch)
  if (mediaType !== eventMediaTypes.structured) return binaryEvent(request, mediaType, body)
  const { event, faults } = structuredEvent(parseJsonBody(body))
  if (event === null || faults.length > 0) return { ok: false, faults }
  return { ok: true, mode: 'structured', events: [event] }
}

/** Whether a body of this type may carry events. */
export const carriesEvents = (contentType: string): boolean => {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? 'utf-8'
  return charset === 'utf-8' && jsonMediaType.test(contentType.split(';')[0]?.trim() ?? '')
}
