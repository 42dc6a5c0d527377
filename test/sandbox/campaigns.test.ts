import { describe, expect, test } from 'vitest'
import { makeCampaign } from '../../sandbox/campaigns/create.ts'
import { canMove, live, move } from '../../sandbox/campaigns/life.ts'
import { type Campaign, campaignStatuses, moves } from '../../sandbox/campaigns/model.ts'
import { dayMs, hourMs } from '../../sandbox/core/duration.ts'
import { dayAfter, pacificDay, pacificMidnight } from '../../sandbox/core/pacific.ts'
import { type SandboxOptions, startSandbox } from '../../sandbox/server.ts'
import { buildDialect } from '../../sandbox/settings.ts'
import { at, connect, items, type Json, type Reply, startTestSandbox, type TestClient, temporaryDirectory } from './support.ts'

interface CampaignTest {
  readonly client: TestClient
  get(campaignId: string): Promise<Reply>
  status(campaignId: string): Promise<Json>
  /** Creates one and gives its id. */
  create(body: object): Promise<string>
  change(campaignId: string, body: object): Promise<Json>
  advance(duration: string): Promise<void>
  /** The states that it went through, the first one first. */
  path(campaignId: string): Promise<readonly string[]>
  today(): Promise<string>
}

const started = async (options: Partial<SandboxOptions> = {}): Promise<CampaignTest> => {
  const sandbox = await startTestSandbox(options)
  const client = await connect(sandbox.url, { prefix: options.dialect?.headerPrefix ?? 'XX' })
  await client.control('PUT', '/limits', { enabled: false })
  const get: CampaignTest['get'] = (campaignId) => client.call('GET', `/v3/advertising/sem/campaigns/${campaignId}`)
  const told = async (campaignId: string): Promise<Json> =>
    items(await client.control('GET', '/campaigns'), 'items').find((one) => at(one, 'campaignId') === campaignId) ?? null
  return {
    client,
    get,
    status: async (campaignId) => at((await get(campaignId)).json, 'status'),
    create: async (body) => String(at(await client.control('POST', '/campaigns', body), 'campaignIds', 0)),
    change: (campaignId, body) => client.control('POST', `/campaigns/${campaignId}`, body),
    // Tokens live a quarter of an hour.
    advance: async (duration) => {
      await client.control('POST', '/clock', { advance: duration })
      await client.renewToken()
    },
    path: async (campaignId) => {
      const moves = items(await told(campaignId), 'moves')
      return [String(at(moves[0] ?? null, 'from')), ...moves.map((one) => String(at(one, 'to')))]
    },
    today: async () => pacificDay(Date.parse(String(at(await client.control('GET', '/clock'), 'now')))),
  }
}

const listed: readonly (readonly [string, readonly string[]])[] = [
  ['READY', ['RUNNING', 'DELETED']],
  ['SCHEDULED', ['RUNNING', 'DELETED']],
  ['RUNNING', ['LIMITED_BY_BUDGET', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON', 'COMPLETED', 'STOPPED']],
  ['LIMITED_BY_BUDGET', ['RUNNING', 'BUDGET_EXHAUSTED', 'CAMPAIGN_ENDING_SOON', 'COMPLETED', 'STOPPED']],
  ['BUDGET_EXHAUSTED', ['RUNNING', 'COMPLETED', 'STOPPED']],
  ['CAMPAIGN_ENDING_SOON', ['RUNNING', 'COMPLETED', 'STOPPED']],
  ['COMPLETED', []],
  ['STOPPED', []],
  ['DELETED', []],
]

describe('the rules', () => {
  const now = Date.UTC(2026, 10, 21, 20)

  test.each(listed)('%s moves to nothing but what is listed', (from, listed) => {
    const campaign: Campaign = makeCampaign({ sellerId: 's', campaignId: 'c' }, 'seed', now)
    for (const to of campaignStatuses) {
      const status = campaignStatuses.find((one) => one === from) ?? 'READY'
      const one = { ...campaign, status, moves: [] }
      expect(canMove(one, to)).toBe(listed.includes(to))
      if (listed.includes(to)) move(one, to, now)
      else expect(() => move(one, to, now)).toThrow('no move')
    }
  })

  test('whatever campaigns live through, every move is a listed one and money is never spent twice', () => {
    for (let index = 0; index < 60; index += 1) {
      const campaign = makeCampaign({ sellerId: 's', campaignId: `c-${index}`, totalBudget: 2_000_000, pace: 1 }, 'seed', now)
      for (let hours = 0; hours < 24 * 90; hours += 7 + index) {
        const before = campaign.spent
        live(campaign, now + hours * hourMs)
        expect(campaign.spent).toBeGreaterThanOrEqual(before)
        expect(campaign.spent).toBeLessThanOrEqual(campaign.totalBudget)
      }
      for (const { from, to } of campaign.moves) expect(moves[from]).toContain(to)
    }
  })

  test('living in one leap or hour by hour comes to the same', () => {
    const draft = { sellerId: 's', campaignId: 'c', dailyBudget: 1_000, totalBudget: 12_345, pace: 0.95 }
    const leap = makeCampaign(draft, 'seed', now)
    const steps = makeCampaign(draft, 'seed', now)
    live(leap, now + 40 * dayMs)
    for (let hours = 0; hours <= 40 * 24; hours += 1) live(steps, now + hours * hourMs + hours)
    live(leap, steps.livedTo)
    expect(steps).toEqual(leap)
  })

  test('a hundred campaigns live through ten years at once, and none beyond them', () => {
    const campaigns = Array.from({ length: 100 }, (_, index) =>
      makeCampaign({ sellerId: 's', campaignId: `c-${index}`, totalBudget: 25_000_000, endDate: '9999-12-30' }, 'seed', now),
    )
    const end = now + 3_650 * dayMs
    for (const campaign of campaigns) live(campaign, end)
    for (const { moves } of campaigns) {
      expect(moves.length).toBeGreaterThan(0)
      for (const { at } of moves) expect(at).toBeLessThanOrEqual(end)
    }
  })

  test('a campaign starts at midnight Pacific also where the clocks change', () => {
    const before = Date.UTC(2026, 2, 6, 12)
    const campaign = makeCampaign({ sellerId: 's', campaignId: 'c', startDate: '2026-03-08' }, 'seed', before)
    live(campaign, Date.UTC(2026, 2, 8, 7, 59))
    expect(campaign.status).toBe('SCHEDULED')
    live(campaign, Date.UTC(2026, 2, 8, 8))
    expect([campaign.status, campaign.moves[0]?.at]).toEqual(['RUNNING', pacificMidnight('2026-03-08')])
    // The day has 23 hours, so the next one begins at seven.
    const next = makeCampaign({ sellerId: 's', campaignId: 'd', startDate: '2026-03-09' }, 'seed', before)
    live(next, Date.UTC(2026, 2, 9, 6, 59))
    expect(next.status).toBe('SCHEDULED')
    live(next, Date.UTC(2026, 2, 9, 7))
    expect(next.status).toBe('RUNNING')
  })
})

describe('GET /v3/advertising/sem/campaigns/{campaignId}', () => {
  test('a fresh world has one campaign in each state', async () => {
    const { status } = await started()
    const states = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => status(`SEM-100${number}`))
    expect(await Promise.all(states)).toEqual([
      'RUNNING',
      'READY',
      'SCHEDULED',
      'LIMITED_BY_BUDGET',
      'BUDGET_EXHAUSTED',
      'CAMPAIGN_ENDING_SOON',
      'COMPLETED',
      'STOPPED',
      'DELETED',
    ])
  })

  test('the answer is the campaign object itself, with an open end as 9999-12-30', async () => {
    const { get } = await started()
    const { status, json } = await get('SEM-1001')
    const date = expect.stringMatching(/^\d{4}-\d{2}-\d{2}$/)
    expect([status, json]).toEqual([
      200,
      {
        campaignId: 'SEM-1001',
        name: 'Always On - Enamel Mugs',
        startDate: date,
        endDate: '9999-12-30',
        dailyBudget: 40,
        totalBudget: 10_000,
        targetRoas: 3.5,
        status: 'RUNNING',
        createdDate: date,
      },
    ])
    expect(String(at(json, 'createdDate')) < String(at(json, 'startDate'))).toBe(true)
  })

  test('under walmart-us there is the bidding strategy too', async () => {
    const { get } = await started({ dialect: buildDialect('walmart-us') })
    expect(at((await get('SEM-1001')).json, 'biddingStrategyType')).toBe('TARGET_ROAS')
  })

  test('an unknown id, and one of another seller, is 404', async () => {
    const { get, client } = await started()
    const reply = await get('SEM-9')
    expect([reply.status, at(reply.json, 'errors', 0, 'code')]).toEqual([404, 'CONTENT_NOT_FOUND.GMP_ADVERTISING_API'])
    await client.control('POST', '/sellers', { sellerId: 'two' })
    const other = await connect(client.url, { clientId: 'two-client', clientSecret: 'two-secret' })
    expect((await other.call('GET', '/v3/advertising/sem/campaigns/SEM-1001')).status).toBe(404)
    await client.control('POST', '/campaigns', { campaignId: 'SEM-1001', sellerId: 'two', name: 'Theirs' })
    const theirs = await other.call('GET', '/v3/advertising/sem/campaigns/SEM-1001')
    expect(at(theirs.json, 'name')).toBe('Theirs')
    expect(at((await get('SEM-1001')).json, 'name')).toBe('Always On - Enamel Mugs')
  })

  test('ten a minute are granted', async () => {
    const { client, get } = await started()
    await client.control('PUT', '/limits', { enabled: true })
    const statuses: number[] = []
    for (let calls = 0; calls < 11; calls += 1) statuses.push((await get('SEM-1001')).status)
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429])
  })

  test('unknown words and broken records on demand', async () => {
    const { client, get } = await started()
    await client.control('PUT', '/faults', { next: [{ fault: 'unknownValue' }] })
    expect((await get('SEM-1001')).json).toMatchObject({ status: 'LEARNING', futureFlag: true })
    await client.control('PUT', '/faults', { next: [{ fault: 'malformedRecord' }] })
    expect(typeof at((await get('SEM-1001')).json, 'campaignId')).not.toBe('string')
  })
})

describe('time', () => {
  test('READY and SCHEDULED campaigns start at their midnight', async () => {
    const { create, status, client, today, advance } = await started()
    const now = Date.parse(String(at(await client.control('GET', '/clock'), 'now')))
    const [tomorrow, later] = [dayAfter(await today()), dayAfter(await today(), 2)]
    const ready = await create({ startDate: tomorrow })
    const scheduled = await create({ startDate: later })
    expect([await status(ready), await status(scheduled)]).toEqual(['READY', 'SCHEDULED'])
    await advance(`${pacificMidnight(tomorrow) - now - 30_000}ms`)
    expect([await status(ready), await status(scheduled)]).toEqual(['READY', 'SCHEDULED'])
    await advance('31s')
    expect([await status(ready), await status(scheduled)]).toEqual(['RUNNING', 'SCHEDULED'])
    await advance('26h')
    expect([await status(ready), await status(scheduled)]).toEqual(['RUNNING', 'RUNNING'])
  })

  test('the total budget runs down: limited near the cap, exhausted at it, running again with new funds', async () => {
    const { create, path, status, today, change, advance, get } = await started()
    const startDate = dayAfter(await today())
    const id = await create({ startDate, dailyBudget: 10, totalBudget: '50', pace: 0.8, endDate: '9999-12-30' })
    await advance('10d')
    expect(await status(id)).toBe('BUDGET_EXHAUSTED')
    expect(await path(id)).toEqual(['READY', 'RUNNING', 'LIMITED_BY_BUDGET', 'BUDGET_EXHAUSTED'])
    await change(id, { addFunds: '100.50' })
    expect([await status(id), at((await get(id)).json, 'totalBudget')]).toEqual(['RUNNING', 150.5])
    await change(id, { stop: true })
    expect(await status(id)).toBe('STOPPED')
    await advance('100d')
    expect(await status(id)).toBe('STOPPED')
  })

  test('funds lift the limit before the cap is reached', async () => {
    const { status, change } = await started()
    expect(at(await change('SEM-1004', { addFunds: 500 }), 'status')).toBe('RUNNING')
    expect(await status('SEM-1004')).toBe('RUNNING')
  })

  test('a day near its daily budget is limited until the next midnight', async () => {
    const { create, path, today, advance } = await started()
    const startDate = dayAfter(await today())
    const id = await create({ startDate, dailyBudget: 10, totalBudget: 1_000, pace: 1, endDate: '9999-12-30' })
    await advance('4d')
    const states = await path(id)
    expect(states.slice(0, 6)).toEqual(['READY', 'RUNNING', 'LIMITED_BY_BUDGET', 'RUNNING', 'LIMITED_BY_BUDGET', 'RUNNING'])
  })

  test('the end: soon, then completed when the end date has passed; extended it runs on', async () => {
    const { create, path, status, today, change, advance } = await started()
    const startDate = dayAfter(await today())
    const draft = { startDate, endDate: dayAfter(startDate, 5), dailyBudget: 10, totalBudget: 1_000, pace: 0.5 }
    const [one, two] = [await create(draft), await create(draft)]
    await advance('5d')
    expect([await status(one), await status(two)]).toEqual(['CAMPAIGN_ENDING_SOON', 'CAMPAIGN_ENDING_SOON'])
    await change(two, { endDate: dayAfter(startDate, 30) })
    expect(await status(two)).toBe('RUNNING')
    await advance('3d')
    expect(await path(one)).toEqual(['READY', 'RUNNING', 'CAMPAIGN_ENDING_SOON', 'COMPLETED'])
    expect(await status(two)).toBe('RUNNING')
    await change(two, { endDate: startDate })
    expect(await status(two)).toBe('COMPLETED')
    await expect(change(two, { endDate: dayAfter(startDate, 60) })).rejects.toThrow('409')
  })

  test('an exhausted campaign is completed when its end passes', async () => {
    const { path, advance } = await started()
    await advance('42d')
    expect((await path('SEM-1005')).slice(-2)).toEqual(['BUDGET_EXHAUSTED', 'COMPLETED'])
  })

  test('a restart changes nothing, a reset brings the first campaigns back', async () => {
    const dataDir = await temporaryDirectory()
    const first = await startSandbox({ dataDir, log: () => undefined })
    const before = await connect(first.url)
    await before.control('POST', '/campaigns/SEM-1001', { stop: true })
    await first.close()
    const second = await startTestSandbox({ dataDir })
    const after = await connect(second.url)
    const status = async (): Promise<Json> =>
      at((await after.call('GET', '/v3/advertising/sem/campaigns/SEM-1001')).json, 'status')
    expect(await status()).toBe('STOPPED')
    await after.control('POST', '/campaigns', { count: 3 })
    expect(at(await after.control('GET', '/state'), 'campaigns')).toBe(12)
    await after.control('DELETE', '/')
    await after.renewToken()
    expect([await status(), at(await after.control('GET', '/state'), 'campaigns')]).toEqual(['RUNNING', 9])
  })
})

describe('control', () => {
  test('only what the state allows: stop what runs, delete what has not started', async () => {
    const { change } = await started()
    await expect(change('SEM-1002', { stop: true })).rejects.toThrow('no move from READY to STOPPED')
    await expect(change('SEM-1001', { delete: true })).rejects.toThrow('no move from RUNNING to DELETED')
    await expect(change('SEM-1007', { addFunds: 5 })).rejects.toThrow('COMPLETED is final')
    await expect(change('SEM-1', { stop: true })).rejects.toThrow('404')
    await expect(change('SEM-1001', { stop: true, delete: true })).rejects.toThrow('one of addFunds')
    expect(at(await change('SEM-1002', { delete: true }), 'status')).toBe('DELETED')
    expect(at(await change('SEM-1005', { stop: true }), 'status')).toBe('STOPPED')
  })

  test('an illegal move on demand stays until something is done', async () => {
    const { change, status, advance } = await started()
    await change('SEM-1007', { illegalMove: 'RUNNING' })
    await advance('30d')
    expect(await status('SEM-1007')).toBe('RUNNING')
    await change('SEM-1007', { addFunds: 10 })
    expect(await status('SEM-1007')).toBe('COMPLETED')
    await expect(change('SEM-1009', { illegalMove: 'DELETED' })).rejects.toThrow('it is DELETED already')
    await expect(change('SEM-1001', { illegalMove: 'STOPPED' })).rejects.toThrow('is a legal move')
  })

  test('random ones are as many as asked for and within the published ranges', async () => {
    const { client } = await started()
    const made = await client.control('POST', '/campaigns', { count: 100 })
    const ids = new Set(items(made, 'campaignIds'))
    const found = items(await client.control('GET', '/campaigns'), 'items').filter((one) => ids.has(at(one, 'campaignId')))
    expect([at(made, 'count'), found.length]).toEqual([100, 100])
    for (const one of found) {
      const [daily, total] = [Number(at(one, 'dailyBudget')), Number(at(one, 'totalBudget'))]
      expect(daily >= 5 && daily <= 2_500 && total >= daily && total <= 250_000).toBe(true)
    }
    expect(new Set(found.map((one) => at(one, 'status'))).size).toBeGreaterThan(3)
  })

  test.each([
    [{ dailyBudget: 4.99 }, 'dailyBudget'],
    [{ dailyBudget: 100, totalBudget: 50 }, 'totalBudget'],
    [{ targetRoas: 21 }, 'targetRoas'],
    [{ startDate: '2026-12-10', endDate: '2026-12-09' }, 'endDate'],
    [{ count: 2, campaignId: 'X' }, 'campaignId'],
    [{ campaignId: 'SEM-1001' }, 'exists'],
    [{ sellerId: 'nobody' }, 'not registered'],
  ])('%j is refused', async (body, word) => {
    const { create } = await started()
    await expect(create(body)).rejects.toThrow(word)
  })
})
