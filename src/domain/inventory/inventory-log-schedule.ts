/**
 * When the log of a SKU is read, and which range of it. A seller may have 100,000 SKUs and 500 calls a minute, so SKUs without movements
 * are read rarely; a movement appears in an order or in the daily report, and the log is then read at once.
 */
import { overlapMs, type TimeWindow } from '../sync/windows.ts'

const secondMs = 1_000
const dayMs = 86_400_000

/** The marketplace serves 365 days (public facts, section 7.1). */
const reachMs = 365 * dayMs

/** Distance from that end at which the first read begins, so that one of many pages does not slip over it. */
const firstMarginMs = 3_600_000

/**
 * A movement may be reported late. Three days cover a weekend; {@link LogState.pageFrom} makes it more where that costs nothing. The first
 * reading of each day looks back the longest, and once in a while all is read again: see {@link fullReadEveryMs}.
 */
const lookBackMs = 3 * dayMs
const longestLookBackMs = 45 * dayMs

/** Entries that surely fit on one page of the smallest published size, 50, with room for new ones. */
export const entriesOfOneCall = 40

/** How often a log is read again over all of its reach: what was reported later than any look-back, or taken back since, shows then. */
const fullReadEveryMs = 30 * dayMs
/** The same for a SKU with a difference between report and log: the log may be what is wrong. */
const fullReadWhileDifferingMs = dayMs

/** When a log that has just been begun to be read in full is due to be so again. */
export const nextFullReadAt = (begunAt: Date, differs: boolean): Date =>
  new Date(begunAt.getTime() + (differs ? fullReadWhileDifferingMs : fullReadEveryMs))

/** A SKU without a movement for this time is inactive. */
const activeMs = 30 * dayMs
const shortestRestMs = dayMs
const longestRestMs = 14 * dayMs

/** State of a SKU's log, on the marketplace's clock. */
export interface LogState {
  /** Everything up to here is stored; null if it was never read. */
  readonly readUpTo: Date | null
  /** When it was last read. */
  readonly readAt: Date | null
  /** Time of the {@link entriesOfOneCall}th entry, counted from the newest; null when there are fewer. */
  readonly pageFrom: Date | null
  /** When all of it is due to be read again; null if a full reading was never begun. */
  readonly fullDueAt: Date | null
}

/** Whether the next reading is one of the log's whole reach. */
export const isFullRead = ({ readUpTo, fullDueAt }: LogState, marketplaceNow: Date): boolean =>
  readUpTo === null || fullDueAt === null || fullDueAt <= marketplaceNow

/** How exactly the marketplace takes moments; a `day` may be its own or one of UTC, and the last one may count or not. */
export type LogPrecision = 'second' | 'day'

/** What neighbouring windows share, in ms: a bound may exclude its own second, a day may begin hours later than in UTC. */
export const findOverlapMs = (precision: LogPrecision): number => (precision === 'day' ? dayMs : overlapMs)

/** Whether the marketplace still serves a window. */
export const isWithinReach = ({ from }: TimeWindow, marketplaceNow: Date): boolean =>
  from.getTime() >= marketplaceNow.getTime() - reachMs

const floorTo = (ms: number, step: number): number => Math.floor(ms / step) * step

const isFirstOfDay = (readAt: Date | null, now: Date): boolean =>
  readAt === null || Math.floor(readAt.getTime() / dayMs) !== Math.floor(now.getTime() / dayMs)

/**
 * The part of a window of which a reading that was whole has proven what is there: without its edges, at which entries may or may not come.
 */
export const provenPart = ({ from, to }: TimeWindow, precision: LogPrecision): TimeWindow | null => {
  const edgeMs = precision === 'day' ? dayMs : secondMs
  const part = { from: new Date(from.getTime() + edgeMs), to: new Date(to.getTime() - edgeMs) }
  return part.from < part.to ? part : null
}

/**
 * The stretch to read now: from a look-back before what was read last, and in full 365 days, up to a lag before now. The look-back is as
 * long as one call reaches, between 3 and 45 days, and 45 with the first reading of a UTC day. Null when it would be empty.
 */
export const logWindow = (
  state: LogState,
  { marketplaceNow, lagMs, precision }: { marketplaceNow: Date; lagMs: number; precision: LogPrecision },
): TimeWindow | null => {
  const { readUpTo, readAt, pageFrom } = state
  const nowMs = marketplaceNow.getTime()
  const to = floorTo(nowMs - lagMs, secondMs)
  const wall = nowMs - reachMs + firstMarginMs
  const lookBacks = [
    readUpTo === null || isFullRead(state, marketplaceNow) ? wall : readUpTo.getTime() - overlapMs,
    // Entries reported before the last read were seen then. A clock that was set back since is not trusted.
    Math.min(readAt?.getTime() ?? to, to) - lookBackMs,
    isFirstOfDay(readAt, marketplaceNow)
      ? nowMs - longestLookBackMs
      : Math.max(pageFrom?.getTime() ?? 0, nowMs - longestLookBackMs),
  ]
  const earliest = Math.min(...lookBacks)
  const step = precision === 'day' ? dayMs : secondMs
  const slack = precision === 'day' ? dayMs : 0
  const from = Math.max(floorTo(earliest, step) - slack, Math.ceil(wall / step) * step)
  return from < to ? { from: new Date(from), to: new Date(to) } : null
}

/** Up to when everything is stored once a window has been read. A last day that may not count is not promised. */
export const findReadUpTo = ({ to }: TimeWindow, precision: LogPrecision): Date =>
  precision === 'day' ? new Date(floorTo(to.getTime(), dayMs)) : to

/** The first half of a window that holds too much to be read at once; null when it cannot be asked for in halves. */
export const firstHalf = ({ from, to }: TimeWindow, precision: LogPrecision): TimeWindow | null => {
  const step = precision === 'day' ? dayMs : secondMs
  const middle = floorTo((from.getTime() + to.getTime()) / 2, step)
  // A day of slack and the day that is not promised would leave nothing new of less.
  return middle - from.getTime() > 3 * step ? { from, to: new Date(middle) } : null
}

/**
 * When a log that has just been read is due again: with the next run while its SKU has moved within 30 days, then the more rarely the
 * longer it stands still, after one day to 14. `movedAt` is null for a SKU that has never moved.
 */
export const nextReadAt = (readAt: Date, movedAt: Date | null): Date => {
  const quietMs = movedAt === null ? Number.POSITIVE_INFINITY : readAt.getTime() - movedAt.getTime()
  if (quietMs < activeMs) return readAt
  return new Date(readAt.getTime() + Math.min(Math.max(quietMs / 30, shortestRestMs), longestRestMs))
}
