import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  carveOut,
  clampToWall,
  countSlices,
  narrowWindow,
  nextWatermark,
  overlapMs,
  planWindow,
  sliceRange,
  splitWindow,
  type TimeWindow,
  wallMarginMs,
} from '../../src/domain/sync/windows.ts'

const at = (text: string): Date => new Date(text)
const minuteMs = 60_000
const settings = { lagMs: 2 * minuteMs, lookBackMs: 10 * minuteMs, initialLookBackMs: 60 * minuteMs, oldestDays: 180 }

/** Whether windows whose bounds exclude their own second leave no instant of a range out. */
const coverOpen = (windows: readonly TimeWindow[], from: number, to: number): boolean => {
  let reached = from
  for (const window of [...windows].sort((a, b) => a.from.getTime() - b.from.getTime())) {
    // The instant `reached` itself must lie inside the next window.
    if (window.from.getTime() < reached || reached === from) reached = Math.max(reached, window.to.getTime())
    else return false
    if (reached >= to) return true
  }
  return reached >= to
}

describe('planning a window', () => {
  const marketplaceNow = at('2026-03-01T12:00:00.700Z')

  it('ends the lag before now, in whole seconds, and reaches back behind the watermark', () => {
    expect(planWindow({ ...settings, watermark: at('2026-03-01T11:00:00Z'), marketplaceNow })).toEqual({
      from: at('2026-03-01T10:50:00Z'),
      to: at('2026-03-01T11:58:00Z'),
    })
  })

  it('starts with the initial look-back and never beyond the wall', () => {
    expect(planWindow({ ...settings, watermark: null, marketplaceNow })?.from).toEqual(at('2026-03-01T11:00:00Z'))
    const long = { ...settings, watermark: at('2020-01-01T00:00:00Z'), marketplaceNow }
    const wall = marketplaceNow.getTime() - 180 * 86_400_000
    const from = planWindow(long)?.from.getTime() ?? 0
    expect(from).toBeGreaterThanOrEqual(wall + wallMarginMs)
    expect(from).toBeLessThan(wall + wallMarginMs + 1_000)
  })

  it('is null when there is nothing to read', () => {
    expect(planWindow({ ...settings, watermark: null, initialLookBackMs: minuteMs, marketplaceNow })).toBeNull()
    // Both of its ends are the same second.
    const initialLookBackMs = settings.lagMs
    expect(planWindow({ ...settings, watermark: null, initialLookBackMs, marketplaceNow })).toBeNull()
  })

  it('reaches back from the clock when that has stepped back behind the watermark', () => {
    expect(planWindow({ ...settings, watermark: at('2026-03-01T20:00:00Z'), marketplaceNow })).toEqual({
      from: at('2026-03-01T11:48:00Z'),
      to: at('2026-03-01T11:58:00Z'),
    })
  })

  it('overlaps by a second even without a look-back', () => {
    const watermark = at('2026-03-01T11:00:00Z')
    expect(planWindow({ ...settings, lookBackMs: 0, watermark, marketplaceNow })?.from).toEqual(at('2026-03-01T10:59:59Z'))
  })
})

// A marketplace whose clock steps as it likes; each change carries the time of that clock and is visible the lag later.
const tick = fc.record({
  // How far time goes on before the next run, and how the clock steps on top of it.
  waitMs: fc.oneof(fc.integer({ min: 1, max: 5 * minuteMs }), fc.integer({ min: 1, max: 10 * 60 * minuteMs })),
  stepMs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: -10 * minuteMs, max: 600 * minuteMs })),
  changeAfter: fc.double({ min: 0, max: 1, noNaN: true }),
})

const missedChanges = (ticks: readonly { waitMs: number; stepMs: number; changeAfter: number }[]): number[] => {
  let clock = at('2026-03-01T12:00:00Z').getTime()
  let watermark: Date | null = null
  const run = (): TimeWindow | null => {
    const window = planWindow({ ...settings, watermark, marketplaceNow: new Date(clock) })
    if (window === null) return null
    expect((window.from.getTime() % 1_000) + (window.to.getTime() % 1_000)).toBe(0)
    const next = nextWatermark(watermark, window)
    expect(watermark === null || next >= watermark).toBe(true)
    expect(window.to.getTime()).toBeLessThanOrEqual(clock - settings.lagMs)
    watermark = next
    return window
  }
  const waiting = new Set<number>()
  const readRun = (): void => {
    const window = run()
    if (window === null) return
    for (const changedAt of waiting) {
      if (window.from.getTime() < changedAt && changedAt < window.to.getTime()) waiting.delete(changedAt)
    }
  }
  readRun()
  for (const { waitMs, stepMs, changeAfter } of ticks) {
    clock += stepMs
    waiting.add(clock + Math.floor(waitMs * changeAfter))
    clock += waitMs
    readRun()
  }
  // Let the clock pass everything it has ever shown, in small steps as a daemon would.
  const end = Math.max(clock, ...waiting) + settings.lagMs + 2_000
  while (clock < end) {
    clock += 5 * minuteMs
    readRun()
  }
  return [...waiting]
}

describe('windows over time', () => {
  it('miss no change while the clock steps forward at will and back by the look-back', () => {
    fc.assert(
      fc.property(fc.array(tick, { minLength: 1, maxLength: 12 }), (ticks) => {
        // Together the steps back must stay within the look-back.
        let back = 0
        const bounded = ticks.map((one) => {
          const stepMs = one.stepMs < 0 ? Math.max(one.stepMs, -(settings.lookBackMs - back)) : one.stepMs
          if (stepMs < 0) back -= stepMs
          return { ...one, stepMs }
        })
        expect(missedChanges(bounded)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('miss no change after one step back of any size, as long as runs follow one another within the look-back', () => {
    const often = fc.record({
      waitMs: fc.integer({ min: 1, max: 5 * minuteMs }),
      stepMs: fc.constant(0),
      changeAfter: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    const back = fc.record({
      waitMs: fc.integer({ min: 1, max: 5 * minuteMs }),
      stepMs: fc.integer({ min: -600 * minuteMs, max: 0 }),
      changeAfter: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    const some = fc.array(often, { maxLength: 10 })
    fc.assert(
      fc.property(some, back, some, (before, step, after) => {
        expect(missedChanges([...before, step, ...after])).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

describe('splitting a window', () => {
  const window = { from: at('2026-03-01T00:00:00Z'), to: at('2026-03-02T00:00:00Z') }

  it('leaves alone what fits or was not counted', () => {
    expect(splitWindow(window, 9_000, 9_000)).toEqual({ kind: 'fits' })
    expect(splitWindow(window, null, 9_000)).toEqual({ kind: 'fits' })
  })

  it('splits until it fits or cannot, leaving nothing out', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 400 }), (seconds, fittingSeconds) => {
        const whole = { from: window.from, to: new Date(window.from.getTime() + seconds * 1_000) }
        const queue: TimeWindow[] = [whole]
        const leaves: TimeWindow[] = []
        for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
          const length = (next.to.getTime() - next.from.getTime()) / 1_000
          const split = splitWindow(next, length > fittingSeconds ? 2 : 1, 1)
          if (split.kind === 'split') {
            for (const half of split.windows) expect(half.to.getTime() - half.from.getTime()).toBeLessThan(length * 1_000)
            queue.push(...split.windows)
          } else {
            if (split.kind === 'cannotSplit') expect(length).toBeLessThanOrEqual(2)
            leaves.push(next)
          }
        }
        expect(coverOpen(leaves, whole.from.getTime(), whole.to.getTime())).toBe(true)
      }),
      { numRuns: 200 },
    )
  })
})

describe('what is left of a window', () => {
  const second = (from: number, to: number): TimeWindow => ({ from: new Date(from * 1_000), to: new Date(to * 1_000) })

  it('gets down to single seconds, and no further', () => {
    expect(narrowWindow(second(0, 2))).toEqual([second(0, 1), second(1, 2)])
    expect(narrowWindow(second(0, 1))).toBeNull()
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (length) => {
        const queue = [second(0, length)]
        const leaves: TimeWindow[] = []
        for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
          const halves = narrowWindow(next)
          if (halves === null) leaves.push(next)
          for (const half of halves ?? []) {
            expect(half.to.getTime() - half.from.getTime()).toBeLessThan(next.to.getTime() - next.from.getTime())
            queue.push(half)
          }
        }
        for (const leaf of leaves) expect(leaf.to.getTime() - leaf.from.getTime()).toBe(1_000)
        const starts = new Set(leaves.map(({ from }) => from.getTime() / 1_000))
        expect(starts).toEqual(new Set(Array.from({ length }, (_, at) => at)))
      }),
    )
  })

  it('is all of it but the holes, however they lie', () => {
    const hole = fc.tuple(fc.integer({ min: -5, max: 45 }), fc.integer({ min: 1, max: 20 }))
    fc.assert(
      fc.property(fc.array(hole, { maxLength: 6 }), fc.integer({ min: 1, max: 40 }), (drawn, length) => {
        const holes = drawn.map(([from, long]) => second(from, from + long))
        const pieces = carveOut(second(0, length), holes)
        const secondsExpression = (windows: readonly TimeWindow[]): number[] =>
          windows.flatMap(({ from, to }) =>
            Array.from({ length: (to.getTime() - from.getTime()) / 1_000 }, (_, at) => from.getTime() / 1_000 + at),
          )
        const corrupt = new Set(secondsExpression(holes))
        const good = Array.from({ length }, (_, at) => at).filter((at) => !corrupt.has(at))
        // Each second that is left stands in one piece, oldest first.
        expect(secondsExpression(pieces)).toEqual(good)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a range', () => {
  it('is cut into slices that leave nothing out', () => {
    const range = fc.record({ start: fc.integer({ min: 0, max: 10_000_000 }), length: fc.integer({ min: 1, max: 10_000_000 }) })
    fc.assert(
      fc.property(range, fc.integer({ min: 2_000, max: 5_000_000 }), ({ start, length }, sliceMs) => {
        fc.pre(length / sliceMs < 500)
        const slices = sliceRange({ from: new Date(start), to: new Date(start + length) }, sliceMs)
        expect(slices[0]?.from.getTime()).toBeLessThanOrEqual(start)
        expect(slices.at(-1)?.to.getTime()).toBeGreaterThanOrEqual(start + length)
        expect(coverOpen(slices, slices[0]?.from.getTime() ?? 0, start + length)).toBe(true)
        expect(countSlices({ from: new Date(start), to: new Date(start + length) }, sliceMs)).toBe(slices.length)
        for (const slice of slices) expect(slice.to.getTime() - slice.from.getTime()).toBeLessThanOrEqual(sliceMs)
      }),
    )
  })

  it('refuses slices that would not get on', () => {
    expect(() => sliceRange({ from: new Date(0), to: new Date(9_000) }, overlapMs)).toThrow(RangeError)
  })

  it('is null when it lies beyond the wall', () => {
    const old = { from: at('2025-01-01T00:00:00Z'), to: at('2025-02-01T00:00:00Z') }
    expect(clampToWall(old, at('2026-03-01T00:00:00Z'), 180)).toBeNull()
  })
})
