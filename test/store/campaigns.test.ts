import { beforeEach, describe, expect, test } from 'vitest'
import { parseCampaign } from '../../src/clients/marketplace/campaign-record.ts'
import type { Campaign } from '../../src/domain/campaigns/campaign.ts'
import {
  findDifferingCampaigns,
  listCampaigns,
  readStatusChanges,
  storeDifferingCampaigns,
} from '../../src/store/campaigns/campaigns.ts'
import {
  listWatchedCampaigns,
  markMissingCampaigns,
  recordCampaignProblems,
  recordConfiguredCampaigns,
  recordReadCampaigns,
  unwatchCampaign,
  watchCampaigns,
} from '../../src/store/campaigns/watched-campaigns.ts'
import type { StorableRecord } from '../../src/store/versioned/versions.ts'
import { numbered } from '../support/changes.ts'
import { withDatabase } from '../support/database.ts'

const stage = withDatabase()
let seller = 0
let sellerId = ''
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 10, 0, minute))

beforeEach(() => {
  seller += 1
  sellerId = `seller-${seller}`
})

const campaign = (campaignId: string, change: object = {}): StorableRecord<Campaign> => {
  const record = parseCampaign({
    campaignId,
    name: 'Spring',
    startDate: '2026-03-01',
    endDate: '9999-12-30',
    dailyBudget: 25.5,
    totalBudget: 1000,
    targetRoas: 3.5,
    status: 'RUNNING',
    createdDate: '2026-02-20',
    ...change,
  })
  if (!record.ok) throw new Error(record.fault)
  return record
}
const store = async (observedAt: Date, ...records: StorableRecord<Campaign>[]): Promise<number> => {
  const differing = await findDifferingCampaigns(stage.database, sellerId, records)
  if (differing.length === 0) return 0
  return stage.database.transaction((tx) => storeDifferingCampaigns(tx, sellerId, observedAt, differing))
}
const rows = async <Row>(sql: string) => (await numbered(stage.database)).query<Row>(sql, sellerId)
const readRecorded = () =>
  rows<{ type: string; data: Record<string, unknown> }>(
    'SELECT type, data FROM warehouse.changes WHERE seller_id = $1 ORDER BY seq',
  )
const alarms = () =>
  rows<{ kind: string; subject: string; message: string; open: boolean }>(
    'SELECT kind, subject, message, resolved_at IS NULL AS open FROM tallyman.alarms WHERE seller_id = $1 ORDER BY id',
  )
const watched = async () => (await listWatchedCampaigns(stage.database, sellerId, '', 100)).map(({ campaignId }) => campaignId)

describe('what is read', () => {
  test('a new campaign is stored with its terms and its first status, and reported', async () => {
    expect(await store(at(1), campaign('C-1', { dailyBudget: 0.1, totalBudget: '12345678901234567890.123' }))).toBe(1)
    const [row] = await rows(
      `SELECT name, start_date::text, end_date, daily_budget::text, total_budget::text, target_roas::text, status, observed_at, raw->>'endDate' AS wire_end
       FROM warehouse.campaigns WHERE seller_id = $1`,
    )
    expect(row).toEqual({
      name: 'Spring',
      start_date: '2026-03-01',
      end_date: null,
      daily_budget: '0.1',
      total_budget: '12345678901234567890.123',
      target_roas: '3.5',
      status: 'RUNNING',
      observed_at: at(1),
      wire_end: '9999-12-30',
    })
    expect(await readStatusChanges(stage.database, { sellerId, campaignId: 'C-1' }, 10)).toEqual([
      { fromStatus: null, toStatus: 'RUNNING', seenAt: at(1), legal: null, missed: null },
    ])
    expect((await readRecorded()).map(({ type }) => type)).toEqual(['campaign.added'])
    expect(await alarms()).toEqual([])
  })

  test('an unchanged one is not written; changed terms and a changed status are recorded separately', async () => {
    await store(at(1), campaign('C-1'))
    expect(await store(at(2), campaign('C-1'))).toBe(0)
    expect(await store(at(3), campaign('C-1', { dailyBudget: 30 }))).toBe(1)
    expect(await store(at(4), campaign('C-1', { dailyBudget: 30, status: 'LIMITED_BY_BUDGET' }))).toBe(1)
    expect(await store(at(5), campaign('C-1', { dailyBudget: 30, status: 'LIMITED_BY_BUDGET', biddingStrategyType: 'X' }))).toBe(
      1,
    )
    expect((await readRecorded()).slice(1)).toMatchObject([
      { type: 'campaign.changed', data: { campaignId: 'C-1', before: { dailyBudget: '25.5' }, after: { dailyBudget: '30' } } },
      {
        type: 'campaign.status_changed',
        data: { campaignId: 'C-1', from: 'RUNNING', to: 'LIMITED_BY_BUDGET', legal: true, missed: [] },
      },
    ])
    expect(
      await rows(
        `SELECT count(*)::int AS kept FROM tallyman.superseded_versions WHERE seller_id = $1 AND resource = 'campaigns'`,
      ),
    ).toEqual([{ kept: 3 }])
  })

  test('an older observation never overwrites a newer one', async () => {
    await store(at(5), campaign('C-1', { status: 'COMPLETED' }))
    expect(await store(at(4), campaign('C-1'))).toBe(0)
    expect(await rows('SELECT status FROM warehouse.campaigns WHERE seller_id = $1')).toEqual([{ status: 'COMPLETED' }])
    expect(await alarms()).toEqual([])
  })

  test('a transition that the specification does not list is stored, marked, reported and raised', async () => {
    await store(at(1), campaign('C-1', { status: 'SCHEDULED' }), campaign('C-2', { status: 'STOPPED' }), campaign('C-3'))
    await store(
      at(2),
      campaign('C-1', { status: 'BUDGET_EXHAUSTED' }),
      campaign('C-2', { status: 'RUNNING' }),
      campaign('C-3', { status: 'PAUSED' }),
    )
    const changes = await rows(
      `SELECT campaign_id, from_status, to_status, legal, missed, seen_at, raw->>'status' AS raw_status
       FROM warehouse.campaign_status_changes WHERE seller_id = $1 AND from_status IS NOT NULL ORDER BY campaign_id`,
    )
    const common = { legal: false, seen_at: at(2) }
    expect(changes).toEqual([
      {
        ...common,
        campaign_id: 'C-1',
        from_status: 'SCHEDULED',
        to_status: 'BUDGET_EXHAUSTED',
        missed: ['RUNNING'],
        raw_status: 'BUDGET_EXHAUSTED',
      },
      { ...common, campaign_id: 'C-2', from_status: 'STOPPED', to_status: 'RUNNING', missed: null, raw_status: 'RUNNING' },
      { ...common, campaign_id: 'C-3', from_status: 'RUNNING', to_status: 'PAUSED', missed: null, raw_status: 'PAUSED' },
    ])
    expect((await alarms()).map(({ kind, subject, open }) => [kind, subject, open])).toEqual([
      ['campaign-anomaly', 'C-1', true],
      ['campaign-anomaly', 'C-2', true],
      ['campaign-anomaly', 'C-3', true],
    ])
    expect((await alarms()).map(({ message }) => message)).toEqual([
      expect.stringContaining('SCHEDULED -> RUNNING -> BUDGET_EXHAUSTED'),
      expect.stringContaining('no chain of listed moves'),
      expect.stringContaining('PAUSED is not known'),
    ])
    expect(
      (await readRecorded()).filter(({ type }) => type === 'campaign.status_changed').map(({ data }) => data['legal']),
    ).toEqual([false, false, false])
  })

  test('concurrent observations in any order leave the newest state and a history without false changes', async () => {
    const statuses = ['SCHEDULED', 'RUNNING', 'LIMITED_BY_BUDGET', 'RUNNING', 'COMPLETED']
    const observations = statuses.map((status, minute) => () => store(at(minute), campaign('C-1', { status })))
    await Promise.all(observations.map((observe) => observe()))
    for (const observe of observations) await observe()
    expect(await rows('SELECT status FROM warehouse.campaigns WHERE seller_id = $1')).toEqual([{ status: 'COMPLETED' }])
    const history = await readStatusChanges(stage.database, { sellerId, campaignId: 'C-1' }, 10)
    expect(history[0]?.fromStatus).toBeNull()
    for (const [index, change] of history.slice(1).entries()) {
      expect(change.fromStatus).toBe(history[index]?.toStatus)
      expect(change.fromStatus).not.toBe(change.toStatus)
    }
  })
})

describe('what is watched', () => {
  test('ids of the settings come and go with the settings; a person’s word outlasts them', async () => {
    await recordConfiguredCampaigns(stage.database, [{ sellerId, campaignIds: ['A', 'B', 'B'] }])
    await watchCampaigns(stage.database, sellerId, ['C'], 'operator')
    expect(await watched()).toEqual(['A', 'B', 'C'])
    await recordConfiguredCampaigns(stage.database, [{ sellerId, campaignIds: ['B', 'D'] }])
    expect(await watched()).toEqual(['B', 'C', 'D'])
    await recordConfiguredCampaigns(stage.database, [{ sellerId, campaignIds: ['A', 'B', 'D'] }])
    expect(await watched()).toEqual(['A', 'B', 'C', 'D'])
    await stage.database.transaction((tx) => unwatchCampaign(tx, sellerId, 'A', 'operator'))
    await recordConfiguredCampaigns(stage.database, [{ sellerId, campaignIds: ['A', 'B', 'D'] }])
    expect(await watched()).toEqual(['B', 'C', 'D'])
    expect(await watchCampaigns(stage.database, sellerId, ['A', 'B', 'E'], 'operator')).toEqual(['A', 'E'])
    expect(await watched()).toEqual(['A', 'B', 'C', 'D', 'E'])
    await recordConfiguredCampaigns(stage.database, [{ sellerId, campaignIds: [] }])
    expect(await watched()).toEqual(['A', 'C', 'E'])
  })

  test('a row that is inserted by hand counts', async () => {
    await rows("INSERT INTO tallyman.watched_campaigns (seller_id, campaign_id) VALUES ($1, 'BY-HAND')")
    expect(await watched()).toEqual(['BY-HAND'])
    expect((await listCampaigns(stage.database, { sellerId, status: null, watched: true }, null, 10)).items).toMatchObject([
      { campaignId: 'BY-HAND', status: null, watched: true, source: 'sql', firstSeenAt: null },
    ])
  })

  test('one that the marketplace does not know raises an alarm once, and all is well when it is found', async () => {
    await watchCampaigns(stage.database, sellerId, ['C-1', 'C-2'], 'operator')
    await store(at(1), campaign('C-1'))
    const miss = () => stage.database.transaction((tx) => markMissingCampaigns(tx, sellerId, at(2), ['C-1', 'C-2']))
    expect(await miss()).toBe(2)
    expect(await miss()).toBe(0)
    expect(await rows('SELECT missing_since FROM warehouse.campaigns WHERE seller_id = $1')).toEqual([{ missing_since: at(2) }])
    expect((await listWatchedCampaigns(stage.database, sellerId, '', 10)).map(({ state }) => state?.missing)).toEqual([
      true,
      true,
    ])
    const raised = await alarms()
    expect(raised.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['campaign-missing', 'C-1'],
      ['campaign-missing', 'C-2'],
    ])
    expect(raised[1]?.message).toContain('tallyman campaigns unwatch C-2')
    await stage.database.transaction((tx) => recordReadCampaigns(tx, sellerId, ['C-1']))
    expect((await alarms()).map(({ open }) => open)).toEqual([false, true])
    expect(await rows('SELECT missing_since FROM warehouse.campaigns WHERE seller_id = $1')).toEqual([{ missing_since: null }])
    expect((await readRecorded()).map(({ type, data }) => [type, data['campaignId']])).toEqual([
      ['campaign.added', 'C-1'],
      ['campaign.missing', 'C-1'],
      ['campaign.missing', 'C-2'],
      ['campaign.found', 'C-1'],
    ])
    await stage.database.transaction((tx) => unwatchCampaign(tx, sellerId, 'C-2', 'operator'))
    expect((await alarms()).map(({ open }) => open)).toEqual([false, false])
  })

  test('a rejected campaign raises an alarm immediately, an unreachable one only after an hour', async () => {
    await watchCampaigns(stage.database, sellerId, ['C-1', 'C-2'], 'operator')
    const note = (campaignId: string, refused: boolean) =>
      stage.database.transaction((tx) =>
        recordCampaignProblems(tx, sellerId, [{ campaignId, problem: 'HTTP 4xx or 5xx', refused }]),
      )
    await note('C-1', true)
    await note('C-2', false)
    expect((await alarms()).map(({ kind, subject }) => [kind, subject])).toEqual([['campaign-unreadable', 'C-1']])
    await rows(`UPDATE tallyman.watched_campaigns SET problem_since = now() - interval '61 minutes' WHERE seller_id = $1`)
    await note('C-2', false)
    expect((await alarms()).map(({ subject }) => subject)).toEqual(['C-1', 'C-2'])
    await stage.database.transaction((tx) => recordReadCampaigns(tx, sellerId, ['C-1', 'C-2']))
    expect((await alarms()).map(({ open }) => open)).toEqual([false, false])
    expect((await listWatchedCampaigns(stage.database, sellerId, '', 10)).map(({ problem }) => problem)).toEqual([null, null])
  })

  test('lists go page by page through watched and once watched ones', async () => {
    await watchCampaigns(stage.database, sellerId, ['C-1', 'C-2', 'C-3', 'C-4'], 'operator')
    await store(at(1), campaign('C-1'), campaign('C-3', { status: 'STOPPED' }))
    for (const id of ['C-3', 'C-4']) await stage.database.transaction((tx) => unwatchCampaign(tx, sellerId, id, 'operator'))
    const all = { sellerId, status: null, watched: null }
    const first = await listCampaigns(stage.database, all, null, 2)
    const rest = await listCampaigns(stage.database, all, first.next, 2)
    expect([...first.items, ...rest.items].map(({ campaignId, watched: is }) => [campaignId, is])).toEqual([
      ['C-1', true],
      ['C-2', true],
      ['C-3', false],
    ])
    expect(rest.next).toBeNull()
    const ids = async (filter: object) =>
      (await listCampaigns(stage.database, { ...all, ...filter }, null, 10)).items.map(({ campaignId }) => campaignId)
    expect(await ids({ status: 'STOPPED' })).toEqual(['C-3'])
    expect(await ids({ watched: true })).toEqual(['C-1', 'C-2'])
    expect(await ids({ watched: false })).toEqual(['C-3'])
  })
})
