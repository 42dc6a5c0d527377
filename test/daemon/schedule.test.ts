import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { firstLook } from '../../src/daemon/agenda.ts'
import { type ScheduledStream, scheduleOf, schedulers } from '../../src/daemon/schedule.ts'
import { type StreamInterval, streamsOf, syncResources } from '../../src/jobs/sync/syncs.ts'

const minute = 60_000
const hour = 60 * minute

const stream = (name: string, everyMs: number, restsAfterRestart = false): StreamInterval => ({
  stream: name,
  everyMs,
  restsAfterRestart,
})
const scheduled = (name: string, everyMs: number, restsAfterRestart = false): ScheduledStream => ({
  sellerId: 's1',
  resource: 'orders',
  ...stream(name, everyMs, restsAfterRestart),
})

describe('the schedule', () => {
  test('holds every stream of every resource that a seller has, and no other', () => {
    const schedule = scheduleOf({
      sellerIds: ['s1', 's2'],
      resourcesOf: (sellerId) => (sellerId === 's1' ? ['orders', 'returns'] : ['orders']),
      intervalsOf: (resource) =>
        resource === 'orders' ? [stream('changed', minute), stream('sweep', hour)] : [stream('all', hour)],
    })
    expect(schedule.map(({ sellerId, resource, stream, everyMs }) => [sellerId, resource, stream, everyMs])).toEqual([
      ['s1', 'orders', 'changed', minute],
      ['s1', 'orders', 'sweep', hour],
      ['s1', 'returns', 'all', hour],
      ['s2', 'orders', 'changed', minute],
      ['s2', 'orders', 'sweep', hour],
    ])
  })

  test('has schedulers for the upkeep alone', () => {
    expect(schedulers.map(({ job }) => job.data)).toEqual([{ task: 'trim' }, { task: 'review' }, { task: 'alarms' }])
  })
})

describe('the first look', () => {
  const nowMs = 1_800_000_000_000

  test('runs every stream, spread, those of one interval within it', () => {
    const schedule = Array.from({ length: 30 }, (_, index) => scheduled(`stream-${index}`, index < 20 ? hour : 1_000))
    const looks = firstLook(schedule, [], nowMs)
    expect(looks.map(({ stream }) => stream)).toEqual(schedule)
    const delays = looks.map(({ dueAtMs }) => dueAtMs - nowMs)
    expect(delays.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, index) => index * 100))
    expect(delays.slice(20)).toEqual(Array.from({ length: 10 }, (_, index) => index * 100))
    const many = firstLook(
      Array.from({ length: 4_000 }, (_, index) => scheduled(`stream-${index}`, minute)),
      [],
      nowMs,
    )
    expect(Math.max(...many.map(({ dueAtMs }) => dueAtMs - nowMs))).toBeLessThan(minute)
    expect(new Set(many.map(({ dueAtMs }) => dueAtMs)).size).toBe(4_000)
  })

  test('waits for the end of the interval with what rests after a restart and has succeeded within it', () => {
    const schedule = [scheduled('changed', minute), scheduled('reread', hour, true)]
    const lag = (name: string, lagMs: number | null) => ({ sellerId: 's1', resource: 'orders', stream: name, lagMs })
    const delaysWith = (...lags: readonly ReturnType<typeof lag>[]) =>
      firstLook(schedule, lags, nowMs).map(({ dueAtMs }) => dueAtMs - nowMs)
    expect(delaysWith()).toEqual([0, 0])
    expect(delaysWith(lag('changed', 0), lag('reread', hour - 1))).toEqual([0, 1])
    expect(delaysWith(lag('reread', 0))).toEqual([0, hour])
    expect(delaysWith(lag('changed', 0), lag('reread', hour))).toEqual([0, 0])
    expect(delaysWith(lag('reread', null))).toEqual([0, 0])
    const others = [
      { ...lag('reread', 0), sellerId: 's2' },
      { ...lag('reread', 0), resource: 'returns' },
    ]
    expect(delaysWith(...others)).toEqual([0, 0])
  })
})

describe('the intervals of the settings', () => {
  const intervalsOf = (env: Readonly<Record<string, string>>, resource: string) =>
    new Map(streamsOf(resource, readConfig(env, false).intervals).map(({ stream: name, everyMs }) => [name, everyMs]))

  test('every resource runs by itself', () => {
    for (const resource of syncResources) expect([resource, intervalsOf({}, resource).size > 0]).toEqual([resource, true])
  })

  test('the sweep and the re-reading have intervals of their own', () => {
    const intervals = intervalsOf({ POLL_ORDERS: '2m', POLL_ORDER_SWEEP: '3h', REREAD_EVERY: '5h' }, 'orders')
    expect(intervals.get('sweep')).toBe(3 * hour)
    expect(intervals.get('reread')).toBe(5 * hour)
    const changed = [...intervals].filter(([name]) => name.startsWith('changed'))
    expect(changed.length).toBeGreaterThan(0)
    for (const [name, everyMs] of changed) expect([name, everyMs]).toEqual([name, 2 * minute])
  })

  test('what is not polled is not read again either, but swept where that is on', () => {
    expect([...intervalsOf({ POLL_ORDERS: 'off', POLL_ORDER_SWEEP: '3h' }, 'orders').keys()]).toEqual(['sweep'])
    expect([...intervalsOf({ POLL_ORDERS: '1m', POLL_ORDER_SWEEP: 'off', REREAD_EVERY: 'off' }, 'orders').keys()]).not.toContain(
      'sweep',
    )
    expect(intervalsOf({ POLL_RETURNS: 'off' }, 'returns').size).toBe(0)
  })
})
