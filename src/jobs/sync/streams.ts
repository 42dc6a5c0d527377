import { z } from 'zod'
import type { CallOptions } from '../../clients/call-options.ts'
import { jsonOrNull } from '../../clients/json.ts'
import type { Operation } from '../../clients/operation.ts'
import type { Page, ParsedRecord } from '../../clients/record.ts'
import type { Vocabulary } from '../../domain/vocabulary.ts'
import {
  clampToWall,
  intersect,
  mostReachDays,
  planWindow,
  reachOf,
  sliceRange,
  type TimeWindow,
  wallMarginMs,
} from '../../domain/windows.ts'
import type { SyncWindow } from '../../store/sync-states.ts'
import { everyPoll, type IntervalSetting, type Pace } from './intervals.ts'
import { dayMs, type SyncSettings } from './settings.ts'
import type {
  Alongside,
  AnyStream,
  AskedKeys,
  FetchedPage,
  PagedStream,
  StreamContext,
  SyncStream,
  TimeRules,
  Witness,
} from './stream.ts'

// The kinds of streams. A stream states what is special about it; what all of its kind have is stated here.

// ── windows ──────────────────────────────────────────────────────────────────────────────────────────────

/** The only window of a stream that reads all there is, now. */
const windowNow = ({ client }: StreamContext, part: string | null = null): SyncWindow => {
  const now = client.clock().now()
  return { from: now, to: now, part }
}

/** The window of a stream that follows changes: from its watermark less the look-back, up to a lag before the marketplace's now. */
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

/** What was created lately, in slices, oldest first; for each part. The same as a backfill of that time. */
const planReread = ({ client, settings }: StreamContext, parts: readonly (string | null)[]): readonly SyncWindow[] => {
  const nowMs = client.clock().now().getTime()
  const range = { from: new Date(nowMs - settings.rereadDepthMs), to: new Date(nowMs - settings.lagMs) }
  if (range.from >= range.to) return []
  return sliceRange(range, settings.backfillSliceMs).flatMap((window) => parts.map((part) => ({ ...window, part })))
}

/** The oldest creation that the marketplace still answers for. */
export const oldestCreation = ({ client, settings }: StreamContext): Date =>
  new Date(client.clock().now().getTime() - settings.oldestDays * dayMs + wallMarginMs)

// ── stretches of time ────────────────────────────────────────────────────────────────────────────────────

/** How far back the marketplace answers, in days. */
export type ReachDays = (settings: SyncSettings) => number

/** How far back a range may begin where the marketplace publishes no limit, in days. */
const longestReachDays: ReachDays = () => mostReachDays

/** What each stream over stretches of time states. */
interface Timed<T> {
  readonly operation: Operation
  /** Asks for the first page of a window. */
  readonly list: (context: StreamContext, window: SyncWindow, options: CallOptions) => Promise<Page<T>>
  /** Asks for the page at a cursor. */
  readonly next: (context: StreamContext, cursor: string, options: CallOptions) => Promise<Page<T>>
  readonly witnesses: TimeRules['witnesses']
  /** Null: a second is the least that can be asked for. */
  readonly across: TimeRules['across'] | null
}

const pageOf = <T>(page: Page<T>): FetchedPage<T> => ({ ...page, isAnswer: true, moved: false, resumeAt: null })

const readTimed =
  <T>({ list, next }: Timed<T>): PagedStream<T>['read'] =>
  async (context, window, cursor, options) =>
    pageOf(await (cursor === null ? list(context, window, options) : next(context, cursor, options)))

const nowhere = (): null => null

/** The rules of a stream over stretches of time: what it states of them itself, and what its kind has. */
const timeRules = <T>(
  { witnesses, across }: Timed<T>,
  kind: Pick<TimeRules, 'checksCount' | 'createdFrom' | 'retriedBy'>,
): TimeRules => ({ ...kind, witnesses, across: across ?? nowhere })

/** Records of a window that are read by their creation are no older than it. */
const fromItsStart: TimeRules['createdFrom'] = (_context, { from }) => from

/** The part of a window that is not too old. Nothing is ruled out where no reach is known. */
const withinReach =
  (reachDays: ReachDays | null): AnyStream['reach'] =>
  ({ client, settings }, window) =>
    reachDays === null ? window : clampToWall(window, client.clock().now(), reachDays(settings))

/** Records by their last change: from the watermark on, which moves with each window. */
export const followsChanges = <T>(
  stream: Timed<T> & { readonly reachDays: ReachDays | null; readonly createdFrom: TimeRules['createdFrom'] | null },
): PagedStream<T> => ({
  kind: 'changes',
  operation: stream.operation,
  reads: 'what has changed since the last run',
  pace: everyPoll,
  shows: null,
  time: timeRules(stream, { checksCount: true, createdFrom: stream.createdFrom ?? nowhere, retriedBy: null }),
  plan: planByLastChange,
  reach: withinReach(stream.reachDays),
  read: readTimed(stream),
})

/** All of a list that records leave all the time, by their creation: each run reads it whole, part by part. */
export const standingList = <T>(
  stream: Timed<T> & { readonly parts: readonly (string | null)[]; readonly reachDays: ReachDays },
): PagedStream<T> => ({
  kind: 'list',
  operation: stream.operation,
  reads: 'all of a list',
  pace: everyPoll,
  shows: 'stream',
  time: timeRules(stream, { checksCount: false, createdFrom: fromItsStart, retriedBy: null }),
  plan: (context) => {
    const window = { from: oldestCreation(context), to: context.client.clock().now() }
    return stream.parts.map((part) => ({ ...window, part }))
  },
  reach: withinReach(stream.reachDays),
  read: readTimed(stream),
})

/** What of a resource can be read again when somebody asks for a range of it. */
export interface Past<T> {
  readonly stream: SyncStream<T>
  /** Shares of a window that need a query each; one that covers all by default. */
  readonly parts?: readonly (string | null)[]
  /** How far back a range may begin; null, or left out: ten years, as nothing is published. */
  readonly reachDays?: ReachDays | null
  /** How a range is cut into windows; into slices of one length by default. */
  readonly windows?: (range: TimeWindow, vocabulary: Vocabulary) => readonly TimeWindow[]
}

/** Parts of a past. */
export const partsOf = ({ parts = [null] }: Pick<Past<unknown>, 'parts'>): readonly (string | null)[] => parts

/** The times of a past that can be asked for now: neither too old nor to come. */
export const reachOfPast = ({ reachDays }: Pick<Past<unknown>, 'reachDays'>, now: Date, settings: SyncSettings): TimeWindow =>
  reachOf(now, (reachDays ?? longestReachDays)(settings))

/** A past that is read by creation. */
export interface Range<T> extends Past<T> {
  readonly stream: PagedStream<T>
}

/** Name of the stream that reads again what was created lately. */
export const rereadStream = 'reread'

/** Records by their creation, for a range that someone asks for. What is passed over is tried again by {@link rereads}. */
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
    time: timeRules(stream, { checksCount: true, createdFrom: fromItsStart, retriedBy: rereadStream }),
    plan: () => [],
    reach: ({ client, settings }, window) => intersect(window, reachOfPast(stream, client.clock().now(), settings)),
    read: readTimed(stream),
  },
})

/** How often what was created lately is read again; what is not polled at all is not read again either. */
const rereadEvery: IntervalSetting<'REREAD_EVERY'> = { variable: 'REREAD_EVERY', ordinaryMs: dayMs, demonstrationMs: dayMs }

/** What was created lately, whatever its last change says: the same as a range of that time. */
export const rereads = <T>(past: Range<T>): PagedStream<T> => ({
  ...past.stream,
  pace: { setting: rereadEvery, runs: 'while polled', restsAfterRestart: true },
  shows: 'resource',
  plan: (context) => planReread(context, partsOf(past)),
})

/** Questions about the second in which each of some records was created. */
export const witnessesAt = (
  moments: readonly Date[],
  ask: (range: TimeWindow, options: CallOptions) => Promise<Page<unknown>>,
): readonly Witness[] =>
  moments.map((moment) => {
    const second = Math.floor(moment.getTime() / 1_000) * 1_000
    return (options) => ask({ from: new Date(second), to: new Date(second + 1_000) }, options)
  })

// ── all there is ─────────────────────────────────────────────────────────────────────────────────────────

/** A page of a snapshot; `moved` as {@link FetchedPage} has it. */
export type SnapshotPage<T> = Page<T> & { readonly moved?: boolean }

/**
 * All there is, part by part. With the last page of a part, what is stored and did not come is gone. When another process had begun the part,
 * or a record of it had no readable key, nobody knows all that came, and nothing counts as gone.
 */
export const snapshot = <T>(stream: {
  readonly operation: Operation
  /** Shares that need a query each; null is one that covers all. */
  readonly parts: readonly (string | null)[]
  /** A page of a part: the first one, or the one at a cursor. */
  readonly page: (
    context: StreamContext,
    part: string | null,
    cursor: string | null,
    options: CallOptions,
  ) => Promise<SnapshotPage<T>>
}): PagedStream<T> => ({
  kind: 'snapshot',
  operation: stream.operation,
  reads: 'all there is; what does not come is gone',
  pace: everyPoll,
  shows: null,
  time: null,
  plan: (context) => stream.parts.map((part) => windowNow(context, part)),
  reach: (_context, window) => window,
  read: async (context, { part }, cursor, options) => {
    const page = await stream.page(context, part, cursor, options)
    return { ...pageOf(page), moved: page.moved ?? false }
  },
})

/** One step of a walk: what its questions have brought. */
export interface WalkPage<T, Place = string> extends AskedKeys {
  readonly records?: readonly ParsedRecord<T>[]
  /** What the marketplace has answered; without any it was not asked. */
  readonly answers: readonly { readonly observedAt: Date }[]
  /** Where the next step begins; null: the walk is at its end. */
  readonly next: Place | null
  /** The budget ended within the step: it goes on at this time. */
  readonly resumeAt?: Date
  readonly alongside?: Alongside | undefined
}

/** Where a step of a walk begins, and when the walk was planned. */
export interface WalkStep<Place = string> {
  readonly after: Place
  readonly plannedAt: Date
}

/** The places of a walk: their shape, and the first one. */
export interface WalkPlaces<Place> {
  readonly shape: z.ZodType<Place>
  readonly start: Place
}

/** Places of a walk in the order of keys: behind a key, which is empty at first. */
export const behindKeys: WalkPlaces<string> = { shape: z.string(), start: '' }

// A place that another version of the program has stored may have another shape: the walk starts again.
const placeAt = <Place>({ shape, start }: WalkPlaces<Place>, cursor: string | null): Place => {
  const place = cursor === null ? null : shape.safeParse(jsonOrNull(cursor))
  return place?.success === true ? place.data : start
}

// One time for all of several answers: the earliest, so that none claims to be newer than it is; when they were asked for, if there are none.
const earliestOf = (answers: readonly { readonly observedAt: Date }[], askedAt: Date): Date =>
  answers.reduce((earliest, { observedAt }) => (observedAt < earliest ? observedAt : earliest), answers[0]?.observedAt ?? askedAt)

/** All that a list of our own names, step by step in an order of its own: each run walks it from its start. */
export const walk = <T, Place = string>(stream: {
  readonly operation: Operation
  /** As {@link PagedStream} has it: what is walked differs from walk to walk. */
  readonly reads: string
  /** With every poll by default. */
  readonly pace?: Pace
  readonly places: WalkPlaces<Place>
  /** Null: there is nothing to ask for any more. */
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
    const page = await stream.step(context, { after: placeAt(stream.places, cursor), plannedAt: to }, options)
    const { records = [], answers, next, resumeAt = null, alongside, ...keys } = page ?? { answers: [], next: null }
    return {
      ...{ records, keys, alongside, resumeAt },
      totalCount: null,
      nextCursor: next === null ? null : JSON.stringify(next),
      observedAt: earliestOf(answers, askedAt),
      marketplaceNow: client.clock().now(),
      isAnswer: answers.length > 0,
      moved: false,
    }
  },
})
