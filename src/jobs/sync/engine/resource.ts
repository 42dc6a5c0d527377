import type { Endpoint } from '../../../clients/http/endpoint.ts'
import type { SyncLane } from '../../../clients/http/lane.ts'
import type { PurchaseOrder } from '../../../domain/orders/order.ts'
import { type IntervalSetting, isSeldom } from '../../../domain/sync/intervals.ts'
import type { SqlRunner, Transaction } from '../../../store/db/database.ts'
import type { DifferingRecord, StorableRecord } from '../../../store/versioned/versions.ts'
import type { SyncStream } from './stream.ts'
import type { BackfillSource } from './streams.ts'

/** Hooks into storing a page. */
export interface SyncHooks {
  /** Called in the transaction that stored these orders for the first time. */
  readonly afterSave?: (
    tx: Transaction,
    stored: { readonly sellerId: string; readonly newOrders: readonly PurchaseOrder[] },
  ) => Promise<void>
}

/** The table that stores the records of a resource. */
export interface ResourceTable<T> {
  /** Finds the records that differ from the stored ones. Reads only. */
  findDiffering(sql: SqlRunner, sellerId: string, records: readonly StorableRecord<T>[]): Promise<readonly DifferingRecord<T>[]>
  /** Writes differing records; returns how many were written. */
  store(
    tx: Transaction,
    sellerId: string,
    observedAt: Date,
    records: readonly DifferingRecord<T>[],
    hooks: SyncHooks,
  ): Promise<number>
  /** Marks records that the marketplace no longer has; returns how many are newly marked. Required if a stream finds missing records. */
  noteMissing?(tx: Transaction, sellerId: string, observedAt: Date, keys: readonly string[]): Promise<number>
  /** Keys of a part that are stored as present but are not in its snapshot. Reads only. Required if a stream is a snapshot. */
  findMissing?(sql: SqlRunner, sellerId: string, part: string | null, keys: ReadonlySet<string>): Promise<readonly string[]>
  /** Notes that a snapshot was read completely; the first time it is recorded as a change. */
  noteLoaded?(tx: Transaction, sellerId: string): Promise<void>
}

/** Declaration of a resource: what is read of the marketplace, how, how often, and where it is stored. */
export interface Resource<T = unknown, Name extends string = string> {
  readonly name: Name
  /** The endpoint that it is read from. A seller without the endpoint's host does not have the resource. */
  readonly endpoint: Endpoint<unknown, T>
  /** How often it is polled; a stream may have a pace of its own. */
  readonly poll: IntervalSetting
  /** The scheduled streams by name. */
  readonly streams: Readonly<Record<string, SyncStream<T>>>
  /** How a range of it is backfilled; left out: it cannot be. */
  readonly backfill?: BackfillSource<T>
  /**
   * Only enrolled sellers have it: a 404, or {@link NotEnrolled}, means "not enrolled". The result is stored and checked again after a week (public
   * facts, section 7.4). Left out: every seller has it.
   */
  readonly enrolment?: 'needed'
  /** Creation time of a record that cannot be parsed, from its text; null if the text has none. Required if a stream reads time windows. */
  createdAt?(rawText: string): Date | null
  readonly table: ResourceTable<T>
}

/**
 * Declares a resource.
 *
 * @throws TypeError when a stream is a snapshot and the table has no `findMissing`, or when a stream reads time windows and the resource has no
 * `createdAt`
 */
export const resource = <T, const Name extends string>(declared: Resource<T, Name>): Resource<T, Name> => {
  const { name, streams, table } = declared
  if (Object.keys(streams).length === 0) throw new TypeError(`${name} has no streams`)
  const isSnapshot = Object.values(streams).some(({ kind }) => kind === 'snapshot')
  if (isSnapshot && (table.findMissing === undefined || table.noteMissing === undefined))
    throw new TypeError(`${name} is read as a snapshot, but its table has no findMissing or noteMissing`)
  const readsWindows = Object.values(streams).some((stream) => stream.kind !== 'import' && stream.time !== null)
  if (readsWindows && declared.createdAt === undefined)
    throw new TypeError(`${name} is read by time windows, but has no createdAt`)
  return declared
}

/** Prefix of the streams that backfill a requested range of creation times. */
const backfillPrefix = 'backfill:'

/** Whether a stream backfills a requested range. */
export const isBackfill = (stream: string): boolean => stream.startsWith(backfillPrefix)

/** A stream of a resource by its name, backfills included; null when there is none. */
export const findStream = <T>({ streams, backfill }: Resource<T>, name: string): SyncStream<T> | null => {
  if (isBackfill(name)) return backfill?.stream ?? null
  return Object.hasOwn(streams, name) ? (streams[name] ?? null) : null
}

/** The lane of a stream, for its jobs and its calls. A stream that runs less often than its resource is polled uses the lane of backfills. */
export const findStreamLane = <T>(stream: Pick<SyncStream<T>, 'kind' | 'pace'>, name: string): SyncLane => {
  if (isBackfill(name)) return 'backfill'
  if (stream.kind === 'snapshot' || stream.kind === 'import') return 'snapshot'
  return stream.kind === 'range' || isSeldom(stream.pace) ? 'backfill' : 'poll'
}

/** Name of the stream of a backfill: the same range has the same stream. */
export const backfillStream = (range: { readonly from: Date; readonly to: Date }): string => {
  const compact = (instant: Date): string =>
    instant
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
      .replaceAll(/[-:]/g, '')
  return `${backfillPrefix}${compact(range.from)}:${compact(range.to)}`
}
