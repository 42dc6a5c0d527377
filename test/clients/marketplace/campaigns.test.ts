import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MarketplaceFailure } from '../../../src/clients/http/errors.ts'
import { parseCampaign } from '../../../src/clients/marketplace/campaign-record.ts'
import { campaignsEndpoint } from '../../../src/clients/marketplace/campaigns.ts'
import { walmartUs } from '../../../src/clients/marketplace/profiles/index.ts'
import { forever, sendJson, startClient, startMarketplace } from '../servers.ts'
import { brokenBody, withOddFields } from './fuzzed.ts'

const sample = {
  campaignId: '88001',
  name: 'Spring mugs',
  startDate: '2026-03-01',
  endDate: '2026-05-31',
  dailyBudget: 25.5,
  totalBudget: 1000,
  targetRoas: 3.5,
  status: 'RUNNING',
  createdDate: '2026-02-20',
}

const options = () => ({ signal: forever() })

const formatOutcome = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof MarketplaceFailure) return error
    throw error
  }
}

test('one campaign is asked for by its id, with the headers of the marketplace group', async () => {
  const { url, seen } = await startMarketplace((_request, response) =>
    sendJson(response, 200, { ...sample, campaignId: 'a/b c' }),
  )
  const { client } = startClient(url)
  const answer = await client.of(campaignsEndpoint).get('a/b c', options())
  expect(answer?.record).toMatchObject({ ok: true, key: 'a/b c' })
  const request = seen.at(-1)
  expect(`${request?.method} ${request?.target}`).toBe('GET /v3/advertising/sem/campaigns/a%2Fb%20c')
  expect(request?.headers).toMatchObject({
    'xx_sec.access_token': 'token-1',
    'xx_svc.name': 'Tallyman',
    accept: 'application/json',
  })
  expect(request?.headers).not.toHaveProperty('xx_global_version')
  expect(request?.headers['content-type']).toBeUndefined()
})

test('the live profile asks at the same address with its own prefix', async () => {
  const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, sample))
  const { client } = startClient(url, { connection: { profile: walmartUs, headerPrefix: 'WM' } })
  expect((await client.of(campaignsEndpoint).get('88001', options()))?.record.ok).toBe(true)
  expect(seen.at(-1)?.target).toBe('/v3/advertising/sem/campaigns/88001')
  expect(seen.at(-1)?.headers).toHaveProperty(['wm_sec.access_token'], 'token-1')
})

test('fields are read one by one; amounts keep the digits of the wire, unknown fields stay in raw', async () => {
  const text = JSON.stringify({ ...sample, biddingStrategyType: 'TARGET_ROAS' })
    .replace('25.5', '12345678901234567.891')
    .replace('1000', '1.5e3')
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, text))
  const { client } = startClient(url)
  const answer = await client.of(campaignsEndpoint).get('88001', options())
  if (answer?.record.ok !== true) throw new Error('not read')
  expect(answer.record.rawText).toBe(text)
  expect(answer.httpStatus).toBe(200)
  expect(answer.record.value).toMatchObject({
    campaignId: '88001',
    name: 'Spring mugs',
    startDate: '2026-03-01',
    endDate: '2026-05-31',
    dailyBudget: '12345678901234567.891',
    totalBudget: '1500',
    targetRoas: '3.5',
    status: 'RUNNING',
    createdDate: '2026-02-20',
    raw: { biddingStrategyType: 'TARGET_ROAS' },
  })
})

test.each([
  ['9999-12-30', null],
  ['9999-01-01', null],
  [undefined, null],
  [null, null],
  ['2026-02-30', null],
  [7, null],
  ['2026-05-31', '2026-05-31'],
  ['2026-05-31T00:00:00Z', '2026-05-31'],
])('the end %j is read as %j', (endDate, expected) => {
  const record = parseCampaign({ ...sample, endDate })
  expect(record.ok && record.value.endDate).toBe(expected)
})

test('a status in other letters is the known one; an unknown one is kept and counted', () => {
  const told: unknown[] = []
  const read = (status: string) => {
    const record = parseCampaign({ ...sample, status }, (report) => told.push(report))
    return record.ok ? record.value.status : record.fault
  }
  expect(read('running')).toBe('RUNNING')
  expect(read('Paused')).toBe('Paused')
  expect(told).toEqual([{ resource: 'campaign', field: 'status', value: 'Paused' }])
})

test.each(['FAILED', 'ERROR_IN_REVIEW', 'NOT_FOUND', 'INVALID_BUDGET', 'TOO_MANY_REQUESTS_OF_ITS_OWN'])(
  'a campaign in the unknown state %s is a campaign, not a failure of the call',
  async (status) => {
    const { url } = await startMarketplace((_request, response) => sendJson(response, 200, { ...sample, status }))
    const { client } = startClient(url)
    const answer = await client.of(campaignsEndpoint).get('88001', options())
    expect(answer?.record.ok && answer.record.value.status).toBe(status)
  },
)

test.each([
  ['status', { status: null }],
  ['status', { status: '' }],
  ['dailyBudget', { dailyBudget: 'plenty' }],
  ['totalBudget', { totalBudget: { amount: 7 } }],
])('without a readable %s the record is kept as it came, under the id that was asked for', async (field, change) => {
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, { ...sample, ...change }))
  const { client } = startClient(url)
  const record = (await client.of(campaignsEndpoint).get('88001', options()))?.record
  expect(record).toMatchObject({ ok: false, key: '88001', rawText: JSON.stringify({ ...sample, ...change }) })
  expect(record?.ok === false && record.fault).toContain(field)
})

test.each([
  ['content not found', { errors: [{ code: 'CONTENT_NOT_FOUND.SEM', severity: 'INFO' }] }],
  ['a code of its own', { errors: { error: [{ code: 'CAMPAIGN_NOT_FOUND', field: 'campaignId' }] } }],
])('a 404 that speaks of the campaign (%s) means that there is none', async (_name, body) => {
  const { url } = await startMarketplace((_request, response) => sendJson(response, 404, body))
  const { client } = startClient(url)
  expect(await client.of(campaignsEndpoint).get('88001', options())).toBeNull()
})

test.each([
  ['of the gateway', JSON.stringify({ errors: [{ code: 'URI_NOT_FOUND.GMP_GATEWAY_API' }] }), 'refused'],
  ['of the framework', JSON.stringify({ timestamp: '2026-03-01', status: 404, error: 'Not Found', path: '/v3' }), 'unavailable'],
  ['without a word', '<html>nothing here</html>', 'unavailable'],
])('a 404 %s says nothing of the campaign', async (_name, body, kind) => {
  const { url } = await startMarketplace((_request, response) => sendJson(response, 404, body))
  const { client } = startClient(url)
  expect(await formatOutcome(client.of(campaignsEndpoint).get('88001', options()))).toMatchObject({ kind, httpStatus: 404 })
})

test('another campaign than the one asked for is no answer, and dots are no id', async () => {
  const { url, seen } = await startMarketplace((_request, response) => sendJson(response, 200, sample))
  const { client } = startClient(url)
  expect(await formatOutcome(client.of(campaignsEndpoint).get('88002', options()))).toMatchObject({ kind: 'malformed' })
  const before = seen.length
  for (const id of ['', '.', '..']) expect(await client.of(campaignsEndpoint).get(id, options())).toBeNull()
  expect(seen).toHaveLength(before)
})

test('whatever the answer looks like, it is a record, a record with its fault, or a typed failure', async () => {
  let body = ''
  const { url } = await startMarketplace((_request, response) => sendJson(response, 200, body))
  const { client } = startClient(url)
  const odd = withOddFields(sample).map((record) => JSON.stringify(record))
  await fc.assert(
    fc.asyncProperty(fc.oneof(odd, brokenBody(JSON.stringify(sample))), async (text) => {
      body = text
      const outcome = await formatOutcome(client.of(campaignsEndpoint).get('88001', options()))
      if (outcome instanceof MarketplaceFailure) {
        expect(['refused', 'throttled', 'unavailable', 'malformed']).toContain(outcome.kind)
        return
      }
      const record = outcome === null || typeof outcome !== 'object' || !('record' in outcome) ? null : outcome.record
      if (record === null) return
      expect(record).toMatchObject({ key: '88001', rawText: text })
    }),
    { numRuns: 200 },
  )
})
