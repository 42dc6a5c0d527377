import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addDays, addMonths } from '../../src/domain/values/calendar.ts'
import { monthBounds, pacificDay, pacificHour, pacificMidnight, pacificMonth } from '../support/vocabulary.ts'

const hourMs = 3_600_000

describe('Pacific days', () => {
  it('begin at the midnight of the zone, in winter and in summer', () => {
    expect(pacificMidnight('2026-01-15').toISOString()).toBe('2026-01-15T08:00:00.000Z')
    expect(pacificMidnight('2026-07-15').toISOString()).toBe('2026-07-15T07:00:00.000Z')
  })

  it('last 23 hours when the clocks go forward and 25 when they go back', () => {
    const length = (day: string): number => (pacificMidnight(addDays(day, 1)).getTime() - pacificMidnight(day).getTime()) / hourMs
    expect(['2026-03-07', '2026-03-08', '2026-03-09'].map(length)).toEqual([24, 23, 24])
    expect(['2026-10-31', '2026-11-01', '2026-11-02'].map(length)).toEqual([24, 25, 24])
  })

  it('strike seven by the wall clock, whatever the season', () => {
    expect(pacificHour('2026-03-07', 7).toISOString()).toBe('2026-03-07T15:00:00.000Z')
    expect(pacificHour('2026-03-08', 7).toISOString()).toBe('2026-03-08T14:00:00.000Z')
    expect(pacificHour('2026-11-01', 7).toISOString()).toBe('2026-11-01T15:00:00.000Z')
    // There is no two o'clock on this day.
    expect(pacificHour('2026-03-08', 2)).toEqual(pacificHour('2026-03-08', 3))
    expect(pacificHour('2026-03-08', 3).toISOString()).toBe('2026-03-08T10:00:00.000Z')
  })

  it('are found again from any moment within them', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date('2022-01-01'), max: new Date('2037-12-31'), noInvalidDate: true }), (instant) => {
        const day = pacificDay(instant)
        expect(pacificMidnight(day).getTime()).toBeLessThanOrEqual(instant.getTime())
        expect(pacificMidnight(addDays(day, 1)).getTime()).toBeGreaterThan(instant.getTime())
        expect(addDays(addDays(day, 1), -1)).toBe(day)
        expect(pacificMonth(instant)).toBe(day.slice(0, 7))
      }),
    )
  })

  it.each(['2026-02-29', '2026-13-01', '2026-1-1', '', '2026-01-15T00:00:00Z'])('%j is none', (day) => {
    expect(() => pacificMidnight(day)).toThrow(RangeError)
  })
})

describe('Pacific months', () => {
  it('run from midnight to midnight across the change of the clocks and of the year', () => {
    expect(monthBounds('2026-03')).toEqual({
      from: new Date('2026-03-01T08:00:00Z'),
      to: new Date('2026-04-01T07:00:00Z'),
    })
    expect(monthBounds('2026-12')).toEqual({
      from: new Date('2026-12-01T08:00:00Z'),
      to: new Date('2027-01-01T08:00:00Z'),
    })
  })

  it('follow one another without a gap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), (months) => {
        const month = addMonths('2022-01', months)
        expect(monthBounds(month).to).toEqual(monthBounds(addMonths(month, 1)).from)
        expect(pacificMonth(monthBounds(month).from)).toBe(month)
        expect(pacificMonth(new Date(monthBounds(month).to.getTime() - 1))).toBe(month)
        expect(addMonths(addMonths(month, -7), 7)).toBe(month)
      }),
    )
  })

  it.each(['2026-00', '2026-13', '2026-1', '2026-01-01', ''])('%j is none', (month) => {
    expect(() => monthBounds(month)).toThrow(RangeError)
  })
})
