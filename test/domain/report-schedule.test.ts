import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  checkPauseEnd,
  judgeRequest,
  type ReportMonth,
  reportSchedule,
  retrievalPauseEnd,
} from '../../src/domain/inventory/report-schedule.ts'
import { addDays, addMonths } from '../../src/domain/values/calendar.ts'
import { monthBounds, pacificDay, pacificHour, pacificMidnight, pacificMonth, vocabulary } from '../support/vocabulary.ts'

const { coveredUntil, dueMonths, isDue, isReported, latestGeneration, reportMonths } = reportSchedule(vocabulary.calendar)

const hourMs = 3_600_000
const minuteMs = 60_000

const month = (overrides: Partial<ReportMonth> & { readonly month: string }): ReportMonth => ({
  triedAt: null,
  newest: null,
  lateEntryAt: null,
  waiting: false,
  failures: 0,
  requested: null,
  ...overrides,
})

const instants = fc.date({ min: new Date('2022-02-01'), max: new Date('2031-12-31'), noInvalidDate: true })

describe('generations', () => {
  it('come at seven by the Pacific wall clock, on days that change the clocks too', () => {
    expect(latestGeneration(new Date('2026-03-08T13:59:59Z'))).toEqual(new Date('2026-03-07T15:00:00Z'))
    expect(latestGeneration(new Date('2026-03-08T14:00:00Z'))).toEqual(new Date('2026-03-08T14:00:00Z'))
    expect(latestGeneration(new Date('2026-11-01T14:59:59Z'))).toEqual(new Date('2026-10-31T14:00:00Z'))
    expect(latestGeneration(new Date('2026-11-01T15:00:00Z'))).toEqual(new Date('2026-11-01T15:00:00Z'))
  })

  it('count up to the midnight before, within their month', () => {
    expect(coveredUntil('2026-11', new Date('2026-11-21T15:00:00.123Z'))).toEqual(pacificMidnight('2026-11-21'))
    expect(coveredUntil('2026-11', new Date('2026-11-21T14:00:00Z'))).toEqual(pacificMidnight('2026-11-20'))
    expect(coveredUntil('2026-10', new Date('2026-11-21T15:00:00Z'))).toEqual(monthBounds('2026-10').to)
    expect(coveredUntil('2026-11', new Date('2026-11-01T15:00:00Z'))).toEqual(monthBounds('2026-11').from)
  })

  it('know a month from its second day on, and none before 2022', () => {
    expect(isReported('2026-11', pacificHour('2026-11-01', 23))).toBe(false)
    expect(isReported('2026-11', new Date(pacificHour('2026-11-02', 7).getTime() - 1))).toBe(false)
    expect(isReported('2026-11', pacificHour('2026-11-02', 7))).toBe(true)
    expect(isReported('2021-12', pacificHour('2026-11-02', 7))).toBe(false)
  })
})

describe('a month is due', () => {
  it('once after each generation while it runs', () => {
    const retrievedAt = new Date('2026-11-20T15:05:00Z')
    const known = month({
      month: '2026-11',
      triedAt: retrievedAt,
      newest: { generatedAt: new Date('2026-11-20T15:00:00Z'), retrievedAt },
    })
    expect(isDue(known, new Date('2026-11-21T14:59:59Z'))).toBe(false)
    expect(isDue(known, new Date('2026-11-21T15:00:00Z'))).toBe(true)
  })

  it('until its generation of the tenth of the next month', () => {
    const at = (day: string, hour: number): ReportMonth => ({
      ...month({ month: '2026-10' }),
      triedAt: pacificHour(day, hour),
      newest: { generatedAt: pacificHour(day, 7), retrievedAt: pacificHour(day, hour) },
    })
    expect(isDue(at('2026-11-09', 8), pacificHour('2026-11-10', 8))).toBe(true)
    expect(isDue(at('2026-11-10', 8), pacificHour('2026-11-11', 8))).toBe(false)
    // A daemon that was off in between reads it once more.
    expect(isDue(at('2026-11-05', 8), pacificHour('2026-11-25', 8))).toBe(true)
    expect(isDue(at('2026-11-25', 8), pacificHour('2026-11-26', 8))).toBe(false)
  })

  it('once in thirty days after that, for six months', () => {
    const read = (at: string) => ({ generatedAt: new Date(at), retrievedAt: new Date(at) })
    const known = month({ month: '2026-05', newest: read('2026-06-20T15:00:00Z') })
    expect(isDue(known, new Date('2026-07-20T14:59:00Z'))).toBe(false)
    expect(isDue(known, new Date('2026-07-20T15:00:00Z'))).toBe(true)
    const lately = ['2026-06', '2026-07'].map((name) => month({ month: name, newest: read('2026-08-20T15:00:00Z') }))
    expect(dueMonths([known, ...lately], new Date('2026-08-20T16:00:00Z'))).toEqual(['2026-08', '2026-05'])
    expect(isDue(known, new Date('2026-11-30T15:00:00Z'))).toBe(true)
    expect(isDue(known, new Date('2026-12-02T15:00:00Z'))).toBe(false)
  })

  it('again every hour, for six hours, when the file of an earlier generation came', () => {
    const generation = pacificHour('2026-11-21', 7)
    const known = (retrievedAt: Date): ReportMonth =>
      month({ month: '2026-11', triedAt: retrievedAt, newest: { generatedAt: pacificHour('2026-11-20', 7), retrievedAt } })
    const later = (hours: number): Date => new Date(generation.getTime() + hours * hourMs)
    expect(isDue(known(later(0.1)), later(0.9))).toBe(false)
    expect(isDue(known(later(0.1)), later(1.1))).toBe(true)
    expect(isDue(known(later(4.9)), later(5.95))).toBe(true)
    expect(isDue(known(later(5.95)), later(7))).toBe(false)
  })

  it.each([
    ['not before the next generation', '2026-11-20T16:00:00Z', '2026-11-20T15:00:00Z', '2026-11-21T14:59:00Z', false],
    ['after the next generation', '2026-11-20T16:00:00Z', '2026-11-20T15:00:00Z', '2026-11-21T15:00:00Z', true],
    ['not when a later generation has come', '2026-11-21T15:01:00Z', '2026-11-21T15:00:00Z', '2026-11-25T15:00:00Z', false],
    [
      'not within a day when the same file came again',
      '2026-11-21T15:01:00Z',
      '2026-11-12T15:00:00Z',
      '2026-11-21T19:59:00Z',
      false,
    ],
    [
      'once more after a day when the same file came again',
      '2026-11-21T15:01:00Z',
      '2026-11-12T15:00:00Z',
      '2026-11-21T20:00:00Z',
      true,
    ],
    ['not when it was read a day after the entry', '2026-11-21T20:00:00Z', '2026-11-12T15:00:00Z', '2026-11-25T15:00:00Z', false],
  ])('for an entry of the log that is newer than its report: %s', (_, retrievedAt, generatedAt, now, due) => {
    const newest = { generatedAt: new Date(generatedAt), retrievedAt: new Date(retrievedAt) }
    const known = month({ month: '2026-09', triedAt: newest.retrievedAt, newest, lateEntryAt: new Date('2026-11-20T20:00:00Z') })
    expect(isDue(known, new Date(now))).toBe(due)
    expect(isDue({ ...known, lateEntryAt: null }, new Date(now))).toBe(false)
  })

  it('at once when its report is here and waits to be imported, however fresh the try is', () => {
    const now = new Date('2026-11-21T15:10:00Z')
    expect(isDue(month({ month: '2026-11', triedAt: now, waiting: true }), now)).toBe(true)
  })

  it('not because of a try that another clock has dated', () => {
    const now = new Date('2026-11-21T15:10:00Z')
    expect(retrievalPauseEnd(new Date('2027-05-01T00:00:00Z'), now)).toBeNull()
    expect(retrievalPauseEnd(new Date(now.getTime() + minuteMs), now)).toEqual(new Date(now.getTime() + minuteMs + hourMs))
  })
})

describe('the months to ask for', () => {
  it('are the running one and the one before at a first start', () => {
    expect(dueMonths([], pacificHour('2026-11-21', 9))).toEqual(['2026-11', '2026-10'])
  })

  it('leave out a running month of which nothing can be reported yet', () => {
    expect(dueMonths([], pacificHour('2026-11-01', 9))).toEqual(['2026-10'])
    expect(dueMonths([], pacificHour('2026-11-02', 6))).toEqual(['2026-10'])
    expect(dueMonths([], pacificHour('2026-11-02', 7))).toEqual(['2026-11', '2026-10'])
  })

  it('leave no hole between known months, however often the marketplace has none of one at first', () => {
    const now = pacificHour('2026-11-21', 9)
    const read = { generatedAt: pacificHour('2026-11-21', 7), retrievedAt: pacificHour('2026-11-21', 8) }
    const known = ['2026-07', '2026-10', '2026-11'].map((name) => month({ month: name, triedAt: read.retrievedAt, newest: read }))
    expect(dueMonths(known, now)).toEqual(['2026-09', '2026-08'])
    const tried = (hours: number, failures: number): ReportMonth =>
      month({ month: '2026-09', triedAt: new Date(now.getTime() - hours * hourMs), failures })
    expect(dueMonths([...known, tried(1, 1)], now)).toEqual(['2026-09', '2026-08'])
    expect(dueMonths([...known, tried(3.9, 3)], now)).toEqual(['2026-08'])
    expect(dueMonths([...known, tried(4, 3)], now)).toEqual(['2026-09', '2026-08'])
    expect(dueMonths([...known, tried(30 * 24, 1_000)], now)).toEqual(['2026-09', '2026-08'])
    // A month that may still change is asked for every hour.
    expect(
      isDue(month({ month: '2026-10', triedAt: pacificHour('2026-11-05', 8), failures: 9 }), pacificHour('2026-11-05', 9)),
    ).toBe(true)
  })

  it('reach back to the newest known month when the daemon was off for long', () => {
    const retrievedAt = pacificHour('2026-07-15', 8)
    const known = [
      month({ month: '2026-07', triedAt: retrievedAt, newest: { generatedAt: pacificHour('2026-07-15', 7), retrievedAt } }),
    ]
    expect(dueMonths(known, pacificHour('2026-11-21', 9))).toEqual(['2026-11', '2026-10', '2026-09', '2026-08', '2026-07'])
  })
})

// A marketplace that makes its files `delayMs` after seven, and is down at times; the daemon looks at it at arbitrary moments.
interface Fetch {
  readonly month: string
  readonly at: Date
}

const simulate = (
  start: Date,
  steps: readonly { readonly minutes: number; readonly up: boolean }[],
  delayMs: number,
): readonly Fetch[] => {
  const known = new Map<string, ReportMonth>()
  const fetches: Fetch[] = []
  let now = start
  for (const { minutes, up } of steps) {
    now = new Date(now.getTime() + minutes * minuteMs)
    for (const due of dueMonths([...known.values()], now)) {
      fetches.push({ month: due, at: now })
      const before = known.get(due) ?? month({ month: due })
      const generatedAt = new Date(latestGeneration(new Date(now.getTime() - delayMs)).getTime() + delayMs)
      known.set(due, { ...before, triedAt: now, newest: up ? { generatedAt, retrievedAt: now } : before.newest })
    }
  }
  return fetches
}

const steps = fc.array(fc.record({ minutes: fc.integer({ min: 1, max: 2_000 }), up: fc.boolean() }), { maxLength: 200 })

describe('in any case', () => {
  it('a month is asked for at most once an hour, and never before there can be something new', () => {
    // Looked at every few minutes for a month, with outages of every length: nothing here depends on what is drawn.
    const busy = Array.from({ length: 5_000 }, (_, step) => ({ minutes: 1 + (step % 17), up: step % 97 < 60 }))
    const asked = Map.groupBy(simulate(pacificHour('2026-10-20', 5), busy, 123), ({ month: name }) => name)
    expect(asked.size).toBeGreaterThan(1)
    let retries = 0
    for (const fetches of asked.values()) {
      for (const [index, { at }] of fetches.entries()) {
        const before = fetches[index - 1]?.at
        if (before === undefined) continue
        expect(at.getTime() - before.getTime()).toBeGreaterThanOrEqual(hourMs)
        if (at.getTime() - before.getTime() < 2 * hourMs) retries += 1
      }
    }
    expect(retries).toBeGreaterThan(10)
    fc.assert(
      fc.property(instants, steps, fc.constantFrom(0, 123, hourMs), (start, moments, delayMs) => {
        const last = new Map<string, Date>()
        for (const { month: asked, at } of simulate(start, moments, delayMs)) {
          expect(isReported(asked, at)).toBe(true)
          expect(coveredUntil(asked, at).getTime()).toBeGreaterThan(monthBounds(asked).from.getTime())
          const before = last.get(asked)
          if (before !== undefined) expect(at.getTime() - before.getTime()).toBeGreaterThanOrEqual(hourMs)
          last.set(asked, at)
        }
      }),
    )
  })

  it('a marketplace that works is asked once a day for each month that may change, then once in thirty days', () => {
    fc.assert(
      fc.property(instants, (start) => {
        const quarters = Array.from({ length: 2 * 24 * 40 }, () => ({ minutes: 30, up: true }))
        const asked = simulate(start, quarters, 0)
        const byGeneration = Map.groupBy(asked, ({ month: name, at }) => `${name} ${latestGeneration(at).toISOString()}`)
        for (const fetches of byGeneration.values()) expect(fetches).toHaveLength(1)
        const running = asked.filter(
          ({ month: name, at }) => name === pacificMonth(at) && at.getTime() > start.getTime() + 26 * hourMs,
        )
        const days = new Set(running.map(({ at }) => pacificDay(at)))
        for (let day = addDays(pacificDay(start), 3); day < addDays(pacificDay(start), 38); day = addDays(day, 1)) {
          if (!day.endsWith('-01')) expect(days).toContain(day)
        }
        for (const { month: name, at } of asked) {
          if (at < pacificHour(`${addMonths(name, 1)}-11`, 7)) continue
          const before = asked.findLast((one) => one.month === name && one.at < at)
          if (before !== undefined) expect(at.getTime() - before.at.getTime()).toBeGreaterThanOrEqual(30 * 24 * hourMs)
        }
      }),
      { numRuns: 6 },
    )
  })
})

describe('the months of a range', () => {
  it('are all it touches, but none before 2022', () => {
    const range = (from: string, to: string) => reportMonths({ from: new Date(from), to: new Date(to) })
    expect(range('2026-09-15T00:00:00Z', '2026-11-02T00:00:00Z')).toEqual(['2026-09', '2026-10', '2026-11'])
    // Midnight in UTC still belongs to the month before.
    expect(range('2026-09-01T00:00:00Z', '2026-11-01T00:00:00Z')).toEqual(['2026-08', '2026-09', '2026-10'])
    expect(range('2020-01-01T00:00:00Z', '2022-02-15T00:00:00Z')).toEqual(['2022-01', '2022-02'])
    expect(range('2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z')).toEqual([])
  })
})

describe('a requested report', () => {
  const requestedAt = new Date('2026-11-21T15:00:00Z')
  const minutesLater = (minutes: number): Date => new Date(requestedAt.getTime() + minutes * 60_000)
  const request = (checkedAt: Date | null) => ({ requestId: 'R-1', requestedAt, checkedAt })

  it('is asked about five minutes after its request and after each answer', () => {
    expect(checkPauseEnd(request(null), minutesLater(4))).toEqual(minutesLater(5))
    expect(checkPauseEnd(request(null), minutesLater(5))).toBeNull()
    expect(checkPauseEnd(request(minutesLater(5)), minutesLater(9))).toEqual(minutesLater(10))
    expect(checkPauseEnd(request(minutesLater(5)), minutesLater(10))).toBeNull()
  })

  it('is late after six hours, and out of date after a day', () => {
    expect(judgeRequest(request(null), minutesLater(359))).toBe('recent')
    expect(judgeRequest(request(null), minutesLater(360))).toBe('late')
    expect(judgeRequest(request(null), minutesLater(1_439))).toBe('late')
    expect(judgeRequest(request(null), minutesLater(1_440))).toBe('old')
  })

  it('decides alone whether its month is due', () => {
    const known = month({ month: '2026-11', triedAt: requestedAt, requested: request(null) })
    expect(isDue(known, minutesLater(4))).toBe(false)
    expect(isDue(known, minutesLater(5))).toBe(true)
    expect(isDue({ ...known, requested: null }, minutesLater(5))).toBe(false)
  })
})
