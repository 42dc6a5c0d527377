import type { CallOptions } from '../../../clients/http/call-options.ts'
import type { ReadClient } from '../../../clients/http/client.ts'
import type { Operation } from '../../../clients/http/operation.ts'
import type { Page, ParsedRecord } from '../../../clients/http/record.ts'
import type { Pace } from '../../../domain/sync/intervals.ts'
import type { TimeWindow } from '../../../domain/sync/windows.ts'
import type { Database, Transaction } from '../../../store/db/database.ts'
import type { ImportPosition, SyncWindow } from '../../../store/sync/sync-states.ts'
import type { SyncSettings } from './sync-settings.ts'

// Glossary
//   resource   a kind of record that is synced: orders, returns
//   stream     one way to read a resource, with its own watermark and lease: `changed:SellerFulfilled`, `sweep` …
//   window     a time range that one query covers; read page by page
//   watermark  everything up to this time is stored
//   snapshot   a window that shows all records of a part: a stored record that is not among them no longer exists
//   import     a window for which a file is fetched and then imported step by step
//   run        one start of the engine on a stream

/** Dependencies of reading a stream. */
export interface StreamContext {
  readonly client: ReadClient
  readonly database: Database
  readonly settings: SyncSettings
}

/** Results of requests for single keys. */
export interface AskedKeys {
  /** The marketplace reports that it does not have them. */
  readonly missing?: readonly string[]
  /** Their requests always fail, though others succeed: they are skipped. */
  readonly unreadable?: readonly { readonly key: string; readonly fault: string }[]
  /** Their requests succeed, without a record: a key that was skipped before is settled. */
  readonly answered?: readonly string[]
}

/** Runs in the transaction that stores a page: writes the stream's own progress, such as a watermark for each SKU. */
export type TransactionHook = (tx: Transaction) => Promise<void>

/** The stored parts of a page. */
export interface PageContent<T> {
  readonly records: readonly ParsedRecord<T>[]
  readonly observedAt: Date
  readonly keys?: AskedKeys
  readonly inSameTransaction?: TransactionHook | undefined
}

/** A page of a stream of any kind. */
export interface FetchedPage<T> extends PageContent<T> {
  readonly totalCount: number | null
  readonly nextCursor: string | null
  readonly marketplaceNow: Date
  /** The marketplace has answered, which proves an enrolment. */
  readonly isAnswer: boolean
  /** Rows have moved since the page before, and some may be on neither page: the snapshot does not prove that a record no longer exists. */
  readonly moved: boolean
  /** The rate budget was used up within the page: it holds the records until then, and the run continues from its cursor at this time. */
  readonly resumeAt: Date | null
}

/** Requests one record that is known to exist. */
export type ControlRecord = (options: CallOptions) => Promise<Page<unknown>>

/** Common part of all kinds of streams. */
export interface AnyStream {
  /** Plans the next windows; empty when there is nothing to read. */
  plan(context: StreamContext, watermark: Date | null): readonly SyncWindow[] | Promise<readonly SyncWindow[]>
  /** The part of a window that the marketplace provides now; null when there is none. */
  reach(context: StreamContext, window: SyncWindow): TimeWindow | null
  readonly pace: Pace
  /** The operation that reads its pages; the most frequent one if there are several. */
  readonly operation: Operation
  /** What it reads, for docs/syncs.md. */
  readonly reads: string
}

/**
 * Rules for windows that are time ranges. The marketplace counts and limits the records of a window: full windows are split, and cursor loops are
 * detected. Any part of a window can be requested alone, with pages of any size: if a page cannot be read, the window is halved until the corrupt
 * record is alone and is skipped.
 */
export interface TimeRules {
  /** A window with fewer records than its first page announced is read again: records slip between pages while the list changes. */
  readonly checksCount: boolean
  /** The range of a second time of the records, by which a window of one second can still be halved; null where there is none. */
  readonly across: (context: StreamContext, window: SyncWindow) => TimeWindow | null
  /**
   * Requests of the same kind as the window's, each for a stored record, spread over time. Each returns rows, unless the marketplace fails for all
   * rows. They distinguish a corrupt page from an outage; answers without rows cannot.
   */
  readonly controlRecords: (context: StreamContext, window: SyncWindow) => Promise<readonly ControlRecord[]>
  /** A time before which no record of a window was created; null if unknown. */
  readonly createdFrom: (context: StreamContext, window: SyncWindow) => Date | null
  /** The stream that retries the windows that this one has skipped; null: itself. */
  readonly retriedBy: string | null
}

/** A stream that is read page by page. */
export interface PagedStream<T> extends AnyStream {
  readonly kind: 'changes' | 'list' | 'range' | 'snapshot' | 'walk'
  /** Reads the page of a window at a cursor; null: its first page. */
  read(context: StreamContext, window: SyncWindow, cursor: string | null, options: CallOptions): Promise<FetchedPage<T>>
  /** Null: a window is a point in time, and all records are read. */
  readonly time: TimeRules | null
  /** When all windows are read, this stream has shown all its records (`stream`), or all records of its resource created since the first window's start (`resource`). */
  readonly shows: 'stream' | 'resource' | null
}

/** Result of an import step: records to store, and the place of the next step; or the time until which it has to wait. */
export type ImportStep<T> =
  | { readonly waitUntil: Date }
  | (PageContent<T> & {
      readonly isAnswer: boolean
      /** Null: this was the last step. */
      readonly next: ImportPosition | null
    })

/** A stream whose windows are imported step by step. A step begins after the result of the step before is stored, or earlier if it may run ahead. */
export interface ImportStream<T> extends AnyStream {
  readonly kind: 'import'
  /** Whether the step at a place does not depend on what the step before stores. */
  mayRunAhead(place: ImportPosition): boolean
  /** Runs the step of a window's import at a place; null: its first step. */
  step(context: StreamContext, window: SyncWindow, place: ImportPosition | null, options: CallOptions): Promise<ImportStep<T>>
}

/** One way to read a resource. */
export type SyncStream<T> = PagedStream<T> | ImportStream<T>
