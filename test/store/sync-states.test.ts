import { expect, test } from 'vitest'
import {
  acquireLease,
  endRun,
  findUnfinishedSyncs,
  LeaseLost,
  listSyncs,
  renewLease,
  requestWindows,
  type SyncProgress,
  saveProgress,
} from '../../src/store/sync/sync-states.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()

const minuteMs = 60_000
const buildKey = (stream: string) => ({ sellerId: 's', resource: 'orders', stream })
const window = { from: new Date('2026-01-01T00:00:00Z'), to: new Date('2026-01-02T00:00:00Z'), part: 'WFSFulfilled' }
/** Of a stream that has never run. */
const noProgress: SyncProgress = {
  watermark: null,
  pending: [],
  cursor: null,
  pages: 0,
  totals: {
    windowsTotal: 0,
    windowsDone: 0,
    seen: 0,
    changed: 0,
    quarantined: 0,
    windowSeen: 0,
    windowTotal: null,
    windowPasses: [],
    windowChanged: 0,
    windowRestarts: 0,
    failedAt: null,
    failedTimes: 0,
    skipped: 0,
    outOfReachBefore: null,
    plannedAt: null,
    plannedFrom: null,
    importAt: null,
    endlessWindows: 0,
  },
}
const inProgress: SyncProgress = {
  ...noProgress,
  watermark: new Date('2025-12-31T00:00:00Z'),
  pending: [window],
  cursor: '?limit=200&x=%2B',
  pages: 3,
}
const run = { windowFrom: window.from, windowTo: window.to, pages: 1, seen: 2, changed: 1, quarantined: 0, error: null }
const expire = (stream: string) =>
  stage.database.execute(`UPDATE tallyman.sync_states SET lease_until = now() - interval '1 second' WHERE stream = $1`, stream)
const acquire = async (stream: string, owner: string) => {
  const claim = await acquireLease(stage.database, buildKey(stream), owner, minuteMs)
  if (!claim.taken) throw new Error(`${owner} did not get the lease`)
  return claim
}

test('one owner at a time, and what it wrote is what the next one finds', async () => {
  const first = await acquire('a', 'one')
  expect(first.progress).toEqual(noProgress)
  await saveProgress(stage.database, first.lease, inProgress, minuteMs)
  expect(await acquireLease(stage.database, buildKey('a'), 'two', minuteMs)).toMatchObject({ taken: false, unfinished: true })
  await expire('a')
  const second = await acquire('a', 'two')
  expect(second.progress).toEqual(inProgress)
  expect(second.lease.fence).toBeGreaterThan(first.lease.fence)
})

test('of many concurrent acquirers, one gets it', async () => {
  const claims = await Promise.all(
    Array.from({ length: 8 }, (_, index) => acquireLease(stage.database, buildKey('many'), `owner ${index}`, minuteMs)),
  )
  expect(claims.filter((claim) => claim.taken)).toHaveLength(1)
})

test('the one who lost the lease can neither move on nor end', async () => {
  const first = await acquire('b', 'one')
  await expire('b')
  await acquire('b', 'two')
  await expect(saveProgress(stage.database, first.lease, inProgress, minuteMs)).rejects.toThrow(LeaseLost)
  await expect(endRun(stage.database, first.lease, inProgress, { finished: true, failed: false, run })).rejects.toThrow(LeaseLost)
  expect(await stage.database.query(`SELECT 1 FROM tallyman.sync_runs WHERE stream = 'b'`)).toEqual([])
})

test('a lease is renewed while no other process has it, and not after its run has ended', async () => {
  const { lease } = await acquire('renewed', 'one')
  const leases = (): Promise<{ running: boolean }[]> =>
    stage.database.query(
      `SELECT coalesce(lease_until > now() + interval '30 seconds', false) AS running FROM tallyman.sync_states WHERE stream = 'renewed'`,
    )
  await expire('renewed')
  await renewLease(stage.database, lease, minuteMs)
  expect(await leases()).toEqual([{ running: true }])
  await expire('renewed')
  const { lease: next } = await acquire('renewed', 'two')
  await expire('renewed')
  await renewLease(stage.database, lease, minuteMs)
  expect(await leases()).toEqual([{ running: false }])
  await endRun(stage.database, next, noProgress, { finished: true, failed: false, run })
  await renewLease(stage.database, next, minuteMs)
  expect(await leases()).toEqual([{ running: false }])
})

test('an expired lease that no other process acquired still holds', async () => {
  const { lease } = await acquire('c', 'one')
  await expire('c')
  await saveProgress(stage.database, lease, inProgress, minuteMs)
  expect(await acquireLease(stage.database, buildKey('c'), 'two', minuteMs)).toMatchObject({ taken: false })
})

test('failures count up, success clears them, and each run leaves its record', async () => {
  for (const [error, finished] of [
    ['first', false],
    ['second', false],
    [null, true],
  ] as const) {
    const { lease } = await acquire('d', 'one')
    await endRun(stage.database, lease, noProgress, { finished, failed: error !== null, run: { ...run, error } })
    const [state] = (await listSyncs(stage.database)).filter(({ stream }) => stream === 'd')
    expect(state).toMatchObject({ lastError: error, failures: error === null ? 0 : error === 'first' ? 1 : 2, running: false })
  }
  const runs = await stage.database.query(`SELECT seen, error FROM tallyman.sync_runs WHERE stream = 'd' ORDER BY id`)
  expect(runs).toEqual([
    { seen: 2, error: 'first' },
    { seen: 2, error: 'second' },
    { seen: 2, error: null },
  ])
})

test('pending windows are found again once no process holds the stream and its pause is over', async () => {
  const found = async () => (await findUnfinishedSyncs(stage.database)).some(({ stream }) => stream === 'e')
  const { lease } = await acquire('e', 'one')
  await saveProgress(stage.database, lease, inProgress, minuteMs)
  expect(await found()).toBe(false)
  await expire('e')
  expect(await found()).toBe(true)
  await endRun(stage.database, (await acquire('e', 'two')).lease, inProgress, { finished: false, failed: true, run })
  expect(await found()).toBe(false)
  await stage.database.execute(
    `UPDATE tallyman.sync_states SET last_started_at = now() - interval '11 seconds' WHERE stream = 'e'`,
  )
  expect(await found()).toBe(true)
})

test('a backfill requested twice is one; a finished one starts again', async () => {
  const key = buildKey('backfill:x')
  expect(await requestWindows(stage.database, key, [window, window])).toBe(true)
  expect(await requestWindows(stage.database, key, [window])).toBe(false)
  const { lease, progress } = await acquire('backfill:x', 'one')
  expect(progress.pending).toHaveLength(2)
  await endRun(stage.database, lease, { ...progress, pending: [] }, { finished: true, failed: false, run })
  expect(await requestWindows(stage.database, key, [window])).toBe(true)
})

test('runs that change nothing are one row while they follow each other, for a day', async () => {
  const end = async (changes: Partial<typeof run> & { error?: string | null }) => {
    const { lease } = await acquire('f', 'one')
    await endRun(stage.database, lease, noProgress, { finished: true, failed: false, run: { ...run, ...changes } })
  }
  const rows = () =>
    stage.database.query(
      `SELECT runs, pages, seen, changed, error, window_to AS "to" FROM tallyman.sync_runs WHERE stream = 'f' ORDER BY id`,
    )
  const idle = { changed: 0 }
  const later = new Date(window.to.getTime() + minuteMs)
  for (const changes of [{}, idle, { ...idle, windowTo: later }, idle, { ...idle, error: 'away' }, idle, {}, idle])
    await end(changes)
  const one = { runs: 1, pages: 1, seen: 2, changed: 0, error: null, to: window.to }
  const expected = [
    { ...one, changed: 1 },
    { ...one, runs: 3, pages: 3, seen: 6, to: later },
    { ...one, error: 'away' },
    one,
    { ...one, changed: 1 },
    one,
  ]
  expect(await rows()).toEqual(expected)
  await stage.database.execute(`UPDATE tallyman.sync_runs SET started_at = started_at - interval '1 day' WHERE stream = 'f'`)
  await end(idle)
  expect(await rows()).toEqual([...expected, one])
})
