import { expect, test } from 'vitest'
import type { SyncRunReport } from '../../src/jobs/sync/engine/run.ts'
import { createSyncMetrics } from '../../src/jobs/sync/engine/sync-metrics.ts'
import { createMetrics } from '../../src/observability/metrics.ts'

const now = new Date('2026-03-01T12:00:00Z')

const ended = (resource: string, stream: string, error: string | null, watermark: Date | null = null): SyncRunReport => ({
  ...{ sellerId: 'S', resource, stream, finished: error === null, watermark, durationMs: 1 },
  run: { windowFrom: null, windowTo: null, pages: 1, seen: 3, changed: 2, quarantined: 1, error },
})

const counted = async (...reports: readonly SyncRunReport[]): Promise<string> => {
  const metrics = createMetrics({ version: '1', processMetrics: false })
  const syncs = createSyncMetrics(metrics, () => now)
  for (const report of reports) syncs.countRun(report)
  syncs.refreshLags()
  return (await metrics.read()).body
}

test('the success of one resource does not hide the failure of another whose stream has the same name', async () => {
  const body = await counted(ended('taxonomies', 'all', null), ended('replenishment', 'all', 'refused'))
  expect(body).toContain('tallyman_poll_runs_total{resource="taxonomies",stream="all",outcome="done"} 1')
  expect(body).toContain('tallyman_poll_runs_total{resource="replenishment",stream="all",outcome="failed"} 1')
  expect(body).toMatch(/tallyman_poll_last_success_timestamp_seconds\{resource="taxonomies",stream="all",seller="S"\} \d/)
  expect(body).not.toContain('tallyman_poll_last_success_timestamp_seconds{resource="replenishment"')
})

test('records are counted by what became of them, and the lag by the marketplace’s clock', async () => {
  const body = await counted(ended('returns', 'changed', null, new Date(now.getTime() - 90_000)))
  for (const [outcome, count] of [
    ['seen', 3],
    ['changed', 2],
    ['quarantined', 1],
  ]) {
    expect(body).toContain(`tallyman_poll_records_total{resource="returns",stream="changed",outcome="${outcome}"} ${count}`)
  }
  expect(body).toContain('tallyman_poll_lag_seconds{resource="returns",stream="changed",seller="S"} 90')
})

test('backfills of a resource are one, whatever their range', async () => {
  const body = await counted(ended('orders', 'backfill:a:b', null), ended('orders', 'backfill:c:d', null))
  expect(body).toContain('tallyman_poll_runs_total{resource="orders",stream="backfill",outcome="done"} 2')
})

test('a sync that does not run any more falls behind, and is forgotten with its seller', async () => {
  const metrics = createMetrics({ version: '1', processMetrics: false })
  let time: Date | null = now
  const syncs = createSyncMetrics(metrics, () => time)
  syncs.countRun(ended('returns', 'changed', null, now))
  time = new Date(now.getTime() + 3_600_000)
  syncs.refreshLags()
  const lag = 'tallyman_poll_lag_seconds{resource="returns",stream="changed",seller="S"}'
  expect((await metrics.read()).body).toContain(`${lag} 3600`)
  time = null
  syncs.refreshLags()
  const { body } = await metrics.read()
  expect(body).not.toContain(lag)
  expect(body).not.toContain('seller="S"')
})
