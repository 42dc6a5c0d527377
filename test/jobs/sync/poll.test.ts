import { describe, expect, test } from 'vitest'
import { findDueStreams, isDue, syncJob } from '../../../src/jobs/sync/engine/poll.ts'
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
