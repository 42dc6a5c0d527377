import { expect, test } from 'vitest'
import { type RetentionSettings, retainedData } from '../../src/domain/sync/retention.ts'
import { runRetention } from '../../src/jobs/maintenance/retention.ts'
import { readRetentionOverview } from '../../src/store/privacy/retention.ts'
import { liveThrough } from '../life/hours.ts'
import { grown } from '../life/level.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase({ each: 'test' })

const dayMs = 86_400_000
const kept = (days: number | 'forever'): RetentionSettings => ({
  runs: days === 'forever' ? days : days * dayMs,
  attempts: 'forever',
  versions: 'forever',
  changes: 'forever',
  events: 'forever',
  alarms: days === 'forever' ? days : days * dayMs,
  quarantine: 'forever',
  deliveries: 'forever',
  notifications: 'forever',
  'log-entries': 'forever',
})
const manyRuns = (count: number) =>
  stage.database.execute(
    `INSERT INTO tallyman.sync_runs (seller_id, resource, stream, pages, seen, changed, quarantined, started_at, finished_at)
     SELECT 's', 'orders', 'changes', 1, 0, 1, 0, now() - interval '40 days', now() - interval '40 days' FROM generate_series(1, $1::int)`,
    count,
  )
const runsLeft = async (): Promise<number> => (await readRetentionOverview(stage.database, 'runs', null)).rows

test('a turn ends when its time is over or it is told to stop, and another process goes on where it was', async () => {
  await manyRuns(15_000)
  const turn = (owner: string, turnMs: number, signal = new AbortController().signal) =>
    runRetention({ database: stage.database, owner, keep: kept(30) }, { signal, turnMs })
  expect(await turn('one', 60_000, AbortSignal.abort())).toEqual({ removed: {}, finished: false })
  expect(await runsLeft()).toBe(15_000)
  // Less than one step takes: the step that has begun is ended, no other begins.
  const first = await turn('one', 1)
  expect(first).toMatchObject({ finished: false, removed: { runs: expect.any(Number) } })
  const left = await runsLeft()
  expect(left).toBe(15_000 - (first.removed.runs ?? 0))
  expect(left).toBeGreaterThan(5_000)
  expect(await turn('two', 60_000)).toEqual({ finished: true, removed: { runs: left - 1, alarms: 0 } })
  expect(await turn('one', 60_000)).toEqual({ finished: true, removed: {} })
})

test('of several processes each pass is gone through by one', async () => {
  await manyRuns(5_000)
  const turns = await Promise.all(
    Array.from({ length: 4 }, (_, n) =>
      runRetention(
        { database: stage.database, owner: `${n}`, keep: kept(30) },
        { signal: new AbortController().signal, turnMs: 60_000 },
      ),
    ),
  )
  expect(turns.flatMap(({ removed }) => removed.runs ?? [])).toEqual([4_999])
})

test('what is kept for ever stays', async () => {
  await manyRuns(100)
  const turn = await runRetention(
    { database: stage.database, owner: 'one', keep: kept('forever') },
    { signal: new AbortController().signal, turnMs: 60_000 },
  )
  expect(turn).toEqual({ removed: {}, finished: true })
  expect(await runsLeft()).toBe(100)
})

test('hour after hour of sellers at work, rows and bytes of what is not the ledger reach a level and stay there', async () => {
  const hours = await liveThrough(stage.database, {
    sellers: 6,
    hours: 10,
    keepHours: 2,
    newsEveryHours: 2,
    orders: 2,
    pollsAnHour: 2,
  })
  expect(hours).toHaveLength(10)
  for (const data of retainedData) expect(Math.max(...hours.map(({ removed }) => removed[data] ?? 0)), data).toBeGreaterThan(0)
  expect(grown(hours, 2)).toEqual([])
  // The ledger grows with the business, and by nothing else.
  expect(hours.at(-1)?.orders).toBe(3 * 10 * 2)
  // Without it everything grows.
  const kept = hours.map((hour) => ({
    ...hour,
    rows: { ...hour.rows, changes: hour.orders },
    bytes: { ...hour.bytes, runs: hour.orders },
  }))
  expect(grown(kept, 2)).toEqual([expect.stringContaining('bytes of runs grew'), expect.stringContaining('rows of changes grew')])
})
