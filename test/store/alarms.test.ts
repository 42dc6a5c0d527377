import { expect, test } from 'vitest'
import { reviewSyncAlarm } from '../../src/store/alarms/alarms.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()

test('a stream that keeps failing raises one alarm, which a good run resolves', async () => {
  const key = { sellerId: 's-1', resource: 'orders', stream: 'released' }
  const fail = async (failures: number, error: string | null) => {
    await stage.database.execute(
      `INSERT INTO tallyman.sync_states (seller_id, resource, stream, failures, last_error) VALUES ('s-1', 'orders', 'released', $1, $2)
       ON CONFLICT (seller_id, resource, stream) DO UPDATE SET failures = excluded.failures, last_error = excluded.last_error`,
      failures,
      error,
    )
    await reviewSyncAlarm(stage.database, key)
  }
  const open = () => stage.database.prisma.alarm.findMany({ where: { resolvedAt: null } })

  await reviewSyncAlarm(stage.database, key)
  await fail(1, 'HTTP 500')
  expect(await open()).toEqual([])
  await fail(5, 'HTTP 500')
  await fail(6, 'HTTP 503')
  expect(await open()).toMatchObject([
    { kind: 'sync-failing', subject: 'orders/released', message: expect.stringContaining('HTTP 503') },
  ])
  await fail(0, null)
  expect(await open()).toEqual([])
})
