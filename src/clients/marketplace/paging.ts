import type { CallOptions } from '../call-options.ts'
import type { Answer, Call, Caller } from '../caller.ts'
import { wholeNumber } from '../json.ts'
import type { OnUnknownValue, Page, RecordReader } from '../record.ts'
import { readRecord } from '../record.ts'
import { readInTurns } from '../turns.ts'

/** What a page says beside its records, after its schema; null when the page is not one. */
export type ReadEnvelope = (
  envelope: unknown,
) => { readonly totalCount: unknown; readonly nextCursor: string | null | undefined } | null

const nothing = { totalCount: 0, nextCursor: null }
const maxPages = 10_000

/** A date as query parameters take it: to the second, since milliseconds are refused. Cut down for a start, up for an end: windows only widen. */
export const wireDate = (date: Date, edge: 'from' | 'to'): string => {
  const round = edge === 'from' ? Math.floor : Math.ceil
  return new Date(round(date.getTime() / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}

/** A query string of what is defined, in the order given. */
export const queryString = (parameters: Readonly<Record<string, string | number | undefined>>): string => {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** A cursor is a whole query string: it is appended as it is, never decoded, encoded or made a parameter (public facts, section 2.2). */
export const withCursor = (path: string, cursor: string): string => {
  return cursor.startsWith('?') ? `${path}${cursor}` : `${path}?${cursor}`
}

/** A list call of an operation. */
export const listCall = (operation: Call['operation'], target: string, recordsAt: readonly string[]): Call => ({
  operation,
  method: 'GET',
  target,
  body: null,
  recordsAt,
})

const cursorOf = (nextCursor: string | null | undefined): string | null => {
  if (nextCursor === undefined || nextCursor === null || nextCursor === '') return null
  return /[?&]hasMoreElements=false(?:&|$)/i.test(nextCursor) ? null : nextCursor
}

/** Fetches and reads one page, record by record. "None there" is an empty page. */
export const fetchPage = async <Wire, T>(
  caller: Caller,
  call: Call,
  options: CallOptions,
  reader: RecordReader<Wire, T>,
  readEnvelope: ReadEnvelope,
  onUnknownValue: OnUnknownValue,
): Promise<Page<T>> => await readPage(caller, call, await caller.call(call, options), reader, readEnvelope, onUnknownValue)

/**
 * Reads an answer as a page, record by record. "None there" is an empty page.
 *
 * @throws MarketplaceFailure when the answer is no page
 */
export const readPage = async <Wire, T>(
  caller: Caller,
  call: Call,
  answer: Answer,
  reader: RecordReader<Wire, T>,
  readEnvelope: ReadEnvelope,
  onUnknownValue: OnUnknownValue,
): Promise<Page<T>> => {
  const said = answer.found ? readEnvelope(answer.envelope) : nothing
  if (said === null) throw caller.misfit(call, answer)
  return {
    records: await readInTurns(answer.records, (record) => [readRecord(reader, record, onUnknownValue)]),
    totalCount: wholeNumber(said.totalCount),
    nextCursor: cursorOf(said.nextCursor),
    observedAt: caller.clock.at(answer.sentMs),
    marketplaceNow: caller.clock.now(),
    correlationId: answer.correlationId,
  }
}

/** A walk that does not end: the marketplace gave a cursor for the second time, or more pages than any window holds. */
export type EndlessWalk = (page: Page<unknown>) => Error

/** All pages from the first one on, one after another. Two empty pages in a row end the walk, whatever the cursor says. */
export const walk = async function* <T>(
  first: () => Promise<Page<T>>,
  next: (cursor: string) => Promise<Page<T>>,
  endless: EndlessWalk,
): AsyncGenerator<Page<T>, void, undefined> {
  const seen = new Set<string>()
  let page = await first()
  for (;;) {
    yield page
    const { nextCursor } = page
    if (nextCursor === null) return
    if (seen.has(nextCursor) || seen.size >= maxPages) throw endless(page)
    seen.add(nextCursor)
    const following = await next(nextCursor)
    if (following.records.length === 0 && page.records.length === 0) return
    page = following
  }
}
