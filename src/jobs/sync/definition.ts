import type { CallOptions, MarketplaceClient, Page, ParsedRecord } from '../../clients/interface.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import { intersect, planWindow, reachOf, sliceRange, type TimeWindow } from '../../domain/windows.ts'
import type { Database, SqlRunner, Transaction } from '../../store/database.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import type { DifferingRecord, StorableRecord } from '../../store/versions.ts'

// Glossary
//   resource   what is synced: orders, returns
//   stream     one way to read a resource, with a watermark and a lease of its own: `changed:SellerFulfilled`, `sweep` …
//   window     a stretch of time that one query covers; read page by page
//   watermark  everything up to here is stored
//   snapshot   a window whose records are all there is: what is not among them is gone
//   run        one start of the engine on a stream

/** A day in milliseconds. */
export const dayMs = 86_400_000

/** What the engine goes by; defaults in {@link defaultSyncSettings}. */
export interface SyncSettings {
  readonly pageSize: number
  /** A window ends this much before the marketplace's now: the newest changes are not in its lists yet (public facts 10, no. 19). */
  readonly lagMs: number
  /** A window begins this much before the watermark, for what is reported late (public facts 11). */
  readonly lookBackMs: number
  /** The marketplace answers nothing older (public facts 2.4). */
  readonly oldestDays: number
  /** Most records that one query can page through (public facts 2.4). */
  readonly maxPerQuery: number
  /** A run gives its worker back after so many pages, or after so long, and goes on in its next run: others wait for their turn. */
  readonly maxPagesPerRun: number
  readonly turnMs: number
  /** No window has so many pages: paging has gone astray. */
  readonly pageCap: number
  /** Longest silence of a running process before another may take over. */
  readonly leaseMs: number
  /** Progress over pages without changes is written down at most this often. */
  readonly persistEveryMs: number
  /** Open orders that one step of the sweep reads again. */
  readonly sweepStep: number
  /** Length of a backfill's windows. */
  readonly backfillSliceMs: number
  /** How far back by creation date orders and returns are read again and again, for what is listed later than the look-back. */
  readonly rereadDepthMs: number
}

/** Defaults, in the terms of the public facts named above. */
export const defaultSyncSettings: SyncSettings = {
  pageSize: 200,
  lagMs: 2 * 60_000,
  lookBackMs: 30 * 60_000,
  oldestDays: 180,
  maxPerQuery: 10_000,
  maxPagesPerRun: 200,
  turnMs: 15_000,
  pageCap: 1_200,
  leaseMs: 60_000,
  persistEveryMs: 10_000,
  sweepStep: 50,
  backfillSliceMs: 10 * 86_400_000,
  rereadDepthMs: 45 * 86_400_000,
}

/** What a stream reads with. */
export interface StreamContext {
  readonly client: MarketplaceClient
  readonly database: Database
  readonly settings: SyncSettings
}

/** A page, with the ids that the marketplace said it does not have. */
export interface FetchedPage<T> extends Page<T> {
  readonly missing?: readonly string[]
  /** Records that were asked for by name and are never answered for, though others are: they are passed over. */
  readonly unreadable?: readonly { readonly key: string; readonly fault: string }[]
  /** Keys that were asked for by name and are answered for, where that brings no record: one that was passed over before is settled. */
  readonly answered?: readonly string[]
  /** None of its records was created before this. */
  readonly createdFrom?: Date
  /** The marketplace was not asked for it, since there was nothing to ask for: it proves no enrolment. */
  readonly unasked?: true
  /** The budget ended within the page: it holds what came until then, and the run goes on from its cursor at this time. */
  readonly resumeAt?: Date
  /** Rows have moved since the page before, so that some may lie on neither: a snapshot with such a page proves nothing gone. */
  readonly moved?: true
  /** Written in the transaction of the page: progress of the stream's own, such as a watermark for each SKU. */
  readonly alongside?: (tx: Transaction) => Promise<void>
}

/** Asks for one record that is known to be there. */
export type Witness = (options: CallOptions) => Promise<Page<unknown>>

/** One way to read a resource. */
export interface SyncStream<T> {
  /** What to read next; empty when there is nothing. */
  plan(context: StreamContext, watermark: Date | null): readonly SyncWindow[] | Promise<readonly SyncWindow[]>
  /** The part of a window that can be asked for now; null when none is left. */
  clamp(context: StreamContext, window: SyncWindow): TimeWindow | null
  first(context: StreamContext, window: SyncWindow, options: CallOptions): Promise<FetchedPage<T>>
  next(context: StreamContext, window: SyncWindow, cursor: string, options: CallOptions): Promise<FetchedPage<T>>
  /** The marketplace counts and limits what a window holds: full windows are split, astray paging is caught. */
  readonly counted: boolean
  /** A window is read again when fewer records came than its first page announced: rows slip while the set moves under the pages. */
  readonly checksCount: boolean
  /** The watermark follows the windows; otherwise each run reads all there is. */
  readonly followsWatermark: boolean
  /**
   * A window holds all there is of its part: with its last page {@link SyncDefinition.findGone} is told what came. When another
   * process had begun the window, or a record of it had no readable key, nobody knows all that came, and nothing counts as gone.
   */
  readonly snapshot?: true
  /**
   * A window is a stretch of time that any part of can be asked for alone, with pages of any size: where a page cannot be had, the window is
   * halved until what spoils it stands alone and is passed over.
   */
  readonly narrows?: true
  /** The other time of a record by which a window that is down to a second can still be halved, as far as it reaches. */
  readonly across?: (context: StreamContext, window: SyncWindow) => TimeWindow
  /**
   * Questions of the same kind as a window's, each about a record that is stored, spread over time: an answer has rows, unless the
   * marketplace fails for all that has some. By them a page that is spoilt is told from an outage that answers without rows do not show.
   */
  readonly witnesses?: (context: StreamContext, window: SyncWindow) => Promise<readonly Witness[]>
  /** Before which moment no record of a window was created. */
  readonly createdFrom?: (context: StreamContext, window: SyncWindow) => Date
  /** It runs seldom: its plan is written down at once, so that a run which dies at its beginning is taken up again, and not a day later. */
  readonly seldom?: true
  /** The stream that tries again what this one has passed over, where that is not itself. */
  readonly retriedBy?: string
  /** When all windows are read, this stream has shown all that it can show, or all of its resource that was created since the first began. */
  readonly complete?: 'stream' | 'resource'
}

/** What the rest of the house hangs onto a page. */
export interface SyncHooks {
  /** Within the transaction that stored these orders for the first time. */
  readonly afterSave?: (
    tx: Transaction,
    stored: { readonly sellerId: string; readonly newOrders: readonly PurchaseOrder[] },
  ) => Promise<void>
}

/** What differs between resources. */
export interface SyncDefinition<T> {
  readonly resource: string
  /** Names of the streams that schedulers run. */
  readonly streams: readonly string[]
  /** How often a stream runs where the resource is polled every `pollMs`; that often when absent. */
  readonly intervalMs?: (stream: string, pollMs: number) => number
  /**
   * Only sellers that are enrolled have it: a 404, or {@link NotEnrolled}, means "not enrolled", which is remembered and asked again
   * after a week (public facts, section 7.4).
   */
  readonly needsEnrolment?: true
  /** A stream by its name, backfills included; null when there is none. */
  stream(name: string): SyncStream<T> | null
  /** Shares of a backfill window that need a query each; empty when the resource has no past to read. */
  readonly backfillParts: readonly (string | null)[]
  /** How far back a range may begin, in days; ten years when absent, as nothing is published. */
  readonly reachDays?: (settings: SyncSettings) => number
  /** How a range is cut into the windows of a backfill; into slices of one length when absent. */
  readonly backfillWindows?: (range: TimeWindow) => readonly TimeWindow[]
  parse(rawText: string): ParsedRecord<T>
  /** Those records that must be written. Reads only. */
  find(sql: SqlRunner, sellerId: string, records: readonly StorableRecord<T>[]): Promise<readonly DifferingRecord<T>[]>
  /** Writes them; answers how many were. */
  store(
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
    hooks: SyncHooks,
  ): Promise<number>
  noteMissing(tx: Transaction, sellerId: string, observedAt: Date, keys: readonly string[]): Promise<number>
  /** Of a snapshot's part: the keys of what is stored as being there, but did not come. Reads only; what it answers goes to `noteMissing`. */
  findGone?(sql: SqlRunner, sellerId: string, part: string | null, keys: ReadonlySet<string>): Promise<readonly string[]>
}

/** The marketplace does not know this seller in the programme that the resource belongs to. */
export class NotEnrolled extends Error {
  override readonly name = 'NotEnrolled'
}

/** One time for all of several answers: the earliest, so that none claims to be newer than it is; when they were asked for, if there are none. */
export const earliestOf = (answers: readonly { readonly observedAt: Date }[], askedAt: Date): Date => {
  const [first, ...others] = answers
  return others.reduce(
    (earliest, { observedAt }) => (observedAt < earliest ? observedAt : earliest),
    first?.observedAt ?? askedAt,
  )
}

/** The only window of a stream that reads all there is, now. */
export const windowNow = ({ client }: StreamContext, part: string | null = null): SyncWindow => {
  const now = client.clock().now()
  return { from: now, to: now, part }
}

/** What was created lately, in slices, oldest first; for each part. The same as a backfill of that time. */
export const planReread = ({ client, settings }: StreamContext, parts: readonly (string | null)[]): readonly SyncWindow[] => {
  const nowMs = client.clock().now().getTime()
  const range = { from: new Date(nowMs - settings.rereadDepthMs), to: new Date(nowMs - settings.lagMs) }
  if (range.from >= range.to) return []
  return sliceRange(range, settings.backfillSliceMs).flatMap((window) => parts.map((part) => ({ ...window, part })))
}

/** The window of a stream that follows changes: from its watermark less the look-back, up to a lag before the marketplace's now. */
export const planByLastChange = ({ client, settings }: StreamContext, watermark: Date | null): readonly SyncWindow[] => {
  const window = planWindow({
    watermark,
    marketplaceNow: client.clock().now(),
    lagMs: settings.lagMs,
    lookBackMs: settings.lookBackMs,
    initialLookBackMs: settings.oldestDays * dayMs,
    oldestDays: settings.oldestDays,
  })
  return window === null ? [] : [{ ...window, part: null }]
}

/** How far back a range may begin where the marketplace publishes no limit, in days. */
export const longestReachDays = 3_650

/** The part of a window of a range that someone asked for which can be asked for now: neither too old nor to come. */
export const clampAsked = (window: TimeWindow, { client }: StreamContext, reachDays: number): TimeWindow | null =>
  intersect(window, reachOf(client.clock().now(), reachDays))

/** Name of the stream that reads again what was created lately. */
export const rereadStream = 'reread'

/** Streams of this name read a range of creation times that someone has asked for. */
export const backfillPrefix = 'backfill:'

/** Questions about the second in which each of some records was created. */
export const witnessesAt = (
  moments: readonly Date[],
  ask: (range: TimeWindow, options: CallOptions) => Promise<Page<unknown>>,
): readonly Witness[] =>
  moments.map((moment) => {
    const second = Math.floor(moment.getTime() / 1_000) * 1_000
    return (options) => ask({ from: new Date(second), to: new Date(second + 1_000) }, options)
  })

/** The stream of a backfill: the same range is the same stream. */
export const backfillStream = (range: TimeWindow): string => {
  const compact = (instant: Date): string =>
    instant
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
      .replaceAll(/[-:]/g, '')
  return `${backfillPrefix}${compact(range.from)}:${compact(range.to)}`
}
