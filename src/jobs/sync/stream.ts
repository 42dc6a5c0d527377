import type { CallOptions } from '../../clients/call-options.ts'
import type { MarketplaceClient } from '../../clients/client.ts'
import type { Operation } from '../../clients/operation.ts'
import type { Page, ParsedRecord } from '../../clients/record.ts'
import type { TimeWindow } from '../../domain/windows.ts'
import type { Database, Transaction } from '../../store/database.ts'
import type { ImportPlace, SyncWindow } from '../../store/sync-states.ts'
import type { Pace } from './intervals.ts'
import type { SyncSettings } from './settings.ts'

// Glossary
//   resource   what is synced: orders, returns
//   stream     one way to read a resource, with a watermark and a lease of its own: `changed:SellerFulfilled`, `sweep` …
//   window     a stretch of time that one query covers; read page by page
//   watermark  everything up to here is stored
//   snapshot   a window whose records are all there is: what is not among them is gone
//   import     a window of which a file is fetched, and then brought in step by step
//   run        one start of the engine on a stream

/** What a stream reads with. */
export interface StreamContext {
  readonly client: MarketplaceClient
  readonly database: Database
  readonly settings: SyncSettings
}

/** Keys that were asked for by name, by what came of it. */
export interface AskedKeys {
  /** The marketplace says that it does not have them. */
  readonly missing?: readonly string[]
  /** They are never answered for, though others are: they are passed over. */
  readonly unreadable?: readonly { readonly key: string; readonly fault: string }[]
  /** They are answered for, where that brings no record: one that was passed over before is settled. */
  readonly answered?: readonly string[]
}

/** Written in the transaction of a page: progress of the stream's own, such as a watermark for each SKU. */
export type Alongside = (tx: Transaction) => Promise<void>

/** What of a page is stored. */
export interface PageContent<T> {
  readonly records: readonly ParsedRecord<T>[]
  readonly observedAt: Date
  readonly keys?: AskedKeys
  readonly alongside?: Alongside | undefined
}

/** A page as the engine takes it, of whatever kind its stream is. */
export interface FetchedPage<T> extends PageContent<T> {
  readonly totalCount: number | null
  readonly nextCursor: string | null
  readonly marketplaceNow: Date
  /** The marketplace has answered for it, which proves an enrolment. */
  readonly isAnswer: boolean
  /** Rows have moved since the page before, so that some may lie on neither: a snapshot with such a page proves nothing gone. */
  readonly moved: boolean
  /** The budget ended within the page: it holds what came until then, and the run goes on from its cursor at this time. */
  readonly resumeAt: Date | null
}

/** Asks for one record that is known to be there. */
export type Witness = (options: CallOptions) => Promise<Page<unknown>>

/** What all kinds of streams have. */
export interface AnyStream {
  /** What to read next; empty when there is nothing. */
  plan(context: StreamContext, watermark: Date | null): readonly SyncWindow[] | Promise<readonly SyncWindow[]>
  /** The part of a window that can be asked for now; null when none is left. */
  reach(context: StreamContext, window: SyncWindow): TimeWindow | null
  readonly pace: Pace
  /** By which it asks for its pages; the one that most of them take where there are several. */
  readonly operation: Operation
  /** What it reads, as docs/syncs.md says it. */
  readonly reads: string
}

/**
 * What is special where windows are stretches of time. The marketplace counts and limits what one holds: full windows are split, astray paging
 * is caught. Any part of one can be asked for alone, with pages of any size: where a page cannot be had, the window is halved until what spoils
 * it stands alone and is passed over.
 */
export interface TimeRules {
  /** A window is read again when fewer records came than its first page announced: rows slip while the set moves under the pages. */
  readonly checksCount: boolean
  /** The other time of a record by which a window that is down to a second can still be halved, as far as it reaches. */
  readonly across: (context: StreamContext, window: SyncWindow) => TimeWindow | null
  /**
   * Questions of the same kind as a window's, each about a record that is stored, spread over time: an answer has rows, unless the
   * marketplace fails for all that has some. They distinguish a spoilt page from an outage, which answers without rows do not show.
   */
  readonly witnesses: (context: StreamContext, window: SyncWindow) => Promise<readonly Witness[]>
  /** Before which moment no record of a window was created; null where nobody knows. */
  readonly createdFrom: (context: StreamContext, window: SyncWindow) => Date | null
  /** The stream that tries again what this one has passed over; null: itself. */
  readonly retriedBy: string | null
}

/** A stream that is read page by page. */
export interface PagedStream<T> extends AnyStream {
  readonly kind: 'changes' | 'list' | 'range' | 'snapshot' | 'walk'
  /** A page of a window: its first one, or the one at a cursor. */
  read(context: StreamContext, window: SyncWindow, cursor: string | null, options: CallOptions): Promise<FetchedPage<T>>
  /** Null: a window is a moment, at which all there is is read. */
  readonly time: TimeRules | null
  /** When all windows are read, this stream has shown all that it can show, or all of its resource that was created since the first began. */
  readonly shows: 'stream' | 'resource' | null
}

/** What a step of an import has brought: what is to be stored, and where the import goes on; or until when it has to wait. */
export type ImportStep<T> =
  | { readonly waitUntil: Date }
  | (PageContent<T> & {
      readonly isAnswer: boolean
      /** Null: this was the last step. */
      readonly next: ImportPlace | null
    })

/** A stream whose windows are imported step by step. A step begins once what the one before it brought is stored, or while it is, where it may go ahead. */
export interface ImportStream<T> extends AnyStream {
  readonly kind: 'import'
  /** Whether the step at a place needs nothing of what the one before it stores. */
  mayGoAhead(place: ImportPlace): boolean
  /** The next step of a window's import; its first one without a place. */
  step(context: StreamContext, window: SyncWindow, place: ImportPlace | null, options: CallOptions): Promise<ImportStep<T>>
}

/** One way to read a resource. */
export type SyncStream<T> = PagedStream<T> | ImportStream<T>
