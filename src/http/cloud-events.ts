import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isJsonMediaType, readAttributes, readExactJson, readStructuredEvent, utf8Of } from '../domain/cloud-event.ts'
import type { IncomingEvent } from '../store/events.ts'
import { Problem, type ProblemFault } from './problems.ts'

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

/** Parses a JSON body; refuses numbers that would lose precision, and nesting beyond the limit. @throws Problem */
const parseJsonBody = (body: Buffer): unknown => {
  const text = utf8Of(body)
  if (text === null) throw new Problem('malformed-json', { detail: 'The body is not UTF-8.' })
  const read = readExactJson(text)
  if (read.ok) return read.value
  if (read.broken !== null) throw new Problem('malformed-json', { detail: read.broken })
  throw new Problem('invalid-event', { detail: 'There is one fault; nothing was accepted.', errors: [read.fault] })
}

// ── structured and batch ─────────────────────────────────────────────────────────────────────────────────

const batchEvents = (value: unknown, most: number): ParsedEvents => {
  if (!Array.isArray(value)) return { ok: false, faults: [{ path: '', message: 'must be an array of CloudEvents' }] }
  if (value.length > most) return { ok: false, faults: [{ path: '', message: `must contain at most ${most} events` }] }
  const parsed = value.map(readStructuredEvent)
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
  const { event, faults: wrong } = readAttributes(attributes, body.length === 0 ? null : parseJsonBody(body))
  faults.push(...wrong.filter(({ path }) => !told.has(path)))
  if (faults.length > 0 || event === null) return { ok: false, faults }
  return { ok: true, mode: 'binary', events: [event] }
}

const mediaTypeOf = (headers: IncomingHttpHeaders): string => headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''

/** Extracts the events of a request, from a batch up to a maximum. @throws Problem when the body is not JSON */
export const parseEvents = (request: IncomingMessage, body: Buffer, mostInBatch: number): ParsedEvents => {
  const mediaType = mediaTypeOf(request.headers)
  if (mediaType === eventMediaTypes.batch) return batchEvents(parseJsonBody(body), mostInBatch)
  if (mediaType !== eventMediaTypes.structured) return binaryEvent(request, mediaType, body)
  const { event, faults } = readStructuredEvent(parseJsonBody(body))
  if (event === null || faults.length > 0) return { ok: false, faults }
  return { ok: true, mode: 'structured', events: [event] }
}

/** Whether a body of this type may carry events. */
export const carriesEvents = (contentType: string): boolean => {
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]?.toLowerCase() ?? 'utf-8'
  return charset === 'utf-8' && isJsonMediaType(contentType)
}
