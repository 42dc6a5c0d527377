import { z } from 'zod'
import type { CallOptions } from '../../clients/call-options.ts'
import { type SettlementLine, type SettlementPage, settlementsEndpoint } from '../../clients/marketplace/settlements.ts'
import { settlementLinesBehind, settlementStore } from '../../store/settlements.ts'
import { mayBeOfOne } from './passing-over.ts'
import { resource } from './resource.ts'
import { dayMs } from './settings.ts'
import type { StreamContext } from './stream.ts'
import { type WalkPage, type WalkPlaces, type WalkStep, walk } from './streams.ts'

/** Where the walk stands between two pages; null: before it knows the reports. */
const placeShape = z
  .object({
    /** Reports that are to be read, this one first. */
    dates: z.array(z.string()),
    offset: z.number(),
    rows: z.number(),
    currency: z.string().nullable(),
  })
  .nullable()
type Place = z.infer<typeof placeShape>
type Cursor = NonNullable<Place>

const begin = (dates: readonly string[]): Cursor | null =>
  dates.length === 0 ? null : { dates: [...dates], offset: 0, rows: 0, currency: null }

/** Rows are a fifth as long as orders. */
const rowsForAnOrder = 5

/** A page; its failure where the marketplace gives no further page, as the live service has been seen to do (public facts, section 10). */
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
    if (offset === 0 || !mayBeOfOne(error, options) || error.httpStatus !== 400) throw error
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
  // Names what of a report does not come, among its rows.
  const rest = `${reportDate}/rest`
  const page = await readPageAt(context, reportDate, cursor, options)
  if ('cutBecause' in page)
    return { answers: [], next: begin(others), unreadable: [{ key: rest, fault: `the report breaks off: ${page.cutBecause}` }] }
  const { records, currency, totalCount } = page
  const rows = cursor.rows + records.length
  if (page.nextCursor !== null) {
    const next: Cursor = { dates: cursor.dates, offset: Number(page.nextCursor), rows, currency }
    return { answers: [page], records, next }
  }
  if (totalCount !== null && totalCount > rows) {
    const fault = `the report breaks off: ${rows} of ${totalCount} rows come`
    return { answers: [page], records, next: begin(others), unreadable: [{ key: rest, fault }] }
  }
  const gone = await settlementLinesBehind(database, client.sellerId, reportDate, rows)
  return { answers: [page], records, next: begin(others), missing: gone, answered: [rest] }
}

type Choice = (dates: readonly string[]) => readonly string[]

const step =
  (choose: Choice) =>
  async (
    context: StreamContext,
    { after }: WalkStep<Place>,
    options: CallOptions,
  ): Promise<WalkPage<SettlementLine, Place> | null> => {
    if (after !== null) return await readNext(context, after, options)
    const listed = await context.client.of(settlementsEndpoint).dates(options)
    return { answers: [listed], next: begin(choose(listed.dates)) }
  }

const places: WalkPlaces<Place> = { shape: placeShape, start: null }

/** The newest reports: the latest may have come while it was being made, or be corrected. */
const newest = 3
const recent = walk<SettlementLine, Place>({
  operation: settlementsEndpoint.operations.report,
  places,
  reads: `the ${newest} newest reports, page by page`,
  step: step((dates) => dates.slice(-newest)),
})

/** Every report that the marketplace still has. */
const all = walk<SettlementLine, Place>({
  operation: settlementsEndpoint.operations.report,
  places,
  reads: 'every listed report, page by page',
  pace: { times: 7, leastMs: 0 },
  step: step((dates) => dates),
})

/** Settlement reports: what the marketplace pays, row by row. A new one appears every one or two weeks (public facts, section 13). */
export const settlements = resource({
  name: 'settlements',
  endpoint: settlementsEndpoint,
  poll: { variable: 'POLL_SETTLEMENTS', ordinaryMs: dayMs, demonstrationMs: 120_000 },
  // No past to ask for: `all` reads as far back as the marketplace does.
  streams: { recent, all },
  table: settlementStore,
})
