import { describe, expect, test } from 'vitest'
import { createAgenda, type DueTick } from '../../src/daemon/agenda.ts'
import type { ScheduledStream } from '../../src/daemon/schedule.ts'

const startMs = 1_800_000_000_123
const minute = 60_000

const scheduled = (seller: number, everyMs: number): ScheduledStream => ({
  ...{ sellerId: `s-${seller}`, resource: 'orders', stream: `every ${everyMs}`, everyMs },
  restsAfterRestart: false,
})
const many = (count: number, everyMs: number) => Array.from({ length: count }, (_, seller) => scheduled(seller, everyMs))
const planned = (schedule: readonly ScheduledStream[], first: readonly DueTick[] = []) => {
  const agenda = createAgenda(startMs)
  agenda.replace(schedule, first)
  return agenda
}
const timesOf = (ticks: readonly DueTick[]) =>
  ticks.map(({ stream, dueAtMs }) => `${stream.sellerId} ${stream.stream} ${dueAtMs}`)

describe('the agenda', () => {
  test('each stream is due once an interval, at a place of its own, however often it is looked', () => {
    const schedule = [...many(200, minute), ...many(50, 7_000)]
    const endMs = startMs + 10 * minute
    // Steps shorter than any interval, of any length.
    const looked = [1, 37, 999, 6_999].map((stepMs) => {
      const agenda = planned(schedule)
      const ticks: DueTick[] = []
      for (let atMs = startMs; atMs < endMs; ) {
        atMs = Math.min(atMs + stepMs, endMs)
        ticks.push(...agenda.take(atMs))
      }
      return timesOf(ticks).sort()
    })
    for (const times of looked) expect(times).toEqual(looked[0])
    const ofMinute = (looked[0] ?? []).filter((time) => time.includes('every 60000'))
    expect(ofMinute).toHaveLength(200 * 10)
    expect(new Set(ofMinute.map((time) => Number(time.split(' ').at(-1)) % minute)).size).toBeGreaterThan(190)
  })

  test('a seller whose id cannot be encoded stops nobody', () => {
    const odd = { ...scheduled(0, minute), sellerId: '\ud800' }
    const due = planned([odd, ...many(3, minute)]).take(startMs + minute)
    expect(due.map(({ stream }) => stream.sellerId).sort()).toEqual(['s-0', 's-1', 's-2', '\ud800'])
  })

  test('a process that did not look for long finds each stream due once, and then as ever', () => {
    const agenda = planned(many(20, minute))
    const late = agenda.take(startMs + 100 * minute)
    expect(late.map(({ stream }) => stream.sellerId).sort()).toEqual(
      many(20, minute)
        .map(({ sellerId }) => sellerId)
        .sort(),
    )
    for (const { dueAtMs } of late) expect(dueAtMs).toBeGreaterThan(startMs + 99 * minute)
    expect(agenda.take(startMs + 100 * minute)).toEqual([])
    expect(agenda.take(startMs + 101 * minute)).toHaveLength(20)
  })

  test('a clock that is set back lets nothing wait for longer than its interval', () => {
    const agenda = planned(many(20, minute))
    agenda.take(startMs + minute)
    expect(agenda.take(startMs - 60 * minute)).toEqual([])
    expect(agenda.take(startMs - 59 * minute)).toHaveLength(20)
  })

  test('names the moment of the next one', () => {
    const agenda = planned(many(20, minute))
    for (let round = 0; round < 100; round += 1) {
      const nextMs = agenda.nextAtMs()
      expect(agenda.take(nextMs - 1)).toEqual([])
      expect(agenda.take(nextMs).map(({ dueAtMs }) => dueAtMs)).toEqual([nextMs])
    }
    expect(planned([]).nextAtMs()).toBe(Number.POSITIVE_INFINITY)
  })

  test('what could not be looked at is due again, each stream once', () => {
    const agenda = planned(many(20, minute))
    const taken = agenda.take(startMs + minute)
    agenda.putBack(taken)
    expect(agenda.nextAtMs()).toBe(Math.min(...taken.map(({ dueAtMs }) => dueAtMs)))
    expect(agenda.take(startMs + minute)).toHaveLength(20)
    agenda.putBack(taken)
    expect(agenda.take(startMs + 2 * minute)).toHaveLength(20)
  })

  test('what has just come to be runs first when it is said, and what is gone no more', () => {
    const [one, other] = many(2, 60 * minute)
    if (one === undefined || other === undefined) throw new Error('there are two')
    const agenda = planned(
      [one, other],
      [
        { stream: one, dueAtMs: startMs + 10 },
        { stream: other, dueAtMs: startMs + 20 },
      ],
    )
    expect(agenda.nextAtMs()).toBe(startMs + 10)
    expect(timesOf(agenda.take(startMs + 10))).toEqual(timesOf([{ stream: one, dueAtMs: startMs + 10 }]))
    agenda.replace([one], [])
    expect(agenda.take(startMs + 30)).toEqual([])
    expect(agenda.take(startMs + 60 * minute).map(({ stream }) => stream)).toEqual([one])
  })
})
