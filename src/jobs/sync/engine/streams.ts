import { z } from 'zod'
import type { CallOptions } from '../../../clients/http/call-options.ts'
import { jsonOrNull } from '../../../clients/http/json.ts'
import type { Operation } from '../../../clients/http/operation.ts'
import type { Page, ParsedRecord } from '../../../clients/http/record.ts'
import { everyPoll, type Pace, pollIntervals } from '../../../domain/sync/intervals.ts'
import {
  buildReach,
  clampToWall,
  intersect,
  maxReachDays,
  planWindow,
  sliceRange,
  type TimeWindow,
  wallMarginMs,
} from '../../../domain/sync/windows.ts'
import type { Vocabulary } from '../../../domain/values/vocabulary.ts'
import type { SyncWindow } from '../../../store/sync/sync-states.ts'
import type {
  AnyStream,
  AskedKeys,
  ControlRecord,
  FetchedPage,
  PagedStream,
  StreamContext,
  SyncStream,
  TimeRules,
  TransactionHook,
} from './stream.ts'
import { dayMs, type SyncSettings } from './sync-settings.ts'

// The kinds of streams. A stream declares its special properties; the common ones of its kind are here.

// ── windows ──────────────────────────────────────────────────────────────────────────────────────────────

/** The only window of a stream that reads all records now. */
const windowNow = ({ client }: StreamContext, part: string | null = null): SyncWindow => {
  const now = client.clock().now()
  return { from: now, to: now, part }
}

/** The window of a stream that follows changes: from the look-back before its watermark to the lag before the marketplace's now. */
const planByLastChange = ({ client, settings }: StreamContext, watermark: Date | null): readonly SyncWindow[] => {
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

/** The recent creation times, in slices, oldest first, for each part. The same as a backfill of that time. */
const planReread = ({ client, settings }: StreamContext, parts: readonly (string | null)[]): readonly SyncWindow[] => {
  const nowMs = client.clock().now().getTime()
  const range = { from: new Date(nowMs - settings.rereadDepthMs), to: new Date(nowMs - settings.lagMs) }
  if (range.from >= range.to) return []
  return sliceRange(range, settings.backfillSliceMs).flatMap((window) => parts.map((part) => ({ ...window, part })))
}

/** The oldest creation time that the marketplace still lists. */
export const oldestCreation = ({ client, settings }: StreamContext): Date =>
  new Date(client.clock().now().getTime() - settings.oldestDays * dayMs + wallMarginMs)

// ── time ranges ────────────────────────────────────────────────────────────────────────────────────

/** How far back the marketplace lists records, in days. */
export type ReachDays = (settings: SyncSettings) => number

/** How far back a range may begin if the marketplace publishes no limit, in days. */
const defaultReachDays: ReachDays = () => maxReachDays

/** Declaration of a stream that reads time ranges. */
interface Timed<T> {
  readonly operation: Operation
  /** Requests the first page of a window. */
  readonly list: (context: StreamContext, window: SyncWindow, options: CallOptions) => Promise<Page<T>>
  /** Requests the page at a cursor. */
  readonly next: (context: StreamContext, cursor: string, options: CallOptions) => Promise<Page<T>>
  readonly controlRecords: TimeRules['controlRecords']
  /** Null: a window of one second cannot be divided. */
  readonly across: TimeRules['across'] | null
}

const buildPage = <T>(page: Page<T>): FetchedPage<T> => ({ ...page, isAnswer: true, moved: false, resumeAt: null })

const readTimed =
  <T>({ list, next }: Timed<T>): PagedStream<T>['read'] =>
  async (context, window, cursor, options) =>
    buildPage(await (cursor === null ? list(context, window, options) : next(context, cursor, options)))

const none = (): null => null

/** The time rules of a stream: its own ones, and those of its kind. */
const timeRules = <T>(
  { controlRecords, across }: Timed<T>,
  kind: Pick<TimeRules, 'checksCount' | 'createdFrom' | 'retriedBy'>,
): TimeRules => ({ ...kind, controlRecords, across: across ?? none })

/** The records of a window by creation time are not older than the window. */
const startOfWindow: TimeRules['createdFrom'] = (_context, { from }) => from

/** The part of a window that is not too old; the whole window if no reach is known. */
const withinReach =
  (reachDays: ReachDays | null): AnyStream['reach'] =>
  ({ client, settings }, window) =>
    reachDays === null ? window : clampToWall(window, client.clock().now(), reachDays(settings))

/** Records by their last change, from the watermark on. Each window moves the watermark. */
export const followsChanges = <T>(
  stream: Timed<T> & { readonly reachDays: ReachDays | null; readonly createdFrom: TimeRules['createdFrom'] | null },
): PagedStream<T> => ({
  kind: 'changes',
  operation: stream.operation,
  reads: 'what has changed since the last run',
  pace: everyPoll,
  shows: null,
  time: timeRules(stream, { checksCount: true, createdFrom: stream.createdFrom ?? none, retriedBy: null }),
  plan: planByLastChange,
  reach: withinReach(stream.reachDays),
  read: readTimed(stream),
})

/** A list that records leave when they are done, by creation time: each run reads it completely, part by part. */
export const fullList = <T>(
  stream: Timed<T> & { readonly parts: readonly (string | null)[]; readonly reachDays: ReachDays },
): PagedStream<T> => ({
  kind: 'list',
  operation: stream.operation,
  reads: 'all of a list',
  pace: everyPoll,
  shows: 'stream',
  time: timeRules(stream, { checksCount: false, createdFrom: startOfWindow, retriedBy: null }),
  plan: (context) => {
    const window = { from: oldestCreation(context), to: context.client.clock().now() }
    return stream.parts.map((part) => ({ ...window, part }))
  },
  reach: withinReach(stream.reachDays),
  read: readTimed(stream),
})

/** How a requested range of a resource is backfilled. */
export interface BackfillSource<T> {
  readonly stream: SyncStream<T>
  /** Parts of a window that need a query each; by default one query covers all. */
  readonly parts?: readonly (string | null)[]
  /** How far back a range may begin; null, or left out: ten years, since no limit is published. */
  readonly reachDays?: ReachDays | null
  /** Divides a range into windows; by default into slices of equal length. */
  readonly windows?: (range: TimeWindow, vocabulary: Vocabulary) => readonly TimeWindow[]
}

/** The parts of a backfill. */
export const findParts = ({ parts = [null] }: Pick<BackfillSource<unknown>, 'parts'>): readonly (string | null)[] => parts

/** The time range that can be backfilled now: not too old, and not in the future. */
export const findReach = (
  { reachDays }: Pick<BackfillSource<unknown>, 'reachDays'>,
  now: Date,
  settings: SyncSettings,
): TimeWindow => buildReach(now, (reachDays ?? defaultReachDays)(settings))

/** A backfill by creation time. */
export interface Range<T> extends BackfillSource<T> {
  readonly stream: PagedStream<T>
}

/** Name of the stream that reads recently created records again. */
export const rereadStream = 'reread'

/** Records by creation time, for a requested range. Skipped windows are retried by {@link rereads}. */
export const range = <T>(
  stream: Timed<T> & { readonly parts: readonly (string | null)[]; readonly reachDays: ReachDays | null },
): Range<T> => ({
  parts: stream.parts,
  reachDays: stream.reachDays,
  stream: {
    kind: 'range',
    operation: stream.operation,
    reads: 'what was created lately',
    pace: everyPoll,
    shows: null,
    time: timeRules(stream, { checksCount: true, createdFrom: startOfWindow, retriedBy: rereadStream }),
    plan: () => [],
    reach: ({ client, settings }, window) => intersect(window, findReach(stream, client.clock().now(), settings)),
    read: readTimed(stream),
  },
})

/** Recently created records, independent of their last change. The same as a backfill of that time. */
export const rereads = <T>(backfill: Range<T>): PagedStream<T> => ({
  ...backfill.stream,
  pace: { setting: pollIntervals.reread, runs: 'while polled' },
  shows: 'resource',
  plan: (context) => planReread(context, findParts(backfill)),
})

/** Requests for the seconds in which some records were created. */
export const controlRecordsAt = (
  createdAt: readonly Date[],
  request: (range: TimeWindow, options: CallOptions) => Promise<Page<unknown>>,
): readonly ControlRecord[] =>
  createdAt.map((time) => {
    const second = Math.floor(time.getTime() / 1_000) * 1_000
    return (options) => request({ from: new Date(second), to: new Date(second + 1_000) }, options)
  })

// ── complete lists ─────────────────────────────────────────────────────────────────────────────────────────

/** A page of a snapshot; `moved` and `inSameTransaction` as in {@link FetchedPage}. */
export type SnapshotPage<T> = Page<T> & { readonly moved?: boolean; readonly inSameTransaction?: TransactionHook | undefined }

/**
 * All records, part by part. After the last page of a part, a stored record that was not on any page no longer exists. If another process began the part,
 * or a record had no readable key, not all keys are known, and no record is marked as missing.
 */
export const snapshot = <T>(stream: {
  readonly operation: Operation
  /** Parts that need a query each; null is the whole list. */
  readonly parts: readonly (string | null)[]
  /** Requests the page of a part at a cursor; null: the first page. */
  readonly page: (
    context: StreamContext,
    part: string | null,
    cursor: string | null,
    options: CallOptions,
  ) => Promise<SnapshotPage<T>>
}): PagedStream<T> => ({
  kind: 'snapshot',
  operation: stream.operation,
  reads: 'all records; a stored one that is not listed is marked as missing',
  pace: everyPoll,
  shows: null,
  time: null,
  plan: (context) => stream.parts.map((part) => windowNow(context, part)),
  reach: (_context, window) => window,
  read: async (context, { part }, cursor, options) => {
    const page = await stream.page(context, part, cursor, options)
    return { ...buildPage(page), moved: page.moved ?? false, inSameTransaction: page.inSameTransaction }
  },
})

/** Result of one step of a walk. */
export interface WalkPage<T, Place = string> extends AskedKeys {
  readonly records?: readonly ParsedRecord<T>[]
  /** The marketplace's answers; empty if nothing was requested. */
  readonly answers: readonly { readonly observedAt: Date }[]
  /** The place of the next step; null: the walk is finished. */
  readonly next: Place | null
  /** The rate budget was used up within the step: it continues at this time. */
  readonly resumeAt?: Date
  readonly inSameTransaction?: TransactionHook | undefined
}

/** The place of a step of a walk, and when the walk was planned. */
export interface WalkStep<Place = string> {
  readonly after: Place
  readonly plannedAt: Date
}

/** The places of a walk: their schema, and the first one. */
export interface WalkPlaces<Place> {
  readonly shape: z.ZodType<Place>
  readonly start: Place
}

/** Places of a walk in the order of keys: after a key, which is empty at first. */
export const afterKeys: WalkPlaces<string> = { shape: z.string(), start: '' }

// A place that another version of the program stored may have another schema: the walk starts again.
const parsePlace = <Place>({ shape, start }: WalkPlaces<Place>, cursor: string | null): Place => {
  const place = cursor === null ? null : shape.safeParse(jsonOrNull(cursor))
  return place?.success === true ? place.data : start
}

// One time for several answers: the earliest, so that no record seems newer than it is. Without answers it is the time of the request.
const findEarliest = (answers: readonly { readonly observedAt: Date }[], askedAt: Date): Date =>
  answers.reduce((earliest, { observedAt }) => (observedAt < earliest ? observedAt : earliest), answers[0]?.observedAt ?? askedAt)

/** All records named in a list of our own, step by step in its order: each run walks the list from its start. */
export const walk = <T, Place = string>(stream: {
  readonly operation: Operation
  /** As in {@link PagedStream}; each walk reads something else. */
  readonly reads: string
  /** By default it runs with every poll. */
  readonly pace?: Pace
  readonly places: WalkPlaces<Place>
  /** Null: there is nothing left to request. */
  readonly step: (context: StreamContext, step: WalkStep<Place>, options: CallOptions) => Promise<WalkPage<T, Place> | null>
}): PagedStream<T> => ({
  kind: 'walk',
  operation: stream.operation,
  reads: stream.reads,
  pace: stream.pace ?? everyPoll,
  shows: null,
  time: null,
  plan: (context) => [windowNow(context)],
  reach: (_context, window) => window,
  read: async (context, { to }, cursor, options) => {
    const { client } = context
    const askedAt = client.clock().now()
    const page = await stream.step(context, { after: parsePlace(stream.places, cursor), plannedAt: to }, options)
    const { records = [], answers, next, resumeAt = null, inSameTransaction, ...keys } = page ?? { answers: [], next: null }
    return {
      ...{ records, keys, inSameTransaction, resumeAt },
      totalCount: null,
      nextCursor: next === null ? null : JSON.stringify(next),
      observedAt: findEarliest(answers, askedAt),
      marketplaceNow: client.clock().now(),
      isAnswer: answers.length > 0,
      moved: false,
    }
  },
})
