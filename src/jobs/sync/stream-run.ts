import type { CallOptions } from '../../clients/call-options.ts'
import { isCredentialsDoubt, Throttled } from '../../clients/errors.ts'
import type { Logger } from '../../observability/log.ts'
import type { SyncKey, SyncLease, SyncProgress, SyncRun, SyncWindow } from '../../store/sync-states.ts'
import type { PageStore } from './pages.ts'
import { emptyRun, fresh, withoutPasses } from './progress.ts'
import type { FetchedPage, ImportStream, PagedStream, StreamContext, SyncStream } from './stream.ts'
import { laneOfStream } from './stream-lane.ts'

/** How a job calls the engine. */
export interface SyncRunOptions {
  readonly signal: AbortSignal
  readonly log: Logger
}

/** Why a run ends; one that is not finished goes on at a time. */
export type Stop = { readonly finished: true } | { readonly finished: false; readonly at: Date; readonly reason: string }

/** What a run works with. */
export interface RunParts<T, Stream extends SyncStream<T>> {
  readonly context: StreamContext
  readonly stream: Stream
  readonly pages: PageStore<T>
  readonly progress: SyncProgress
  readonly options: SyncRunOptions
  readonly lease: SyncLease
}

/** By which clock the windows were planned, and when that was on ours. */
export interface PlannedBy {
  readonly clockMs: number
  readonly ownMs: number
}

/** One run of one stream, under its lease: what it works with, and where it stands. Nothing here asks or stores. */
export class StreamRun<T, Stream extends SyncStream<T> = SyncStream<T>> {
  readonly context: StreamContext
  readonly stream: Stream
  readonly pages: PageStore<T>
  readonly options: SyncRunOptions
  /** How its calls are made. */
  readonly calls: CallOptions
  readonly key: SyncKey
  /** In logs and messages. */
  readonly name: string
  readonly startedAt: Date
  readonly #startedMs = performance.now()
  progress: SyncProgress
  /** What it has done so far. */
  record: SyncRun = emptyRun
  /** The marketplace has answered some page. */
  answered = false
  /** Windows that were restarted because their pages led nowhere. */
  restarts = 0
  plannedBy: PlannedBy | null = null
  replanned = false
  /** The first page of the window under way, where it has come already. */
  firstPage: FetchedPage<T> | null = null
  /** The window that was passed over last. */
  lastPassedOver: SyncWindow | null = null

  constructor({ context, stream, pages, progress, options, lease }: RunParts<T, Stream>) {
    this.context = context
    this.stream = stream
    this.pages = pages
    this.progress = progress
    this.options = options
    this.calls = { signal: options.signal, lane: laneOfStream(stream, lease.stream) }
    this.key = { sellerId: lease.sellerId, resource: lease.resource, stream: lease.stream }
    this.name = `${lease.resource}/${lease.stream}`
    this.startedAt = lease.startedAt
  }

  /** Whether it has to give its worker back once it has read so many pages. */
  turnEndsWith(pages: number): boolean {
    const { maxPagesPerRun, turnMs } = this.context.settings
    return pages >= maxPagesPerRun || (pages > 0 && performance.now() - this.#startedMs >= turnMs)
  }

  /** How the run ends by a failure that is no matter of what was asked for; null: it is one. */
  stopBy(error: unknown): Stop | null {
    if (this.options.signal.aborted) return { finished: false, at: new Date(), reason: 'stopping' }
    if (error instanceof Throttled) return { finished: false, at: error.retryAt, reason: 'throttled' }
    // It is not this stream that fails: either the next token comes, or the seller stops as a whole.
    if (isCredentialsDoubt(error)) return { finished: false, at: error.retryAt, reason: 'the credentials were refused' }
    return null
  }

  /** Puts other windows in the place of the one under way. */
  replaceWindow(windows: readonly SyncWindow[]): void {
    const restarted = withoutPasses(fresh(this.progress))
    this.progress = {
      ...restarted,
      pending: [...windows, ...restarted.pending.slice(1)],
      totals: { ...restarted.totals, windowsTotal: restarted.totals.windowsTotal + windows.length - 1 },
    }
  }

  /** Leaves what was to be read. */
  forget(): void {
    this.progress = { ...withoutPasses(fresh(this.progress)), pending: [] }
  }

  /** Notes that a window is being read. */
  note({ from, to }: SyncWindow): void {
    const { windowFrom, windowTo } = this.record
    this.record = {
      ...this.record,
      windowFrom: windowFrom === null || from < windowFrom ? from : windowFrom,
      windowTo: windowTo === null || to > windowTo ? to : windowTo,
    }
  }
}

/** A run of a stream that is read page by page. */
export type PagedRun<T> = StreamRun<T, PagedStream<T>>

/** A run of a stream that imports step by step. */
export type ImportRun<T> = StreamRun<T, ImportStream<T>>
