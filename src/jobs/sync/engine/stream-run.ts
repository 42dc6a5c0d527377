import type { CallOptions } from '../../../clients/http/call-options.ts'
import { isCredentialsDoubt, Throttled } from '../../../clients/http/errors.ts'
import type { Logger } from '../../../observability/log.ts'
import type { SyncKey, SyncLease, SyncProgress, SyncRun, SyncWindow } from '../../../store/sync/sync-states.ts'
import type { PageStore, SavedPage } from './page-store.ts'
import { addPage, emptyRun, finishWindow, restartWindow, withoutPasses, withPage } from './progress.ts'
import { findStreamLane } from './resource.ts'
import type { FetchedPage, ImportStream, PagedStream, StreamContext, SyncStream } from './stream.ts'

/** How a job calls the engine. */
export interface SyncRunOptions {
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Why a run ends; an unfinished run continues at a time. */
export type Stop = { readonly finished: true } | { readonly finished: false; readonly at: Date; readonly reason: string }

/** Dependencies of a run. */
export interface RunParts<T, Stream extends SyncStream<T>> {
  readonly context: StreamContext
  readonly stream: Stream
  readonly pages: PageStore<T>
  readonly progress: SyncProgress
  readonly options: SyncRunOptions
  readonly lease: SyncLease
}

/** The clocks when the windows were planned. */
export interface PlanningClocks {
  readonly marketplaceMs: number
  readonly monotonicMs: number
}

/** A plan: the windows to read, and where it begins; null where it leaves windows out. */
export interface WindowPlan {
  readonly pending: readonly SyncWindow[]
  readonly plannedFrom: Date | null
}

/**
 * One run of one stream, under its lease. It owns the state of the run: other files read the state, and change it through the methods here only. It
 * sends no requests and writes nothing itself.
 */
export class StreamRun<T, Stream extends SyncStream<T> = SyncStream<T>> {
  readonly context: StreamContext
  readonly stream: Stream
  readonly pages: PageStore<T>
  readonly options: SyncRunOptions
  /** Options of its calls. */
  readonly calls: CallOptions
  readonly key: SyncKey
  /** The stream's name in logs and messages. */
  readonly name: string
  readonly startedAt: Date
  readonly #startedMs = performance.now()
  #progress: SyncProgress
  #record: SyncRun = emptyRun
  #answered = false
  #restarts = 0
  #endless = false
  #plannedBy: PlanningClocks | null = null
  #replanned = false
  #firstPage: FetchedPage<T> | null = null
  #lastSkipped: SyncWindow | null = null

  constructor({ context, stream, pages, progress, options, lease }: RunParts<T, Stream>) {
    this.context = context
    this.stream = stream
    this.pages = pages
    this.#progress = progress
    this.options = options
    this.calls = { signal: options.signal, lane: findStreamLane(stream, lease.stream) }
    this.key = { sellerId: lease.sellerId, resource: lease.resource, stream: lease.stream }
    this.name = `${lease.resource}/${lease.stream}`
    this.startedAt = lease.startedAt
  }

  // ── state ──

  get progress(): SyncProgress {
    return this.#progress
  }

  /** What this run has done so far. */
  get record(): SyncRun {
    return this.#record
  }

  /** Whether the marketplace has answered a request of this run. */
  get answered(): boolean {
    return this.#answered
  }

  /** Windows that this run restarted because their cursors failed. */
  get restarts(): number {
    return this.#restarts
  }

  /** Whether a window of this run had pages without an end. */
  get endless(): boolean {
    return this.#endless
  }

  /** The clocks when this run planned its windows; null: it has not planned any, or discarded them. */
  get plannedBy(): PlanningClocks | null {
    return this.#plannedBy
  }

  /** Whether this run discarded its plan once, because of clock skew. */
  get replanned(): boolean {
    return this.#replanned
  }

  /** The window that this run skipped last. */
  get lastSkipped(): SyncWindow | null {
    return this.#lastSkipped
  }

  // ── decisions ──

  /** Whether the run has to release its worker after this many pages. */
  turnEndsAfter(pages: number): boolean {
    const { maxPagesPerRun, turnMs } = this.context.settings
    return pages >= maxPagesPerRun || (pages > 0 && performance.now() - this.#startedMs >= turnMs)
  }

  /** How an error that is not about the request itself ends the run; null: the error is about the request. */
  findStop(error: unknown): Stop | null {
    if (this.options.signal.aborted) return { finished: false, at: new Date(), reason: 'stopping' }
    if (error instanceof Throttled) return { finished: false, at: error.retryAt, reason: 'throttled' }
    // The stream itself does not fail: either a new token arrives, or the seller is stopped as a whole.
    if (isCredentialsDoubt(error)) return { finished: false, at: error.retryAt, reason: 'the credentials were refused' }
    return null
  }

  /** The marketplace's lists are complete up to this time (epoch ms), by its clock. */
  completeUpToMs(marketplaceNow: Date): number {
    return marketplaceNow.getTime() - (this.stream.kind === 'changes' ? this.context.settings.lagMs : 0)
  }

  // ── windows ──

  /** Notes the clocks, before the windows are planned. */
  startPlanning(clocks: PlanningClocks): void {
    this.#plannedBy = clocks
  }

  /** Starts on a plan. */
  startPlan({ pending, plannedFrom }: WindowPlan): void {
    const restarted = withoutPasses(restartWindow(this.#progress))
    this.#progress = {
      ...restarted,
      pending,
      totals: {
        ...restarted.totals,
        windowsTotal: pending.length,
        windowsDone: 0,
        skipped: 0,
        outOfReachBefore: null,
        plannedAt: this.startedAt.toISOString(),
        plannedFrom: plannedFrom?.toISOString() ?? null,
      },
    }
  }

  /** Discards the plan, to plan once more by the right clock. */
  discardPlan(): void {
    this.#replanned = true
    this.#plannedBy = null
    this.#progress = { ...restartWindow(this.#progress), pending: [] }
  }

  /** Drops everything that was still to be read. */
  dropPending(): void {
    this.#progress = { ...withoutPasses(restartWindow(this.#progress)), pending: [] }
  }

  /** Replaces the pending windows by an equivalent list. */
  setPending(pending: readonly SyncWindow[]): void {
    this.#progress = { ...this.#progress, pending }
  }

  /** Notes that a window is being read. */
  noteWindow({ from, to }: SyncWindow): void {
    const { windowFrom, windowTo } = this.#record
    this.#record = {
      ...this.#record,
      windowFrom: windowFrom === null || from < windowFrom ? from : windowFrom,
      windowTo: windowTo === null || to > windowTo ? to : windowTo,
    }
  }

  /** Notes how many records the current window announced. */
  noteWindowTotal(windowTotal: number | null): void {
    this.#progress = { ...this.#progress, totals: { ...this.#progress.totals, windowTotal } }
  }

  /** Notes that everything before a time is older than the marketplace provides. */
  noteOutOfReach(before: Date): void {
    const { totals } = this.#progress
    const known = totals.outOfReachBefore
    if (known !== null && Date.parse(known) >= before.getTime()) return
    this.#progress = { ...this.#progress, totals: { ...totals, outOfReachBefore: before.toISOString() } }
  }

  /** The current window is finished, and stored up to a time. */
  completeWindow(storedUpTo: Date): void {
    this.#progress = finishWindow(this.#progress, this.#newWatermark(storedUpTo))
  }

  /** Replaces the current window by others. */
  replaceWindow(windows: readonly SyncWindow[]): void {
    const restarted = withoutPasses(restartWindow(this.#progress))
    this.#progress = {
      ...restarted,
      pending: [...windows, ...restarted.pending.slice(1)],
      totals: { ...restarted.totals, windowsTotal: restarted.totals.windowsTotal + windows.length - 1 },
    }
  }

  /** Moves the current window behind the others, once. False: there are no others, or all of them were moved too. */
  postponeWindow(window: SyncWindow): boolean {
    const { pending } = this.#progress
    if (pending.slice(1).every((other) => other.putOff === true)) return false
    const restarted = withoutPasses(restartWindow(this.#progress))
    this.#progress = { ...restarted, pending: [...pending.slice(1), { ...window, putOff: true }] }
    return true
  }

  /** Skips the current window. `save` stores the new progress first. */
  async skipWindow(window: SyncWindow, storedUpTo: Date, save: (progress: SyncProgress) => Promise<void>): Promise<void> {
    const { totals } = this.#progress
    const counted = { ...this.#progress, totals: { ...totals, skipped: totals.skipped + 1 } }
    const progress = finishWindow(counted, this.#newWatermark(storedUpTo))
    await save(progress)
    this.#progress = progress
    this.#lastSkipped = window
    this.#record = { ...this.#record, quarantined: this.#record.quarantined + 1 }
  }

  // ── pages ──

  noteAnswer(): void {
    this.#answered = true
  }

  noteEndless(): void {
    this.#endless = true
  }

  /** Keeps a first page that was already fetched for the restarted window. */
  keepFirstPage(page: FetchedPage<T>): void {
    this.#firstPage = page
  }

  /** Returns the kept first page, once. */
  takeFirstPage(): FetchedPage<T> | null {
    const page = this.#firstPage
    this.#firstPage = null
    return page
  }

  /** Stores a page of `seen` records and counts it. `save` gets a function that adds the page to the progress so far. */
  async savePage(seen: number, save: (count: (saved: SavedPage) => SyncProgress) => Promise<SyncProgress>): Promise<void> {
    const before = this.#progress
    let stored: SavedPage = { changed: 0, quarantined: 0 }
    this.#progress = await save((saved) => {
      stored = saved
      return withPage(before, seen, saved)
    })
    this.#record = addPage(this.#record, seen, stored)
  }

  /** Notes that the page at the current cursor failed; returns how many times in a row it did. */
  noteFailedPage(): number {
    const { cursor, totals } = this.#progress
    const failedAt = cursor ?? 'first'
    const failedTimes = totals.failedAt === failedAt ? totals.failedTimes + 1 : 1
    this.#progress = { ...this.#progress, totals: { ...totals, failedAt, failedTimes } }
    return failedTimes
  }

  /** Drops the cursor of the current window. */
  dropCursor(): void {
    this.#progress = restartWindow(this.#progress)
  }

  /** Restarts the current window because its cursor failed. */
  restartWindow(): void {
    const restarted = restartWindow(this.#progress)
    this.#progress = { ...restarted, totals: { ...restarted.totals, windowRestarts: restarted.totals.windowRestarts + 1 } }
    this.#restarts += 1
  }

  /** Notes a cursor loop in the current window; its description becomes the error of the run. */
  noteCursorLoop(error: string): void {
    this.#record = { ...this.#record, error }
    this.#restarts += 1
  }

  /** The watermark moves only where windows follow changes. */
  #newWatermark(storedUpTo: Date): Date | null {
    return this.stream.kind === 'changes' ? storedUpTo : null
  }
}

/** A run of a stream that is read page by page. */
export type PagedRun<T> = StreamRun<T, PagedStream<T>>

/** A run of a stream that is imported step by step. */
export type ImportRun<T> = StreamRun<T, ImportStream<T>>
