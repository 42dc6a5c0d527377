import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { maintenanceSchedulers } from '../../src/jobs/maintenance/schedulers.ts'
import { listScheduledStreams } from '../../src/jobs/sync/engine/poll-schedule.ts'
import { readStreams, type StreamInterval, syncResources } from '../../src/jobs/sync/engine/syncs.ts'

const minute = 60_000
const hour = 60 * minute

const stream = (name: string, everyMs: number): StreamInterval => ({ stream: name, everyMs })
describe('the schedule', () => {
  test('holds every stream of every resource that a seller has, and no other', () => {
    const schedule = listScheduledStreams({
      sellerIds: ['s1', 's2'],
      listResources: (sellerId) => (sellerId === 's1' ? ['orders', 'returns'] : ['orders']),
      listIntervals: (resource) =>
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

  test('has a scheduler for each task of maintenance', () => {
    const tasks = ['trim', 'review', 'named-orders', 'alarms', 'figures', 'marketplace-status']
    expect(maintenanceSchedulers.map(({ job }) => job.data)).toEqual(tasks.map((task) => ({ task })))
  })
})

describe('the intervals of the settings', () => {
  const listIntervals = (env: Readonly<Record<string, string>>, resource: string) =>
    new Map(readStreams(resource, readConfig(env, false).intervals).map(({ stream: name, everyMs }) => [name, everyMs]))

  test('every resource runs by itself', () => {
    for (const resource of syncResources) expect([resource, listIntervals({}, resource).size > 0]).toEqual([resource, true])
  })

  test('the sweep and the re-reading have intervals of their own', () => {
    const intervals = listIntervals({ POLL_ORDERS: '2m', POLL_ORDER_SWEEP: '3h', REREAD_EVERY: '5h' }, 'orders')
    expect(intervals.get('sweep')).toBe(3 * hour)
    expect(intervals.get('reread')).toBe(5 * hour)
    const changed = [...intervals].filter(([name]) => name.startsWith('changed'))
    expect(changed.length).toBeGreaterThan(0)
    for (const [name, everyMs] of changed) expect([name, everyMs]).toEqual([name, 2 * minute])
  })

  test('what is not polled is not read again either, but swept where that is on', () => {
    expect([...listIntervals({ POLL_ORDERS: 'off', POLL_ORDER_SWEEP: '3h' }, 'orders').keys()]).toEqual(['sweep'])
    expect([
      ...listIntervals({ POLL_ORDERS: '1m', POLL_ORDER_SWEEP: 'off', REREAD_EVERY: 'off' }, 'orders').keys(),
    ]).not.toContain('sweep')
    expect(listIntervals({ POLL_RETURNS: 'off' }, 'returns').size).toBe(0)
  })
})
