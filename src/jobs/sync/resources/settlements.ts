import { z } from 'zod'
import type { CallOptions } from '../../../clients/http/call-options.ts'
import {
  type SettlementLine,
  type SettlementPage,
  settlementsEndpoint,
} from '../../../clients/marketplace/reports/settlements.ts'
import { pollIntervals } from '../../../domain/sync/intervals.ts'
import { reviewClaimPayments } from '../../../store/inventory/claim-payments.ts'
import { reviewSettlements } from '../../../store/orders/settlement-differences.ts'
import {
  endDueSearch,
  findPartEnd,
  hasSettlementOrders,
  isReadByOthers,
  noteDuePart,
  noteKnownSettlements,
  planDueSearch,
} from '../../../store/orders/settlement-orders.ts'
import { findSettlementLinesAfter, settlementStore } from '../../../store/orders/settlements.ts'
import { resource } from '../engine/resource.ts'
import type { StreamContext } from '../engine/stream.ts'
import { type WalkPage, type WalkPlaces, type WalkStep, walk } from '../engine/streams.ts'
import { mayBeAboutRecord } from '../recovery/skip-rules.ts'

const cursorShape = z.object({
  /** Reports to read; the current one first. */
  dates: z.array(z.string()),
  offset: z.number(),
  rows: z.number(),
  currency: z.string().nullable(),
})
type Cursor = z.infer<typeof cursorShape>

/** A search for orders whose payment is due, after this order. */
const searchShape = z.object({ from: z.string(), before: z.string(), begunAt: z.string(), after: z.string() })

/**
 * Place of the walk between two pages, or after them: then orders whose payment is due are searched for, and orders are compared, in numbered steps. Null: the
 * reports are not listed yet.
 */
const placeShape = z.union([cursorShape, z.object({ search: searchShape.nullable() }), z.object({ review: z.int() })]).nullable()
type Place = z.infer<typeof placeShape>
type Review = WalkPage<SettlementLine, Place>

/** The first two steps after the pages do nothing: the first one stores that the pages are read, the second one waits until it is stored. */
const firstReview = -1

const begin = (dates: readonly string[]): Place =>
  dates.length === 0 ? { review: firstReview } : { dates: [...dates], offset: 0, rows: 0, currency: null }

/** A row is a fifth as long as an order. */
const rowsForAnOrder = 5

/** Reads a page. `cutBecause`: the error of a further page that the marketplace refuses, as seen on the live service (public facts, section 10). */
const readPageAt = async (
  { client, settings }: StreamContext,
  reportDate: string,
  { offset, rows, currency }: Cursor,
  options: CallOptions,
): Promise<SettlementPage | { readonly cutBecause: string }> => {
  try {
    const limit = settings.pageSize * rowsForAnOrder
    return await client.of(settlementsEndpoint).page({ reportDate, offset, rows, currency, limit }, options)
  } catch (error) {
    if (offset === 0 || !mayBeAboutRecord(error, options) || error.httpStatus !== 400) throw error
    return { cutBecause: error.message }
  }
}

const readNext = async (
  context: StreamContext,
  cursor: Cursor,
  options: CallOptions,
): Promise<WalkPage<SettlementLine, Place> | null> => {
  const { client, database } = context
  const [reportDate, ...others] = cursor.dates
  if (reportDate === undefined) return null
  // Key in quarantine of the missing rest of a report.
  const rest = `${reportDate}/rest`
  const page = await readPageAt(context, reportDate, cursor, options)
  if ('cutBecause' in page)
    return {
      answers: [],
      next: begin(others),
      unreadable: [{ key: rest, fault: `the report is incomplete: ${page.cutBecause}` }],
    }
  const { records, currency, totalCount } = page
  const rows = cursor.rows + records.length
  if (page.nextCursor !== null) {
    const next: Cursor = { dates: cursor.dates, offset: Number(page.nextCursor), rows, currency }
    return { answers: [page], records, next }
  }
  if (totalCount !== null && totalCount > rows) {
    const fault = `the report is incomplete: it has ${rows} of ${totalCount} rows`
    return { answers: [page], records, next: begin(others), unreadable: [{ key: rest, fault }] }
  }
  const gone = await findSettlementLinesAfter(database, client.sellerId, reportDate, rows)
  return { answers: [page], records, next: begin(others), missing: gone, answered: [rest] }
}

/** Ends the walk while another stream reads reports: it compares orders when it has read them. */
const readByOthers: Review = { answers: [], next: null }

/**
 * One step of searching for orders whose payment is due, by their ids. A step is planned while the one before it is stored, so the search is planned when the
 * last page is stored: after one step that does nothing.
 */
const search = async (
  { client, database }: StreamContext,
  stream: string,
  place: z.infer<typeof searchShape> | null,
): Promise<Review> => {
  const { sellerId } = client
  if (await isReadByOthers(database, sellerId, stream)) return readByOthers
  const planned = place ?? (await planDueSearch(database, sellerId, stream))
  if (planned === null) return { answers: [], next: { review: 1 }, inSameTransaction: (tx) => noteKnownSettlements(tx, sellerId) }
  const { after, ...due } = { after: '', ...planned }
  const upTo = await findPartEnd(database, sellerId, due, after)
  return {
    answers: [],
    next: upTo === null ? { review: 1 } : { search: { ...due, after: upTo } },
    inSameTransaction: async (tx) => {
      await noteDuePart(tx, sellerId, due, after, upTo)
      if (upTo !== null) return
      await endDueSearch(tx, sellerId, due)
      await noteKnownSettlements(tx, sellerId)
    },
  }
}

/** One step of comparing some orders with the rows of reports. The last one assigns reimbursements to claims. */
const review = async ({ client, database }: StreamContext, stream: string, number: number): Promise<Review> => {
  const { sellerId } = client
  // Progress without new rows is not stored by itself, and the other stream would take this one for reading.
  if (number === firstReview) return { answers: [], next: { review: 0 }, inSameTransaction: () => Promise.resolve() }
  if (number === 0) return { answers: [], next: { search: null } }
  if (await isReadByOthers(database, sellerId, stream)) return readByOthers
  // The step before the first one may not be stored yet.
  const isLast = number > 1 && !(await hasSettlementOrders(database, sellerId))
  return {
    answers: [],
    next: isLast ? null : { review: number + 1 },
    inSameTransaction: async (tx) => {
      await reviewSettlements(tx, sellerId)
      if (isLast) await reviewClaimPayments(tx, sellerId)
    },
  }
}

type Choice = (dates: readonly string[]) => readonly string[]

const step =
  (stream: string, choose: Choice) =>
  async (
    context: StreamContext,
    { after }: WalkStep<Place>,
    options: CallOptions,
  ): Promise<WalkPage<SettlementLine, Place> | null> => {
    if (after !== null && 'review' in after) return review(context, stream, after.review)
    if (after !== null && 'search' in after) return search(context, stream, after.search)
    if (after !== null) return readNext(context, after, options)
    const listed = await context.client.of(settlementsEndpoint).dates(options)
    return { answers: [listed], next: begin(choose(listed.dates)) }
  }

const places: WalkPlaces<Place> = { shape: placeShape, start: null }

/** The newest reports: the latest one may be incomplete, or be corrected later. */
const newest = 3
const recent = walk<SettlementLine, Place>({
  operation: settlementsEndpoint.operations.report,
  places,
  reads: `the ${newest} newest reports, page by page`,
  step: step('recent', (dates) => dates.slice(-newest)),
})

/** Every report that the marketplace still lists. */
const all = walk<SettlementLine, Place>({
  operation: settlementsEndpoint.operations.report,
  places,
  reads: 'every listed report, page by page',
  pace: { times: 7, minMs: 0 },
  step: step('all', (dates) => dates),
})

/** Settlement reports: the marketplace's payments, row by row. A new one appears every one or two weeks (public facts, section 13). */
export const settlements = resource({
  name: 'settlements',
  endpoint: settlementsEndpoint,
  poll: pollIntervals.settlements,
  // No backfill: `all` reads every report that the marketplace lists.
  streams: { recent, all },
  table: settlementStore,
})
