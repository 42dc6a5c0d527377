import type { CallOptions } from '../call-options.ts'
import type { Call, Caller } from '../caller.ts'
import type { CutRecord } from '../json.ts'
import { wholeNumber } from '../json.ts'
import type { Page, ParsedRecord } from '../record.ts'
import { readInTurns } from '../turns.ts'

/** A stretch of a listing, by position: `count` rows from `startIndex` (from 0) on. */
export interface IndexRange {
  readonly startIndex: number
  readonly count: number
}

/** How the answer to a listing is understood. */
export interface ListingAnswer<T> {
  /** A row of the answer; one row may hold several records, and each comes back, read or not. */
  readonly read: (row: CutRecord) => readonly ParsedRecord<T>[]
  /** What the envelope says beside its rows; null when it is some other document. */
  readonly envelope: (envelope: unknown) => { readonly hasRows: boolean; readonly totalResults: unknown } | null
}

/** A listing call: flat keys, the brackets in their names are literal (specification, sections 1 and 2). */
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
 * Fetches and reads one page. The next one begins where this one ends; the last one has fewer rows than were asked for. Whether
 * `totalResults` counts a page or the whole is contradictory (public facts, section 8.1): a short page counts as the last one unless
 * it says that there are more rows than came so far, which costs one more request at most.
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
  const said = answer.found ? listing.envelope(answer.envelope) : null
  const rows = answer.records.length
  const total = wholeNumber(said?.totalResults)
  // An answer without its rows would look like one that says that nothing is left.
  if (said === null || (rows === 0 && !said.hasRows && total !== 0)) throw caller.misfit(call, answer)
  const end = range.startIndex + rows
  const goesOn = rows > 0 && (rows >= range.count || (total !== null && total > end))
  return {
    records: await readInTurns(answer.records, (row) => listing.read(row)),
    totalCount: total,
    nextCursor: goesOn ? String(end) : null,
    observedAt: caller.clock.at(answer.sentMs),
    marketplaceNow: caller.clock.now(),
    correlationId: answer.correlationId,
  }
}
