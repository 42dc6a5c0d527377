import { expect, test } from 'vitest'
import { laneOfJob } from '../../src/daemon/lanes.ts'

const sync = (resource: string, stream: string): number =>
  laneOfJob({ name: 'sync.run', data: { sellerId: 's', resource, stream } })

test('polls come before backfills, and these before snapshots', () => {
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

test('whatever is no sync has one lane, and so has a stream that does not exist', () => {
  expect(laneOfJob({ name: 'command.run', data: { commandId: '1' } })).toBe(0)
  expect(laneOfJob({ name: 'event.process', data: { source: 'erp', id: '1' } })).toBe(0)
  expect(sync('orders', 'none')).toBe(0)
  expect(sync('none', 'all')).toBe(0)
})
