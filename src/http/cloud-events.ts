import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import {
  isJsonMediaType,
  isUtf8Label,
  readAttributes,
  readExactJson,
  readStructuredEvent,
  requiredAttributes,
  utf8Of,
} from '../domain/events/cloud-event.ts'
import { isObject } from '../domain/values/values.ts'
import type { IncomingEvent } from '../store/events/events.ts'
import { Problem, type ProblemFault } from './problems.ts'

/** Content modes of events (CloudEvents 1.0, HTTP protocol binding). */
export type EventMode = 'binary' | 'structured' | 'batch'

/** Media types of events. JSON without `ce-*` headers is structured or batch mode, by its body: generated clients post only that. */
export const eventMediaTypes = {
  json: 'application/json',
  structured: 'application/cloudevents+json',
  batch: 'application/cloudevents-batch+json',
} as const

/** The events of a request with valid envelopes, or every error of the envelopes. */
export type ParsedEvents =
  | { readonly ok: true; readonly mode: EventMode; readonly events: readonly IncomingEvent[] }
  | { readonly ok: false; readonly faults: readonly ProblemFault[] }

/** Parses a JSON body. Refuses numbers that would lose precision, and nesting beyond the limit. @throws Problem */
const parseJsonBody = (body: Buffer): unknown => {
  const text = utf8Of(body)
  if (text === null) throw new Problem('malformed-json', { detail: 'The body is not UTF-8.' })
  const read = readExactJson(text)
  if (read.ok) return read.value
  if (read.broken !== null) throw new Problem('malformed-json', { detail: read.broken })
  throw new Problem('invalid-event', { detail: 'There is one error; nothing was accepted.', errors: [read.fault] })
}

// ── structured and batch ─────────────────────────────────────────────────────────────────────────────────

const parseBatch = (value: unknown, max: number): ParsedEvents => {
  if (!Array.isArray(value)) return { ok: false, faults: [{ path: '', message: 'must be an array of CloudEvents' }] }
  if (value.length > max) return { ok: false, faults: [{ path: '', message: `must contain at most ${max} events` }] }
  const parsed = value.map(readStructuredEvent)
  const faults = parsed.flatMap((one, index) => one.faults.map((fault) => placeInBatch(index, fault)))
  if (faults.length > 0) return { ok: false, faults }
  return { ok: true, mode: 'batch', events: parsed.flatMap(({ event }) => (event === null ? [] : [event])) }
}

/** An error with its path from the beginning of the batch. */
export const placeInBatch = (index: number, { path, message }: ProblemFault): ProblemFault => ({
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

const parseBinary = (request: IncomingMessage, contentType: string, data: unknown): ParsedEvents => {
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
  const reportedPaths = new Set(faults.map(({ path }) => path))
  const { event, faults: attributeFaults } = readAttributes(attributes, data)
  faults.push(...attributeFaults.filter(({ path }) => !reportedPaths.has(path)))
  if (faults.length > 0 || event === null) return { ok: false, faults }
  return { ok: true, mode: 'binary', events: [event] }
}

const findMediaType = (headers: IncomingHttpHeaders): string => headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''

const parseStructured = (value: unknown): ParsedEvents => {
  const { event, faults } = readStructuredEvent(value)
  if (event === null || faults.length > 0) return { ok: false, faults }
  return { ok: true, mode: 'structured', events: [event] }
}

/** The mode of a request with JSON. Data of events never have a member with the name of a required attribute. */
const findJsonMode = ({ headers }: IncomingMessage, value: unknown): EventMode => {
  if (Object.keys(headers).some((header) => header.startsWith('ce-'))) return 'binary'
  if (Array.isArray(value)) return 'batch'
  return isObject(value) && requiredAttributes.some((name) => Object.hasOwn(value, name)) ? 'structured' : 'binary'
}

/** Extracts the events of a request, from a batch up to a maximum. @throws Problem when the body is not JSON */
export const parseEvents = (request: IncomingMessage, body: Buffer, maxInBatch: number): ParsedEvents => {
  const mediaType = findMediaType(request.headers)
  if (mediaType === eventMediaTypes.batch) return parseBatch(parseJsonBody(body), maxInBatch)
  if (mediaType === eventMediaTypes.structured) return parseStructured(parseJsonBody(body))
  const value = body.length === 0 ? null : parseJsonBody(body)
  const mode = mediaType === eventMediaTypes.json ? findJsonMode(request, value) : 'binary'
  if (mode === 'batch') return parseBatch(value, maxInBatch)
  return mode === 'structured' ? parseStructured(value) : parseBinary(request, mediaType, value)
}

/** Whether a body of this type can contain events: JSON in UTF-8. */
export const mayContainEvents = (contentType: string): boolean => {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1] ?? 'utf-8'
  return isUtf8Label(charset) && isJsonMediaType(contentType)
}
