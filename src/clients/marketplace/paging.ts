import type { Answer, Call } from '../http/call.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Caller } from '../http/caller.ts'
import { wholeNumber } from '../http/json.ts'
import type { OnUnknownValue, Page, RecordReader } from '../http/record.ts'
import { readRecord } from '../http/record.ts'
import { mapInTimeSlices } from '../http/time-slices.ts'

/** Parses the envelope of a page without its records; null if the document is no page. */
export type ReadEnvelope = (
  envelope: unknown,
) => { readonly totalCount: unknown; readonly nextCursor: string | null | undefined } | null

const emptyEnvelope = { totalCount: 0, nextCursor: null }
const maxPages = 10_000

/** A date for query parameters, in seconds, since milliseconds are refused. Rounded down for a start and up for an end, so that windows only widen. */
export const wireDate = (date: Date, edge: 'from' | 'to'): string => {
  const round = edge === 'from' ? Math.floor : Math.ceil
  return new Date(round(date.getTime() / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** A query string of the defined parameters, in the given order. */
export const queryString = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** A cursor is a whole query string. It is appended unchanged, never decoded, encoded or sent as a parameter (public facts, section 2.2). */
export const withCursor = (path: string, cursor: string): string => {
  return cursor.startsWith('?') ? `${path}${cursor}` : `${path}?${cursor}`
}

/** A list call of an operation. */
export const buildListCall = (operation: Call['operation'], target: string, recordsAt: readonly string[]): Call => ({
  operation,
  method: 'GET',
  target,
  body: null,
  recordsAt,
})

const buildCursor = (nextCursor: string | null | undefined): string | null => {
  if (nextCursor === undefined || nextCursor === null || nextCursor === '') return null
  return /[?&]hasMoreElements=false(?:&|$)/i.test(nextCursor) ? null : nextCursor
}

/** Fetches and parses one page, record by record. "Not found" is an empty page. */
export const fetchPage = async <Wire, T>(
  caller: Caller,
  call: Call,
  options: CallOptions,
  reader: RecordReader<Wire, T>,
  readEnvelope: ReadEnvelope,
  onUnknownValue: OnUnknownValue,
): Promise<Page<T>> => await readPage(caller, call, await caller.call(call, options), reader, readEnvelope, onUnknownValue)

/**
 * Parses an answer as a page, record by record. "Not found" is an empty page.
 *
 * @throws MarketplaceFailure if the answer is no page
 */
export const readPage = async <Wire, T>(
  caller: Caller,
  call: Call,
  answer: Answer,
  reader: RecordReader<Wire, T>,
  readEnvelope: ReadEnvelope,
  onUnknownValue: OnUnknownValue,
): Promise<Page<T>> => {
  const envelope = answer.found ? readEnvelope(answer.envelope) : emptyEnvelope
  if (envelope === null) throw caller.unexpectedAnswer(call, answer)
  const compare = caller.compareRecords(call.operation)
  return {
    records: await mapInTimeSlices(answer.records, (record) => [readRecord(reader, record, onUnknownValue, compare)]),
    totalCount: wholeNumber(envelope.totalCount),
    nextCursor: buildCursor(envelope.nextCursor),
    observedAt: caller.clock.at(answer.sentMs),
    marketplaceNow: caller.clock.now(),
    correlationId: answer.correlationId,
  }
}

/** The error of a cursor loop: the marketplace returned a cursor for the second time, or too many pages. */
export type CreateLoopError = (page: Page<unknown>) => Error

/** All pages, one after another. Two consecutive empty pages are the end, even with a cursor. */
export const iteratePages = async function* <T>(
  first: () => Promise<Page<T>>,
  next: (cursor: string) => Promise<Page<T>>,
  createLoopError: CreateLoopError,
): AsyncGenerator<Page<T>, void, undefined> {
  const seen = new Set<string>()
  let page = await first()
  for (;;) {
    yield page
    const { nextCursor } = page
    if (nextCursor === null) return
    if (seen.has(nextCursor) || seen.size >= maxPages) throw createLoopError(page)
    seen.add(nextCursor)
    const following = await next(nextCursor)
    if (following.records.length === 0 && page.records.length === 0) return
    page = following
  }
}
