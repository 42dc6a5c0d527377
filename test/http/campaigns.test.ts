import { beforeEach, describe, expect, test } from 'vitest'
import { parseCampaign } from '../../src/clients/marketplace/campaign-record.ts'
import type { SyncRunRequest } from '../../src/domain/sync/run-request.ts'
import { findDifferingCampaigns, storeDifferingCampaigns } from '../../src/store/campaigns/campaigns.ts'
import { markMissingCampaigns, recordConfiguredCampaigns } from '../../src/store/campaigns/watched-campaigns.ts'
import { cli } from '../cli/run.ts'
import { withDatabase } from '../support/database.ts'
import { at, listAt, textAt, textOrNullAt } from '../support/json.ts'
import { startServer, type TestServer } from './support.ts'

const stage = withDatabase({ each: 'test' })
let server: TestServer
let runs: SyncRunRequest[] = []
let sellers: readonly string[] = ['s-1']

beforeEach(async () => {
  runs = []
  sellers = ['s-1']
  server = await startServer(stage.database, {
    sellers: () => sellers,
    marketplaceNow: () => new Date('2026-03-10T20:00:00Z'),
    syncs: {
      resources: ['orders', 'campaigns'],
      backfillable: ['orders'],
      reach: (_resource: string, now: Date) => ({ from: new Date(0), to: now }),
      run: async (request) => {
        runs.push(request)
        return [`${request.sellerId}/campaigns/near`]
      },
    },
  })
  return async () => {
    await server.close()
  }
})

const store = async (sellerId: string, campaignId: string, status: string, minute: number, more: object = {}): Promise<void> => {
  const record = parseCampaign({ campaignId, status, name: `Campaign ${campaignId}`, dailyBudget: 10.5, ...more })
  if (!record.ok) throw new Error(record.fault)
  const differing = await findDifferingCampaigns(stage.database, sellerId, [record])
  await stage.database.transaction((tx) =>
    storeDifferingCampaigns(tx, sellerId, new Date(Date.UTC(2026, 2, 10, 0, minute)), differing),
  )
}
const send = (method: string, path: string, body?: unknown) =>
  server.json(path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  })
const ids = (body: unknown): string[] =>
  listAt(body, 'items').map((item) => `${textAt(item, 'sellerId')} ${textAt(item, 'campaignId')}`)

describe('the list', () => {
  beforeEach(async () => {
    await recordConfiguredCampaigns(stage.database, [{ sellerId: 's-1', campaignIds: ['A', 'B', 'NEW'] }])
    await store('s-1', 'A', 'RUNNING', 1, { endDate: '2026-03-11' })
    await store('s-1', 'B', 'STOPPED', 1)
    await store('s-2', 'A', 'PAUSED', 1)
  })

  test('goes page by page, each campaign once', async () => {
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const { body } = await server.json(`/v1/campaigns?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      seen.push(...ids(body))
      cursor = textOrNullAt(body, 'nextCursor')
    } while (cursor !== null)
    expect(seen).toEqual(['s-1 A', 's-1 B', 's-1 NEW', 's-2 A'])
  })

  test('says how each stands, where it may move, and how soon it is looked at', async () => {
    const { body } = await server.json('/v1/campaigns')
    expect(at(body, 'items')).toMatchObject([
      {
        campaignId: 'A',
        status: 'RUNNING',
        nextStatuses: ['LIMITED_BY_BUDGET', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON', 'COMPLETED', 'STOPPED'],
        urgency: 'near',
        dailyBudget: '10.5',
        endDate: '2026-03-11',
        watched: true,
        source: 'settings',
        observedAt: '2026-03-10T00:01:00.000Z',
      },
      { campaignId: 'B', status: 'STOPPED', nextStatuses: [], urgency: 'ended' },
      { campaignId: 'NEW', status: null, nextStatuses: [], urgency: 'near', watched: true, firstSeenAt: null },
      { sellerId: 's-2', campaignId: 'A', status: 'PAUSED', urgency: 'running', watched: false, source: null },
    ])
  })

  test.each([
    ['sellerId=s-2', ['s-2 A']],
    ['status=STOPPED', ['s-1 B']],
    ['watched=false', ['s-2 A']],
    ['watched=true&sellerId=s-1', ['s-1 A', 's-1 B', 's-1 NEW']],
  ])('is filtered by %s', async (query, expected) => {
    expect(ids((await server.json(`/v1/campaigns?${query}`)).body)).toEqual(expected)
  })

  test.each(['limit=0', 'watched=perhaps', 'cursor=nonsense'])('refuses %s', async (query) => {
    expect(await server.json(`/v1/campaigns?${query}`)).toMatchObject({ status: 400 })
  })
})

describe('one campaign', () => {
  test('comes with every change of its status', async () => {
    await store('s-1', 'A', 'SCHEDULED', 1)
    await store('s-1', 'A', 'LIMITED_BY_BUDGET', 2)
    await store('s-1', 'A', 'COMPLETED', 3)
    const { status, body } = await server.json('/v1/campaigns/A')
    expect(status).toBe(200)
    expect(body).toMatchObject({ campaignId: 'A', status: 'COMPLETED', watched: false })
    expect(at(body, 'statusChanges')).toEqual([
      { fromStatus: null, toStatus: 'SCHEDULED', seenAt: '2026-03-10T00:01:00.000Z', legal: null, missed: null },
      {
        fromStatus: 'SCHEDULED',
        toStatus: 'LIMITED_BY_BUDGET',
        seenAt: '2026-03-10T00:02:00.000Z',
        legal: false,
        missed: ['RUNNING'],
      },
      { fromStatus: 'LIMITED_BY_BUDGET', toStatus: 'COMPLETED', seenAt: '2026-03-10T00:03:00.000Z', legal: true, missed: [] },
    ])
  })

  test('of several sellers one must be named; of none there is nothing', async () => {
    await store('s-1', 'A', 'RUNNING', 1)
    await store('s-2', 'A', 'READY', 1)
    expect(await server.json('/v1/campaigns/A')).toMatchObject({ status: 409, body: { code: 'ambiguous-campaign' } })
    expect((await server.json('/v1/campaigns/A?sellerId=s-2')).body).toMatchObject({ sellerId: 's-2', status: 'READY' })
    expect(await server.json('/v1/campaigns/B')).toMatchObject({ status: 404, body: { code: 'not-found' } })
  })

  test('that the marketplace does not know waits, and says since when', async () => {
    await recordConfiguredCampaigns(stage.database, [{ sellerId: 's-1', campaignIds: ['GONE'] }])
    await stage.database.transaction((tx) => markMissingCampaigns(tx, 's-1', new Date('2026-03-09T00:00:00Z'), ['GONE']))
    expect((await server.json('/v1/campaigns/GONE')).body).toMatchObject({
      status: null,
      urgency: 'waiting',
      missingSince: '2026-03-09T00:00:00.000Z',
      statusChanges: [],
    })
  })
})

describe('watching', () => {
  test('takes campaigns in, reads new ones at once, and takes known ones for known', async () => {
    const first = await send('POST', '/v1/campaigns', { campaignIds: ['A', ' B ', 'A'] })
    expect(first).toMatchObject({
      status: 202,
      body: { sellerId: 's-1', campaignIds: ['A', 'B'], added: ['A', 'B'], jobs: ['s-1/campaigns/near'] },
    })
    expect(runs).toEqual([{ resource: 'campaigns', sellerId: 's-1', stream: 'near', from: null, to: null }])
    expect((await send('POST', '/v1/campaigns', { sellerId: 's-1', campaignIds: ['A'] })).body).toMatchObject({
      added: [],
      jobs: [],
    })
    expect(runs).toHaveLength(1)
    expect(ids((await server.json('/v1/campaigns?watched=true')).body)).toEqual(['s-1 A', 's-1 B'])
  })

  test('needs to know the seller where there are several', async () => {
    sellers = ['s-1', 's-2']
    const refused = await send('POST', '/v1/campaigns', { campaignIds: ['A'] })
    expect(refused).toMatchObject({ status: 422, body: { code: 'invalid-body', errors: [{ path: 'sellerId' }] } })
    expect(await send('POST', '/v1/campaigns', { sellerId: 's-9', campaignIds: ['A'] })).toMatchObject({ status: 422 })
    expect(await send('POST', '/v1/campaigns', { sellerId: 's-2', campaignIds: ['A'] })).toMatchObject({ status: 202 })
  })

  test.each([
    ['none', []],
    ['an empty one', ['A', ' ']],
    ['dots', ['..']],
    ['a control character', ['A\u0000']],
    ['a number', [7]],
    ['a long one', ['x'.repeat(201)]],
    ['too many', Array.from({ length: 1_001 }, (_, index) => String(index))],
  ])('refuses %s', async (_name, campaignIds) => {
    expect(await send('POST', '/v1/campaigns', { campaignIds })).toMatchObject({ status: 422, body: { code: 'invalid-body' } })
    expect(runs).toEqual([])
  })

  test('stops, and keeps what is stored', async () => {
    await send('POST', '/v1/campaigns', { campaignIds: ['A', 'x/y z'] })
    await store('s-1', 'A', 'RUNNING', 1)
    expect(await send('DELETE', '/v1/campaigns/A')).toMatchObject({ status: 200, body: { campaignId: 'A', watched: false } })
    expect(await send('DELETE', '/v1/campaigns/A')).toMatchObject({ status: 404 })
    expect(await send('DELETE', '/v1/campaigns/B')).toMatchObject({ status: 404 })
    expect(await send('DELETE', `/v1/campaigns/${encodeURIComponent('x/y z')}?sellerId=s-1`)).toMatchObject({ status: 200 })
    expect((await server.json('/v1/campaigns/A')).body).toMatchObject({ watched: false, status: 'RUNNING' })
    expect((await send('POST', '/v1/campaigns', { campaignIds: ['A'] })).body).toMatchObject({ added: ['A'] })
  })
})

describe('the command line', () => {
  const tallyman = (...args: string[]) => cli(['campaigns', ...args], { TALLYMAN_URL: server.url })

  test('watches, lists and stops watching', async () => {
    const watched = await tallyman('watch', 'A', 'B')
    expect(watched).toMatchObject({ code: 0, out: 'watching 2 new campaigns of seller s-1\n' })
    expect((await tallyman('watch', 'B', 'C')).out).toBe(
      'watching 1 new campaign of seller s-1; 1 campaign was already watched\n',
    )
    await store('s-1', 'A', 'LIMITED_BY_BUDGET', 1)
    const listed = await tallyman()
    expect(listed.out).toMatch(/^A +Campaign A +LIMITED_BY_BUDGET .* near +s-1$/m)
    expect(listed.out).toMatch(/^C .*not read yet/m)
    expect((await tallyman('unwatch', 'A')).out).toContain('campaign A of seller s-1 is no longer watched')
    expect((await tallyman('list')).out).toMatch(/^A .*no longer watched$/m)
    const filtered = JSON.parse((await tallyman('--json', '--status', 'LIMITED_BY_BUDGET')).out)
    expect(filtered).toMatchObject({ items: [{ campaignId: 'A', watched: false }], more: false })
  })

  test('fails with what is wrong', async () => {
    expect(await tallyman('unwatch', 'NONE')).toMatchObject({
      code: 1,
      messages: expect.stringContaining('There is no campaign NONE'),
    })
    expect(await tallyman('watch')).toMatchObject({ code: 2 })
    sellers = ['s-1', 's-2']
    expect(await tallyman('watch', 'A')).toMatchObject({ code: 1, messages: expect.stringContaining('--seller: is required') })
    expect(await tallyman('watch', 'A', '--seller', 's-2', '--json')).toMatchObject({ code: 0 })
  })
})
