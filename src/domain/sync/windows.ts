/**
 * Time windows of the syncs.
 *
 * Not specified by the marketplace (public facts 2.3, 2.4, 11): whether bounds include their own second, and how late a
 * change becomes visible. So windows that follow one another overlap by at least a second, reach back by a look-back, and end a lag
 * behind the marketplace's clock. Bounds are whole seconds: the marketplace refuses milliseconds.
 */

/** Maximum reach of a read into the past, in days. */
export const maxReachDays = 3_650

/** From and to, both whole seconds on the marketplace's clock; `from` is before `to`. */
export interface TimeWindow {
  readonly from: Date
  readonly to: Date
}

/** Next step for a window once its count is known. */
export type SplitResult =
  | { readonly kind: 'fits' }
  | { readonly kind: 'split'; readonly windows: readonly [TimeWindow, TimeWindow] }
  | { readonly kind: 'cannotSplit' }

/** Input of {@link planWindow}. */
export interface WindowRequest {
  /** Up to here everything has been stored; null before the first run. */
  readonly watermark: Date | null
  readonly marketplaceNow: Date
  /** The newest changes are not visible yet: the window ends this much before now. */
  readonly lagMs: number
  /** Look-back before the watermark, for changes that are listed late. */
  readonly lookBackMs: number
  /** How far the very first window reaches back. */
  readonly initialLookBackMs: number
  /** The marketplace serves nothing older (public facts 2.4: 180 days). */
  readonly oldestDays: number
}

const secondMs = 1_000
const dayMs = 86_400_000

/** Margin to the oldest time that the marketplace serves, so that a request that waits for the budget does not fall behind it. */
export const wallMarginMs = 60_000

/** Neighbouring windows share a second, since either bound may exclude its own. */
export const overlapMs = secondMs

/**
 * The next window to read, or null when it would be empty.
 *
 * If the marketplace's clock has stepped back behind the watermark, the window reaches back from the clock instead: new changes
 * have times that were already read. No change is missed as long as steps back add up to no more
 * than the look-back; nor after a larger one, if from then on the clock runs on evenly and runs follow one another within
 * the look-back. Beyond that the daily sweep is what finds a change.
 */
export const planWindow = (request: WindowRequest): TimeWindow | null => {
  const { watermark, marketplaceNow, lagMs, lookBackMs, initialLookBackMs, oldestDays } = request
  const to = floorToSecond(marketplaceNow.getTime() - lagMs)
  const from =
    watermark === null
      ? marketplaceNow.getTime() - initialLookBackMs
      : Math.min(watermark.getTime(), to) - Math.max(lookBackMs, overlapMs)
  return clampToWall({ from: new Date(floorToSecond(from)), to: new Date(to) }, marketplaceNow, oldestDays)
}

/** The part of a window that the marketplace still serves, or null if there is none. */
export const clampToWall = (window: TimeWindow, marketplaceNow: Date, oldestDays: number): TimeWindow | null => {
  const from = Math.max(window.from.getTime(), buildReach(marketplaceNow, oldestDays).from.getTime())
  return from < window.to.getTime() ? { from: new Date(from), to: window.to } : null
}

/**
 * Halves a window whose count is above what one query may return; ask again for each half. The halves share one second,
 * so a window of two seconds or less cannot be split.
 *
 * @param totalCount as the marketplace counted the window's first page; null when it did not say.
 */
export const splitWindow = (window: TimeWindow, totalCount: number | null, maxPerQuery: number): SplitResult => {
  if (totalCount === null || totalCount <= maxPerQuery) return { kind: 'fits' }
  const from = window.from.getTime()
  const to = window.to.getTime()
  const middle = floorToSecond(from + (to - from + overlapMs) / 2)
  const second = middle - overlapMs
  if (middle >= to || second <= from) return { kind: 'cannotSplit' }
  return {
    kind: 'split',
    windows: [
      { from: window.from, to: new Date(middle) },
      { from: new Date(second), to: window.to },
    ],
  }
}

/**
 * Halves a window in which something cannot be read, so that what can be read comes in: down to a single second, whose bounds are all that
 * is left to ask for. Null when it is that short.
 */
export const narrowWindow = (window: TimeWindow): readonly [TimeWindow, TimeWindow] | null => {
  const split = splitWindow(window, 1, 0)
  if (split.kind === 'split') return split.windows
  // Two seconds cannot share one. What lies exactly on the seam is in one of the halves unless both of the marketplace's bounds exclude it.
  const seam = new Date(window.from.getTime() + secondMs)
  return seam < window.to
    ? [
        { from: window.from, to: seam },
        { from: seam, to: window.to },
      ]
    : null
}

/**
 * The halves of a window with a second between them, so that no record is in both, whichever bounds belong to a window: to count by, not to read
 * by. None where the window is too short for that.
 */
export const halvesApart = (window: TimeWindow): readonly TimeWindow[] => {
  const middle = floorToSecond((window.from.getTime() + window.to.getTime()) / 2)
  const second = middle + secondMs
  if (middle <= window.from.getTime() || second >= window.to.getTime()) return []
  return [
    { from: window.from, to: new Date(middle) },
    { from: new Date(second), to: window.to },
  ]
}

/**
 * What is left of a window without some stretches of it, oldest first. Neighbours share a bound with what was cut out; stretches that touch
 * are one.
 */
export const carveOut = (window: TimeWindow, holes: readonly TimeWindow[]): TimeWindow[] => {
  const pieces: TimeWindow[] = []
  let from = window.from
  for (const hole of [...holes].sort((a, b) => a.from.getTime() - b.from.getTime())) {
    if (hole.to <= from || hole.from >= window.to) continue
    if (hole.from > from) pieces.push({ from, to: hole.from })
    from = hole.to
  }
  if (from < window.to) pieces.push({ from, to: window.to })
  return pieces
}

/**
 * The first slice of a range, of at most `sliceMs`, and what is left of it; neighbours share a second. The range is widened to whole seconds.
 *
 * @throws RangeError when a slice would not be longer than the second that neighbours share.
 */
export const cutSlice = (
  range: TimeWindow,
  sliceMs: number,
): { readonly slice: TimeWindow; readonly rest: TimeWindow | null } => {
  const step = floorToSecond(sliceMs)
  if (step <= overlapMs) throw new RangeError(`a slice must be longer than ${overlapMs} ms, not ${sliceMs}`)
  const from = floorToSecond(range.from.getTime())
  const end = ceilToSecond(range.to.getTime())
  const to = Math.min(from + step, end)
  return {
    slice: { from: new Date(from), to: new Date(to) },
    rest: to === end ? null : { from: new Date(to - overlapMs), to: new Date(end) },
  }
}

/** How many slices {@link cutSlice} makes of a range. */
export const countSlices = (range: TimeWindow, sliceMs: number): number => {
  const step = floorToSecond(sliceMs)
  const lengthMs = ceilToSecond(range.to.getTime()) - floorToSecond(range.from.getTime())
  return lengthMs <= 0 ? 0 : Math.max(1, Math.ceil((lengthMs - overlapMs) / (step - overlapMs)))
}

/** Cuts a range of bounded length into windows, oldest first, by {@link cutSlice}. */
export const sliceRange = (range: TimeWindow, sliceMs: number): TimeWindow[] => {
  const slices: TimeWindow[] = []
  let left: TimeWindow | null = range.from < range.to ? range : null
  while (left !== null) {
    const { slice, rest } = cutSlice(left, sliceMs)
    slices.push(slice)
    left = rest
  }
  return slices
}

/** The intersection of two time ranges, or null. */
export const intersect = (one: TimeWindow, other: TimeWindow): TimeWindow | null => {
  const from = one.from > other.from ? one.from : other.from
  const to = one.to < other.to ? one.to : other.to
  return from < to ? { from, to } : null
}

/** The range that can be requested: not older than a number of days, with a margin, and not beyond now. */
export const buildReach = (marketplaceNow: Date, oldestDays: number): TimeWindow => {
  const wall = ceilToSecond(marketplaceNow.getTime() - oldestDays * dayMs + wallMarginMs)
  return { from: new Date(wall), to: marketplaceNow }
}

/**
 * The watermark after a window has been stored completely: its end, which lags the marketplace's clock. It never moves back.
 */
export const nextWatermark = (previous: Date | null, stored: TimeWindow): Date => {
  return previous !== null && previous > stored.to ? previous : stored.to
}

const floorToSecond = (ms: number): number => Math.floor(ms / secondMs) * secondMs

const ceilToSecond = (ms: number): number => Math.ceil(ms / secondMs) * secondMs
