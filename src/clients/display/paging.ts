import type { Call } from '../http/call.ts'
import type { CallOptions } from '../http/call-options.ts'
import type { Caller } from '../http/caller.ts'
import type { CutRecord } from '../http/json.ts'
import { wholeNumber } from '../http/json.ts'
import type { Page, ParsedRecord } from '../http/record.ts'
import { mapInTimeSlices } from '../http/time-slices.ts'

/** A range of a listing: `count` rows from `startIndex` (0 is the first). */
export interface IndexRange {
  readonly startIndex: number
  readonly count: number
}

/** How the answer to a listing is parsed. */
export interface ListingAnswer<T> {
  /** Parses a row of the answer into its records, the unreadable ones included. */
  readonly read: (row: CutRecord) => readonly ParsedRecord<T>[]
  /** Parses the envelope without its rows; null if it is another document. */
  readonly envelope: (envelope: unknown) => { readonly hasRows: boolean; readonly totalResults: unknown } | null
}

/** A listing call. Its keys are flat; the brackets in their names are literal (specification, sections 1 and 2). */
export const listingCall = (
  operation: Call['operation'],
  target: string,
  recordsAt: string,
  body: readonly (readonly [key: string, json: string])[],
): Call => {
  const members = body.map(([key, json]) => `${JSON.stringify(key)}:${json}`)
  return {
    operation,
    method: 'POST',
    target,
    body: `{${members.join(',')}}`,
    recordsAt: [recordsAt],
    mayBeWrapped: true,
  }
}

/** `startIndex` and `count` as members of a body. */
export const rangeMembers = ({ startIndex, count }: IndexRange): (readonly [key: string, json: string])[] => {
  if (!Number.isSafeInteger(startIndex) || startIndex < 0) throw new RangeError('startIndex must be a whole number from 0')
  if (!Number.isSafeInteger(count) || count < 1) throw new RangeError('count must be a whole number from 1')
  return [
    ['startIndex', String(startIndex)],
    ['count', String(count)],
  ]
}

/**
 * Fetches and parses one page. The last page has fewer rows than requested. Sources contradict each other on whether `totalResults` counts a page or all rows
 * (public facts, section 8.1): a short page is the last one unless `totalResults` is higher than the rows so far, which costs at most one more request.
 *
 * @throws MarketplaceFailure
 */
export const fetchListing = async <T>(
  caller: Caller,
  call: Call,
  range: IndexRange,
  options: CallOptions,
  listing: ListingAnswer<T>,
): Promise<Page<T>> => {
  const answer = await caller.call(call, options)
  const envelope = answer.found ? listing.envelope(answer.envelope) : null
  const rows = answer.records.length
  const total = wholeNumber(envelope?.totalResults)
  // An answer without its list of rows must not be read as an empty page.
  if (envelope === null || (rows === 0 && !envelope.hasRows && total !== 0)) throw caller.unexpectedAnswer(call, answer)
  const end = range.startIndex + rows
  const hasMore = rows > 0 && (rows >= range.count || (total !== null && total > end))
  return {
    records: await mapInTimeSlices(answer.records, (row) => listing.read(row)),
    totalCount: total,
    nextCursor: hasMore ? String(end) : null,
    observedAt: caller.clock.at(answer.sentMs),
    marketplaceNow: caller.clock.now(),
    correlationId: answer.correlationId,
  }
}
