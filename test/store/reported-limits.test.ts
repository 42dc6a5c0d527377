import { beforeEach, expect, test } from 'vitest'
import { readReportedLimits, reportedForMs, reportLimits, withdrawLimits } from '../../src/store/sellers/reported-limits.ts'
import { withDatabase } from '../support/database.ts'

const opened = withDatabase()
beforeEach(() => opened.database.execute('DELETE FROM tallyman.reported_limits'))

const limits = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    sellerId: `seller-${index}`,
    operation: 'orders.list',
    scope: index % 2 === 0 ? null : '2026-01',
    available: index,
    perMinute: 60,
    blockedUntil: index % 3 === 0 ? null : new Date('2026-03-10T00:00:00.000Z'),
  }))

test('a process reads what the others have reported, however many limits they use', async () => {
  const { database } = opened
  await reportLimits(database, 'one', limits(3))
  await reportLimits(database, 'two', limits(20_000))
  await reportLimits(database, 'three', limits(1))
  await reportLimits(database, 'three', [])
  expect(await readReportedLimits(database, 'one')).toEqual(limits(20_000))
  expect(await readReportedLimits(database, 'two')).toEqual(limits(3))
  await withdrawLimits(database, 'two')
  expect(await readReportedLimits(database, 'one')).toEqual([])
})

test('expired reports do not count, and are removed', async () => {
  const { database } = opened
  const age = (process: string, ms: number) =>
    database.execute(
      `UPDATE tallyman.reported_limits SET reported_at = now() - make_interval(secs => $2::float8 / 1000) WHERE process = $1`,
      process,
      ms,
    )
  await reportLimits(database, 'gone', limits(1))
  await reportLimits(database, 'late', limits(2))
  await age('gone', reportedForMs * 3)
  await age('late', reportedForMs + 1)
  await reportLimits(database, 'here', limits(3))
  expect(await readReportedLimits(database, 'other')).toEqual(limits(3))
  const rows = await database.query<{ process: string }>(`SELECT process FROM tallyman.reported_limits ORDER BY process`)
  expect(rows.map(({ process }) => process)).toEqual(['here', 'late'])
})
