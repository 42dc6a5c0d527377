import { describe, expect, test } from 'vitest'
import { alarmThresholds } from '../../../src/domain/alarms/alarm-rules.ts'
import { maxNotifiedIntervalMs } from '../../../src/domain/sync/intervals.ts'
import { findDueStreams, isDue, stretchIntervals, syncJob } from '../../../src/jobs/sync/engine/poll.ts'
import { readStreams } from '../../../src/jobs/sync/engine/syncs.ts'
import { hasNotifications, storeNotification } from '../../../src/store/notifications/notifications.ts'
import { withDatabase } from '../../support/database.ts'

const stage = withDatabase({ each: 'test' })

describe('a stream is due', () => {
  const idle = { atRest: false, running: false, unfinished: false, pausing: false, startedAgoMs: null }
  test('when it has never run, or its interval is over but for a moment', () => {
    expect(isDue(60_000, idle)).toBe(true)
    expect([54_000, 56_000, 600_000].map((startedAgoMs) => isDue(60_000, { ...idle, startedAgoMs }))).toEqual([false, true, true])
    expect([740, 760].map((startedAgoMs) => isDue(1_000, { ...idle, startedAgoMs }))).toEqual([false, true])
  })
  test('but not while somebody runs it, or while it pauses after a failure', () => {
    expect(isDue(60_000, { ...idle, running: true })).toBe(false)
    expect(isDue(60_000, { ...idle, pausing: true })).toBe(false)
  })
})

describe('a poll of a resource', () => {
  const plant = (stream: string, columns: string) =>
    stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_started_at, lease_until, pending, failures)
       SELECT 'one', 'orders', $1, ${columns}`,
      stream,
    )
  const streams = ['changed:SellerFulfilled', 'released', 'named', 'sweep', 'reread'].map((stream) => ({
    sellerId: 'one',
    resource: 'orders',
    stream,
    everyMs: 60_000,
  }))

  test('runs what is new itself, and leaves to jobs of their own what reads the past or is not finished', async () => {
    await plant('changed:SellerFulfilled', `now() - interval '2 minutes', NULL, '[]', 0`)
    await plant('released', `now() - interval '2 minutes', now() + interval '1 minute', '[]', 0`)
    await plant('named', `now() - interval '2 minutes', NULL, '[{}]', 0`)
    await plant('sweep', `now() - interval '2 seconds', NULL, '[]', 0`)
    const { run, enqueue } = await findDueStreams(stage.database, streams)
    expect(run.map(({ stream }) => stream)).toEqual(['changed:SellerFulfilled'])
    expect(enqueue.map(syncJob)).toEqual([
      { name: 'sync.run', data: { sellerId: 'one', resource: 'orders', stream: 'named' } },
      { name: 'backfill.run', data: { sellerId: 'one', resource: 'orders', stream: 'reread' } },
    ])
  })

  test('runs nothing of a seller that is paused', async () => {
    await stage.database.execute(`INSERT INTO tallyman.sellers (seller_id, state) VALUES ('one', 'paused')`)
    expect(await findDueStreams(stage.database, streams)).toEqual({ run: [], enqueue: [] })
  })
})

describe('while notifications of orders arrive', () => {
  const list = (intervals: Readonly<Record<string, number>>) =>
    readStreams('orders', intervals).map((interval) => ({ sellerId: 'one', resource: 'orders', ...interval }))
  const stretch = (intervals: Readonly<Record<string, number>>, notifiedIntervalMs: number) =>
    Object.fromEntries(stretchIntervals(list(intervals), notifiedIntervalMs).map(({ stream, everyMs }) => [stream, everyMs]))

  test('lists of new and changed orders are polled less often; what reads the past keeps its interval', () => {
    const intervals = { POLL_ORDERS: 60_000, POLL_ORDER_SWEEP: 120_000, REREAD_EVERY: 180_000 }
    const stretched = stretch(intervals, 600_000)
    expect(stretched).toMatchObject({ 'changed:SellerFulfilled': 600_000, released: 600_000, sweep: 120_000, reread: 180_000 })
    expect(stretch({ POLL_ORDERS: 900_000 }, 600_000)).toMatchObject({ released: 900_000 })
  })

  test('no list counts as behind at the longest interval', () => {
    const polled = stretchIntervals(list({}), maxNotifiedIntervalMs).filter(({ stream }) => stream === 'released')
    expect(polled.map(({ everyMs }) => everyMs)).toEqual([alarmThresholds.behindForMs / 2])
  })

  test('they arrive while the last one about an order of the seller is recent, and the seller is not in shadow mode', async () => {
    const notify = (sellerId: string, resource: 'orders' | 'returns') =>
      storeNotification(stage.database, sellerId, {
        ...{ eventId: `${sellerId} ${resource}`, eventType: 'ANY', hold: null },
        records: [{ resource, recordId: '1' }],
      })
    const arrive = (sellerId: string) => hasNotifications(stage.database, { sellerId, resource: 'orders' }, 3_600_000)
    await notify('one', 'orders')
    await notify('two', 'returns')
    expect([await arrive('one'), await arrive('two')]).toEqual([true, false])
    await stage.database.execute(
      `INSERT INTO tallyman.sellers (seller_id, state, mode, mode_since) VALUES ('one', 'active', 'shadow', now())`,
    )
    expect(await arrive('one')).toBe(false)
    await stage.database.execute(`UPDATE tallyman.sellers SET mode = 'live'`)
    expect(await arrive('one')).toBe(true)
    await stage.database.execute(`UPDATE tallyman.notifications SET received_at = now() - interval '61 minutes'`)
    expect(await arrive('one')).toBe(false)
  })
})
