import { expect, test } from 'vitest'
import type { PolledStream } from '../../src/jobs/sync/engine/poll.ts'
import { createPollSchedule } from '../../src/jobs/sync/engine/poll-schedule.ts'
import type { JobToEnqueue } from '../../src/queues/jobs.ts'
import type { Scheduler } from '../../src/queues/schedulers.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })

const listPolled = (sellerId: string, resource: string, ...intervalsMs: readonly number[]): readonly PolledStream[] =>
  intervalsMs.map((everyMs, place) => ({ sellerId, resource, stream: `stream-${place}`, everyMs }))

const setUp = (polled: readonly PolledStream[]) => {
  const state = {
    polled,
    applied: [] as (readonly Scheduler[])[],
    enqueued: [] as JobToEnqueue[],
    count: 0,
    removable: [] as boolean[],
  }
  const schedule = createPollSchedule({
    database: stage.database,
    runtime: {
      applySchedulers: async (wanted, mayRemove = () => true) => {
        state.applied.push(wanted)
        state.removable = ['one', 'two', 'gone', 'elsewhere'].map((sellerId) => mayRemove({ sellerId, resource: 'orders' }))
        state.count = wanted.length
        return { made: 0, removed: 0, total: wanted.length }
      },
      countSchedulers: async () => state.count,
      enqueueMany: async (jobs) => state.enqueued.push(...jobs),
    },
    polled: () => state.polled,
    worksFor: (sellerId) => sellerId === 'one' || sellerId === 'two',
    others: [{ job: { name: 'maintenance.run', data: { task: 'trim' } }, everyMs: 3_600_000 }],
  })
  return { schedule, state }
}

test('there is a scheduler for each resource of each seller at the interval of its shortest stream, and a first poll of what is due', async () => {
  const { schedule, state } = setUp([...listPolled('one', 'orders', 3_600_000, 60_000), ...listPolled('two', 'returns', 300_000)])
  await stage.database.execute(
    `INSERT INTO tallyman.sync_states (seller_id, resource, stream, last_started_at) VALUES ('two', 'returns', 'stream-0', now())`,
  )
  await schedule.keep()
  expect(state.applied[0]?.map(({ id, everyMs, job }) => [id, everyMs, job.data])).toEqual([
    [undefined, 3_600_000, { task: 'trim' }],
    ['one:orders', 60_000, { sellerId: 'one', resource: 'orders' }],
    ['two:returns', 300_000, { sellerId: 'two', resource: 'returns' }],
  ])
  expect(state.enqueued).toEqual([{ name: 'poll.run', data: { sellerId: 'one', resource: 'orders' }, delayMs: 0 }])
  // Nothing has changed.
  await schedule.keep()
  expect(state.applied).toHaveLength(1)
})

test('a seller that is paused loses its schedulers, and is polled at once when it goes on', async () => {
  const { schedule, state } = setUp([...listPolled('one', 'orders', 60_000), ...listPolled('two', 'orders', 60_000)])
  await stage.database.execute(
    `INSERT INTO tallyman.sellers (seller_id, state, served_at) VALUES ('two', 'paused', now()), ('elsewhere', 'active', now()),
       ('gone', 'active', now() - interval '1 day')`,
  )
  await schedule.keep()
  const findSellers = () => state.applied.at(-1)?.flatMap(({ job: { data } }) => ('sellerId' in data ? [data.sellerId] : []))
  expect(findSellers()).toEqual(['one'])
  expect(state.removable).toEqual([true, true, true, false])
  await stage.database.execute(`UPDATE tallyman.sellers SET state = 'active' WHERE seller_id = 'two'`)
  schedule.changed()
  state.enqueued = []
  await schedule.keep()
  expect(findSellers()).toEqual(['one', 'two'])
  expect(state.enqueued.map(({ data }) => data)).toEqual([{ sellerId: 'two', resource: 'orders' }])
})
