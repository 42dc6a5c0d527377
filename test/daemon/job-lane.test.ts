import { expect, test } from 'vitest'
import { findJobLane } from '../../src/jobs/dispatch/job-properties.ts'
import { syncJob } from '../../src/jobs/sync/engine/poll.ts'

const sync = (resource: string, stream: string): number => findJobLane(syncJob({ sellerId: 's', resource, stream }))

test('of what has the queue of backfills, backfills come before snapshots', () => {
  const polls = [
    sync('orders', 'changed:SellerFulfilled'),
    sync('orders', 'released'),
    sync('orders', 'named'),
    sync('returns', 'changed'),
  ]
  const backfills = [
    sync('orders', 'reread'),
    sync('orders', 'sweep'),
    sync('reconciliation', 'backfill:20260101T000000Z:20260201T000000Z'),
    sync('orders', 'backfill:20260101T000000Z:20260201T000000Z'),
  ]
  const snapshots = [sync('sales-channels', 'all'), sync('reconciliation', 'reports')]
  expect([...new Set(polls)]).toEqual([0])
  expect([...new Set(backfills)]).toEqual([1])
  expect([...new Set(snapshots)]).toEqual([2])
})

test('whatever has another queue has one lane, a stream that does not exist included', () => {
  expect(findJobLane({ name: 'command.run', data: { commandId: '1' } })).toBe(0)
  expect(findJobLane({ name: 'event.process', data: { source: 'erp', id: '1' } })).toBe(0)
  expect(sync('orders', 'none')).toBe(0)
  expect(sync('none', 'all')).toBe(0)
})
