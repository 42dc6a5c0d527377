import { setImmediate as letOthersRun } from 'node:timers/promises'
import {
  BODY_TOO_LARGE,
  isCredentialsDoubt,
  MarketplaceFailure,
  Refused,
  Throttled,
  TOO_MANY_RECORDS,
} from '../../clients/errors.ts'
import { carveOut, narrowWindow, nextWatermark, splitWindow, type TimeWindow } from '../../domain/windows.ts'
import type { Logger } from '../../observability/log.ts'
import type { JobOutcome } from '../../queues/jobs.ts'
import type { Database } from '../../store/database.ts'
import { readEnrolment, recordEnrolment } from '../../store/enrolments.ts'
import {
  dueSkippedWindows,
  expireKeyless,
  giveUpSkipped,
  hasKeyless,
  hasSkips,
  reviewSkipAlarm,
  settleSkipped,
  windowsPassedOver,
} from '../../store/quarantine.ts'
import {
  endRun,
  failuresOf,
  LeaseLost,
  type SyncKey,
  type SyncLease,
  type SyncProgress,
  type SyncRun,
  type SyncWindow,
  takeLease,
} from '../../store/sync-states.ts'
import {
  dayMs,
  defaultSyncSettings,
  type FetchedPage,
  NotEnrolled,
  type StreamContext,
  type SyncDefinition,
  type SyncHooks,
  type SyncSettings,
  type SyncStream,
} from './definition.ts'
import { meansNotEnrolled, noteEnrolledAnswer } from './enrolment.ts'
import { createPageStore, type PageStore, type SavedPage } from './pages.ts'
import { failuresAgainstOthers, failuresWithoutOthers } from './passing-over.ts'
import { withNextSlice } from './slices.ts'

/** What the engine needs from the rest of the daemon. */
export interface SyncDeps extends SyncHooks {
  readonly database: Database
  client(sellerId: string): StreamContext['client']
  /** Names this process in leases. */
  readonly owner: string
  readonly settings?: Partial<SyncSettings>
  /** Told how each run ended, for metrics. Must not throw. */
  readonly onRun?: (report: SyncRunReport) => void
}

/** One run as it ended. */
export interface SyncRunReport extends SyncKey {
  readonly run: SyncRun
  /** Nothing was left to read. */
  readonly finished: boolean
  readonly watermark: Date | null
  readonly durationMs: number
}

/** How a job calls the engine. */
export interface SyncRunOptions {
  readonly signal: AbortSignal
  readonly log: Logger
}

/** No such resource or stream. */
export class UnknownSync extends Error {
  override readonly name = 'UnknownSync'
}

/** Paging has gone astray: the same cursor again, or more pages than a window can have. */
export class PagingAstray extends Error {
  override readonly name = 'PagingAstray'
}

/** A cursor led to nothing although more had been announced. */
export class EndedTooSoon extends Error {
  override readonly name = 'EndedTooSoon'
}

// A window that is read once more is a cure for a moving set; one that goes astray again and again is a fault to report.
const restartsPerRun = 2
const rereadsPerWindow = 2
// A difference this large between our clock and the marketplace's first answer means that the windows were planned by the wrong clock.
const clockSurpriseMs = 60_000
const worthCatchingUpMs = 60_000
const askEnrolmentAgainMs = 7 * dayMs
/** A window that begins later than asked by more than this was partly out of reach. */
const worthTellingMs = 3_600_000
/** How far from a window that cannot be read another one is asked for, to tell a spoilt page from an outage of everything. */
/** No more records than this may all be spoilt; of more than these it is an outage when none is answered for. */
const fewWitnesses = 2
const elsewhereMs = [3_600_000, dayMs, 7 * dayMs]
/** What is wrong with a page that holds too much: a smaller one may do. */
const tooMuch: ReadonlySet<string> = new Set([BODY_TOO_LARGE, TOO_MANY_RECORDS])
/** A window as long as that is read until a pass brings nothing new: rows slip between pages while the set moves. */
const longWindowMs = dayMs
const firstPlace = 'first'

/** A snapshot that a run could not finish: what came of its window up to a cursor. */
interface UnfinishedSnapshot {
  /** When the window was planned, epoch ms. */
  readonly plannedMs: number
  readonly cursor: string
  readonly keys: Set<string>
}

// A snapshot larger than the budget of one run goes on in the next one; as long as that is of this process, it is known what came before.
const unfinishedSnapshots = new WeakMap<Database, Map<string, UnfinishedSnapshot>>()

const unfinishedSnapshotsOf = (database: Database): Map<string, UnfinishedSnapshot> => {
  const known = unfinishedSnapshots.get(database) ?? new Map<string, UnfinishedSnapshot>()
  unfinishedSnapshots.set(database, known)
  return known
}

type Stop = { readonly finished: true } | { readonly finished: false; readonly at: Date; readonly reason: string }

const emptyRun: SyncRun = { windowFrom: null, windowTo: null, pages: 0, seen: 0, changed: 0, quarantined: 0, error: null }

const advice = (error: MarketplaceFailure): string => {
  if (error.credentialsDead) return 'the credentials of this seller are refused: check CLIENT_ID and CLIENT_SECRET'
  // Marketplace-side a 401 brings a new token; it is final only where requests are signed.
  if (error.kind === 'refused' && error.httpStatus === 401)
    return 'the signature is refused: check DISPLAY_CONSUMER_ID, DISPLAY_AUTH_TOKEN, DISPLAY_PRIVATE_KEY and DISPLAY_KEY_VERSION'
  if (error.kind === 'refused') return 'the request is refused: compare MARKETPLACE_PROFILE and the permissions of this seller'
  if (error.kind === 'malformed') return 'the answer is not understood: look at what stands between here and MARKETPLACE_URL'
  return 'it is tried again with growing pauses'
}

/** What `last_error` says: what happened, under which correlation id, and what to do. */
const describe = (error: unknown): string => {
  if (error instanceof MarketplaceFailure) return `${error.message}; correlation id ${error.correlationId}; ${advice(error)}`
  if (error instanceof PagingAstray) return error.message
  if (error instanceof NotEnrolled) return `${error.message}; ${notEnrolledAdvice}`
  return `${error instanceof Error ? error.message : String(error)}; it is tried again with growing pauses`
}

const notEnrolledAdvice =
  'the marketplace answers 404 here (or its path is another one: compare MARKETPLACE_PROFILE); it is asked again in a week, or when a person runs the sync'

const fresh = (progress: SyncProgress): SyncProgress => ({
  ...progress,
  cursor: null,
  pages: 0,
  totals: { ...progress.totals, windowSeen: 0, windowTotal: null, windowChanged: 0, failedAt: null, failedTimes: 0 },
})

const withoutPasses = (progress: SyncProgress): SyncProgress => ({
  ...progress,
  totals: { ...progress.totals, windowPasses: [], windowRestarts: 0 },
})

/** The pages of one window as this run has read them. */
interface WindowReading {
  readonly window: SyncWindow
  readonly cursors: Set<string>
  /** Keys of this run's records, where the stream counts or compares them; null once one of them is not known. */
  keys: Set<string> | null
  /** Records that were read of this window, by this run and earlier ones; those with a known key once each. */
  seen: number
  /** How much of the window is over for good on the marketplace's clock. */
  storedUpTo: Date
  emptyPages: number
}

/** One run of one stream, under its lease. */
class StreamRun<T> {
  readonly #context: StreamContext
  readonly #stream: SyncStream<T>
  readonly #pages: PageStore<T>
  readonly #options: SyncRunOptions
  readonly #name: string
  readonly #key: SyncKey
  readonly #plannedAt: string
  readonly #startedMs = performance.now()
  #progress: SyncProgress
  #run: SyncRun = emptyRun
  #answered = false
  #restarts = 0
  #plannedBy: { readonly clockMs: number; readonly ownMs: number } | null = null
  #replanned = false
  /** The first page of the window under way, where it has come already. */
  #firstPage: FetchedPage<T> | null = null
  /** The window that was passed over last in this run. */
  #lastPassedOver: SyncWindow | null = null

  constructor(parts: {
    readonly context: StreamContext
    readonly stream: SyncStream<T>
    readonly pages: PageStore<T>
    readonly progress: SyncProgress
    readonly options: SyncRunOptions
    readonly lease: SyncLease
  }) {
    this.#context = parts.context
    this.#stream = parts.stream
    this.#pages = parts.pages
    this.#progress = parts.progress
    this.#options = parts.options
    this.#key = parts.lease
    this.#name = `${parts.lease.resource}/${parts.lease.stream}`
    this.#plannedAt = parts.lease.startedAt.toISOString()
  }

  get progress(): SyncProgress {
    return this.#progress
  }

  get run(): SyncRun {
    return this.#run
  }

  /** The marketplace has answered some page. */
  get answered(): boolean {
    return this.#answered
  }

  /** Leaves what was to be read. */
  forget(): void {
    this.#progress = { ...withoutPasses(fresh(this.#progress)), pending: [] }
  }

  /** Reads until nothing is left, or until the run has to give its worker back. */
  async read(): Promise<Stop> {
    const resumed = this.#progress.pending.length > 0
    let mayPlan = !resumed || this.#stream.followsWatermark
    for (;;) {
      if (this.#options.signal.aborted) return { finished: false, at: new Date(), reason: 'stopping' }
      this.#progress = { ...this.#progress, pending: withNextSlice(this.#progress.pending) }
      const [window] = this.#progress.pending
      if (window !== undefined) {
        if (this.#turnEndsWith(this.#run.pages)) return { finished: false, at: new Date(), reason: 'taking turns' }
        const stop = await this.#readWindow(window)
        if (stop !== null) return stop
        // The windows were planned by a clock that has turned out to be wrong.
        if (this.#progress.pending.length === 0 && this.#plannedBy === null && this.#replanned) mayPlan = true
        continue
      }
      if (!mayPlan) return { finished: true }
      mayPlan = false
      if (!(await this.#plan(resumed))) return { finished: true }
    }
  }

  async #plan(resumed: boolean): Promise<boolean> {
    const { client } = this.#context
    const { watermark } = this.#progress
    this.#plannedBy = { clockMs: client.clock().now().getTime(), ownMs: performance.now() }
    const planned = await this.#stream.plan(this.#context, watermark)
    // A run that only went on with what an earlier one had left may have to catch up. It must not begin anew for the few seconds since
    // then: with a tight budget that would be left over again, for ever.
    const newest = Math.max(...planned.map(({ to }) => to.getTime()))
    if (resumed && watermark !== null && newest - watermark.getTime() < worthCatchingUpMs) return false
    const { sellerId, resource, stream } = this.#key
    const { database } = this.#context
    const narrows = this.#stream.narrows === true
    const earliest = new Date(Math.min(...planned.map(({ from }) => from.getTime()), this.#plannedBy.clockMs))
    const holes = narrows ? await windowsPassedOver(database, this.#key, earliest) : []
    const again = holes.length > 0 ? await dueSkippedWindows(database, sellerId, resource, stream) : []
    const parts = planned.flatMap((window) => this.#without(window, holes))
    const pending = [...parts, ...again]
    const begun = withoutPasses(fresh(this.#progress))
    this.#progress = {
      ...begun,
      pending,
      totals: {
        ...begun.totals,
        windowsTotal: pending.length,
        windowsDone: 0,
        skipped: 0,
        outOfReachBefore: null,
        plannedAt: this.#plannedAt,
        // What stands beside what is passed over may not be met.
        plannedFrom: parts.every((part, at) => part === planned[at]) ? earliest.toISOString() : null,
      },
    }
    if (this.#stream.seldom === true) await this.#pages.keep(this.#progress)
    return pending.length > 0
  }

  /** A window without what is passed over now: it would be met with every run. Of a second of which only a part is, the rest stays. */
  #without(window: SyncWindow, holes: readonly SyncWindow[]): readonly SyncWindow[] {
    const own = holes.filter((hole) => hole.part === window.part && hole.from < window.to && hole.to > window.from)
    if (own.length === 0) return [window]
    const seconds = Map.groupBy(own, ({ from, to }) => `${from.getTime()} ${to.getTime()}`)
    const rests = [...seconds.values()].flatMap((parts) => {
      const [first] = parts
      const all = first === undefined ? undefined : this.#stream.across?.(this.#context, first)
      const across = parts.flatMap((part) => part.across ?? [])
      if (first === undefined || all === undefined || across.length < parts.length) return []
      return carveOut(all, across).map(
        (rest): SyncWindow => ({ from: first.from, to: first.to, part: first.part, across: rest, narrowed: true }),
      )
    })
    const pieces = carveOut(window, own).map((piece): SyncWindow => ({ ...window, ...piece }))
    return [...rests, ...pieces].sort((a, b) => a.from.getTime() - b.from.getTime())
  }

  /** Notes that everything before a moment is older than the marketplace answers for. */
  #outOfReach(before: Date): void {
    const { totals } = this.#progress
    const known = totals.outOfReachBefore
    if (known !== null && Date.parse(known) >= before.getTime()) return
    this.#progress = { ...this.#progress, totals: { ...totals, outOfReachBefore: before.toISOString() } }
  }

  // Null: go on with the next window.
  async #readWindow(window: SyncWindow): Promise<Stop | null> {
    const clamped = this.#stream.clamp(this.#context, window)
    if (clamped === null) {
      if (window.skippedAs !== undefined) await giveUpSkipped(this.#context.database, window.skippedAs)
      else if (window.to <= this.#context.client.clock().now()) this.#outOfReach(window.to)
      this.#progress = this.#windowDone(this.#progress, window.to)
      // Nothing was waited for, and the next window may be like this one.
      await letOthersRun()
      return null
    }
    if (clamped.from.getTime() - window.from.getTime() > worthTellingMs) this.#outOfReach(clamped.from)
    const reading: WindowReading = {
      window: { ...window, ...clamped },
      cursors: new Set(),
      keys: this.#keysSoFar(window),
      seen: this.#progress.totals.windowSeen,
      storedUpTo: window.to,
      emptyPages: 0,
    }
    this.#note(reading.window)
    const begun = this.#firstPage
    this.#firstPage = null
    let fetched: PromiseSettledResult<FetchedPage<T>> =
      begun === null ? await this.#fetch(reading.window, this.#progress.cursor) : { status: 'fulfilled', value: begun }
    for (;;) {
      if (fetched.status === 'rejected') return this.#obstructed(reading.window, fetched.reason)
      const page = fetched.value
      if (page.unasked !== true) this.#answered = true
      if (this.#progress.cursor === null && !(await this.#accepts(reading, page))) return null
      this.#count(reading, page)
      const tooSoon = this.#endedTooSoon(reading, page)
      if (tooSoon !== null) return this.#obstructed(reading.window, tooSoon)
      const offered = this.#nextCursor(reading, page)
      const wrong = offered !== null && this.#isAstray(reading, offered)
      // A cursor that leads in circles once all that was announced has come is only a bad way to say that this was the last page.
      const next = wrong && this.#isWhole(reading) ? null : offered
      const astray = next !== null && wrong
      // The next page is on its way while this one is stored: one page ahead, never more, so memory stays the same.
      const resumeAt = next === null ? undefined : page.resumeAt
      const goesOn =
        next !== null &&
        !astray &&
        resumeAt === undefined &&
        !this.#options.signal.aborted &&
        !this.#turnEndsWith(this.#run.pages + 1)
      const [saved, following] = await Promise.allSettled([
        this.#save(reading, page, astray ? null : next, astray),
        goesOn ? this.#fetch(reading.window, next) : null,
      ])
      if (saved.status === 'rejected') throw saved.reason
      if (following.status === 'rejected') throw following.reason
      if (astray) await this.#strayed(reading)
      if (resumeAt !== undefined) return { finished: false, at: resumeAt, reason: 'throttled' }
      if (following.value === null) return null
      fetched = following.value
    }
  }

  #turnEndsWith(pages: number): boolean {
    const { maxPagesPerRun, turnMs } = this.#context.settings
    return pages >= maxPagesPerRun || (pages > 0 && performance.now() - this.#startedMs >= turnMs)
  }

  #snapshotKey({ part }: SyncWindow): string {
    return JSON.stringify([this.#context.client.sellerId, this.#name, part])
  }

  /** Keys that came of a window before its next page; null for a snapshot that another process has begun, which cannot tell what is gone. */
  #keysSoFar(window: SyncWindow): Set<string> | null {
    const { cursor } = this.#progress
    if (this.#stream.snapshot !== true || cursor === null) return new Set()
    const begun = unfinishedSnapshotsOf(this.#context.database).get(this.#snapshotKey(window))
    return begun?.cursor === cursor && begun.plannedMs === window.from.getTime() ? begun.keys : null
  }

  #rememberSnapshot({ window, keys }: WindowReading, cursor: string | null): void {
    if (this.#stream.snapshot !== true) return
    const unfinished = unfinishedSnapshotsOf(this.#context.database)
    if (cursor === null || keys === null) unfinished.delete(this.#snapshotKey(window))
    else unfinished.set(this.#snapshotKey(window), { plannedMs: window.from.getTime(), cursor, keys })
  }

  async #fetch(window: SyncWindow, cursor: string | null): Promise<PromiseSettledResult<FetchedPage<T>>> {
    const options = { signal: this.#options.signal }
    const { limit } = window
    const context =
      limit === undefined ? this.#context : { ...this.#context, settings: { ...this.#context.settings, pageSize: limit } }
    const [result] = await Promise.allSettled([
      cursor === null ? this.#stream.first(context, window, options) : this.#stream.next(context, window, cursor, options),
    ])
    return result
  }

  /**
   * A page cannot be had. Null: the run goes on, with the window from its start, with parts of it, or behind it.
   *
   * - A cursor that the marketplace itself calls dead is dropped at once; one on which a second request fails, when the window's first page
   *   comes. Two in a row mean that it is not the cursor.
   * - Then, as long as the marketplace answers elsewhere, with rows where it must have some, the window is halved, and its parts again,
   *   until what spoils it stands alone.
   * - That is passed over: it stands in quarantine and in an alarm, and is tried again later. While nothing is known to have rows, others
   *   are read first, which may tell, and it is asked for more often.
   *
   * @throws what has failed, when that is no matter of this page, or not yet known to be one
   */
  async #obstructed(window: SyncWindow, error: unknown): Promise<Stop | null> {
    if (this.#options.signal.aborted) return { finished: false, at: new Date(), reason: 'stopping' }
    if (error instanceof Throttled) return { finished: false, at: error.retryAt, reason: 'throttled' }
    // It is not this stream that fails: either the next token comes, or the seller stops as a whole.
    if (isCredentialsDoubt(error)) return { finished: false, at: error.retryAt, reason: 'the credentials were refused' }
    const failure = error instanceof MarketplaceFailure ? error : null
    const ofPaging = error instanceof PagingAstray || error instanceof EndedTooSoon
    if ((failure === null && !ofPaging) || failure?.credentialsDead === true || failure?.operation === 'token') throw error
    const { cursor, totals } = this.#progress
    const place = cursor ?? firstPlace
    const times = totals.failedAt === place ? totals.failedTimes + 1 : 1
    this.#progress = { ...this.#progress, totals: { ...totals, failedAt: place, failedTimes: times } }
    const narrows = this.#stream.narrows === true
    if (cursor !== null && (ofPaging || (error instanceof Refused && error.httpStatus === 400))) {
      if (this.#restarts < restartsPerRun && (!narrows || totals.windowRestarts < restartsPerRun)) {
        this.#beginAnew(error)
        return null
      }
    } else if (times === 1 && (totals.windowRestarts === 0 || !narrows)) {
      // One failure is no sign of anything. Of a part of a window that was asked for only because of failures it is found out at once.
      if (window.narrowed === true) return null
      throw error
    } else if (cursor !== null && (!narrows || totals.windowRestarts === 0)) {
      const first = await this.#fetch(window, null)
      if (first.status === 'fulfilled') {
        this.#beginAnew(error)
        this.#firstPage = first.value
        return null
      }
    }
    if (!narrows) {
      // What leads nowhere now must not be where the next run goes on either.
      if (ofPaging || (error instanceof Refused && error.httpStatus === 400)) this.#progress = fresh(this.#progress)
      throw error
    }
    const elsewhere = await this.#answerElsewhere(window)
    if (elsewhere === 'none') throw error
    if (this.#narrow(window, tooMuch.has(failure?.networkCode ?? '') ? 'page' : 'all')) {
      this.#options.log.warn(
        { stream: this.#name, reason: error instanceof Error ? error.message : String(error) },
        'a page cannot be read; its window is read in smaller parts',
      )
      return null
    }
    if (elsewhere === 'without rows') {
      if (this.#putOff(window)) return null
      // What spoils one window mostly stands at its edge, and so in the next one too; what was passed over before has failed so often already.
      if (times < failuresWithoutOthers && !this.#isNextToPassedOver(window) && window.skippedAs === undefined) throw error
    }
    // Passed over is only what fails in two runs, some time apart, or beside something that did.
    if (times < 3 && this.#lastPassedOver === null && window.skippedAs === undefined) throw error
    await this.#passOver(window, error instanceof Error ? error.message : String(error))
    return null
  }

  #beginAnew(error: unknown): void {
    const begun = fresh(this.#progress)
    this.#progress = { ...begun, totals: { ...begun.totals, windowRestarts: begun.totals.windowRestarts + 1 } }
    this.#restarts += 1
    this.#options.log.warn(
      { stream: this.#name, reason: error instanceof Error ? error.message : String(error) },
      'the marketplace does not go on from its own cursor; the window is read again from its start',
    )
  }

  /**
   * How the marketplace answers for something else than a window. An answer that there is nothing tells little: whoever renders rows may
   * be down. So records are asked for that are known; only where none is, where they are in no list any more, or where the few there are may
   * be spoilt themselves, an empty answer counts.
   */
  async #answerElsewhere(window: SyncWindow): Promise<'with rows' | 'without rows' | 'none'> {
    const witnesses = (await this.#stream.witnesses?.(this.#context, window)) ?? []
    let answered = witnesses.length === 0
    for (const witness of witnesses) {
      const [answer] = await Promise.allSettled([witness({ signal: this.#options.signal })])
      if (answer.status === 'fulfilled' && answer.value.records.length > 0) return 'with rows'
      answered ||= answer.status === 'fulfilled'
      if (answer.status === 'rejected' && (answer.reason instanceof Throttled || this.#options.signal.aborted)) return 'none'
    }
    answered ||= witnesses.length <= fewWitnesses && (await this.#maySpoilWhatIsKnown())
    return answered && (await this.#answersElsewhere(window)) ? 'without rows' : 'none'
  }

  /** Whether what is known fails perhaps because a record spoils it, and not because of an outage. */
  async #maySpoilWhatIsKnown(): Promise<boolean> {
    const { database } = this.#context
    const { sellerId, resource } = this.#key
    return (await failuresOf(database, this.#key)) >= failuresAgainstOthers || (await hasSkips(database, sellerId, resource))
  }

  #isNextToPassedOver({ from, to }: SyncWindow): boolean {
    const last = this.#lastPassedOver
    return last !== null && from.getTime() <= last.to.getTime() && to.getTime() >= last.from.getTime()
  }

  /** Has the other windows read before this one, once. False: there are none, or they were. */
  #putOff(window: SyncWindow): boolean {
    const { pending } = this.#progress
    if (pending.slice(1).every(({ putOff }) => putOff === true)) return false
    const restarted = withoutPasses(fresh(this.#progress))
    this.#progress = { ...restarted, pending: [...pending.slice(1), { ...window, putOff: true }] }
    return true
  }

  /** Whether the marketplace answers for a second outside of a window, or of a long one. An answer that there is nothing is one. */
  async #answersElsewhere({ from, to, part }: SyncWindow): Promise<boolean> {
    const nowMs = this.#context.client.clock().now().getTime()
    const lengthMs = to.getTime() - from.getTime()
    const starts = [
      ...elsewhereMs.map((awayMs) => from.getTime() - awayMs),
      ...elsewhereMs.map((awayMs) => to.getTime() + awayMs).filter((startMs) => startMs < nowMs - 1_000),
      ...(lengthMs > longWindowMs ? [0.25, 0.5, 0.75].map((share) => from.getTime() + Math.floor(lengthMs * share)) : []),
    ]
    for (const startMs of starts) {
      const second = Math.floor(startMs / 1_000) * 1_000
      const other = { from: new Date(second), to: new Date(second + 1_000), part }
      const clamped = this.#stream.clamp(this.#context, other)
      if (clamped === null) continue
      const answer = await this.#fetch({ ...other, ...clamped, limit: 1 }, null)
      if (answer.status === 'fulfilled') return true
      if (answer.reason instanceof Throttled || this.#options.signal.aborted) return false
    }
    return false
  }

  /**
   * Replaces a window by parts of it: halves, and at last pages of one record (`time`: halves only; `page`: smaller pages first).
   * False: it is as small as can be.
   */
  #narrow(window: SyncWindow, by: 'all' | 'time' | 'page'): boolean {
    const limit = window.limit ?? this.#context.settings.pageSize
    const part = (parts: Partial<SyncWindow>): SyncWindow => ({ ...window, ...parts, narrowed: true })
    if (by === 'page' && limit > 1) {
      this.#replaceWindow([part({ limit: Math.floor(limit / 2) })])
      return true
    }
    const halves = narrowWindow(window)
    if (halves !== null) {
      this.#replaceWindow(halves.map((half) => part(half)))
      return true
    }
    const across: TimeWindow | undefined = window.across ?? this.#stream.across?.(this.#context, window)
    const slices = across === undefined ? null : narrowWindow(across)
    if (slices !== null) {
      this.#replaceWindow(slices.map((slice) => part({ across: slice })))
      return true
    }
    if (by === 'time' || limit === 1) return false
    this.#replaceWindow([part({ limit: 1 })])
    return true
  }

  async #passOver(window: SyncWindow, fault: string): Promise<void> {
    const { client, settings } = this.#context
    const now = client.clock().now()
    const upTo = Math.min(window.to.getTime(), now.getTime() - (this.#stream.followsWatermark ? settings.lagMs : 0))
    const { totals } = this.#progress
    const counted = { ...this.#progress, totals: { ...totals, skipped: totals.skipped + 1 } }
    const progress = this.#windowDone(counted, new Date(upTo))
    const stream = this.#stream.retriedBy ?? this.#key.stream
    await this.#pages.passOver({ window, stream, fault, observedAt: now }, progress)
    this.#progress = progress
    this.#lastPassedOver = window
    this.#run = { ...this.#run, quarantined: this.#run.quarantined + 1 }
    this.#options.log.warn(
      { stream: this.#name, from: window.from.toISOString(), to: window.to.toISOString() },
      'a part of a list cannot be read and is passed over; it is tried again later',
    )
  }

  /** Whether the first page of a window may be stored; if not, the windows have been planned anew. */
  async #accepts(reading: WindowReading, page: FetchedPage<T>): Promise<boolean> {
    if (this.#clockSurprise(page.marketplaceNow)) return false
    const { settings } = this.#context
    const bound = page.marketplaceNow.getTime() - (this.#stream.followsWatermark ? settings.lagMs : 0)
    if (reading.storedUpTo.getTime() > bound) reading.storedUpTo = new Date(bound)
    if (!this.#stream.counted) return true
    const verdict = splitWindow(reading.window, page.totalCount, Math.floor(settings.maxPerQuery * 0.95))
    if (verdict.kind === 'split') {
      this.#replaceWindow(verdict.windows.map((half) => ({ ...reading.window, ...half })))
      return false
    }
    if (verdict.kind === 'cannotSplit') {
      if (this.#narrow(reading.window, 'time')) return false
      const fault = `one second holds ${page.totalCount} records, more than the ${settings.maxPerQuery} that a query can page through; those beyond are not read here`
      const stream = this.#stream.retriedBy ?? this.#key.stream
      await this.#pages.passOver({ window: reading.window, stream, fault, observedAt: page.marketplaceNow }, this.#progress)
      this.#options.log.warn({ stream: this.#name, total_count: page.totalCount }, fault)
    }
    this.#progress = { ...this.#progress, totals: { ...this.#progress.totals, windowTotal: page.totalCount } }
    return true
  }

  #clockSurprise(marketplaceNow: Date): boolean {
    const planned = this.#plannedBy
    if (planned === null || this.#replanned) return false
    const expectedMs = planned.clockMs + (performance.now() - planned.ownMs)
    if (Math.abs(marketplaceNow.getTime() - expectedMs) < clockSurpriseMs) return false
    this.#options.log.info(
      { stream: this.#name, difference_ms: Math.round(marketplaceNow.getTime() - expectedMs) },
      "the marketplace's clock is not ours; the windows are planned again by it",
    )
    this.#replanned = true
    this.#plannedBy = null
    this.#progress = { ...fresh(this.#progress), pending: [] }
    return true
  }

  #replaceWindow(windows: readonly SyncWindow[]): void {
    const restarted = withoutPasses(fresh(this.#progress))
    this.#progress = {
      ...restarted,
      pending: [...windows, ...restarted.pending.slice(1)],
      totals: { ...restarted.totals, windowsTotal: restarted.totals.windowsTotal + windows.length - 1 },
    }
  }

  #nextCursor(reading: WindowReading, page: FetchedPage<T>): string | null {
    if (!this.#stream.counted) return page.nextCursor
    reading.emptyPages = page.records.length === 0 && (page.missing ?? []).length === 0 ? reading.emptyPages + 1 : 0
    // A short page may still have a successor; two empty ones in a row have none, whatever the cursor says.
    return reading.emptyPages >= 2 ? null : page.nextCursor
  }

  #isWhole(reading: WindowReading): boolean {
    const { windowTotal } = this.#progress.totals
    return this.#stream.checksCount && windowTotal !== null && reading.seen >= windowTotal
  }

  /** A cursor that dies may be answered with "none there": it is known by what was announced. */
  #endedTooSoon(reading: WindowReading, page: FetchedPage<T>): EndedTooSoon | null {
    const { cursor, totals } = this.#progress
    if (cursor === null || !this.#stream.checksCount || page.records.length > 0 || page.nextCursor !== null) return null
    if (totals.windowTotal === null || reading.seen >= totals.windowTotal) return null
    return new EndedTooSoon(`a cursor of ${this.#name} led to nothing after ${reading.seen} of ${totals.windowTotal} records`)
  }

  #isAstray(reading: WindowReading, next: string): boolean {
    if (next === this.#progress.cursor || reading.cursors.has(next)) return true
    reading.cursors.add(next)
    return this.#stream.counted && this.#progress.pages + 1 >= this.#context.settings.pageCap
  }

  async #save(reading: WindowReading, page: FetchedPage<T>, next: string | null, astray: boolean): Promise<void> {
    const before = this.#progress
    const last = next === null && !astray
    const gone = last && this.#stream.snapshot === true && reading.keys !== null ? reading.keys : null
    const progressAfter = ({ changed, quarantined }: SavedPage): SyncProgress => {
      const totals = {
        ...before.totals,
        seen: before.totals.seen + page.records.length,
        changed: before.totals.changed + changed,
        quarantined: before.totals.quarantined + quarantined,
        windowSeen: reading.seen,
        windowChanged: before.totals.windowChanged + changed,
        failedAt: null,
        failedTimes: 0,
      }
      this.#run = {
        ...this.#run,
        pages: this.#run.pages + 1,
        seen: this.#run.seen + page.records.length,
        changed: this.#run.changed + changed,
        quarantined: this.#run.quarantined + quarantined,
      }
      const moved = { ...before, cursor: next, pages: before.pages + 1, totals }
      if (next !== null) return moved
      if (astray) return fresh(moved)
      const pass = this.#shortPass(reading, moved)
      if (pass === null) return this.#windowDone(moved, reading.storedUpTo)
      return fresh({ ...moved, totals: { ...totals, windowPasses: [...totals.windowPasses, pass] } })
    }
    const runBefore = this.#run
    try {
      const missing = gone === null ? null : { part: reading.window.part, keys: gone }
      const createdFrom = this.#stream.createdFrom?.(this.#context, reading.window)
      const dated = createdFrom === undefined ? page : { ...page, createdFrom }
      this.#progress = await this.#pages.save(last ? await this.#withSettlements(reading, dated) : dated, progressAfter, missing)
      this.#rememberSnapshot(reading, next)
    } catch (error) {
      this.#run = runBefore
      throw error
    }
  }

  #count(reading: WindowReading, page: FetchedPage<T>): void {
    const { checksCount, snapshot } = this.#stream
    if (page.moved === true) reading.keys = null
    for (const { key, rawText } of page.records) {
      if (!checksCount && snapshot !== true) {
        reading.seen += 1
        continue
      }
      if (key === null && snapshot === true) reading.keys = null
      const known = reading.keys?.size ?? 0
      reading.keys?.add(key ?? rawText)
      reading.seen += reading.keys === null ? 1 : reading.keys.size - known
    }
  }

  /** The last page of a window with what a whole reading settles: what was passed over before, and records without a key that did not come again. */
  async #withSettlements({ window }: WindowReading, page: FetchedPage<T>): Promise<FetchedPage<T>> {
    const { sellerId, resource, stream } = this.#key
    const { pending, totals } = this.#progress
    const { skippedAs } = window
    const { complete } = this.#stream
    const { plannedAt: since, plannedFrom, outOfReachBefore } = totals
    const expires =
      complete !== undefined &&
      since !== null &&
      plannedFrom !== null &&
      pending.length === 1 &&
      totals.skipped === 0 &&
      (await hasKeyless(this.#context.database, sellerId, resource))
    if (skippedAs === undefined && !expires) return page
    return {
      ...page,
      alongside: async (tx) => {
        await page.alongside?.(tx)
        if (expires) {
          const createdFrom = outOfReachBefore !== null && outOfReachBefore > plannedFrom ? outOfReachBefore : plannedFrom
          await expireKeyless(tx, sellerId, resource, complete === 'stream' ? { stream } : { createdFrom }, since)
        }
        if (skippedAs === undefined) return
        await settleSkipped(tx, skippedAs)
        await reviewSkipAlarm(tx, sellerId, resource)
      },
    }
  }

  // Rows that move while pages are read can slip between two pages (public facts 2.2). Fewer than announced, or something new in a long
  // window, means: look again, until two passes agree or one brings nothing new. Null: the window is complete.
  #shortPass({ window }: WindowReading, { totals, pages }: SyncProgress): string | null {
    const { windowSeen, windowTotal, windowPasses, windowChanged } = totals
    if (!this.#stream.checksCount || windowTotal === null) return null
    if (windowSeen >= windowTotal) {
      // A false "none there" looks like any other: for a long stretch of time it is worth a second request.
      const mayMore = windowTotal === 0 ? windowPasses.length === 0 : pages > 1 && windowChanged > 0
      const long = mayMore && window.to.getTime() - window.from.getTime() > longWindowMs
      return long && windowPasses.length < rereadsPerWindow ? `${windowSeen} of ${windowTotal}, ${windowChanged} new` : null
    }
    const pass = `${windowSeen} of ${windowTotal}`
    if (windowPasses.length < rereadsPerWindow && !windowPasses.includes(pass)) return pass
    this.#options.log.warn(
      { stream: this.#name, window_seen: windowSeen, window_total: windowTotal },
      'a window keeps bringing fewer records than the marketplace announces; going on',
    )
    return null
  }

  #windowDone(progress: SyncProgress, storedUpTo: Date): SyncProgress {
    const [done, ...pending] = progress.pending
    const restarted = withoutPasses(fresh(progress))
    return {
      ...restarted,
      pending,
      watermark:
        this.#stream.followsWatermark && done !== undefined
          ? nextWatermark(progress.watermark, { from: done.from, to: storedUpTo })
          : progress.watermark,
      totals: { ...restarted.totals, windowsDone: progress.totals.windowsDone + 1 },
    }
  }

  async #strayed(reading: WindowReading): Promise<void> {
    const problem = `paging of ${this.#name} has gone astray after ${reading.cursors.size} pages (a cursor came back, or there is no end); the window is read again in smaller parts`
    this.#run = { ...this.#run, error: problem }
    this.#options.log.warn({ stream: this.#name }, problem)
    this.#restarts += 1
    if (this.#stream.narrows === true && !this.#narrow(reading.window, 'time')) {
      return this.#passOver(reading.window, `its pages lead in circles after ${reading.seen} records`)
    }
    if (this.#restarts > restartsPerRun) throw new PagingAstray(problem)
  }

  #note({ from, to }: SyncWindow): void {
    const { windowFrom, windowTo } = this.#run
    this.#run = {
      ...this.#run,
      windowFrom: windowFrom === null || from < windowFrom ? from : windowFrom,
      windowTo: windowTo === null || to > windowTo ? to : windowTo,
    }
  }
}

interface EndedRun {
  readonly finished: boolean
  readonly failed: boolean
  readonly error: string | null
}

/**
 * Runs one stream until nothing is left to read. Without budget, without time, or told to stop, it gives its worker back and names
 * the time to go on; where it stands is kept. A failure is recorded with what to do about it, then thrown: pauses between tries are the job's.
 *
 * @throws MarketplaceFailure, PagingAstray, or an error of the database
 */
export const runStream = async <T>(
  deps: SyncDeps,
  definition: SyncDefinition<T>,
  key: SyncKey,
  options: SyncRunOptions,
): Promise<JobOutcome> => {
  const stream = definition.stream(key.stream)
  if (stream === null)
    throw new UnknownSync(`${key.resource} has no stream ${key.stream}; it has ${definition.streams.join(', ')}`)
  const settings: SyncSettings = { ...defaultSyncSettings, ...deps.settings }
  const { database } = deps
  const { needsEnrolment = false } = definition
  const { sellerId, resource } = key
  const enrolment = needsEnrolment ? await readEnrolment(database, sellerId, resource, askEnrolmentAgainMs) : 'enrolled'
  if (enrolment === 'not enrolled') return { done: true }
  const client = deps.client(sellerId)
  const claim = await takeLease(database, key, deps.owner, settings.leaseMs)
  if (!claim.taken) {
    return claim.unfinished ? { runAgainAt: claim.until, reason: 'another process has the lease' } : { done: true }
  }
  const { lease } = claim
  const startedMs = performance.now()
  const pages = createPageStore({ database, definition, lease, settings, hooks: deps })
  const run = new StreamRun<T>({
    context: { client, database, settings },
    stream,
    pages,
    progress: claim.progress,
    options,
    lease,
  })
  const end = async (ended: EndedRun): Promise<void> => {
    const record: SyncRun = { ...run.run, error: ended.error ?? run.run.error }
    const worthRecording = ended.finished || ended.failed || record.pages > 0
    await endRun(database, lease, run.progress, { ...ended, run: worthRecording ? record : null })
    if (worthRecording) {
      const { finished } = ended
      deps.onRun?.({
        ...key,
        run: record,
        finished,
        watermark: run.progress.watermark,
        durationMs: performance.now() - startedMs,
      })
    }
  }
  try {
    const stop = await run.read()
    if (run.answered) noteEnrolledAnswer(database, key)
    if (enrolment !== 'enrolled' && run.answered) {
      await database.transaction((tx) => recordEnrolment(tx, { sellerId, resource, enrolled: true, detail: null }))
    }
    await end({ finished: stop.finished, failed: false, error: null })
    return stop.finished ? { done: true } : { runAgainAt: stop.at, reason: stop.reason }
  } catch (error) {
    if (error instanceof LeaseLost) return abandon(lease, options)
    if (needsEnrolment && meansNotEnrolled(database, key, error)) {
      options.log.info({ stream: `${resource}/${key.stream}` }, `the seller is not enrolled: ${notEnrolledAdvice}`)
      await database.transaction((tx) => recordEnrolment(tx, { sellerId, resource, enrolled: false, detail: describe(error) }))
      run.forget()
      await end({ finished: true, failed: false, error: null })
      return { done: true }
    }
    await recordFailure(error, () => end({ finished: false, failed: true, error: describe(error) }), options)
    throw error
  }
}

const abandon = (lease: SyncLease, { log }: SyncRunOptions): JobOutcome => {
  log.warn({ stream: `${lease.resource}/${lease.stream}` }, 'another process has taken over this sync; stopping here')
  return { done: true }
}

// The database may be what failed: then the failure cannot be recorded there, and must not hide behind this one.
const recordFailure = async (failure: unknown, record: () => Promise<void>, { log }: SyncRunOptions): Promise<void> => {
  try {
    await record()
  } catch (error) {
    log.warn({ err: error, failure: describe(failure) }, 'the failure of a sync could not be recorded')
  }
}
