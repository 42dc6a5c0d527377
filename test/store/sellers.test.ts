import { beforeEach, describe, expect, test } from 'vitest'
import { reviewAlarms } from '../../src/jobs/maintenance/review-alarms.ts'
import { readChanges } from '../../src/store/changes/changes.ts'
import { openListener } from '../../src/store/db/listener.ts'
import { deleteOutdatedCredentials, findAcceptedByOthers, recordAccepted } from '../../src/store/sellers/seller-credentials.ts'
import { announceSellers, removeProcess } from '../../src/store/sellers/seller-processes.ts'
import {
  claimProbe,
  findDueProbes,
  isSellerInactive,
  listSellers,
  pauseSeller,
  probeIntervalMs,
  readInactiveSellers,
  readSellers,
  recordSellers,
  resumeProbed,
  resumeSeller,
  sellersChannel,
  stopSeller,
} from '../../src/store/sellers/sellers.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'
import { eventually } from '../support/eventually.ts'

const stage = withDatabase({ each: 'test' })
beforeEach(async () => {
  await recordSellers(stage.database, [
    { sellerId: 'S', credentialsFingerprint: 'one' },
    { sellerId: 'T', credentialsFingerprint: 'one' },
  ])
})

const configured = (resumes: number, credentialsFingerprint = 'one') => ({ sellerId: 'S', credentialsFingerprint, resumes })
const readStatus = async () => (await readSellers(stage.database)).find(({ sellerId }) => sellerId === 'S')
const alarms = () =>
  stage.database.query<{ message: string; open: boolean }>(
    `SELECT message, resolved_at IS NULL AS open FROM tallyman.alarms WHERE kind = 'credentials-refused' ORDER BY id`,
  )
const readRecorded = async () =>
  (await readChanges(await numbered(stage.database), 0n, 100)).changes.map(({ type, data }) => [type, data])
const byPerson = { sellerId: 'S', actor: 'Ada', reason: 'they are right' }

test('a stop raises an alarm that states since when and what to do, and closes with its cause', async () => {
  expect(await stopSeller(stage.database, configured(0), 'correct them')).toBe('stopped')
  const stopped = await readStatus()
  expect(stopped).toMatchObject({ state: 'stopped', reason: 'correct them', since: expect.any(Date), resumes: 0 })
  expect(await alarms()).toEqual([{ message: `stopped since ${stopped?.since?.toISOString()}: correct them`, open: true }])
  expect([...(await readInactiveSellers(stage.database)).keys()]).toEqual(['S'])
  expect(await isSellerInactive(stage.database, 'S')).toBe(true)
  expect(await isSellerInactive(stage.database, 'T')).toBe(false)
  // Once is enough.
  expect(await stopSeller(stage.database, configured(0), 'correct them')).toBe('outdated')

  expect(await resumeSeller(stage.database, byPerson)).toMatchObject({
    state: 'active',
    reason: null,
    since: null,
    probeAt: null,
  })
  expect(await alarms()).toEqual([{ message: expect.anything(), open: false }])
  expect(await readRecorded()).toEqual([
    ['seller.stopped', { reason: 'correct them' }],
    ['seller.resumed', { by: 'person', actor: 'Ada', reason: 'they are right' }],
  ])
})

describe('where processes have other credentials', () => {
  const serve = (process: string) =>
    announceSellers(stage.database, { process, roles: ['worker'], sellerIds: ['S'], faults: [] }, 0)
  const [old, current] = [configured(0, 'old'), configured(0, 'new')]
  const outdatedAlarms = async () => {
    await reviewAlarms({ database: stage.database, streams: [], sellerIds: [], findNow: () => null, upForMs: 0 })
    return stage.database.query<{ message: string }>(
      `SELECT message FROM tallyman.alarms WHERE kind = 'credentials-outdated' AND resolved_at IS NULL`,
    )
  }
  beforeEach(async () => {
    await serve('p-old')
    await serve('p-new')
    await recordAccepted(stage.database, 'p-new', [current])
    // As its start stores it.
    await recordSellers(stage.database, [old])
  })

  test('one that is refused leaves the seller to another that has a token, with an alarm that names it', async () => {
    expect(await stopSeller(stage.database, old, 'correct them', 'p-old')).toBe('other-process')
    expect(await readStatus()).toMatchObject({ state: 'active' })
    expect(await outdatedAlarms()).toEqual([{ message: expect.stringContaining('p-old has') }])
    await resumeSeller(stage.database, byPerson)
    expect(await outdatedAlarms()).toEqual([])
  })

  test('the seller is stopped when the other is refused too, has ended, is silent or has other settings', async () => {
    const others = () => findAcceptedByOthers(stage.database, 'p-old', [old])
    const otherProcesses = new Set(['S'])
    expect(await others()).toEqual(otherProcesses)
    await stage.database.execute(
      `UPDATE tallyman.seller_processes SET said_at = now() - interval '2 minutes' WHERE process = 'p-new'`,
    )
    expect(await others()).toEqual(new Set())
    await serve('p-new')
    expect(await others()).toEqual(otherProcesses)
    await stage.database.transaction((tx) => deleteOutdatedCredentials(tx, 'p-new', [configured(0, 'newer')]))
    expect(await others()).toEqual(new Set())
    await recordAccepted(stage.database, 'p-new', [current])
    await removeProcess(stage.database, 'p-new')
    expect(await others()).toEqual(new Set())
    await serve('p-new')
    await recordAccepted(stage.database, 'p-new', [current])
    await stopSeller(stage.database, old, 'correct them', 'p-old')
    expect(await stopSeller(stage.database, current, 'correct them', 'p-new')).toBe('stopped')
    expect(await outdatedAlarms()).toEqual([])
  })

  test('those that have the same do not keep each other from a stop, whoever has stored other settings since', async () => {
    await recordSellers(stage.database, [configured(0, 'a third')])
    await recordAccepted(stage.database, 'p-old', [current])
    expect(await stopSeller(stage.database, current, 'correct them', 'p-new')).toBe('stopped')
    await recordSellers(stage.database, [current], 'start')
    expect(await readStatus()).toMatchObject({ state: 'stopped' })
    await recordSellers(stage.database, [old], 'start')
    expect(await readStatus()).toMatchObject({ state: 'active' })
  })
})

test('refusals that are remembered from before a resumption stop nothing', async () => {
  await stopSeller(stage.database, configured(0), 'correct them')
  await resumeSeller(stage.database, byPerson)
  expect(await stopSeller(stage.database, configured(0), 'correct them')).toBe('outdated')
  expect(await readStatus()).toMatchObject({ state: 'active', resumes: 1 })
  expect(await stopSeller(stage.database, configured(1), 'correct them')).toBe('stopped')
})

test('a resumption of an active seller deletes its rejections, and records no change', async () => {
  expect(await resumeSeller(stage.database, byPerson)).toMatchObject({ state: 'active', resumes: 1 })
  expect(await readRecorded()).toEqual([])
  expect(await resumeSeller(stage.database, { ...byPerson, sellerId: 'nobody' })).toBeNull()
})

test('a start with the same settings tries the credentials of a stopped seller immediately, and records nothing until they are accepted', async () => {
  await stopSeller(stage.database, configured(0), 'correct them')
  const recordedBefore = await readRecorded()
  expect(await findDueProbes(stage.database)).toEqual([])
  await recordSellers(stage.database, [{ sellerId: 'S', credentialsFingerprint: 'one' }], 'start')
  expect(await readStatus()).toMatchObject({ state: 'stopped', resumes: 0 })
  expect(await readRecorded()).toEqual(recordedBefore)
  expect(await findDueProbes(stage.database)).toEqual(['S'])
})

test.each([
  ['start', 'two'],
  ['settings', 'one'],
] as const)('a %s with the settings %s takes a stopped seller up again', async (by, credentialsFingerprint) => {
  await stopSeller(stage.database, configured(0), 'correct them')
  await recordSellers(stage.database, [{ sellerId: 'S', credentialsFingerprint }], by)
  expect(await readStatus()).toMatchObject({ state: 'active', resumes: 1 })
  expect((await readRecorded()).at(-1)).toEqual(['seller.resumed', { by }])
  expect(await alarms()).toEqual([{ message: expect.anything(), open: false }])
  await recordSellers(stage.database, [{ sellerId: 'S', credentialsFingerprint: 'three' }], by)
  expect(await readStatus()).toMatchObject({ state: 'active', resumes: 1 })
})

test('a paused seller stays so over starts, settings and probes, until a person resumes it', async () => {
  const paused = await pauseSeller(stage.database, { sellerId: 'S', actor: 'Ada', reason: 'stock-taking' })
  expect(paused).toMatchObject({ state: 'paused', reason: 'stock-taking', pausedBy: 'Ada', since: expect.any(Date) })
  await pauseSeller(stage.database, { sellerId: 'S', actor: 'Ada', reason: 'stock-taking' })
  await recordSellers(stage.database, [{ sellerId: 'S', credentialsFingerprint: 'two' }], 'settings')
  expect(await stopSeller(stage.database, configured(0, 'two'), 'correct them')).toBe('outdated')
  expect(await findDueProbes(stage.database)).toEqual([])
  expect(await resumeProbed(stage.database, 'S')).toBe(false)
  expect(await readStatus()).toEqual(paused)
  expect([...(await readInactiveSellers(stage.database)).keys()]).toEqual(['S'])
  expect(await resumeSeller(stage.database, byPerson)).toMatchObject({ state: 'active', pausedBy: null })
  expect((await readRecorded()).map(([type]) => type)).toEqual(['seller.paused', 'seller.resumed'])
  expect(await pauseSeller(stage.database, { sellerId: 'nobody', actor: 'Ada', reason: 'x' })).toBeNull()
})

test('the alarm of refused credentials outlives a pause: its cause is still there', async () => {
  await stopSeller(stage.database, configured(0), 'correct them')
  await pauseSeller(stage.database, { sellerId: 'S', actor: 'Ada', reason: 'until they come' })
  expect(await alarms()).toEqual([{ message: expect.anything(), open: true }])
  await resumeSeller(stage.database, byPerson)
  expect(await alarms()).toEqual([{ message: expect.anything(), open: false }])
})

test('the probe of a stopped seller is due a quarter of an hour later, and one process at a time takes it', async () => {
  const due = async (): Promise<void> => {
    await stage.database.execute(`UPDATE tallyman.sellers SET probe_at = probe_at - interval '15 minutes' WHERE seller_id = 'S'`)
  }
  expect(await claimProbe(stage.database, 'S')).toBe(false)
  await stopSeller(stage.database, configured(0), 'correct them')
  const { since, probeAt } = (await readStatus()) ?? {}
  expect((probeAt?.getTime() ?? 0) - (since?.getTime() ?? 0)).toBe(probeIntervalMs)
  expect(await findDueProbes(stage.database)).toEqual([])
  expect(await claimProbe(stage.database, 'S')).toBe(false)
  await due()
  expect(await findDueProbes(stage.database)).toEqual(['S'])
  const claims = await Promise.all(Array.from({ length: 6 }, () => claimProbe(stage.database, 'S')))
  expect(claims.filter(Boolean)).toHaveLength(1)
  expect(await findDueProbes(stage.database)).toEqual([])
  expect(await resumeProbed(stage.database, 'S')).toBe(true)
  expect((await readRecorded()).at(-1)).toEqual(['seller.resumed', { by: 'probe' }])
  expect(await resumeProbed(stage.database, 'S')).toBe(false)
})

test('other processes are notified of every change', async () => {
  const listener = openListener({
    url: stage.url,
    channels: [sellersChannel],
    log: { info: () => undefined, warn: () => undefined },
  })
  let notified = 0
  listener.on(sellersChannel, () => {
    notified += 1
  })
  try {
    await eventually(() => expect(listener.connected()).toBe(true))
    const changes = [
      () => stopSeller(stage.database, configured(0), 'correct them'),
      () => resumeSeller(stage.database, byPerson),
      () => resumeSeller(stage.database, byPerson),
      () => pauseSeller(stage.database, { sellerId: 'S', actor: 'Ada', reason: 'x' }),
    ]
    for (const change of changes) {
      const before = notified
      await change()
      await eventually(() => expect(notified).toBeGreaterThan(before))
    }
  } finally {
    await listener.close()
  }
})

test('sellers are listed by their ids, page by page', async () => {
  const first = await listSellers(stage.database, null, 1)
  expect(first).toMatchObject({ items: [{ sellerId: 'S', state: 'active' }], next: 'S' })
  expect(await listSellers(stage.database, first.next, 5)).toMatchObject({ items: [{ sellerId: 'T' }], next: null })
})
