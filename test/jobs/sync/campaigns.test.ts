import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { salesChannelsEndpoint } from '../../../src/clients/marketplace/sales-channels.ts'
import { campaignUrgencies, mayMove } from '../../../src/domain/campaigns/campaign.ts'
import { readStreams } from '../../../src/jobs/sync/engine/syncs.ts'
import { recordConfiguredCampaigns, watchCampaigns } from '../../../src/store/campaigns/watched-campaigns.ts'
import { numbered } from '../../support/changes.ts'
import { type SyncBench, type TestSeller, withSyncBench } from './support.ts'

const bench = withSyncBench()

/** Reads something, so that the client knows what time it is at the sandbox, which is days ahead: a run that finds out begins anew. */
const lookAtClock = (one: TestSeller) => one.client.of(salesChannelsEndpoint).list({ signal: AbortSignal.timeout(10_000) })
const seller: SyncBench['seller'] = async (limits) => {
  const one = await bench.seller(limits)
  await lookAtClock(one)
  return one
}

/** Makes a campaign at the sandbox; days are counted from the sandbox's today. */
const make = async (one: TestSeller, campaignId: string, more: object = {}): Promise<void> => {
  const { sellerId } = one
  await bench.sandbox.control('POST', '/campaigns', { sellerId, campaignId, startDate: day(-10), ...more })
}
const change = (one: TestSeller, campaignId: string, body: object) =>
  bench.sandbox.control('POST', `/campaigns/${campaignId}`, { sellerId: one.sellerId, ...body })

let advancedDays = 0
const day = (days: number): string =>
  new Date(Date.now() + (advancedDays + days) * 86_400_000).toLocaleDateString('sv-SE', { timeZone: 'America/Los_Angeles' })
const advance = async (days: number): Promise<void> => {
  advancedDays += days
  await bench.advance(`${days * 24}h`)
}

interface TrueCampaign {
  readonly sellerId: string
  readonly campaignId: string
  readonly status: string
  readonly moves: readonly { readonly at: string; readonly from: string; readonly to: string }[]
}
/** What the sandbox knows of a seller's campaign. */
const truth = async (one: TestSeller, campaignId: string): Promise<TrueCampaign> => {
  const { items } = (await bench.sandbox.control('GET', '/campaigns')) as { items: TrueCampaign[] }
  const found = items.find((item) => item.sellerId === one.sellerId && item.campaignId === campaignId)
  if (found === undefined) throw new Error(`the sandbox has no ${campaignId}`)
  return found
}

const rows = async <Row>(one: TestSeller, sql: string) => (await numbered(bench.database)).query<Row>(sql, one.sellerId)
const stored = (one: TestSeller) =>
  rows<{ campaign_id: string; status: string }>(
    one,
    'SELECT campaign_id, status FROM warehouse.campaigns WHERE seller_id = $1 ORDER BY 1',
  )
const history = (one: TestSeller) =>
  rows<{ campaign_id: string; from_status: string | null; to_status: string; seen_at: Date; legal: boolean | null }>(
    one,
    'SELECT campaign_id, from_status, to_status, seen_at, legal FROM warehouse.campaign_status_changes WHERE seller_id = $1 ORDER BY id',
  )
const alarms = (one: TestSeller) =>
  rows<{ kind: string; subject: string; message: string }>(
    one,
    'SELECT kind, subject, message FROM tallyman.alarms WHERE seller_id = $1 AND resolved_at IS NULL ORDER BY id',
  )
const asked = async (one: TestSeller): Promise<string[]> =>
  (await one.requests()).flatMap((request) => /campaigns\/(.*)$/.exec(request)?.[1] ?? [])
const everything = async (one: TestSeller): Promise<void> => {
  for (const stream of campaignUrgencies) await one.sync('campaigns', stream)
}

test('campaigns of the settings, of a row put in by hand and of an operator are read; an unknown one raises an alarm once', async () => {
  const one = await seller()
  for (const id of ['S-1', 'H-1', 'O-1']) await make(one, id)
  await recordConfiguredCampaigns(bench.database, [{ sellerId: one.sellerId, campaignIds: ['S-1', 'NO-SUCH'] }])
  await bench.database.execute(`INSERT INTO tallyman.watched_campaigns (seller_id, campaign_id) VALUES ($1, 'H-1')`, one.sellerId)
  await watchCampaigns(bench.database, one.sellerId, ['O-1'], 'operator')
  await one.sync('campaigns', 'near')
  expect((await stored(one)).map((row) => row.campaign_id)).toEqual(['H-1', 'O-1', 'S-1'])
  for (const { campaign_id: id, status } of await stored(one)) expect(status).toBe((await truth(one, id)).status)
  expect(await alarms(one)).toMatchObject([{ kind: 'campaign-missing', subject: 'NO-SUCH' }])
  const changes = async () => (await one.changes()).map(({ type }) => type).sort()
  expect(await changes()).toEqual(['campaign.added', 'campaign.added', 'campaign.added', 'campaign.missing'])
  await everything(one)
  expect(await changes()).toHaveLength(4)
  await make(one, 'NO-SUCH')
  await one.sync('campaigns', 'waiting')
  expect(await alarms(one)).toEqual([])
  expect(await stored(one)).toHaveLength(4)
})

test('a poll that finds nothing new writes nothing but its own run', async () => {
  const one = await seller()
  const ids = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'GONE']
  for (const id of ids.slice(0, -1)) await make(one, id, { endDate: day(1) })
  await watchCampaigns(bench.database, one.sellerId, ids, 'operator')
  await everything(one)
  const marks = async () => [
    await rows(one, 'SELECT campaign_id, xmin::text FROM warehouse.campaigns WHERE seller_id = $1 ORDER BY 1'),
    await rows(one, 'SELECT campaign_id, xmin::text FROM tallyman.watched_campaigns WHERE seller_id = $1 ORDER BY 1'),
    await rows(one, 'SELECT id, xmin::text FROM tallyman.alarms WHERE seller_id = $1 ORDER BY 1'),
    await rows(one, 'SELECT seq FROM warehouse.changes WHERE seller_id = $1 ORDER BY 1'),
  ]
  const before = await marks()
  const calls = (await asked(one)).length
  await everything(one)
  expect(await marks()).toEqual(before)
  expect((await asked(one)).slice(calls).sort()).toEqual(ids)
  expect((await one.runs('near')).at(-1)).toMatchObject({ pages: 2, seen: 7, changed: 0, error: null })
})

test('each urgency asks for its own', async () => {
  const one = await seller()
  await make(one, 'RUNS', { dailyBudget: 5, totalBudget: 250_000, pace: 0.1, endDate: '9999-12-30' })
  await make(one, 'ENDS', { dailyBudget: 5, totalBudget: 250_000, pace: 0.1, endDate: day(1) })
  await make(one, 'WAITS', { startDate: day(20) })
  await make(one, 'ENDED', { startDate: day(-30), endDate: day(-20) })
  await watchCampaigns(bench.database, one.sellerId, ['RUNS', 'ENDS', 'WAITS', 'ENDED'], 'operator')
  await one.sync('campaigns', 'near')
  const calls = async (stream: string): Promise<string[]> => {
    const before = (await asked(one)).length
    await one.sync('campaigns', stream)
    return (await asked(one)).slice(before)
  }
  expect(await calls('near')).toEqual(['ENDS'])
  expect(await calls('running')).toEqual(['RUNS'])
  expect(await calls('waiting')).toEqual(['WAITS'])
  expect(await calls('ended')).toEqual(['ENDED'])
})

test('the more urgent, the more often', () => {
  const intervals = readStreams('campaigns', { POLL_CAMPAIGNS: 900_000 })
  expect(intervals).toMatchObject([
    { stream: 'near', everyMs: 180_000 },
    { stream: 'running', everyMs: 900_000 },
    { stream: 'waiting', everyMs: 3_600_000 },
    { stream: 'ended', everyMs: 86_400_000 },
  ])
})

test('every change of status is stored with when it was seen, in the order of the marketplace', async () => {
  const one = await seller()
  // Runs out of money after some days, is given more, and ends.
  await make(one, 'LIFE', { startDate: day(1), endDate: day(12), dailyBudget: 10, totalBudget: 30, pace: 1 })
  await watchCampaigns(bench.database, one.sellerId, ['LIFE'], 'operator')
  for (let passed = 0; passed < 15; passed += 1) {
    await everything(one)
    expect(await stored(one)).toEqual([{ campaign_id: 'LIFE', status: (await truth(one, 'LIFE')).status }])
    if (passed === 6) await change(one, 'LIFE', { addFunds: 200 })
    await advance(1)
    await lookAtClock(one)
  }
  const seen = await history(one)
  expect(seen[0]).toMatchObject({ from_status: null, to_status: 'READY', legal: null })
  expect(seen.at(-1)).toMatchObject({ to_status: 'COMPLETED' })
  for (const [index, move] of seen.slice(1).entries()) {
    expect(move.from_status).toBe(seen[index]?.to_status)
    expect(move.legal).toBe(mayMove(move.from_status ?? '', move.to_status))
  }
  const { moves } = await truth(one, 'LIFE')
  for (const { to_status: status, seen_at: seenAt } of seen.slice(1)) {
    // Whatever was seen had been true before, by the marketplace's clock; a second is the resolution of its Date header.
    expect(moves.some(({ at, to }) => to === status && Date.parse(at) <= seenAt.getTime() + 1_000)).toBe(true)
  }
  expect(new Set(seen.map((move) => move.to_status)).has('BUDGET_EXHAUSTED')).toBe(true)
  const unlisted = seen.filter(({ legal }) => legal === false)
  expect((await alarms(one)).map(({ kind }) => kind)).toEqual(unlisted.length === 0 ? [] : ['campaign-anomaly'])
})

test('a transition that the marketplace should not make is stored, marked, reported and raised', async () => {
  const one = await seller()
  await make(one, 'ODD', { startDate: day(-30), endDate: day(-20) })
  await watchCampaigns(bench.database, one.sellerId, ['ODD'], 'operator')
  await one.sync('campaigns', 'near')
  await change(one, 'ODD', { illegalMove: 'RUNNING' })
  await one.sync('campaigns', 'ended')
  expect((await history(one)).at(-1)).toMatchObject({ from_status: 'COMPLETED', to_status: 'RUNNING', legal: false })
  const [alarm] = await alarms(one)
  expect(alarm).toMatchObject({ kind: 'campaign-anomaly', subject: 'ODD' })
  expect(alarm?.message).toContain('no chain of listed moves explains it')
  expect((await one.changes()).map(({ type }) => type)).toEqual(['campaign.added', 'campaign.status_changed'])
})

test('a run whose budget ends goes on where it stopped: each campaign is asked for once', async () => {
  const one = await seller({ 'campaigns.get': { tokens: 3, perMs: 300 } })
  const ids = Array.from({ length: 12 }, (_, index) => `B-${String(index).padStart(2, '0')}`)
  for (const id of ids) await make(one, id)
  await watchCampaigns(bench.database, one.sellerId, ids, 'operator')
  expect(await one.sync('campaigns', 'near')).toBeGreaterThan(1)
  expect((await stored(one)).map((row) => row.campaign_id)).toEqual(ids)
  expect((await asked(one)).sort()).toEqual(ids)
})

test('one that cannot be read does not stand in the way of the others', async () => {
  const one = await seller()
  const ids = ['A', 'B', 'C', 'D', 'E', 'F', 'G']
  for (const id of ids) await make(one, id)
  await watchCampaigns(bench.database, one.sellerId, ids, 'operator')
  await bench.sandbox.next({ fault: 'serverErrorBefore', sellerId: one.sellerId, operation: 'campaigns.get' })
  await one.sync('campaigns', 'near')
  const problems = () =>
    rows<{ campaign_id: string; problem: string }>(
      one,
      'SELECT campaign_id, problem FROM tallyman.watched_campaigns WHERE seller_id = $1 AND problem IS NOT NULL',
    )
  expect(await problems()).toMatchObject([{ problem: expect.stringContaining('campaigns.get unavailable') }])
  expect(await stored(one)).toHaveLength(6)
  await one.sync('campaigns', 'near')
  expect(await problems()).toEqual([])
  expect(await stored(one)).toHaveLength(7)
})

test('when none can be read the run fails, and says so', async () => {
  const one = await seller()
  await make(one, 'A')
  await watchCampaigns(bench.database, one.sellerId, ['A'], 'operator')
  await bench.sandbox.next({ fault: 'serverErrorBefore', sellerId: one.sellerId, operation: 'campaigns.get' })
  await expect(one.once('campaigns', 'near')).rejects.toThrow(MarketplaceFailure)
  expect(await one.state('near')).toMatchObject({ failures: 1, last_error: expect.stringContaining('campaigns.get') })
  await one.sync('campaigns', 'near')
  expect(await stored(one)).toHaveLength(1)
})

test('a campaign that does not parse is kept aside, and a good version settles it', async () => {
  const one = await seller()
  await make(one, 'A')
  await watchCampaigns(bench.database, one.sellerId, ['A'], 'operator')
  await bench.sandbox.control('PUT', '/faults', { malformedRecord: 1, seed: 'one' })
  await one.once('campaigns', 'near').catch((error: unknown) => expect(error).toBeInstanceOf(MarketplaceFailure))
  const aside = () =>
    rows<{ state: string; record_key: string }>(
      one,
      `SELECT state, record_key FROM tallyman.quarantined_records WHERE seller_id = $1 AND resource = 'campaigns'`,
    )
  expect(await stored(one)).toEqual([])
  await bench.sandbox.control('PUT', '/faults', {})
  await one.sync('campaigns', 'near')
  expect(await stored(one)).toHaveLength(1)
  expect((await aside()).every(({ state, record_key: key }) => state === 'superseded' && key === 'A')).toBe(true)
})

test('unknown values are stored as they came', async () => {
  const one = await seller()
  await make(one, 'A')
  await watchCampaigns(bench.database, one.sellerId, ['A'], 'operator')
  await bench.sandbox.control('PUT', '/faults', { unknownValue: 1 })
  await one.sync('campaigns', 'near')
  const [row] = await stored(one)
  const [raw] = await rows<{ status: string }>(
    one,
    `SELECT raw->>'status' AS status FROM warehouse.campaigns WHERE seller_id = $1`,
  )
  expect(row?.status).toBe(raw?.status)
})
