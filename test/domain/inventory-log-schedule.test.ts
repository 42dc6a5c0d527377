import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  findReadUpTo,
  firstHalf,
  isWithinReach,
  type LogPrecision,
  logWindow,
  nextFullReadAt,
  nextReadAt,
  provenPart,
} from '../../src/domain/inventory/inventory-log-schedule.ts'

const dayMs = 86_400_000
const now = new Date('2026-11-21T15:30:20.500Z')
const before = (days: number): Date => new Date(now.getTime() - days * dayMs)
const precisions: readonly LogPrecision[] = ['second', 'day']
const window = (state: Partial<Parameters<typeof logWindow>[0]>, precision: LogPrecision = 'second') =>
  logWindow(
    { readUpTo: null, readAt: null, pageFrom: null, fullDueAt: before(-1), ...state },
    { marketplaceNow: now, lagMs: 120_000, precision },
  )

test('a first read goes back 365 days, less an hour', () => {
  expect(window({})).toEqual({ from: new Date('2025-11-21T16:30:21Z'), to: new Date('2026-11-21T15:28:20Z') })
  expect(window({}, 'day')).toEqual({ from: new Date('2025-11-22T00:00:00Z'), to: new Date('2026-11-21T15:28:20Z') })
})

test('the look-back is as long as one call reaches, between 3 and 45 days', () => {
  const read = { readUpTo: before(0.1), readAt: before(0.1) }
  const from = (pageFrom: Date | null) => window({ ...read, pageFrom })?.from
  expect(from(null)).toEqual(new Date(Math.floor(before(45).getTime() / 1_000) * 1_000))
  expect(from(before(60))).toEqual(new Date(Math.floor(before(45).getTime() / 1_000) * 1_000))
  expect(from(before(10))).toEqual(new Date(Math.floor(before(10).getTime() / 1_000) * 1_000))
  expect(from(before(0.2))).toEqual(new Date(Math.floor(before(3.1).getTime() / 1_000) * 1_000))
})

test('the first reading of a day looks back 45 days, and one that is due in full 365', () => {
  const state = { readUpTo: before(1), readAt: before(1), pageFrom: before(0.2) }
  expect(window(state)?.from).toEqual(new Date(Math.floor(before(45).getTime() / 1_000) * 1_000))
  for (const fullDueAt of [null, before(0), before(3)]) {
    expect(window({ ...state, fullDueAt })?.from).toEqual(new Date('2025-11-21T16:30:21Z'))
  }
  expect(nextFullReadAt(now, false)).toEqual(before(-30))
  expect(nextFullReadAt(now, true)).toEqual(before(-1))
})

test('what a window proves to be there ends short of its edges', () => {
  const part = { from: before(3), to: before(1) }
  expect(provenPart(part, 'second')).toEqual({
    from: new Date(part.from.getTime() + 1_000),
    to: new Date(part.to.getTime() - 1_000),
  })
  expect(provenPart(part, 'day')).toBeNull()
})

test('windows leave no gap, even if the clock was set between two reads', () => {
  const instant = fc.integer({ min: -400 * dayMs, max: 400 * dayMs }).map((ms) => new Date(now.getTime() + ms))
  fc.assert(
    fc.property(fc.option(instant), fc.option(instant), fc.option(instant), fc.constantFrom(...precisions), (...given) => {
      const [readUpTo, readAt, pageFrom, precision] = given
      const planned = logWindow(
        { readUpTo, readAt, pageFrom, fullDueAt: before(-1) },
        { marketplaceNow: now, lagMs: 120_000, precision },
      )
      if (planned === null) throw new Error('there is always something to read')
      expect(isWithinReach(planned, now)).toBe(true)
      expect(planned.to.getTime()).toBeLessThanOrEqual(now.getTime() - 120_000)
      const oldest = now.getTime() - 365 * dayMs + 3_600_000
      const needed = Math.min(readUpTo?.getTime() ?? 0, planned.to.getTime() - 3 * dayMs)
      expect(planned.from.getTime()).toBeLessThanOrEqual(Math.max(needed, oldest + dayMs))
    }),
  )
})

test('by days: a day more at the start, the last day is not promised', () => {
  const planned = window({ readUpTo: before(100), readAt: before(0.1), pageFrom: before(1) }, 'day')
  expect(planned?.from).toEqual(new Date('2026-08-12T00:00:00Z'))
  if (planned === null) throw new Error('nothing to read')
  expect(findReadUpTo(planned, 'day')).toEqual(new Date('2026-11-21T00:00:00Z'))
  expect(findReadUpTo(planned, 'second')).toEqual(planned.to)
})

test('halves get smaller until they cannot be asked for apart', () => {
  for (const precision of precisions) {
    let part = window({}, precision)
    let halvings = 0
    while (part !== null) {
      const half = firstHalf(part, precision)
      if (half !== null) expect(findReadUpTo(half, precision).getTime()).toBeGreaterThan(half.from.getTime())
      part = half
      halvings += 1
    }
    expect(halvings).toBeLessThan(30)
  }
})

test('a log is read with each run for 30 days, then after one day and more, at most 14', () => {
  const rest = (days: number | null): number =>
    (nextReadAt(now, days === null ? null : before(days)).getTime() - now.getTime()) / dayMs
  expect([0, 29.9].map(rest)).toEqual([0, 0])
  expect([30, 60, 300, 420, 4_000, null].map(rest)).toEqual([1, 2, 10, 14, 14, 14])
})

test('100,000 SKUs of which a fifth moves need less than 500 calls a minute, polled every hour', () => {
  const calls = Array.from({ length: 100_000 }, (_, index) => {
    const quietDays = index % 5 === 0 ? (index % 29) + 0.5 : 30 + (index % 700)
    const restHours = (nextReadAt(now, before(quietDays)).getTime() - now.getTime()) / 3_600_000
    return 1 / Math.max(1, Math.ceil(restHours))
  })
  expect(calls.reduce((sum, perHour) => sum + perHour, 0) / 60).toBeLessThan(450)
})
