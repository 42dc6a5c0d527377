import { describe, expect, test } from 'vitest'
import { type DueWork, listJobs } from '../../src/jobs/dispatch/due-jobs.ts'

const nothing: DueWork = {
  commands: [],
  events: [],
  notified: [],
  syncs: [],
  probes: [],
  resting: new Set(),
  serves: (sellerId) => sellerId === 's1',
  listResources: (sellerId) => {
    if (sellerId !== 's1') throw new Error(`${sellerId} is not served`)
    return ['orders']
  },
}

describe('the derivation of due work', () => {
  test('is empty when nothing is due', () => {
    expect(listJobs(nothing)).toEqual([])
  })

  test('commands come first, and go to any process as events do', () => {
    expect(listJobs({ ...nothing, commands: ['c1', 'c2'], events: [{ source: 'erp', id: 'e1' }] })).toEqual([
      { name: 'command.run', data: { commandId: 'c1' } },
      { name: 'command.run', data: { commandId: 'c2' } },
      { name: 'event.process', data: { source: 'erp', id: 'e1' } },
    ])
  })

  test('a record that a notification names goes to any process', () => {
    const notified = { sellerId: 's2', resource: 'orders', recordId: '108' } as const
    expect(listJobs({ ...nothing, notified: [notified] })).toEqual([{ name: 'notification.read', data: notified }])
  })

  test('a sync is derived only for a seller that is served, does not rest, and has the resource', () => {
    const sync = (sellerId: string, resource: string) => ({ sellerId, resource, stream: 'all' })
    const due = [sync('s1', 'orders'), sync('s1', 'taxonomies'), sync('s2', 'orders')]
    expect(listJobs({ ...nothing, syncs: due })).toEqual([{ name: 'sync.run', data: sync('s1', 'orders') }])
    expect(listJobs({ ...nothing, syncs: due, resting: new Set(['s1']) })).toEqual([])
    expect(listJobs({ ...nothing, syncs: due, resting: new Set(['s2']) })).toHaveLength(1)
  })

  test('a stopped seller is probed though it rests, by the process that serves it', () => {
    expect(listJobs({ ...nothing, probes: ['s1', 's2'], resting: new Set(['s1']) })).toEqual([
      { name: 'seller.probe', data: { sellerId: 's1' } },
    ])
  })
})
