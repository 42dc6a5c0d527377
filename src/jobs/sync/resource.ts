import type { Endpoint } from '../../clients/endpoint.ts'
import type { PurchaseOrder } from '../../domain/order.ts'
import type { SqlRunner, Transaction } from '../../store/database.ts'
import type { DifferingRecord, StorableRecord } from '../../store/versions.ts'
import type { IntervalSetting } from './intervals.ts'
import type { SyncStream } from './stream.ts'
import type { Past } from './streams.ts'

/** What is done along with storing a page. */
export interface SyncHooks {
  /** Within the transaction that stored these orders for the first time. */
  readonly afterSave?: (
    tx: Transaction,
    stored: { readonly sellerId: string; readonly newOrders: readonly PurchaseOrder[] },
  ) => Promise<void>
}

/** Where the records of a resource are kept. */
export interface ResourceTable<T> {
  /** Those records that must be written. Reads only. */
  findDiffering(sql: SqlRunner, sellerId: string, records: readonly StorableRecord<T>[]): Promise<readonly DifferingRecord<T>[]>
  /** Writes them; returns how many were written. */
  store(
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
    hooks: SyncHooks,
  ): Promise<number>
  /** Notes records that the marketplace no longer has; returns how many are newly noted. Needed where a stream finds such ones. */
  noteMissing?(tx: Transaction, sellerId: string, observedAt: Date, keys: readonly string[]): Promise<number>
  /** Of a part of a snapshot: the keys of what is stored as present, but did not come. Reads only. Needed where a stream is a snapshot. */
  findGone?(sql: SqlRunner, sellerId: string, part: string | null, keys: ReadonlySet<string>): Promise<readonly string[]>
  /** Notes that a snapshot has been read to its end, and records it the first time. */
  noteLoaded?(tx: Transaction, sellerId: string): Promise<void>
}

/** What is read of the marketplace, how, how often, and where it is kept: one declaration for each. */
export interface Resource<T = unknown, Name extends string = string> {
  readonly name: Name
  /** The part of the marketplace that it is read from. A seller who lacks the endpoint's host does not have the resource. */
  readonly endpoint: Endpoint<unknown, T>
  /** How often it is polled; its streams may have paces and settings of their own. */
  readonly poll: IntervalSetting
  /** The streams that schedulers run, by their names. */
  readonly streams: Readonly<Record<string, SyncStream<T>>>
  /** How ranges of it are read again; left out: it has no past that could be. */
  readonly past?: Past<T>
  /**
   * Only sellers that are enrolled have it: a 404, or {@link NotEnrolled}, means "not enrolled", which is remembered and asked again
   * after a week (public facts, section 7.4). Left out: every seller has it.
   */
  readonly enrolment?: 'needed'
  /** When a record was created that cannot be read, by what its text says; null where that says nothing. Needed where a stream reads stretches of time. */
  createdAt?(rawText: string): Date | null
  readonly table: ResourceTable<T>
}

/**
 * Declares a resource.
 *
 * @throws TypeError when a stream is a snapshot and the table does not say what is gone, or one reads stretches of time and the resource does not
 * say when an unreadable record was created
 */
export const resource = <T, const Name extends string>(declared: Resource<T, Name>): Resource<T, Name> => {
  const { name, streams, table } = declared
  if (Object.keys(streams).length === 0) throw new TypeError(`${name} has no streams`)
  const isSnapshot = Object.values(streams).some(({ kind }) => kind === 'snapshot')
  if (isSnapshot && (table.findGone === undefined || table.noteMissing === undefined))
    throw new TypeError(`${name} is read as a snapshot, and its table does not say what is gone`)
  const isOverTime = Object.values(streams).some((stream) => stream.kind !== 'import' && stream.time !== null)
  if (isOverTime && declared.createdAt === undefined)
    throw new TypeError(`${name} is read by stretches of time, and does not say when an unreadable record was created`)
  return declared
}

/** Streams of this name read a range of creation times that someone has asked for. */
const backfillPrefix = 'backfill:'

/** Whether a stream reads a range that someone has asked for. */
export const isBackfill = (stream: string): boolean => stream.startsWith(backfillPrefix)

/** A stream of a resource by its name, ranges that someone has asked for included; null when there is none. */
export const streamOf = <T>({ streams, past }: Resource<T>, name: string): SyncStream<T> | null => {
  if (isBackfill(name)) return past?.stream ?? null
  return Object.hasOwn(streams, name) ? (streams[name] ?? null) : null
}

/** The stream of a backfill: the same range is the same stream. */
export const backfillStream = (range: { readonly from: Date; readonly to: Date }): string => {
  const compact = (instant: Date): string =>
    instant
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
      .replaceAll(/[-:]/g, '')
  return `${backfillPrefix}${compact(range.from)}:${compact(range.to)}`
}
